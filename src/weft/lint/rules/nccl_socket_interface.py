"""NCCL is told to meet over an interface that leads nowhere, or in a form it cannot read.

What it checks: NCCL_SOCKET_IFNAME (and GLOO's): loopback, bridges of containers, empty lists, =
and ^ in the wrong place, spaces, and RDMA devices where interfaces are meant.
Why it matters: ranks that meet over docker0 or lo find nobody: the job hangs at its start.
What to do: name the interface that leads to the other hosts, as =eth0 or ^docker,lo.
References: NCCL user guide, NCCL_SOCKET_IFNAME.
"""

from typing import Final

import re2

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_NOWHERE: Final = re2.compile(r"(lo|docker\d*|virbr\d*|veth\w*|cni\d*|flannel.*|cbr\d*)")
_DEVICE: Final = re2.compile(r"(mlx\d|bnxt_re|irdma|rdma)_?\d*(_\d+)?")


def _check(case: Case) -> Found:
    names = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME")
    for one in case.variables(*names):
        wrong = _wrong(one.value)
        if wrong and "$" not in one.value:
            yield problem(
                one,
                f"{one.name}={one.value}: {wrong}",
                "name the interface that leads to the other hosts",
            )


def _wrong(value: str) -> str:
    plain = value.strip().lstrip("^=")
    entries = plain.split(",")
    if not plain:
        return "names no interface"
    if any(one != one.strip() or " " in one for one in entries):
        return "NCCL takes the space for a part of the name"
    if any(one[:1] in {"^", "="} or not one for one in entries):
        return "= and ^ stand once, before the first name, and no name is empty"
    if any(_DEVICE.fullmatch(one) for one in entries):
        return "is an RDMA device (NCCL_IB_HCA), not an interface"
    if not value.startswith("^") and all(_NOWHERE.fullmatch(one) for one in entries):
        return "leads to no other host"
    return ""


nccl_socket_interface = Rule(
    layer=Layer.NCCL,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
