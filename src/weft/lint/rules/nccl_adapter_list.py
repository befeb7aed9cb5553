"""The list of adapters is written so that NCCL takes others, fewer or none.

What it checks: NCCL_IB_HCA: = and ^ in the middle, spaces, empty and repeated entries, ports
that are no number, names of interfaces, more than 32 entries, and prefixes that match more than
they name (mlx5_1 matches mlx5_10).
Why it matters: rails stay unused, storage NICs carry gradients, or NCCL finds no adapter and
falls back to TCP.
What to do: write the exact list, as =mlx5_0,mlx5_1, in the order of the rails.
References: NCCL user guide, NCCL_IB_HCA.
"""

from collections import Counter
from typing import Final

import re2

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_MOST: Final = 32
_INTERFACE: Final = re2.compile(r"(eth\d+|ens\w+|enp\w+|eno\d+|ib\d+|bond\d+)")


def _check(case: Case) -> Found:
    for one in case.variables("NCCL_IB_HCA"):
        if "$" in one.value:
            continue
        wrong = _wrong(one.value)
        if wrong:
            yield problem(
                one,
                f"NCCL_IB_HCA={one.value}: {wrong}",
                "write the exact list, as =mlx5_0,mlx5_1",
            )
            continue
        loose = _loose(one.value.strip())
        if loose:
            yield problem(
                one,
                f"NCCL_IB_HCA={one.value}: {loose}",
                "begin the list with = to take exact names",
                severity=Severity.WARNING,
            )


def _wrong(value: str) -> str:
    plain = re2.sub(r"^\^?=?", "", value.strip())
    entries = plain.split(",")
    if not plain:
        return "names no adapter"
    if any(one != one.strip() or " " in one for one in entries):
        return "NCCL takes the space for a part of the name"
    if any(one[:1] in {"^", "="} for one in entries):
        return "= and ^ stand once, before the first name"
    if not all(entries):
        return "an entry is empty, and an empty name matches every adapter"
    if any(not part.isdecimal() for one in entries for part in one.split(":")[1:]):
        return "after the colon stands a number: port, rail, plane"
    return _wrong_names(entries)


def _wrong_names(entries: list[str]) -> str:
    repeated = [one for one, count in Counter(entries).items() if count > 1]
    if repeated:
        return f"{repeated[0]} stands twice"
    interfaces = [one for one in entries if _INTERFACE.fullmatch(one)]
    if interfaces:
        return (
            f"{interfaces[0]} is a network interface, not an adapter as ibv_devices lists them"
        )
    return f"{len(entries)} entries; NCCL takes {_MOST}" if len(entries) > _MOST else ""


def _loose(value: str) -> str:
    if value.startswith(("=", "^=")):
        return ""
    entries = value.removeprefix("^").split(",")
    caught = [(a, b) for a in entries for b in entries if a != b and b.startswith(a)]
    if caught:
        return f"{caught[0][0]} is a prefix and takes {caught[0][1]} as well"
    if any(re2.search(r"_1$", one) for one in entries):
        return "without = a name is a prefix: mlx5_1 takes mlx5_10 as well"
    return ""


nccl_adapter_list = Rule(
    layer=Layer.NCCL,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
