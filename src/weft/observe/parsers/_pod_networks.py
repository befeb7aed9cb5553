"""The networks that an annotation asks for a pod, in the forms that Multus takes."""

import json
import re
from collections.abc import Iterator
from typing import Any

from weft.observe.facts.base import Evidence
from weft.observe.facts.pods import PodNetworkAsked

KEY = "k8s.v1.cni.cncf.io/networks"
NAMED = re.compile(
    r"^(?:.{0,40}\s)?[\"']?k8s\.v1\.cni\.cncf\.io/networks[\"']?\s*[:=]\s*(?P<value>.*)"
)
"""The annotation with what it asks for, as descriptions, YAML and ``grep`` show it."""
_SHORT = re.compile(
    r"(?:[a-z0-9][a-z0-9.-]{0,62}/)?(?P<name>[a-z0-9][a-z0-9.-]{0,120})"
    r"(?:@(?P<interface>[\w.-]{1,15}))?"
)


def asked(value: str, pod: str, evidence: Evidence) -> Iterator[PodNetworkAsked]:
    """Yield the networks of an annotation: names with commas between, or a list in JSON."""
    plain = value.strip().strip("'").replace('\\"', '"')
    if plain.startswith("["):
        for one in _listed(plain):
            yield PodNetworkAsked(
                pod=pod, network=str(one.get("name", "")),
                interface=str(one.get("interface", "")), evidence=evidence,
            )  # fmt: skip
        return
    plain = plain.strip('"')
    for word in plain.split(","):
        short = _SHORT.fullmatch(word.strip())
        if short and word.strip() != "none":
            yield PodNetworkAsked(
                pod=pod, network=short["name"], interface=short["interface"] or "",
                evidence=evidence,
            )  # fmt: skip


def _listed(text: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
