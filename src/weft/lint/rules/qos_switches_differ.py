"""Switches, or ports of a switch, do not treat the lossless class alike.

What it checks: PFC priorities port by port and switch by switch, the class of every DSCP that
is lossless anywhere, and the queue of the lossless class.
Why it matters: losslessness ends at the first port that differs: packets arrive in another
class, are not paused and are dropped, on some paths only.
What to do: the same maps and priorities on every port of the fabric.
References: IEEE 802.1Qbb; NVIDIA Cumulus, RoCE.
"""

from collections import Counter

from weft.lint.facts import Map, Pause
from weft.lint.quality import table
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for fleet in case.fleets():
        yield from _pauses(fleet)
        yield from _maps(fleet)


def _pauses(fleet: list[Device]) -> Found:
    rows = [one for switch in fleet for one in switch.of(Pause)]
    counts = Counter[tuple[int, ...]]()
    for one in rows:
        counts[one.priorities] += max(1, len(one.ports))
    if not counts or not any(counts):
        return
    usual = max((key for key in counts if key), key=lambda key: counts[key], default=())
    shown = next(one for one in rows if one.priorities == usual)
    for one in rows:
        if usual and one.priorities != usual:
            where = f"{one.device} {_ports(one.ports)}".strip()
            has = ", ".join(map(str, one.priorities)) or "nothing"
            yield problem(
                [one, shown],
                f"{where} pauses {has}, others {', '.join(map(str, usual))}",
                "pause the same on every port",
            )


def _ports(ports: tuple[str, ...]) -> str:
    return f"{ports[0]} and {len(ports) - 1} more" if len(ports) > 1 else "".join(ports)


def _maps(fleet: list[Device]) -> Found:
    for kind in (Map.DSCP_TO_CLASS, Map.CLASS_TO_QUEUE, Map.PAUSE_TO_QUEUE):
        tables = [(switch, table(switch, kind)) for switch in fleet]
        tables = [(switch, rows) for switch, rows in tables if rows]
        sources = {source for _, rows in tables for source in rows}
        for source in sorted(sources):
            given = Counter(
                rows[source].target if source in rows else None for _, rows in tables
            )
            if len(given) < 2:  # noqa: PLR2004 - two that differ
                continue
            usual = given.most_common(1)[0][0]
            for switch, rows in tables:
                row = rows.get(source)
                if row is not None and row.target != usual:
                    yield problem(
                        row,
                        f"{kind.value} {source} is {row.target} on {switch.name} and "
                        f"{usual} on the others",
                        "map it alike everywhere",
                    )
                elif row is None:
                    first = next(iter(rows.values()))
                    yield problem(
                        first,
                        f"{switch.name} has no {kind.value} for {source}; others give {usual}",
                        "map it alike everywhere",
                    )


qos_switches_differ = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://1.ieee802.org/dcb/802-1qbb/",
    check=_check,
)
