"""A week of a cluster: what its alerts cost the job, its slowest links, and what changed.

Everything is asked of a Prometheus server that has the rules of `weft render prometheus`. An
alert that fires is an episode; its cause has a price in the model, a day of a longer step or a
stop, as `weft diagnose` has it::

    lost time = sum over stops of stop_s + sum over episodes of length * r / (1 + r)

where r is by how much the step grows. Episodes that another one explains are not counted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Final

from weft.bench.history import Change, history
from weft.doctor.cost import Fault, Price
from weft.doctor.price import price
from weft.engines.analytic.step.goodput import DAY_S
from weft.generate.alert import (
    Alert,
    alerts,
    cause_of,
    filled,
    inhibitions,
    names_in,
    quantities,
    recorded,
)
from weft.generate.plan import Plan
from weft.inventory.table import rows
from weft.monitor.prometheus import Prometheus, Samples
from weft.predict.provenance import provenance
from weft.predict.training import predict
from weft.results import Estimate, Provenance
from weft.spec.workload import Job

LOOKS: Final = 5040
"""At the alerts: one in two minutes of a week; Prometheus answers at most 11,000 a series."""
BUSY_RATIO: Final = 0.05
"""A host that sends more than this share of its links' rate works on a job."""
CHANGED_RATIO: Final = 0.05
"""A quantity that differs by more from the begin of the time is a change."""
_GAP: Final = 1.5
"""Looks without an alert, in steps, after which it is another episode."""
_SHOWN: Final = {
    "instance": "{}", "switch": "{}", "device": "{}", "port": "port {}", "gpu": "GPU {}",
    "collective": "{}", "nranks": "{} ranks", "size": "{}",
}  # fmt: skip
"""Labels that name a place, and how they are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """An alert that fired at one place, from its first to its last look."""

    alert: str
    severity: str
    cause: str
    place: str
    labels: Mapping[str, str]
    begin_s: float
    end_s: float
    """One look after the last one at which it fired."""

    @property
    def lasted_s(self) -> float:
        """Return for how long it fired."""
        return self.end_s - self.begin_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What all episodes of one alert cost."""

    alert: str
    severity: str
    cause: str
    episodes: int
    places: tuple[str, ...]
    lasted_s: float
    lost_s: Estimate | None
    """Time that the job lost; none where the model has no price for the cause."""
    usd: Estimate | None
    how: str
    """The fault of the model that gives the price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """Places that stand out in one quantity, the worst first."""

    title: str
    unit: str
    places: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A quantity at the begin and at the end of the time."""

    title: str
    unit: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """What a cluster did in a time, a week unless another one is asked for."""

    cluster: str
    job: str
    gpus: int
    begin_s: float
    end_s: float
    busy_ratio: float | None
    """Share of hosts and time in which a host sent; none where no exporter says."""
    goodput_ratio: Estimate
    """Share of the time that is left after what the episodes cost."""
    expected_goodput_ratio: Estimate
    """The same as the model expects it of this many GPUs."""
    usd: Estimate
    losses: tuple[Loss, ...]
    worst: tuple[Worst, ...]
    changed: tuple[Changed, ...]
    benchmarks: tuple[tuple[str, Change], ...]
    """Kept benchmarks that became slower or faster in this time."""
    provenance: Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Whom to ask about which time, for which plan and job."""

    server: Prometheus
    plan: Plan
    job: Job
    end_s: float
    lasting_s: float

    @property
    def begin_s(self) -> float:
        """Return when the time begins."""
        return self.end_s - self.lasting_s

    def filled(self, expr: str) -> str:
        """Return an expression of a table for this plan and time."""
        known = quantities(self.plan)
        return recorded(filled(expr, known)).replace("RANGE", f"{self.lasting_s:.0f}s")


def week(asked: Asked, history_url: str | None = None) -> Week:
    """Return what a time cost and changed. Raises Unreadable where no server answers."""
    sound = predict(asked.plan.cluster, asked.job)
    counted = list(_caused(episodes(asked), asked.plan))
    losses = sorted(_losses(counted, asked), key=lambda loss: -_usd(loss))
    nothing = Estimate(0.0, 0.0, 0.0)
    lost_s = _total(loss.lost_s for loss in losses) or nothing
    usd = _total(loss.usd for loss in losses) or nothing
    return Week(
        cluster=asked.plan.names.cluster.text(), job=asked.job.model.name, gpus=sound.gpus,
        begin_s=asked.begin_s, end_s=asked.end_s, busy_ratio=_busy(asked),
        goodput_ratio=lost_s.map(lambda lost: max(0.0, 1 - lost / asked.lasting_s)),
        expected_goodput_ratio=sound.goodput_ratio, usd=usd, losses=tuple(losses),
        worst=tuple(_worst(asked)), changed=tuple(_changed(asked)),
        benchmarks=tuple(_benchmarks(asked, history_url)),
        provenance=provenance(
            asked.plan.cluster, asked.job, sources=(),
            assumptions=(
                "one job runs on the whole cluster; each alert costs it what its cause does",
                "episodes at one time cost as much as one after another, but for consequences",
            ),
        ),
    )  # fmt: skip


def _total(parts: Iterable[Estimate | None]) -> Estimate | None:
    """Add what has a price; episodes of one kind err together, so their bands add up too."""
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return Estimate(
        *(sum(getattr(estimate, end) for estimate in known) for end in ("value", "low", "high"))
    )


def _usd(one: Loss) -> float:
    return one.usd.value if one.usd else 0.0


def episodes(asked: Asked) -> Iterator[Episode]:
    """Yield when each alert fired, and where."""
    step_s = max(1.0, asked.lasting_s / LOOKS)
    query = 'ALERTS{alertstate="firing",cause!=""}'
    for samples in asked.server.over(query, asked.begin_s, asked.end_s, step_s):
        yield from _spans(samples, step_s)


def _spans(one: Samples, step_s: float) -> Iterator[Episode]:
    """Yield the times without a gap in which an alert fired at one place."""
    labels = one.labels
    times = [time_s for time_s, _ in one.values]
    gaps = [n for n in range(1, len(times)) if times[n] - times[n - 1] > _GAP * step_s]
    for first, end in pairwise([0, *gaps, len(times)]):
        yield Episode(
            alert=labels["alertname"], severity=labels["severity"], cause=labels["cause"],
            place=_place(labels), labels=labels,
            begin_s=times[first], end_s=times[end - 1] + step_s,
        )  # fmt: skip


def _place(labels: Mapping[str, str]) -> str:
    return " ".join(
        text.format(labels[name]) for name, text in _SHOWN.items() if name in labels
    )


def _caused(found: Iterator[Episode], plan: Plan) -> Iterator[Episode]:
    """Yield the episodes that no other one at their host and time explains."""
    above: dict[str, set[str]] = {}
    for source, target in inhibitions(alerts(plan)):
        above.setdefault(target.name, set()).add(source.name)
    listed = list(found)
    for episode in listed:
        if not any(
            other.alert in above.get(episode.alert, ())
            and other.labels.get("instance") == episode.labels.get("instance")
            and other.begin_s <= episode.end_s
            and episode.begin_s <= other.end_s
            for other in listed
        ):
            yield episode


def _losses(found: Sequence[Episode], asked: Asked) -> Iterator[Loss]:
    by_name = {alert.name: alert for alert in alerts(asked.plan)}
    groups: dict[str, list[Episode]] = {}
    for episode in found:
        groups.setdefault(episode.alert, []).append(episode)
    for name, same in groups.items():
        alert = by_name.get(name)
        prices = [(_priced(alert, episode, asked), episode) for episode in same if alert]
        told = [(cost, episode) for cost, episode in prices if cost]
        yield Loss(
            alert=name, severity=same[0].severity, cause=same[0].cause, episodes=len(same),
            places=tuple(dict.fromkeys(episode.place for episode in same)),
            lasted_s=sum(episode.lasted_s for episode in same),
            lost_s=_total(_lost_s(*pair) for pair in told),
            usd=_total(_paid(*pair) for pair in told),
            how=told[0][0].fault if told else "",
        )  # fmt: skip


def _priced(alert: Alert, one: Episode, asked: Asked) -> Price | None:
    cause = cause_of(alert)
    if cause is None or not cause.model:
        return None
    left = round(_left(alert, one, asked), 2)
    return _price(Fault[cause.model.upper()], left, asked.plan.cluster, asked.job)


@cache
def _price(fault: Fault, left: float, *stated: Any) -> Price | None:  # noqa: ANN401 - cluster, job
    return price(fault, left, *stated)


def _left(alert: Alert, one: Episode, asked: Asked) -> float:
    """Return the share that was left at the place of an episode, by the row of its alert."""
    if not alert.left:
        return 1.0
    over = f"[{one.lasted_s:.0f}s:60s]"
    query = f"avg_over_time(({asked.filled(alert.left)}){over})"
    found = asked.server.now(query, one.end_s)
    labels = one.labels.items()
    same = [series.values[0][1] for series in found if series.labels.items() <= labels]
    return min(same, default=1.0)


def _lost_s(cost: Price, one: Episode) -> Estimate:
    if cost.stop_s is not None:
        return cost.stop_s
    assert cost.step_ratio is not None
    return cost.step_ratio.map(lambda more: one.lasted_s * more / (1 + more))


def _paid(cost: Price, one: Episode) -> Estimate:
    days = 1.0 if cost.stop_s is not None else one.lasted_s / DAY_S
    return cost.usd.map(lambda usd: usd * days)


def _busy(asked: Asked) -> float | None:
    least = f"{BUSY_RATIO} * [[=nics]] * [[=link_bytes_per_s]]"
    busy = f"avg(sum by (instance) ([[port.tx_bytes:rate5m]]) > bool {least})"
    found = asked.server.now(asked.filled(f"avg_over_time(({busy})[RANGE:5m])"), asked.end_s)
    return found[0].values[0][1] if found else None


def _questions(asked: Asked, ask: str) -> Iterator[Mapping[str, Any]]:
    kind, known = asked.plan.cluster.fabric.kind, quantities(asked.plan).keys()
    for row in rows("weft.monitor", "week.yaml"):
        fits = kind in row.get("fabrics", (kind,)) and names_in(row["expr"]) <= known
        if row["ask"] == ask and fits:
            yield row


def _worst(asked: Asked) -> Iterator[Worst]:
    for row in _questions(asked, "worst"):
        found = asked.server.now(asked.filled(row["expr"]), asked.end_s)
        places = [(_place(samples.labels), samples.values[0][1]) for samples in found]
        if places:
            yield Worst(title=row["title"], unit=row["unit"], places=tuple(places))


def _changed(asked: Asked) -> Iterator[Changed]:
    for row in _questions(asked, "changed"):
        # A day (or an hour) of averages lies before either time.
        then_s = asked.begin_s + min(DAY_S, asked.lasting_s / 2)
        ends = [
            {_place(samples.labels): samples.values[0][1]
             for samples in asked.server.now(asked.filled(row["expr"]), at_s)}
            for at_s in (then_s, asked.end_s)
        ]  # fmt: skip
        for place, before in ends[0].items():
            after = ends[1].get(place, 0.0)
            limit = CHANGED_RATIO * abs(before) if row["unit"] == "Bps" else 0.0
            if abs(after - before) > limit:
                title = f"{row['title']} {place}".strip()
                yield Changed(title=title, unit=row["unit"], before=before, after=after)


def _benchmarks(asked: Asked, url: str | None) -> Iterator[tuple[str, Change]]:
    if url is None:
        return
    for series in history(url).series:
        if series.change is not None and _within(series.change, asked):
            yield f"{series.operation} on {len(series.hosts)} hosts", series.change


def _within(change: Change, asked: Asked) -> bool:
    from datetime import datetime  # noqa: PLC0415 - only where a history is asked for

    return asked.begin_s <= datetime.fromisoformat(change.began).timestamp() <= asked.end_s
