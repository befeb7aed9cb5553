"""Resources that the configuration of a device plug-in says its nodes are to offer.

The JSON of a plug-in (``resourceName`` in ``configList`` or ``resourceList``), the values of
the operator's chart, options of ``helm``, and the words of who waits for a resource in vain.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.facts.pods import ResourcePlan
from weft.observe.parser import READ, Parser, Source

NAMED = re.compile(r"[\"']?resourceName[\"']?\s*:\s*[\"']?(?P<name>[\w./-]{1,80})")
_OPTION = re.compile(r"\bresources\[\d{1,3}\]\.(?:resourceN|n)ame=(?P<name>[\w./-]{1,80})")
_CHART = re.compile(r"(?P<indent>\s{0,40})(?:rdmaShared|sriov)DevicePlugin:\s*$")
_LISTED = re.compile(r"\s{0,40}(?:- {1,4})?name: {1,8}[\"']?(?P<name>[\w./-]{1,80})[\"']?\s*$")
_SWITCHED_OFF = re.compile(r"\s*deploy:\s*[\"']?false\b")
_WITHIN = re.compile(r"(?P<indent>\s{0,40})(?:- {1,4})?[\w.-]{1,60}(?::|\s*$)")
_IN_VAIN = re.compile(
    r"^(?=.{1,300}\b(?:rdma|sriov|hca|mlnx|roce|resource)).{0,200}?"
    r"(?:\b(?P<name>(?:[\w.-]{1,60}/)[\w.-]{1,80})|\b[Rr]esources?)\s+(?:\w+ ){0,3}?"
    r"(?:stays?|remains?|shows?|keeps? (?:being|showing)|is (?:still|always|reported)|"
    r"never (?:rises|gets))\b[^.;:]{0,24}?\b(?:0|zero)\b(?!\.\d)"
)
"""What people write who wait for a resource: it stays at zero."""


@dataclass(slots=True)
class _Reader:
    """Remembers the part of a chart's values that configures a plug-in."""

    source: Source
    indent: int = -1

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the resources that a line names."""
        names = [one["name"] for one in (*NAMED.finditer(text), *_OPTION.finditer(text))]
        told = _IN_VAIN.search(text) if not names else None
        if told:
            names = [told["name"] or ""]
        elif not names and self._in_chart(text):
            listed = _LISTED.match(text)
            names = [listed["name"]] if listed else []
        elif not names:
            return None
        evidence = self.source.evidence(text, number)
        return tuple(ResourcePlan(resource=one, evidence=evidence) for one in names)

    def end(self) -> Iterable[Fact]:
        """Forget the part."""
        self.indent = -1
        return READ

    def _in_chart(self, text: str) -> bool:
        """Return whether a line is of those values of a chart that set up a plug-in."""
        part, within = _CHART.match(text), _WITHIN.match(text)
        if part:
            self.indent = len(part["indent"])
        elif not within or len(within["indent"]) <= self.indent or _SWITCHED_OFF.match(text):
            self.indent = -1
        return self.indent >= 0


resource_plans = Parser(
    tool="plans of a device plug-in",
    marks=("resourceName", "DevicePlugin:", "resources[", " 0", "zero"),
    reader=_Reader,
    rank=89,
)
