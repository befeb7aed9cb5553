"""NVLink SHARP does not work (no multicast, no fabric manager), so a ring runs instead."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, with_env
from weft.sources import sourced


def _variants(setting: Setting) -> Iterable[Variant]:
    up = setting.cluster.host.scale_up
    if up.in_network_reduction and setting.sweep.what == "collective":
        yield Variant(
            label="NCCL_NVLS_ENABLE=0, or it could not be set up",
            cluster=with_env(setting.cluster, NCCL_NVLS_ENABLE="0"),
        )


nvls_missing = Fault(
    title="NVLS (NVLink SHARP) is missing",
    weight=sourced(0.8, "threads", confidence=1),
    variants=_variants,
    check='"NVLS" in the log, the fabric manager, and multicast support',
    command="NCCL_DEBUG=INFO ... | grep -i nvls; systemctl status nvidia-fabricmanager",
    shows={"nccl_log": "no NVLS"},
    causes=frozenset(
        {
            "fabric-manager-not-running",
            "imex-domain-missing",
        }
    ),
)
