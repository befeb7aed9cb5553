"""One algorithm is forced, or a tuner plug-in chooses badly."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, with_env
from weft.sources import sourced


def _variants(setting: Setting) -> Iterable[Variant]:
    if setting.sweep.what != "collective" or "NCCL_ALGO" in setting.cluster.nccl.env:
        return
    for name in ("Ring", "Tree"):
        yield Variant(
            label=f"NCCL_ALGO={name}", cluster=with_env(setting.cluster, NCCL_ALGO=name)
        )


wrong_algorithm = Fault(
    title="wrong algorithm (NCCL_ALGO is forced)",
    weight=sourced(0.5, "threads", confidence=1),
    variants=_variants,
    check="NCCL_ALGO in the environment and in /etc/nccl.conf, and tuner plug-ins",
    command="grep -r NCCL_ /etc/nccl.conf ~/.nccl.conf",
    shows={"environment": "algorithm"},
)
