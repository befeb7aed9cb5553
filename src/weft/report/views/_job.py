"""Parts that pages on a job share: the question, what it rests on, the step and the cost."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from weft.advise.wording import figure
from weft.design.cost import TotalCost
from weft.engines.engine import StepTime
from weft.report.numbers import money, show_rate
from weft.report.page import Sentences, Table
from weft.results import Provenance
from weft.spec.cluster import Cluster
from weft.spec.workload import Job, Parallelism


def brief(cluster: Cluster, job: Job) -> tuple[tuple[str, str], ...]:
    """Describe a cluster and a job in three lines, as pairs of names and values."""
    host, fabric = cluster.host, cluster.fabric
    network = f"{fabric.kind}, {host.nics} x {show_rate(host.nic_bytes_per_s)} per host"
    tokens = f"{figure(job.global_batch, 'sequences')} of {job.sequence_length} tokens"
    return (
        ("cluster", f"{figure(cluster.hosts, 'hosts')} of {host.gpus} {host.gpu}"),
        ("network", f"{network}, {cluster.topology.kind.replace('_', ' ')}"),
        ("job", f"{tokens}, {job.precision}; {spread(job)}"),
    )


def spread(job: Job) -> str:
    """Say how a job is spread over its GPUs.

    >>> from weft.spec.load import load_job
    >>> spread(load_job({"model": "llama3_8b", "global_batch": 64}))
    'auto'
    """
    how = job.parallelism
    if not isinstance(how, Parallelism):
        return how
    ranks = {"TP": how.tp, "CP": how.cp, "PP": how.pp, "EP": how.ep, "DP": how.dp or 0}
    words = [f"{name} {count}" for name, count in ranks.items() if count > 1]
    if how.pp > 1:
        chunks = f", {how.virtual_stages} chunks" if how.virtual_stages > 1 else ""
        words.append(f"{how.schedule.replace('_', ' ')}{chunks}")
    return ", ".join([*words, how.sharding])


def defaults(made: Provenance) -> Iterator[Sentences]:
    """Say which values nobody gave, and how to give them."""
    if made.defaults:
        named = ", ".join(made.defaults)
        yield Sentences(lines=(f"Defaults, change them with --set: {named}.",))


def all_assumptions(made: Provenance, predictions: Iterable[Any]) -> Sentences:
    """Return the assumptions of a comparison, and once those of each prediction in it."""
    every = (text for prediction in predictions for text in prediction.provenance.assumptions)
    return Sentences(
        title="Assumptions", lines=tuple(dict.fromkeys((*made.assumptions, *every)))
    )


GROUPS: Final = {
    "compute": ("matrix", "attention", "memory_bound", "recompute", "launch", "optimizer"),
    "pipeline bubble": ("bubble",),
    "exposed TP, CP and EP": ("exposed_tp", "exposed_cp", "exposed_ep"),
    "exposed PP": ("exposed_pp",),
    "exposed DP": ("exposed_dp",),
    "stragglers": ("straggler",),
}
"""What the breakdown is drawn as: few enough parts to tell apart, in the order of a bar."""

STEP_TITLES: Final = {
    "matrix": "matrix products",
    "attention": "attention",
    "memory_bound": "memory-bound operations",
    "recompute": "recomputation",
    "launch": "kernel launches",
    "bubble": "pipeline bubble",
    "exposed_tp": "exposed TP communication",
    "exposed_cp": "exposed CP communication",
    "exposed_ep": "exposed EP communication",
    "exposed_pp": "exposed PP communication",
    "exposed_dp": "exposed DP communication",
    "optimizer": "optimizer",
    "straggler": "stragglers and jitter",
}


def grouped_s(step: StepTime) -> dict[str, float]:
    """Sum the breakdown into the groups that charts draw; the rest is ``other``."""
    named = {part for parts in GROUPS.values() for part in parts}
    sums = {
        group: sum(step.breakdown_s.get(part, 0.0) for part in parts)
        for group, parts in GROUPS.items()
    }
    rest = sum(s for part, s in step.breakdown_s.items() if part not in named)
    return sums | ({"other": rest} if rest > 0 else {})


def breakdown_rows(step: StepTime, label: str) -> Iterator[dict[str, object]]:
    """Yield the rows of one bar of the breakdown chart."""
    order = {"label": label, "total": step.step_s.value}
    for place, (group, seconds) in enumerate(grouped_s(step).items()):
        if seconds > 0:
            yield order | {"part": group, "seconds": seconds, "place": place}


COST_TITLES: Final = {
    "servers": "servers",
    "nics": "NICs",
    "switches": "switches",
    "optics": "optics and cables",
    "spares": "spares",
    "energy": "energy",
    "colocation": "colocation",
    "staff": "staff",
    "support": "support",
    "rental": "rental",
}


def parts_usd(cost: TotalCost) -> dict[str, float]:
    """Return the parts that cost anything, in the order of the table.

    NICs that come with their servers cost nothing of their own and are not in it.
    """
    known = {name: cost.parts[name].value for name in COST_TITLES if name in cost.parts}
    rest = {name: part.value for name, part in cost.parts.items() if name not in COST_TITLES}
    return {name: usd for name, usd in (known | rest).items() if usd > 0}


def cost_rows(costs: Mapping[str, TotalCost]) -> Iterator[dict[str, object]]:
    """Yield the rows of the chart, one bar a label."""
    order = list(COST_TITLES)
    for label, cost in costs.items():
        for part, usd in parts_usd(cost).items():
            yield {
                "label": label,
                "part": COST_TITLES.get(part, part),
                "place": order.index(part) if part in order else len(order),
                "usd": usd,
                "total": cost.total_usd.value,
            }


def cost_table(costs: Mapping[str, TotalCost], years: float) -> Table:
    """Return the bill over the years, one line a label."""
    parts = {label: parts_usd(cost) for label, cost in costs.items()}
    names = [name for name in COST_TITLES if any(name in own for own in parts.values())]
    rows = (
        (
            label,
            *(money(parts[label][name]) if name in parts[label] else "-" for name in names),
            money(cost.total_usd),
            money(cost.usd_per_gpu_hour),
        )
        for label, cost in costs.items()
    )
    return Table(
        title=f"Total cost of ownership over {years:g} years",
        columns=("", *(COST_TITLES[name] for name in names), "total", "per GPU-hour"),
        rows=tuple(rows),
    )
