"""Over ssh, with the keys and the configuration that the user has.

The shell of the far host reads what ssh sends, so every word is quoted for it.
"""

import shlex

from weft.bench.command import Command
from weft.bench.launcher import Launcher, host_name

# A terminal is asked for, so that the far process ends when this one does.
_QUIETLY = ("-tt", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "LogLevel=ERROR")


def _on(host: str, command: Command) -> tuple[str, ...]:
    return ("ssh", *_QUIETLY, "--", host_name(host), shlex.join(command.through_env()))


ssh = Launcher(title="over ssh", takes="[user@]host", on=_on)
