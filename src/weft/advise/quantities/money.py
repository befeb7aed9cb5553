"""What networks cost against one another, and what money can decide."""

from collections.abc import Sequence
from math import hypot, inf

from weft import catalogue
from weft.advise.case import TRILLION, Case, Row
from weft.advise.quantity import COUNTED, Trial, exactly, quantity
from weft.advise.spread import difference, price_errors
from weft.errors import Infeasible
from weft.results import Estimate, combine
from weft.spec.cluster import Cluster
from weft.units import SECONDS

NEAR = 1.5
"""A size that the job can run on stands for one within this factor."""
CHECKPOINT_S = 1800.0
"""Half an hour between checkpoints, where the spec does not say."""


@quantity("cost of a token on {name} over the cheapest of {over}, at {gpus} GPUs", "ratio")
def token_cost_over(
    trial: Trial, name: str, over: Sequence[str], gpus: int, exposed_above: float = 0.0
) -> Estimate:
    """Return the ratio at a size near that asked for, errors that both share cancelled.

    With ``exposed_above`` it has a value only where more of a step than that is exposed
    communication.
    """
    case = trial.case
    size = case.whole_gpus(gpus)
    if not gpus / NEAR <= size <= gpus * NEAR:
        raise Infeasible(f"one replica of this job takes {case.whole_gpus(1)} GPUs")
    mine = case.at_gpus(name, size)
    rivals = [case.at_gpus(text, size) for text in over]
    best = min(rivals, key=lambda row: row.usd_per_1t_tokens)
    if mine.exposed_ratio < exposed_above:
        raise Infeasible(f"less than {exposed_above:.0%} of a step is communication")
    return difference(mine, best, trial.spread(name), trial.spread(best.name))


@quantity("cost of the network of {name} over that of {over}", "ratio")
def network_cost_over(trial: Trial, name: str, over: str) -> Estimate:
    """Return the ratio, with the errors of what the two do not share."""
    mine, theirs = trial.row(name), trial.row(over)
    if not theirs.network_usd_per_s:
        raise Infeasible("the network is in the price of a GPU-hour")
    ratio = mine.network_usd_per_s / theirs.network_usd_per_s
    half = (
        hypot(*price_errors(mine.prediction.cost, theirs.prediction.cost))
        / mine.prediction.cost.network_usd.value
    )
    return Estimate(ratio, ratio * max(0.0, 1 - half), ratio * (1 + half))


@quantity("lead of the cheapest network over the error of that lead", "x")
def lead_over_error(trial: Trial) -> Estimate:
    """Return how many times its error the cheapest rival costs more."""
    best = trial.case.best
    rivals = [row for row in trial.case.choices if row.name != best.name]
    if not rivals:
        raise Infeasible("only one network was compared")
    return exactly(min(_lead(trial, row, best) for row in rivals))


@quantity("cost of a token, second network for storage over one for all, load: {load}", "ratio")
def second_network_cost(trial: Trial, load: float | str) -> Estimate:
    """Return the cost with Ethernet for storage over that of InfiniBand which storage shares.

    ``load``: the share of the links that storage takes; ``checkpoints``: what writing
    checkpoints takes on average.
    """
    case = trial.case
    alone, split = trial.row("infiniband"), trial.row("hybrid_infiniband")
    share = _checkpoint_load(case, alone) if load == "checkpoints" else float(load)

    def change(cluster: Cluster) -> Cluster:
        fabric = cluster.fabric.with_(load_ratio=cluster.fabric.load_ratio + share)
        return cluster.with_(storage_fabric=None, fabric=fabric)

    paced = case.pace("infiniband", change=change)
    shared = alone.usd_per_s / paced.progress_tokens_per_s * TRILLION
    same = trial.spread("infiniband")
    slowdown = shared / alone.usd_per_1t_tokens
    return difference(split, alone, same, same).map(lambda ratio: ratio / slowdown)


@quantity("engineers paid by a gain of {gain} on {gpus} GPUs", "engineers")
def engineers_paid(trial: Trial, gain: float, gpus: int) -> Estimate:
    """Return what a share of the cost of GPUs pays, in salaries."""
    own = trial.case.cluster.prices.engineer_usd_per_year
    assumed = catalogue.find("assumptions", "engineer").value
    salary = exactly(own) if own else Estimate(assumed.value, assumed.low, assumed.high)
    hours = gpus * gain * SECONDS["year"] / SECONDS["h"]
    hourly = trial.case.verdict.prediction.cost.usd_per_gpu_hour
    return combine(lambda usd, pay: usd * hours / pay, hourly, salary)


@quantity("break-even points of {inputs} within the range searched", "points", COUNTED)
def break_even_points(trial: Trial, inputs: Sequence[str]) -> Estimate:
    """Return how many values of some inputs change the recommendation."""
    found = [trial.break_evens[name] for name in inputs if name in trial.break_evens]
    if not found:
        raise Infeasible("these inputs do not apply here")
    return exactly(sum((even.below is not None) + (even.above is not None) for even in found))


@quantity("how far {input} moves the cost of a token over its range", "ratio")
def cost_swing(trial: Trial, input: str) -> Estimate:  # noqa: A002 - as the data names it
    """Return the swing of the recommended network's cost."""
    if input not in trial.break_evens:
        raise Infeasible(f"{input} does not apply here")
    return exactly(trial.break_evens[input].swing_ratio)


@quantity("settings that must agree on every switch and NIC for {name}", "settings", COUNTED)
def settings_to_agree(trial: Trial, name: str) -> Estimate:
    """Return the count of a candidate."""
    return exactly(trial.case.candidate(name).settings)


def _lead(trial: Trial, row: Row, best: Row) -> float:
    ratio = difference(row, best, trial.spread(row.name), trial.spread(best.name))
    error = ratio.value - ratio.low
    return (ratio.value - 1) / error if error else inf


def _checkpoint_load(case: Case, row: Row) -> float:
    """Return the share of the fabric that writing checkpoints takes, on average."""
    memory = row.prediction.step.memory_bytes
    size = memory["weights"] * case.replica_gpus + memory["optimizer"] * case.gpus
    interval_s = case.cluster.reliability.checkpoint_interval_s or CHECKPOINT_S
    cluster = row.prediction.cluster
    return size / interval_s / (cluster.nic_bytes_per_s_per_gpu * case.gpus)
