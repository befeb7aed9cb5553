"""D9: TCP costs 10 to 30 % of training against RDMA."""

from collections.abc import Sequence
from functools import partial

from weft.advise.case import Case, Row
from weft.advise.claim import Claim, Outcome, Trial, Verdict, told_by_packets
from weft.advise.consideration import Number
from weft.advise.inputs.communication_share import with_batch
from weft.advise.wording import count, figure, percent

LEAST, MOST = 0.10, 0.30
LARGER, HALVINGS = 64, 6
RDMA = ("infiniband", "roce_tuned")
MIXED = "RDMA was simulated packet by packet; TCP is bounded by what hosts copy, as measured"


def _loss(case: Case, batch: float) -> float:
    job = with_batch(case, batch)
    tcp = case.pace("tcp", job=job).progress_tokens_per_s
    rdma = max(
        case.pace(n, job=job).progress_tokens_per_s for n in ("infiniband", "roce_tuned")
    )
    return 1 - tcp / rdma


def _test(trial: Trial) -> Verdict:
    case = trial.case
    now = _loss(case, case.job.global_batch)
    numbers = (Number("training lost to TCP", now, "ratio"),)
    rows = [row for row in (case.attempt(partial(case.row, n)) for n in RDMA) if row]
    packets = told_by_packets(*rows)
    told = (
        f"TCP over the same ports loses {percent(now)} of the tokens per second here; "
        f"{_where(case)}, with a parallelism that was not chosen for it"
    )
    if packets:
        packets = (f"{_range(case, rows)} by the band of the RDMA rows", MIXED, *packets)
    if LEAST <= now <= MOST:
        return Verdict(outcome=Outcome.HOLDS, reasons=(told, *packets), numbers=numbers)
    if now < LEAST:
        why = f"{told}: less than claimed, communication is too small a part of this step"
        return Verdict(outcome=Outcome.FAILS, reasons=(why, *packets), numbers=numbers)
    batch = _batch_for(case, MOST)
    if batch is None:
        why = f"not even a batch {LARGER} times larger brings it under {percent(MOST)}"
        reasons = (told, why, *packets)
        return Verdict(outcome=Outcome.FAILS, reasons=reasons, numbers=numbers)
    return Verdict(
        outcome=Outcome.WHEN,
        condition=f"a step has about {count(batch)} sequences or more (now "
        f"{count(case.job.global_batch)}), so that communication is a smaller part of it",
        reasons=(told, *packets),
        numbers=(*numbers, Number("batch at which TCP loses 30 %", batch, "sequences")),
    )


def _range(case: Case, rows: Sequence[Row]) -> str:
    """Say how much is lost at the ends of what packets leave the fastest RDMA fabric."""
    best = max(rows, key=lambda row: row.progress_tokens_per_s)
    packets, tcp = best.prediction.packets, case.row("tcp").progress_tokens_per_s
    ends = (1.0, 1.0) if packets is None else (packets.slow_ratio, packets.fast_ratio)
    losses = [1 - tcp / (best.progress_tokens_per_s * ratio) for ratio in ends]
    return f"{percent(losses[0])} to {percent(losses[1])}"


def _where(case: Case) -> str:
    """Say what the GPUs wait for most over TCP."""
    parts = case.row("tcp").prediction.step.breakdown_s
    waits = {part: time_s for part, time_s in parts.items() if part.startswith("exposed_")}
    longest = max(waits, key=lambda part: waits[part])
    dimension = longest.removeprefix("exposed_").upper()
    return f"{figure(waits[longest], 's')} of a step go to {dimension} traffic in the open"


def _batch_for(case: Case, loss: float) -> float | None:
    low = float(case.job.global_batch)
    high = LARGER * low
    if _loss(case, high) > loss:
        return None
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if _loss(case, middle) > loss else (low, middle)
    return high


d09_tcp_costs_10_to_30_per_cent = Claim(
    point="D9",
    articles=("K",),
    text="TCP costs 10 to 30 % of training speed against RDMA",
    test=_test,
)
