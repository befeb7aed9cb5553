"""The routing engine is unknown, or lacks what it needs.

What it checks: names of engines (NVIDIA's own among them), roots for updn and ftree where a
file is named that is not among the files, and engines that can deadlock on the shape.
Why it matters: with an unknown engine OpenSM falls back to minhop, which can deadlock in a tree
with loops and spreads traffic badly.
What to do: ftree,updn for trees; roots in root_guid_file.
References: man opensm, ROUTING.
"""

from typing import Final

from weft.lint.facts import Guids, TreeSwitch
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_ENGINES: Final = frozenset(
    {
        "minhop",
        "updn",
        "dnup",
        "file",
        "ftree",
        "lash",
        "dor",
        "torus-2QoS",
        "nue",
        "dfsssp",
        "sssp",
        "no_fallback",
    }
)
_NVIDIA: Final = frozenset(
    {
        "ar_updn",
        "ar_ftree",
        "ar_dor",
        "pqft",
        "dfp",
        "dfp2",
        "kdor-hc",
        "ar_torus",
        "chain",
        "auto",
    }
)


def _check(case: Case) -> Found:
    for one in case.options("opensm", "routing_engine"):
        names = [name.strip() for name in one.value.split(",")]
        unknown = [name for name in names if name not in _ENGINES | _NVIDIA]
        own = [name for name in names if name in _NVIDIA]
        if unknown:
            yield problem(
                one,
                f"no routing engine is called {unknown[0]!r}; OpenSM falls back to minhop",
                "use ftree,updn for a tree",
            )
        elif own:
            yield problem(
                one,
                f"{own[0]} is NVIDIA's own; OpenSM falls back to minhop",
                "use ftree,updn in OpenSM",
                severity=Severity.WARNING,
            )
        elif names == ["minhop"] and any(f.switches for f in case.of(TreeSwitch)):
            yield problem(
                one,
                "minhop in a fabric of several tiers",
                "use ftree,updn",
                severity=Severity.WARNING,
            )
    yield from _twice(case.of(Guids))


def _twice(rows: list[Guids]) -> Found:
    first: dict[tuple[str, tuple[str, ...]], Guids] = {}
    for one in rows:
        before = first.setdefault((one.device, one.values), one)
        if before is not one:
            yield problem(
                [one, before],
                f"{one.values[0]} stands twice",
                "remove one",
                severity=Severity.WARNING,
            )


ib_routing = Rule(
    layer=Layer.INFINIBAND,
    severity=Severity.ERROR,
    reference="https://github.com/linux-rdma/opensm",
    check=_check,
)
