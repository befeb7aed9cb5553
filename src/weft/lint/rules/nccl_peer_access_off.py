"""GPUs of a host are kept from reaching one another directly.

What it checks: NCCL_P2P_DISABLE, NCCL_P2P_LEVEL=LOC, NCCL_SHM_DISABLE, NCCL_CUMEM_ENABLE=0 with
multi-node NVLink asked for, NCCL_NVB_DISABLE and NCCL_PXN_DISABLE.
Why it matters: NVLink is left unused, and traffic inside a host goes through its memory or
through the network.
What to do: unset it; it is a workaround for a fault that has a better cure.
References: NCCL user guide, NCCL_P2P_DISABLE, NCCL_P2P_LEVEL, NCCL_SHM_DISABLE,
NCCL_PXN_DISABLE.
"""

from typing import Final

from weft.lint.facts import Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_OFF: Final = {
    "NCCL_P2P_DISABLE": "GPUs of a host meet through its memory, not over NVLink",
    "NCCL_SHM_DISABLE": "ranks of a host without peer access meet through the network",
    "NCCL_PXN_DISABLE": "a GPU cannot use the NIC of another rail over NVLink",
    "NCCL_NVB_DISABLE": "GPUs without a direct NVLink cannot go through a third one",
    "NCCL_P2P_DIRECT_DISABLE": "ranks of one process copy in place of reading each other",
}


def _check(case: Case) -> Found:
    for one in case.of(Variable):
        said = _OFF.get(one.name)
        value = one.value.strip().upper()
        if said and value == "1":
            yield problem(one, f"{one.name}=1: {said}", "unset it")
        elif one.name == "NCCL_P2P_LEVEL" and value in {"LOC", "0"}:
            yield problem(
                one, f"NCCL_P2P_LEVEL={one.value}: no GPU reaches another directly", "unset it"
            )
    multi_node = [
        one for one in case.variables("NCCL_MNNVL_ENABLE") if one.value.strip() == "1"
    ]
    for one in case.variables("NCCL_CUMEM_ENABLE") if multi_node else ():
        if one.value.strip() == "0":
            yield problem(
                [one, *multi_node],
                "multi-node NVLink needs cuMem, which is off",
                "unset NCCL_CUMEM_ENABLE",
            )


nccl_peer_access_off = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
