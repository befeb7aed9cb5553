"""Every error a user can meet.

* WeftError            base; the command line turns it into a message and exit code 2
  * SpecError          what the user wrote cannot be right
    * UnitError        a quantity without a unit, or with the wrong one
    * Infeasible       a job that no cluster of this shape can run (memory, divisibility)
      * Mismatch       parts of a network that do not fit together
  * UnknownName        no plug-in, device or preset of that name
  * Unreadable         a file or device that cannot be read (exit code 3)
  * ToolFailed         a program of another maker that did not do its work (exit code 3)
"""


class WeftError(Exception):
    """Base of all errors that are about the user's input, not about our bugs."""

    code = "input"
    exit_status = 2


class SpecError(WeftError):
    """What the user wrote cannot be right."""

    code = "spec"


class UnitError(SpecError, ValueError):
    """A quantity has no unit, or one of the wrong kind.

    It is a ValueError as well, so that pydantic reports it with the place it came from.
    """

    code = "unit"


class Infeasible(SpecError):  # noqa: N818 - reads better at the call site
    """The job cannot run on this cluster: it does not fit or does not divide."""

    code = "infeasible"


class Mismatch(Infeasible):
    """Fabric, switch, NIC, medium, topology or provider that do not fit together."""

    code = "mismatch"


class UnknownName(WeftError, ValueError):  # noqa: N818 - reads better at the call site
    """No plug-in, device or preset has that name.

    It is a ValueError as well, so that pydantic reports it with the place it came from.
    """

    code = "unknown_name"


class Unreadable(WeftError):  # noqa: N818 - reads better at the call site
    """A file, directory or device that was asked for cannot be read."""

    code = "unreadable"
    exit_status = 3


class ToolFailed(WeftError):  # noqa: N818 - reads better at the call site
    """A program of another maker is missing, failed, or did not end in time."""

    code = "tool_failed"
    exit_status = 3
