"""NVIDIA Cumulus Linux: NVUE commands of every switch, spelt for a release.

5.15 renamed what stood under ``ip`` to ``ipv4`` and ``enable on`` to ``state enabled``
[Cumulus Linux 5.15, New and Changed NVUE Commands].
"""

from typing import Final

from weft.errors import SpecError
from weft.generate.plan import Plan
from weft.generate.switch_text import lossless_of, switch_files, vendor_refusal
from weft.generate.target import Files, declared

MOST_PATHS: Final = 128
RELEASE: Final = "5.15"
OLDEST: Final = (5, 6)
"""Has the watchdog of PFC."""
RENAMED: Final = (5, 15)
SYSLOG_MOVED: Final = (5, 13)
"""From ``service syslog`` to ``system syslog``."""
SWITCHES: Final = ("sn3700", "sn4600", "sn4600c", "sn4700", "sn5400", "sn5600")
"""Spectrum switches whose cages are counted along the front."""


def _files(plan: Plan) -> Files:
    release = _release(plan)
    return switch_files(
        plan, "cumulus", "nvue.commands", _port, vrf="mgmt", release=release,
        lossless=lossless_of(plan, "nvue"), since_5_13=_numbers(release) >= SYSLOG_MOVED,
        since_5_15=_numbers(release) >= RENAMED,
    )  # fmt: skip


def _port(cage: int, place: int, split: int) -> str:
    return f"swp{cage + 1}" + (f"s{place}" if split > 1 else "")


def _release(plan: Plan) -> str:
    """Return the release that commands are spelt for; raises SpecError for one too old."""
    site = plan.cluster.site
    release = site.release if site is not None and site.release else RELEASE
    if _numbers(release) < OLDEST:
        raise SpecError(
            f"site.release {release}: cumulus is for {'.'.join(map(str, OLDEST))} and later"
        )
    return release


def _numbers(release: str) -> tuple[int, int]:
    """Return the first two numbers of a release.

    >>> _numbers("5.15.0")
    (5, 15)
    """
    major, _, rest = release.partition(".")
    return int(major), int(rest.partition(".")[0])


cumulus = declared(
    "cumulus", files=_files,
    refuses=lambda plan: vendor_refusal(plan, "cumulus", SWITCHES, most_paths=MOST_PATHS),
)  # fmt: skip
