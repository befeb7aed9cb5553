"""What a host says of itself beside its state: release, processor, load, kernel parameters.

Bundles hold it so that people can look it up; of it all only the kernel's version is a fact.
The same of a collector's notes on what it could not read.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.hosts import Uptime
from weft.observe.facts.programs import SoftwareVersion
from weft.observe.parser import READ, Parser, Source

_KERNEL = re.compile(r"Linux (?P<host>[\w.-]{1,120}) (?P<version>\d\S{1,80}) #\d.{1,120}$")
_ANYWHERE = re.compile(
    r"(?:PRETTY_NAME|NAME|VERSION(?:_ID|_CODENAME)?|ID(?:_LIKE)?|(?:HOME|SUPPORT|BUG_REPORT|"
    r"PRIVACY_POLICY|DOCUMENTATION)_URL|UBUNTU_CODENAME|ANSI_COLOR|LOGO|CPE_NAME|PLATFORM_ID|"
    r"(?:REDHAT|DEBIAN|ROCKY|ALMALINUX)_[A-Z_]{3,40})=\S|"
    r"# (?:not installed: [\w.-]{1,60}$|left with \d{1,3}: |no time left for: )|"
    r"cat: /(?:etc|proc)/\S{1,80}: No such file|"
    r"HugePages_(?:Total|Free|Rsvd|Surp): |"
    r"[EWI]\d{4} [\d:.]{8,16} .{0,12}memcache\.go:\d{1,5}\] .{0,80}couldn't get "
    r"(?:current server API group list|resource list)"
)
_UP = re.compile(
    r"\s{0,4}(?:\d\d:\d\d:\d\d )?up\s{1,4}(?P<time>\d.{1,80}?)(?:,?\s+\d+ users?,.*)?$"
)
_SPAN = re.compile(r"(\d{1,6}) (year|week|day|hour|min|sec)")
_CLOCK = re.compile(r"(?<!\d)(\d{1,3}):(\d\d)(?=,|\s*$)")
_SPAN_S = {
    "year": 31_557_600, "week": 604_800, "day": 86_400, "hour": 3600, "min": 60, "sec": 1,
}  # fmt: skip
_BY_COMMAND = {
    "lscpu": re.compile(r"\s{0,4}[A-Za-z][\w .()/:&-]{1,40}:\s+\S"),
    "sysctl": re.compile(r"[a-z][\w./-]{2,80} = ?"),
    "cat /proc/cmdline": re.compile(r"\S+(?: \S+){1,200}$"),
    "ip rule": re.compile(r"\d{1,10}:\s+(?:not )?from \S"),
    "ip route": re.compile(r"(?:local|broadcast|multicast|anycast) \S{2,60} dev \S"),
}
"""What the lines of a command look like, where nothing but the command tells whose they are."""


@dataclass(slots=True)
class _Reader:
    """Reads lines that state nothing, by their own form or by the command above."""

    source: Source

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the kernel's version, or nothing for what is known to say nothing."""
        kernel = _KERNEL.match(text)
        if kernel:
            return (
                SoftwareVersion(
                    software="kernel", version=kernel["version"],
                    process=Process(host=self.source.host or kernel["host"]),
                    evidence=self.source.evidence(text, number),
                ),
            )  # fmt: skip
        up = _UP.match(text)
        up_s = _seconds(up["time"]) if up else 0.0
        if up_s:
            evidence = self.source.evidence(text, number)
            return (Uptime(up_s=up_s, host=self.source.host, evidence=evidence),)
        if _ANYWHERE.match(text):
            return READ
        command = self.source.command.removeprefix("sudo ")
        form = next(
            (form for one, form in _BY_COMMAND.items() if command.startswith(one)), None
        )
        return READ if form is not None and form.match(text) else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


def _seconds(time: str) -> float:
    """Return how long ``uptime`` says a host is up.

    >>> _seconds("1 day,  2:30"), _seconds("3 weeks, 2 hours"), _seconds("to date")
    (95400.0, 1821600.0, 0.0)
    """
    total = float(sum(int(count) * _SPAN_S[unit] for count, unit in _SPAN.findall(time)))
    clock = _CLOCK.search(time)
    return total + (int(clock[1]) * 3600 + int(clock[2]) * 60 if clock else 0)


host_description = Parser(
    tool="host description",
    marks=(
        "PRETTY_NAME=",
        "# not installed: ",
        "# left with ",
        "load average: ",
        "up ",
        "No such file",
        "Architecture: ",
        "lscpu",
        "sysctl",
        "/proc/cmdline",
        "HugePages_",
        "memcache.go:",
        "from all lookup",
        " table local ",
        "Linux ",
    ),
    reader=_Reader,
    rank=90,
)
