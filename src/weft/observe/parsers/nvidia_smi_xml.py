"""``nvidia-smi -q -x``: what each GPU reports, as XML of one element a line."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.gpus import (
    GpuReading,
    GpuSeen,
    GpuThrottle,
    RemappedRows,
    ScaleUpFabricState,
)
from weft.observe.facts.pci import PcieLink
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, real

_GPU = re.compile(r"\s*<gpu id=\"(?P<bus>[0-9A-Fa-f:.]{7,20})\">")
_ENDS = re.compile(r"\s*</(?P<tag>\w{1,60})>")
_BEGINS = re.compile(r"\s*<(?P<tag>\w{1,60})>\s*$")
_VALUE = re.compile(r"\s*<(?P<tag>\w{1,60})>(?P<value>[^<]{0,200})</\w{1,60}>")
_OTHER = re.compile(r"\s*<[?!/]?\w")
_REASON = re.compile(r"clocks_(?:event|throttle)_reason_(?P<reason>\w+)")
_READINGS = {
    "gpu_temp": ("temperature", "°C", 1.0),
    "sm_clock": ("sm_clock", "Hz", 1e6),
}
_FABRIC = ("state", "status")


@dataclass(slots=True)
class _Reader:
    """Remembers the GPU and the elements around a line; what belongs together waits."""

    source: Source
    gpu: str = ""
    around: list[str] = field(default_factory=list)
    waiting: dict[str, str] = field(default_factory=dict)
    at: Evidence | None = None
    inside: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        gpu = _GPU.match(text)
        if gpu:
            done = tuple(self.end())
            self.inside, self.gpu, self.around = True, gpu["bus"].lower(), []
            return done
        if "<nvidia_smi_log>" in text:
            self.inside = True
            return READ
        if not self.inside:
            return None
        value = _VALUE.match(text)
        if value:
            return self._value(value["tag"], value["value"].strip(), text, number)
        return self._frame(text)

    def _frame(self, text: str) -> Sequence[Fact] | None:
        begins, ends = _BEGINS.match(text), _ENDS.match(text)
        if begins:
            self.around.append(begins["tag"])
            return READ
        if not ends:
            return READ if _OTHER.match(text) else None
        if ends["tag"] in self.around:
            del self.around[self.around.index(ends["tag"]) :]
        return tuple(self.end()) if ends["tag"] == "gpu" else READ

    def end(self) -> Iterable[Fact]:
        """State what belongs together of a GPU."""
        waiting, self.waiting = self.waiting, {}
        at, host = self.at, self.source.host
        if at is None or not waiting:
            return READ
        facts: list[Fact] = []
        if "current_link_width" in waiting:
            width, most = (
                integer(waiting.get(f"{name}_link_width", "").rstrip("x"))
                for name in ("current", "max")
            )
            facts.append(
                PcieLink(
                    device=self.gpu, name="GPU", lanes=width, max_lanes=most, host=host,
                    evidence=at,
                )
            )  # fmt: skip
        if "remapped_row_pending" in waiting:
            facts.append(
                RemappedRows(
                    gpu=self.gpu, uncorrectable=integer(waiting.get("remapped_row_unc")),
                    pending=waiting["remapped_row_pending"] == "Yes",
                    failed=waiting.get("remapped_row_failure") == "Yes", host=host, evidence=at,
                )
            )  # fmt: skip
        return facts

    def _value(self, tag: str, value: str, text: str, number: int) -> Sequence[Fact]:
        evidence, host = self.source.evidence(text, number), self.source.host
        reason = _REASON.match(tag)
        if reason and value in {"Active", "Not Active"}:
            return (
                GpuThrottle(
                    gpu=self.gpu, reason=reason["reason"], active=value == "Active", host=host,
                    evidence=evidence,
                ),
            )  # fmt: skip
        if tag.startswith("remapped_row") or tag.endswith("_link_width"):
            self.waiting[tag], self.at = value, evidence
            return READ
        build = _TAGS.get(tag)
        return build(self, tag, value, evidence) if build else READ

    def product(self, _tag: str, value: str, evidence: Evidence) -> Sequence[Fact]:
        """Return the GPU by its name."""
        host = self.source.host
        return (GpuSeen(name=value, bus_id=self.gpu, host=host, evidence=evidence),)

    def reading(self, tag: str, value: str, evidence: Evidence) -> Sequence[Fact]:
        """Return a value of the GPU, but for limits that have the same name."""
        name, unit, scale = _READINGS[tag]
        number = real(value)
        limits = "max_clocks" in self.around
        if number is None:
            return READ
        return (
            GpuReading(
                gpu=self.gpu, name=f"{name}_max" if limits else name, value=number * scale,
                unit=unit, host=self.source.host, evidence=evidence,
            ),
        )  # fmt: skip

    def fabric(self, tag: str, value: str, evidence: Evidence) -> Sequence[Fact]:
        """Return the place of the GPU in its fabric."""
        if self.around[-1:] != ["fabric"] or value == "N/A":
            return READ
        state, status = (value if tag == one else "" for one in _FABRIC)
        return (
            ScaleUpFabricState(state=state, status=status, gpu=self.gpu, evidence=evidence),
        )


_TAGS: dict[str, Callable[[_Reader, str, str, Evidence], Sequence[Fact]]] = {
    "product_name": _Reader.product,
    **dict.fromkeys(_READINGS, _Reader.reading),
    **dict.fromkeys(_FABRIC, _Reader.fabric),
}

nvidia_smi_xml = Parser(
    tool="nvidia-smi -x",
    marks=("<nvidia_smi_log", "<gpu id=", "</gpu>"),
    reader=_Reader,
    rank=26,
)
