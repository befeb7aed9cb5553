"""One variable has two values.

What it checks: values of each NCCL variable over nccl.conf, scripts, images and workloads that
run together, where ranks must agree or the one hides the other.
Why it matters: a script wins over nccl.conf, so what the file says is not what runs; ranks with
different settings hang or fail at the first collective.
What to do: set it in one place.
References: NCCL user guide, environment variables and nccl.conf.
"""

from typing import Final

from weft.lint.facts import Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_OWN: Final = frozenset(
    {
        "NCCL_DEBUG",
        "NCCL_DEBUG_FILE",
        "NCCL_TOPO_FILE",
        "NCCL_GRAPH_FILE",
        "NCCL_DEBUG_SUBSYS",
        "NCCL_HOSTID",
        "NCCL_COMM_ID",
        "NCCL_SOCKET_IFNAME",
    }
)
"""What may well differ from place to place."""


def _check(case: Case) -> Found:
    by_name: dict[str, list[Variable]] = {}
    for one in case.of(Variable):
        if one.name.startswith("NCCL_") and one.name not in _OWN and "$" not in one.value:
            by_name.setdefault(one.name, []).append(one)
    for name, found in by_name.items():
        wide = [one for one in found if one.everywhere or not one.device]
        values = {one.value.strip() for one in wide}
        files = {one.at.text.name for one in wide}
        # One script may try several values, one after another.
        if len(values) > 1 and len(files) > 1 and _together(wide):
            first = next(one for one in wide if one.value.strip() != wide[0].value.strip())
            yield problem(
                [first, wide[0]],
                f"{name} is {wide[0].value} in one place and {first.value} in another",
                "set it in one place",
            )
        yield from _hidden(name, found)


def _together(found: list[Variable]) -> bool:
    """Return whether the places are one cluster's: a conf among them, or one folder."""
    folders = {one.at.text.name.rpartition("/")[0] for one in found}
    return len(folders) == 1 or any(one.everywhere for one in found)


def _hidden(name: str, found: list[Variable]) -> Found:
    """Yield ranks of one job that disagree."""
    jobs: dict[str, Variable] = {}
    for one in found:
        job = one.device.partition(" ")[0]
        first = jobs.setdefault(job, one) if job else one
        if first.value.strip() != one.value.strip():
            yield problem(
                [one, first],
                f"{name} differs between the ranks of {job}",
                "give all ranks the same value",
            )


nccl_settings_differ = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
