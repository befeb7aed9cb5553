"""One protocol is forced: LL for every size caps the bandwidth, Simple slows small sizes."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, with_env
from weft.sources import sourced


def _variants(setting: Setting) -> Iterable[Variant]:
    if setting.sweep.what != "collective" or "NCCL_PROTO" in setting.cluster.nccl.env:
        return
    for name in ("LL", "LL128", "Simple"):
        yield Variant(
            label=f"NCCL_PROTO={name}", cluster=with_env(setting.cluster, NCCL_PROTO=name)
        )


wrong_protocol = Fault(
    title="wrong protocol (NCCL_PROTO is forced)",
    weight=sourced(0.7, "threads", confidence=1),
    variants=_variants,
    check="NCCL_PROTO in the environment and in /etc/nccl.conf, and tuner plug-ins",
    command="grep -r NCCL_ /etc/nccl.conf ~/.nccl.conf",
    shows={"environment": "protocol"},
)
