"""SuperBench: rules of ``sb result diagnosis``, each a least value of one metric."""

from typing import Final

import yaml

from weft.errors import SpecError
from weft.generate.gate import MIB, Asked, Gate

_OPERATIONS: Final = {
    "all_reduce": "allreduce",
    "all_gather": "allgather",
    "reduce_scatter": "reducescatter",
}
_SIZES: Final = (1024 * MIB, 8192 * MIB)


def _write(asked: Asked) -> str:
    derivation = asked.threshold().derivation(asked.day)
    rules: dict[str, dict[str, object]] = {}
    untold = []
    for operation, name in _OPERATIONS.items():
        try:
            rules |= _rules(asked, operation, name)
        except SpecError as unknown:
            untold.append(f"# {unknown}\n")
    head = (
        "# Rules of sb result diagnosis: a machine below a value is defective.\n"
        f"# {derivation}; the other rules likewise.\n"
    )
    document = {"version": "v0.11", "superbench": {"rules": rules}}
    return "".join([head, *untold, str(yaml.safe_dump(document, sort_keys=False))])


def _rules(asked: Asked, operation: str, name: str) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for size in _SIZES:
        one = asked.threshold(operation, smallest_bytes=size, largest_bytes=size)
        found[f"weft-{name}-{size}"] = {
            "categories": "NCCL",
            "function": "value",
            "criteria": f"lambda x: x < {one.least_gb_per_s:.1f}",
            "metrics": [f"nccl-bw.*/{name}_{size}_busbw"],
        }
    return found


superbench = Gate(
    title="SuperBench: rule file of sb result diagnosis",
    source="https://microsoft.github.io/superbenchmark/docs/user-tutorial/data-diagnosis",
    write=_write,
)
