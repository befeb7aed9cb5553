"""NCCL's example tuner: the sizes at which weft's model prefers another choice than NCCL's."""

from collections.abc import Iterator
from typing import Final

from weft.generate.plan import Feature, Plan
from weft.generate.target import Files, Proof, Target, header
from weft.predict.preferred import Choices, Preferred, choices
from weft.traffic.collective import Operation

COLUMNS: Final = (
    "collective_type", "min_bytes", "max_bytes", "algorithm", "protocol", "channels", "nNodes",
    "nRanks", "numPipeOps", "regBuff",
)  # fmt: skip
NAMES: Final = {
    Operation.ALL_REDUCE: "allreduce", Operation.ALL_GATHER: "allgather",
    Operation.REDUCE_SCATTER: "reducescatter", Operation.BROADCAST: "broadcast",
    Operation.REDUCE: "reduce",
}  # fmt: skip
ANY: Final = -1
OWN_TUNERS: Final = {
    "efa": "aws-ofi-nccl brings a tuner of its own, and only one can be loaded",
    "tcpx": "Google's plug-in brings a tuner of its own, and only one can be loaded",
    "tcpxo": "Google's plug-in brings a tuner of its own, and only one can be loaded",
}
"""By kind of fabric."""


def _files(plan: Plan) -> Files:
    yield "tuner.csv", "\n".join([*_lines(plan, choices(plan.cluster))]) + "\n"


def _lines(plan: Plan, made: Choices) -> Iterator[str]:
    yield header(plan, f"choices for {made.ranks} ranks on {made.hosts} hosts")
    yield "# by weft's model, not by measurement: run nccl-tests with and without before you"
    yield "# keep it. NCCL_TUNER_PLUGIN=libnccl-tuner-example.so (ext-tuner/example of NCCL),"
    yield "# NCCL_TUNER_CONFIG_FILE=tuner.csv. The first line that fits counts."
    if made.untold:
        yield (
            f"# At {made.untold} more sizes another choice looks better by less than the "
            "model's error: left out."
        )
    if not made.preferred:
        yield "# No other size: NCCL's own choices stand, and no tuner is needed."
    yield "# " + ",".join(COLUMNS)
    for one in made.preferred:
        yield _reason(one)
        yield _row(made, one)


def _reason(one: Preferred) -> str:
    instead = " ".join(one.instead_of)
    return (
        f"# instead of {instead}: at least {one.least_gain_ratio:.2f} times as fast; the "
        f"model's 80 % band reaches to {one.band_ratio:.2f}"
    )


def _row(made: Choices, one: Preferred) -> str:
    cells = (NAMES[one.operation], one.first_bytes, one.last_bytes, one.algorithm,
             one.protocol, ANY, made.hosts, made.ranks, ANY, ANY)  # fmt: skip
    return ",".join(map(str, cells))


def _refuses(plan: Plan) -> str | None:
    cluster = plan.cluster
    if cluster.host.nics == 0 or cluster.gpus == 1:
        return "a tuner chooses for two ranks or more that a network joins"
    return OWN_TUNERS.get(cluster.fabric.kind)


nccl_tuner = Target(
    title="NCCL: a table for the example tuner, from the model",
    supports=frozenset(Feature) - {Feature.RACK},
    refuses=_refuses,
    files=_files,
    proofs={"tuner.csv": Proof.GOLDEN},
)
