"""Too few channels: each has a ceiling of its own."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, with_env
from weft.sources import sourced


def _variants(setting: Setting) -> Iterable[Variant]:
    if setting.sweep.what != "collective" or "NCCL_MAX_NCHANNELS" in setting.cluster.nccl.env:
        return
    for count in (1, 2, 4):
        yield Variant(
            label=f"{count} channels",
            cluster=with_env(setting.cluster, NCCL_MAX_NCHANNELS=str(count)),
        )


few_channels = Fault(
    title="too few channels (NCCL_MAX_NCHANNELS)",
    weight=sourced(0.4, "threads", confidence=1),
    variants=_variants,
    check="NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS, and the channels that the log counts",
    command='NCCL_DEBUG=INFO ... | grep "coll channels"',
    shows={"environment": "channels"},
)
