"""D9: TCP costs 10 to 30 % of training against RDMA."""

from collections.abc import Sequence
from functools import partial

from weft.advise.case import Case, Row
from weft.advise.claim import (
    Claim,
    Evidence,
    Outcome,
    Trial,
    Verdict,
    simulated,
    told_by_packets,
)
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
    tcp = case.row("tcp")
    rows = [row for row in (case.attempt(partial(case.row, n)) for n in RDMA) if row]
    by_packets = bool(rows) and simulated(tcp, *rows)
    now = _of_rows(tcp, rows) if by_packets else _loss(case, case.job.global_batch)
    numbers = (Number("training lost to TCP", now, "ratio"),)
    told = (
        f"TCP over the same ports loses {percent(now)} of the tokens per second here; "
        f"{_where(case)}, with a parallelism that was not chosen for it"
    )
    packets = told_by_packets(*rows, tcp)
    if packets:
        mixed = () if by_packets else (MIXED,)
        packets = (f"{_range(tcp, rows)} by the bands of what was simulated", *mixed, *packets)
    verdict = partial(Verdict, evidence=Evidence.SIMULATED if by_packets else Evidence.COMPUTED)
    if LEAST <= now <= MOST:
        return verdict(outcome=Outcome.HOLDS, reasons=(told, *packets), numbers=numbers)
    if now < LEAST:
        why = f"{told}: less than claimed, communication is too small a part of this step"
        return verdict(outcome=Outcome.FAILS, reasons=(why, *packets), numbers=numbers)
    batch = _batch_for(case, MOST)
    if batch is None:
        why = f"not even a batch {LARGER} times larger brings it under {percent(MOST)}"
        reasons = (told, why, *packets)
        return verdict(outcome=Outcome.FAILS, reasons=reasons, numbers=numbers)
    return verdict(
        outcome=Outcome.WHEN,
        condition=f"a step has about {count(batch)} sequences or more (now "
        f"{count(case.job.global_batch)}), so that communication is a smaller part of it",
        reasons=(told, *packets),
        numbers=(*numbers, Number("batch at which TCP loses 30 %", batch, "sequences")),
    )


def _of_rows(tcp: Row, rows: Sequence[Row]) -> float:
    """Return what is lost to TCP against the fastest RDMA fabric."""
    return 1 - tcp.progress_tokens_per_s / max(row.progress_tokens_per_s for row in rows)


def _range(tcp: Row, rows: Sequence[Row]) -> str:
    """Say how much is lost at the ends of what packets leave either side."""
    best = max(rows, key=lambda row: row.progress_tokens_per_s)
    middle = tcp.progress_tokens_per_s / best.progress_tokens_per_s
    (slow, fast), (slowest, fastest) = _ends(best), _ends(tcp)
    return f"{percent(1 - middle * fastest / slow)} to {percent(1 - middle * slowest / fast)}"


def _ends(row: Row) -> tuple[float, float]:
    packets = row.prediction.packets
    return (1.0, 1.0) if packets is None else (packets.slow_ratio, packets.fast_ratio)


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
