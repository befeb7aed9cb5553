"""D7: InfiniBand between GPUs, Ethernet for storage and management."""

from weft.advise.case import TRILLION, Case, Row
from weft.advise.claim import Claim, Outcome, Trial, Verdict
from weft.advise.consideration import Number
from weft.advise.wording import percent

HYBRIDS = {"infiniband": "hybrid_infiniband"}
MOST_LOAD, HALVINGS = 0.5, 4
CHECKPOINT_S = 1800.0  # half an hour, where the spec does not say


def _checkpoint_load(case: Case, row: Row) -> float:
    """Return the share of the fabric that writing checkpoints takes, on average."""
    memory = row.prediction.step.memory_bytes
    size = memory["weights"] * case.replica_gpus + memory["optimizer"] * case.gpus
    interval_s = case.cluster.reliability.checkpoint_interval_s or CHECKPOINT_S
    rate = case.cluster.nic_bytes_per_s_per_gpu * case.gpus
    return size / interval_s / rate


def _shared(case: Case, name: str, load: float) -> float:
    row = case.row(name)
    paced = case.pace(
        name,
        change=lambda c: c.with_(
            storage_fabric=None, fabric=c.fabric.with_(load_ratio=c.fabric.load_ratio + load)
        ),
    )
    return row.usd_per_s / paced.progress_tokens_per_s * TRILLION


def _test(trial: Trial) -> Verdict:
    case = trial.case
    name = "infiniband"
    alone, split = case.row(name), case.row(HYBRIDS[name])
    dearer = split.usd_per_1t_tokens / alone.usd_per_1t_tokens - 1
    load = _checkpoint_load(case, alone)
    why = (
        f"a network of its own for storage costs {percent(dearer)} more a token",
        f"checkpoints take {percent(load)} of the compute fabric on average",
        "bursts and tails are not simulated; isolation and out-of-band are reasons besides",
    )
    numbers = (
        Number("second network, cost of a token", dearer, "ratio"),
        Number("share of the fabric for checkpoints", load, "ratio"),
    )
    pays = _load_that_pays(case, name, split.usd_per_1t_tokens)
    if pays is None:
        return Verdict(outcome=Outcome.FAILS, reasons=why, numbers=numbers)
    if load >= pays:
        return Verdict(outcome=Outcome.HOLDS, reasons=why, numbers=numbers)
    return Verdict(
        outcome=Outcome.WHEN,
        condition=f"storage and other traffic take more than {percent(pays)} of the links",
        reasons=why,
        numbers=(*numbers, Number("load from which it pays", pays, "ratio")),
    )


def _load_that_pays(case: Case, name: str, split_usd: float) -> float | None:
    low, high = 0.0, MOST_LOAD
    if _shared(case, name, high) < split_usd:
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _shared(case, name, middle) < split_usd else (low, middle)
    return high


d07_two_networks = Claim(
    point="D7",
    articles=("C", "E"),
    text="InfiniBand between GPUs and Ethernet for storage, management and out of band",
    test=_test,
)
