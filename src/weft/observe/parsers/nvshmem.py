"""NVSHMEM (also under DeepEP): what its transports say when they cannot use an adapter.

Its lines name a place in its source, a status and what failed; warnings begin with WARN.
"""

import re
from collections.abc import Sequence

from weft.observe.facts import CallFailed, Fact, Message
from weft.observe.parser import Parser
from weft.observe.parsers._values import errno_within
from weft.observe.patterns import Build, Line, nothing, pattern, table


def _failed(call: str) -> Build:
    """Return a maker of the fact that a call of the adapter's library failed."""

    def build(found: re.Match[str], line: Line) -> Sequence[Fact]:
        code, error = errno_within(line.text)
        return (
            CallFailed(
                call=call,
                errno=code,
                error=error or found[0].strip()[:200],
                library="NVSHMEM",
                moment=line.moment,
                evidence=line.evidence,
            ),
        )

    return build


def _said(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="NVSHMEM",
            level="error" if "init failed" in found[0] else "warning",
            text=found[0].strip()[:300],
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


nvshmem = Parser(
    tool="NVSHMEM",
    marks=(
        "mlx5dv_devx",
        "as an mlx5 device",
        "atomic operations",
        "cannot map UAR",
        "IoMemory",
        "ibgda_",
        "mem registration failed",
        "init failed for",
        "nvshmem",
    ),
    reader=table(
        pattern(
            "cannot allocate mlx5dv_devx_uar",
            r"cannot allocate mlx5dv_devx_uar",
            _failed("mlx5dv_devx_alloc_uar"),
        ),
        pattern(
            "mlx5dv_devx_", r"mlx5dv_devx_(?:query_eqn|general_cmd) failed",
            _failed("mlx5dv_devx_general_cmd"),
        ),
        pattern("device ", r"device \S+ is not enumerated as an mlx5.{0,40}device", _said),
        pattern("device ", r"device \S+ does not support all necessary atomic.*", _said),
        pattern("GPU cannot map UAR", r"GPU cannot map UAR of device \S+", _said),
        pattern("cudaHostRegister with", r"cudaHostRegister with IoMemory failed.*", _said),
        pattern("ibgda_", r"ibgda_\w+ .{0,60}?failed\. We may need", nothing),
        pattern(
            "mem registration failed", r"mem registration failed.*", _failed("ibv_reg_mr")
        ),
        pattern("init failed for", r"init failed for (?:remote )?transport: ?\w+", _said),
    ),
    rank=16,
)  # fmt: skip
