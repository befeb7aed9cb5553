"""What weft must know of a fabric: framing, what load balancing keeps, latency, copies.

Its facts are a file of ``catalogue/fabrics``. Shares (``ratio``) are of the payload rate.
"""

from dataclasses import fields
from functools import cache

from weft import catalogue
from weft.catalogue.devices import FabricFacts
from weft.errors import UnknownName
from weft.network import shares
from weft.sources import Source, Sourced


class Fabric(FabricFacts):
    """One way to join hosts, and what closed forms take of it."""

    __slots__ = ()

    @property
    def default_load_balancing(self) -> str:
        """The mode that the fabric has when nothing is said."""
        return next(iter(self.load_balancing))

    def payload_ratio(self, mtu_bytes: int | None = None) -> float:
        """Return the share of the line rate that is payload at an MTU."""
        mtu = self.default_mtu_bytes if mtu_bytes is None else mtu_bytes
        return mtu / (mtu + self.header_bytes.value)

    def balanced(self, mode: str | None = None) -> Sourced:
        """Return the share that closed forms take a mode to keep beyond the leaf."""
        name = self.default_load_balancing if mode is None else mode
        if name not in self.load_balancing:
            known = ", ".join(self.load_balancing)
            raise UnknownName(
                f"{self.title} has no load balancing called {name!r}; there are: {known}"
            )
        published = self.published(name)
        found = shares.find(self.name, "load_balancing", name)
        if found is None:
            assert published is not None, f"{self.name}: nothing gives a share for {name}"
            return published
        return found.of(published)

    def published(self, mode: str | None = None) -> Sourced | None:
        """Return the published share of a mode; none where engines alone give it."""
        found = self.load_balancing[mode or self.default_load_balancing]
        return None if found == "simulated" else found

    def tuned(self, state: str) -> Sourced:
        """Return the share that closed forms take a state of tuning to keep."""
        found = shares.find(self.name, "tuning", state)
        return self.tuning[state] if found is None else found.of(self.tuning[state])

    def source(self, key: str) -> Source:
        """Return what stands behind a key of a share: one of the fabric's, or an engine."""
        return shares.ENGINES.get(key) or self.sources[key]

    def assumption(self, mode: str | None = None) -> str:
        """Say which factor stands in for what only a simulation can give."""
        name, share = mode or self.default_load_balancing, self.balanced(mode)
        return (
            f"{self.title}: {name} load balancing keeps {shares.band(share)} of the bandwidth "
            f"beyond the leaf {self._sources(share, 'load_balancing', name)}"
        )

    def tuning_assumption(self, state: str) -> str:
        """Say what a state of tuning is taken to keep."""
        share = self.tuned(state)
        return (
            f"{self.title} {state}: {shares.band(share)} of its bandwidth remains "
            f"{self._sources(share, 'tuning', state)}"
        )

    def effects(self, state: str) -> tuple[str, ...]:
        """Say what packets show of a state of tuning that closed forms have no factor for."""
        found = shares.effects(self.name, state)
        return tuple(f"{self.title} {state}, simulated: {effect.said}" for effect in found)

    def _sources(self, share: Sourced, factor: shares.Factor, mode: str) -> str:
        found = shares.find(self.name, factor, mode)
        both = "" if found is None else f"; {found.said}"
        return f"[{', '.join(share.sources)}]{both}"


@cache
def find(name: str) -> Fabric:
    """Load a fabric by name.

    >>> find("infiniband").title
    'InfiniBand'
    """
    facts = catalogue.find("fabrics", name)
    return Fabric(**{field.name: getattr(facts, field.name) for field in fields(facts)})


def names() -> list[str]:
    """List the fabrics."""
    return catalogue.names("fabrics")
