"""``/proc/net/bonding``: the slaves of a bond, and how often each lost its link."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Counter, Interface
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import rate

_FIELD = re.compile(
    r"(?P<name>Ethernet Channel Bonding Driver|Bonding Mode|Transmit Hash Policy|"
    r"MII \w[\w ()]{1,30}|Slave Interface|Speed|Duplex|Link Failure Count|"
    r"Up Delay \(ms\)|Down Delay \(ms\)|"
    r"Peer Notification Delay \(ms\)|Permanent HW addr|Slave queue ID|Aggregator ID|"
    r"Actor Churn(?:ed)? \w+|Partner Churn(?:ed)? \w+|Currently Active Slave|Primary Slave|"
    r"LACP (?:rate|active)|Min links|System (?:priority|MAC address)|Number of ports|"
    r"Actor Key|Partner Key|Partner Mac Address|Aggregator selection policy \(\w+\)): ?"
    r"(?P<value>.{0,80})"
)
_MORE = re.compile(
    r"802\.3ad info|Active Aggregator Info:|details (?:actor|partner) lacp pdu:|"
    r"\s+(?:system |port |oper )"
)


@dataclass(slots=True)
class _Reader:
    """Gathers what is said of a slave until the next one."""

    source: Source
    slave: str = ""
    where: Evidence | None = None
    fields: dict[str, str] = field(default_factory=dict)
    inside: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of the slave before, when one begins."""
        found = _FIELD.match(text)
        if not found:
            return READ if self.inside and _MORE.match(text) else None
        name, value = found["name"], found["value"].strip()
        if name in {"Slave Interface", "Ethernet Channel Bonding Driver"}:
            done = tuple(self.end())
            self.inside = True
            if name == "Slave Interface":
                self.slave, self.where = value, self.source.evidence(text, number)
            return done
        if not self.inside:
            return None
        self.fields[name] = value
        if name == "Link Failure Count":
            self.where = self.source.evidence(text, number)
        return READ

    def end(self) -> Iterable[Fact]:
        """State the slave gathered."""
        value, self.fields, slave, self.slave = self.fields, {}, self.slave, ""
        if not slave or self.where is None:
            return ()
        speed, count = value.get("Speed", "").split(" ")[0], value.get("Link Failure Count", "")
        interface = Interface(
            interface=slave, kind="bond slave",
            up={"up": True, "down": False}.get(value.get("MII Status", "")),
            rate_bytes_per_s=rate(int(speed) * 1e-3) if speed.isdigit() else None,
            host=self.source.host, evidence=self.where,
        )  # fmt: skip
        if not count.isdigit():
            return (interface,)
        failures = Counter(
            where=slave, name="link_flaps", value=int(count), host=self.source.host,
            evidence=self.where,
        )  # fmt: skip
        return (interface, failures)


bonding = Parser(
    tool="bonds of the kernel",
    marks=("Slave Interface: ", "MII Status: ", "Channel Bonding Driver"),
    reader=_Reader,
    rank=44,
)
