"""What the planned numbers of a lossless network do: simulated with them, and without one.

A collective of 32 NICs under two leaves runs beside an incast of seven, once as planned and
once for each setting that is taken away; what changes is that setting's effect.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from weft.generate.plan import Plan
from weft.predict.simulate import simulate
from weft.predict.simulation import Simulation
from weft.results import Estimate
from weft.spec.load import load_scenario
from weft.spec.settings import Tuning

HOSTS: Final = 32
SEEDS: Final = (1, 2, 3)
_OUT_OF_REACH = "1TB"
_SHALLOW = "1MiB"
_PRESET = "roce_tuned"
_SWITCH = "asterfusion_cx732q"
"""Of 32 ports, so that 32 NICs take two leaves."""
_TRAFFIC = [
    {"collective": {"operation": "all_reduce", "size_bytes": "16MiB", "placement": "shuffled"}},
    {"incast": {"senders": 7, "size_bytes": "8MiB"}},
]
SCENARIO: Final = (
    f"ring all-reduce of 16 MiB over {HOSTS} NICs under two leaves, hosts shuffled, beside an "
    f"incast of 7 x 8 MiB; {len(SEEDS)} seeds; DCQCN timers of "
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What one setting is worth, by simulation."""

    without: str
    """What was taken away."""
    collective_s: Estimate
    """As planned."""
    collective_without_s: Estimate | None
    """None where it did not end."""
    paused_s: float
    """Time that links stood paused, added up, as planned."""
    paused_without_s: float
    drops_without: int
    scenario: str

    @property
    def longer_ratio(self) -> float | None:
        """Return how much longer the collective takes without the setting."""
        if self.collective_without_s is None:
            return None
        return self.collective_without_s.value / self.collective_s.value - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedPlan:
    """A plan to be shown with the reason and source of each value, and what some are worth."""

    plan: Plan
    effects: tuple[Effect, ...] = ()


def explained(plan: Plan) -> ExplainedPlan:
    """Return a plan with the simulated effects of its lossless settings."""
    return ExplainedPlan(plan=plan, effects=effects(plan))


def effects(plan: Plan) -> tuple[Effect, ...]:
    """Simulate the plan, and the plan without each of its lossless settings; none elsewhere."""
    if plan.pause is None or plan.marking is None:
        return ()
    whole = _network(plan)
    planned = _run(plan, whole)
    tuning = _tuning(plan)
    scenario = SCENARIO + (_PRESET if tuning is None else tuning.name)
    return tuple(
        _effect(without, planned, _run(plan, whole | changes), scenario)
        for without, changes in _taken_away(plan)
    )


def _taken_away(plan: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    never = {"kmin_bytes": _OUT_OF_REACH, "kmax_bytes": _OUT_OF_REACH}
    yield "switches that mark", {"ecn": never}
    yield f"PFC (a queue of {_SHALLOW} drops, NICs go back N)", {
        "flow_control": "none", "recovery": "go_back_n", "queue_limit_bytes": _SHALLOW,
    }  # fmt: skip
    if plan.nccl.queue_pairs > 1:
        yield f"{plan.nccl.queue_pairs} queue pairs a connection (one)", {"queue_pairs": 1}


def _network(plan: Plan) -> dict[str, Any]:
    """Return the settings of the simulator that stand for the planned numbers."""
    assert plan.pause is not None
    assert plan.marking is not None
    network: dict[str, Any] = {
        "preset": _PRESET,
        "balancing": plan.cluster.fabric.load_balancing or "ecmp",
        "queue_pairs": plan.nccl.queue_pairs,
        "ecn": {
            "kmin_bytes": f"{plan.marking.kmin_bytes.whole()}B",
            "kmax_bytes": f"{plan.marking.kmax_bytes.whole()}B",
            "pmax_ratio": plan.marking.pmax_ratio.number(),
        },
    }
    tuning = _tuning(plan)
    if tuning is not None:
        network["knobs"] = dict(tuning.settings.knobs)
        if tuning.settings.cnp_gap_s is not None:
            network["cnp_gap_s"] = f"{tuning.settings.cnp_gap_s}s"
    if plan.pause.xoff_bytes is not None:
        xoff = plan.pause.xoff_bytes.whole()
        offset = plan.pause.xon_offset_bytes.whole() or plan.pause.xon_bytes.whole()
        xon = max(1, xoff - offset)
        network["pfc"] = {"xoff_bytes": f"{xoff}B", "xon_bytes": f"{xon}B"}
    return network


def _tuning(plan: Plan) -> Tuning | None:
    """Return the settings that a search found for the NICs' DCQCN, where there are any."""
    found = plan.cluster.fabric.settings
    return found if found is not None and found.settings.congestion == "dcqcn" else None


def _run(plan: Plan, network: Mapping[str, Any]) -> Simulation:
    """Run the traffic under two leaves of the planned rate, with some settings."""
    cluster = plan.cluster
    scenario = load_scenario(
        {
            "cluster": {
                "preset": "hgx_h100_roce",
                "hosts": HOSTS,
                "host": {
                    "gpus": 1, "nics": 1, "server": "", "scale_up": {"gpus": 1},
                    "nic_bytes_per_s": f"{cluster.host.nic_bytes_per_s:.0f}B/s",
                },
                "topology": {
                    "kind": "leaf_spine", "switch": _SWITCH,
                    "cable_m": cluster.topology.cable_m,
                },
            },
            "network": dict(network),
            "traffic": _TRAFFIC,
            "seeds": list(SEEDS),
        }
    )  # fmt: skip
    return simulate(scenario)


def _effect(without: str, planned: Simulation, other: Simulation, scenario: str) -> Effect:
    ring = planned.traffic[0].completion_s
    assert ring is not None, "the planned network did not finish"
    return Effect(
        without=without,
        collective_s=ring,
        collective_without_s=other.traffic[0].completion_s,
        paused_s=_paused_s(planned),
        paused_without_s=_paused_s(other),
        drops_without=sum(seed.counts["drops"] for seed in other.seeds),
        scenario=scenario,
    )


def _paused_s(result: Simulation) -> float:
    return sum(link.paused_s or 0.0 for link in result.links)
