"""What is searched: knobs that the settings have, and how values enter a scenario."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from weft.engines.packet.settings import class_numbers, link_rate_of, options_of
from weft.engines.packet.simulation import PS_PER_S, Options
from weft.errors import SpecError, UnknownName
from weft.spec.problems import nearest
from weft.spec.scenario import Scenario
from weft.spec.settings import Ecn, NetworkSettings, Pfc
from weft.tune.knob import Knob, all_knobs
from weft.units import show_rate

Values = Mapping[str, float]
"""Of knobs, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Knobs by name, and where the search begins."""

    knobs: Mapping[str, Knob]
    start: Values
    """As the first scenario is set up, inside the ranges."""
    notes: tuple[str, ...] = ()
    """Knobs that some classes of traffic, or all, decide for themselves."""

    def applied(self, network: NetworkSettings, values: Values) -> NetworkSettings:
        """Return settings with values entered: ratios after what they are ratios to."""
        for name in sorted(values, key=lambda name: (self.knobs[name].relative, name)):
            network = self.knobs[name].enter(network, values[name])
        return network


def space_of(scenarios: Sequence[Scenario], asked: Sequence[str] = ()) -> Space:
    """Return the knobs that the settings of the scenarios have, or those asked of them."""
    known = all_knobs()
    for name in asked:
        if name not in known:
            raise UnknownName(f"no knob is called {name!r}; {nearest(name, known)}")
    options = [options_of(scenario, scenario.seeds[0]) for scenario in scenarios]
    there = [name for name, knob in known.items() if all(map(knob.applies, options))]
    fitting = {name: known[name] for name in asked or known if name in there}
    idle = [name for name in asked if name not in fitting]
    if idle or not fitting:
        first = options[0]
        raise SpecError(
            f"the settings of these scenarios have no knob {', '.join(idle) or 'to search'} "
            f"({first.flow_control.name.lower()}, {first.congestion}); they have: "
            f"{', '.join(there) or 'none'}"
        )
    acting = {name: _acts_in(knob, scenarios) for name, knob in fitting.items()}
    dead = [name for name, classes in acting.items() if not classes]
    if set(dead) & set(asked) or len(dead) == len(fitting):
        raise SpecError(
            f"the knobs {', '.join(dead)} change nothing here: every traffic class that is "
            "used sets its own; leave them out of network.classes, or tune others"
        )
    live = {name: knob for name, knob in fitting.items() if acting[name]}
    start = {name: knob.tidy(knob.read(options[0])) for name, knob in live.items()}
    return Space(knobs=live, start=start, notes=tuple(_notes(acting, scenarios)))


def _acts_in(knob: Knob, scenarios: Sequence[Scenario]) -> frozenset[str]:
    """Return the classes that a knob changes anything for; without classes one, unnamed."""
    found: set[str] = set()
    for scenario in scenarios:
        base = explicit(scenario)
        low, high = (
            _by_class(scenario.with_(network=knob.enter(base, end)))
            for end in (knob.low, knob.high)
        )
        found |= {name for name, own in low.items() if knob.applies(own) and own != high[name]}
    return frozenset(found)


def _by_class(scenario: Scenario) -> dict[str, Options]:
    """Return what the engine runs the classes with that some traffic is of."""
    options = options_of(scenario, scenario.seeds[0])
    if not options.classes:
        return {"": options}
    used = (options.classes[number] for number in class_numbers(scenario))
    return {traffic.name: traffic.options or options for traffic in used}


def _notes(
    acting: Mapping[str, frozenset[str]], scenarios: Sequence[Scenario]
) -> Iterator[str]:
    """Say which knobs classes decide for themselves."""
    every = frozenset().union(*map(_by_class, scenarios))
    for classes in sorted(set(acting.values()), key=sorted):
        names = ", ".join(name for name, own in acting.items() if own == classes)
        if not classes:
            yield f"not searched: {names}; every traffic class sets its own"
        elif classes != every:
            where = ", ".join(sorted(classes))
            yield f"{names}: searched for traffic class {where}; others set their own"


def explicit(scenario: Scenario) -> NetworkSettings:
    """Return the settings of a scenario with everything filled in, for its own link rate."""
    options, written = options_of(scenario, scenario.seeds[0]), scenario.network
    limit = None if written.queue_limit_bytes is None else options.queue_limit_bytes
    shared = written.buffer.shared_bytes is not None
    alpha = options.alpha_ratio if shared else written.buffer.alpha_ratio
    credit = None if written.credit_bytes is None else options.credit_bytes
    return written.with_(
        at_bytes_per_s=None,
        ecn=Ecn().with_(
            kmin_bytes=options.kmin_bytes,
            kmax_bytes=options.kmax_bytes,
            pmax_ratio=options.pmax_ratio,
        ),
        pfc=Pfc().with_(xoff_bytes=options.xoff_bytes, xon_bytes=options.xon_bytes),
        buffer=written.buffer.with_(alpha_ratio=alpha, headroom_bytes=options.headroom_bytes),
        cnp_gap_s=options.cnp_gap_ps / PS_PER_S,
        queue_limit_bytes=limit,
        credit_bytes=credit,
    )


def rate_of(scenarios: Sequence[Scenario]) -> float:
    """Return the link rate that all scenarios share: thresholds mean nothing without it."""
    rates = {link_rate_of(scenario.cluster) for scenario in scenarios}
    if len(rates) > 1:
        raise SpecError(
            f"the scenarios have links of {' and '.join(map(show_rate, sorted(rates)))}; a "
            "threshold suits one rate: tune them apart"
        )
    return rates.pop()
