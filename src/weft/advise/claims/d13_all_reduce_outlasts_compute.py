"""D13: all-reduce often takes longer than the computation at trillions of parameters."""

from weft.advise.claim import Claim, Outcome, Trial, Verdict
from weft.advise.consideration import Number
from weft.advise.wording import count, percent

COMPUTE = ("matrix", "attention", "memory_bound", "recompute", "launch")
FLOP_PER_PARAMETER = 6  # forward and backward, for each token
TRILLION = 1e12
PROPORTION = (
    "both grow in proportion to the parameters, so size alone does not change the ratio; the "
    "computation shrinks with the batch of a replica and the reduction does not"
)


def _test(trial: Trial) -> Verdict:
    case = trial.case
    row = case.verdict
    step, job = row.prediction.step, row.prediction.job
    reduce_s = sum(t.total_s for t in step.traffic if t.dimension == "dp")
    compute_s = sum(step.breakdown_s.get(part, 0.0) for part in COMPUTE)
    tokens = job.global_batch * job.sequence_length
    parameters = step.model_flops / FLOP_PER_PARAMETER / tokens
    ratio = reduce_s / compute_s
    limit = ratio * job.global_batch
    least = case.gpus // case.replica_gpus * job.micro_batch
    why = (
        f"over {row.candidate.short} the reduction takes {percent(ratio)} of the compute time",
        PROPORTION,
        f"this model computes with about {parameters / 1e9:.3g} billion parameters a token"
        + ("" if parameters >= TRILLION else ", fewer than the article speaks of"),
    )
    numbers = (
        Number("data-parallel communication over computation", ratio, "ratio"),
        Number("batch at which they are equal", limit, "sequences"),
    )
    if ratio > 1:
        return Verdict(outcome=Outcome.HOLDS, reasons=why, numbers=numbers)
    if limit < least:
        never = f"not even at one micro-batch a replica ({count(least)} sequences a step)"
        return Verdict(outcome=Outcome.FAILS, reasons=(*why, never), numbers=numbers)
    return Verdict(
        outcome=Outcome.WHEN,
        condition=f"a step has fewer than {count(limit)} sequences (now "
        f"{count(job.global_batch)})",
        reasons=why,
        numbers=numbers,
    )


d13_all_reduce_outlasts_compute = Claim(
    point="D13",
    articles=("P",),
    text="At trillions of parameters the all-reduce often takes longer than the computation",
    test=_test,
)
