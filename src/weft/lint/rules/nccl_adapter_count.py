"""The list of adapters has more or fewer than a host has rails.

What it checks: NCCL_IB_HCA as an exact list, against the NICs of the cluster document and the
devices of the address table of the rails; the GPUs that containers ask for are not counted.
Why it matters: a rail that is left out is a rail's bandwidth lost on every host, without an
error; a name that is not there stops nothing either.
What to do: name every compute NIC once, in the order of the rails.
References: NCCL user guide, NCCL_IB_HCA.
"""

from weft.lint.facts import Address, Side, Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.variables("NCCL_IB_HCA"):
        if not one.value.startswith("=") or "$" in one.value:
            continue
        named = {entry.partition(":")[0] for entry in one.value[1:].split(",")}
        yield from _against_cluster(case, one, named)
        yield from _against_rails(case, one, named)


def _against_cluster(case: Case, one: Variable, named: set[str]) -> Found:
    if case.cluster is None:
        return
    nics = case.cluster.cluster.host.nics
    if len(named) != nics:
        yield problem(
            [one, case.cluster],
            f"NCCL_IB_HCA names {len(named)} adapters, and a host has {nics} compute NICs",
            "name every compute NIC once",
        )


def _against_rails(case: Case, one: Variable, named: set[str]) -> Found:
    rows = [row for row in case.of(Address) if row.side is Side.HOST and row.gateway]
    devices = {row.port for row in rows}
    missing = sorted(devices - named)
    if rows and missing:
        first = next(row for row in rows if row.port == missing[0])
        yield problem(
            [one, first],
            f"NCCL_IB_HCA leaves out {', '.join(missing)}, which the rails use",
            "name every compute NIC once",
        )
    unknown = sorted(named - devices)
    if rows and unknown:
        yield problem(
            [one, rows[0]],
            f"NCCL_IB_HCA names {', '.join(unknown)}, which no rail has",
            "name the adapters of the rails",
        )


nccl_adapter_count = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
