"""One row of a table of training steps on one GPU, with the whole shape of the model."""

from collections.abc import Iterator, Mapping
from typing import Final

from weft.accuracy.kind import LeftOut, Row, Score
from weft.accuracy.rows import words
from weft.accuracy.rows.machines import cluster_of, machine_of
from weft.accuracy.rows.training import Case
from weft.accuracy.rows.training_step import score_table
from weft.spec.workload import Job

SHAPE: Final = ("layers", "hidden", "heads", "kv_heads", "head_dim", "ffn_hidden", "vocab")


def score(kind: str, tables: Mapping[str, list[Row]]) -> Iterator[Score | LeftOut]:
    """Score the rows of the table."""
    return score_table(kind, tables, file="gpu_steps", read=case_of)


def case_of(row: Row) -> Case | str:
    """Return the case of a row, or the reason why weft leaves it out."""
    machine = machine_of(row["gpu"])
    if isinstance(machine, str):
        return machine
    micro = int(row["micro_batch"])
    shape = {name: int(row[name]) for name in SHAPE}
    job = Job.model_validate({
        "name": row["row_id"],
        "model": {"name": f"{shape['layers']} layers of {shape['hidden']}", **shape},
        "parallelism": {"sharding": "none"}, "precision": words.precision(row["precision"]),
        "sequence_length": int(row["sequence"]), "micro_batch": micro,
        "global_batch": micro * int(row["micro_batches"]), "framework": "pytorch", "gpus": 1,
        "optimizer_states": "bf16" if "bf16 states" in row["optimizer"] else "fp32",
        "compile": row["mode"] == "compiled",
    })  # fmt: skip
    labels = {
        "family": row["family"], "gpu": machine.gpu, "model": job.model.name,
        "precision": job.precision, "mode": row["mode"],
    }  # fmt: skip
    return Case(
        cluster=cluster_of(machine, "", 1), job=job,
        measured_s=float(row["step_s"]), labels=labels,
    )  # fmt: skip
