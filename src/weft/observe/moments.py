"""When a line was written: the stamps that logs carry."""

import re
from calendar import timegm
from collections.abc import Iterator
from datetime import UTC, datetime

from weft.observe.facts.base import Clock, Moment

_DAY_S = 86400
_EARLIEST_EPOCH_S = 1e9
_BOOT = re.compile(r"\[\s*(\d{1,12}\.\d{1,9})\]")
_KMSG = re.compile(r"\d{1,4},\d{1,12},(\d{1,16}),[^;]{1,16};")
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
    r"(?:\s?(Z|[+-]\d\d:?\d\d))?"
)
_CTIME = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (\w{3}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d)"
    r"(?:\.\d{1,9})? (\d{4})"
)
_DASHBOARD = re.compile(
    r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}(\d{1,2}), (\d{4}) @ "
    r"(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?"
)
_SYSLOG = re.compile(
    r"(?:(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|(\d{1,2})月) {1,2}(\d{1,2}) "
    r"(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?"
)
_GLOG = re.compile(r"\[?[EWIF](\d{1,2})(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9})")
_MONTHS = {m: n for n, m in enumerate("JanFebMarAprMayJunJulAugSepOctNovDec"[i : i + 3]
                                      for i in range(0, 36, 3))}  # fmt: skip
_LONGEST_STAMP = 160
_FURTHEST_STAMP = 100
_MOST_BEFORE = 2
"""Words of a label: hosts, pods, names of streams."""


def moment(text: str) -> Moment | None:
    """Return the time a line's stamp gives, or None when it has none.

    >>> moment("[430954.509105] NVRM: Xid")
    Moment(time_s=430954.509105, clock=<Clock.BOOT: 'boot'>)
    >>> moment("2026-01-02T00:00:01Z mlx5_core").time_s - moment("2026-01-01 00:00:01").time_s
    86400.0
    """
    for form, found in _found(text[:_LONGEST_STAMP]):
        return _reading(form, found)
    return None


def stamp(text: str) -> tuple[int, Moment] | None:
    """Return the stamp that a line begins with, below a label at most: its form and its time.

    Times are compared with those of the same form: others may be of another zone.

    >>> stamp("a message that came at 2026-01-02 00:00:01, as its sender said in other words")
    >>> stamp("[pod/a/b] 2026-01-02 00:00:01 x") == stamp("2026-01-02 00:00:01 y")
    True
    """
    for form, found in _found(text[:_FURTHEST_STAMP]):
        read = _reading(form, found)
        label = len(text[: found.start()].split()) <= _MOST_BEFORE
        return (form, read) if read and label else None
    return None


def _found(head: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the stamps of a line, each with the number of its form."""
    for form, (expression, _) in enumerate(_STAMPS):
        found = expression.search(head)
        if found:
            yield form, found


def _reading(form: int, found: re.Match[str]) -> Moment | None:
    try:
        return _STAMPS[form][1](found)
    except (ValueError, OverflowError, KeyError):
        return None


def _boot(found: re.Match[str]) -> Moment:
    seconds = float(found[1])
    return Moment(seconds, Clock.EPOCH if seconds > _EARLIEST_EPOCH_S else Clock.BOOT)


def _kmsg(found: re.Match[str]) -> Moment:
    return Moment(int(found[1]) * 1e-6, Clock.BOOT)


def _iso(found: re.Match[str]) -> Moment:
    year, month, day, hour, minute, second = (int(found[i]) for i in range(1, 7))
    at = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC).timestamp()
    zone = found[8]
    if zone and zone != "Z":
        digits = zone[1:].replace(":", "")
        ahead_s = int(digits[:2]) * 3600 + int(digits[2:]) * 60
        at -= ahead_s if zone[0] == "+" else -ahead_s
    return Moment(at + _fraction(found[7]))


def _ctime(found: re.Match[str]) -> Moment:
    month, day = _MONTHS[found[1]] + 1, int(found[2])
    clock = (int(found[3]), int(found[4]), int(found[5]))
    return Moment(float(timegm((int(found[6]), month, day, *clock))))


def _dashboard(found: re.Match[str]) -> Moment:
    """Read a stamp as Kibana writes it: ``Jan 2, 2026 @ 03:04:05.678``."""
    month, day = _MONTHS[found[1]] + 1, int(found[2])
    clock = (int(found[4]), int(found[5]), int(found[6]))
    return Moment(timegm((int(found[3]), month, day, *clock)) + _fraction(found[7]))


def _of_year(month: int, day: int, clock: tuple[str, str, str], fraction: str | None) -> Moment:
    """Count from new year: stamps without a year compare among themselves only."""
    hour, minute, second = (int(part) for part in clock)
    days = timegm((2000, month, day, hour, minute, second)) - timegm((2000, 1, 1, 0, 0, 0))
    return Moment(days + _fraction(fraction), Clock.YEAR)


def _syslog(found: re.Match[str]) -> Moment:
    month = _MONTHS[found[1]] + 1 if found[1] else int(found[2])
    return _of_year(month, int(found[3]), (found[4], found[5], found[6]), found[7])


def _glog(found: re.Match[str]) -> Moment:
    clock = (found[3], found[4], found[5])
    return _of_year(int(found[1]), int(found[2]), clock, found[6])


def _fraction(digits: str | None) -> float:
    return float(f"0.{digits}") if digits else 0.0


_STAMPS = (
    (_ISO, _iso),
    (_CTIME, _ctime),
    (_DASHBOARD, _dashboard),
    (_SYSLOG, _syslog),
    (_GLOG, _glog),
    (_KMSG, _kmsg),
    (_BOOT, _boot),
)
