"""What was picked out of nodes and pods: ``kubectl get`` with jq, yq, jsonpath or columns.

The command says what was asked for and the lines below it answer, in its order: resources that
a node has (``capacity``) and offers (``allocatable``), what a container asks for, and the
address that a pod has on one of its networks.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.pods import NodeResource, PodInterface, PodResource
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers import _pod_networks
from weft.observe.parsers._values import integer

_ASKED = re.compile(r"\b(?:kubectl|oc)\b.{0,120}? get ")
_PICKED = re.compile(r"\b[jy]q\b|jsonpath|custom-columns|go-template")
_OF = re.compile(r" get (?P<kind>nodes?|pods?|po)[ /](?P<name>[a-z0-9][\w.-]*)(?= |$)")
_RESOURCE = r"[\w.-]{1,80}/[\w.-]{1,80}"
_AMOUNT = r"\d{1,9}k?"
_PATH = re.compile(
    r"(?:\"?(?P<key>\w{1,40})\"?\s*:\s*)?(?:\.status)?\.(?P<what>capacity|allocatable)\b"
    rf"(?:\[['\"]+(?P<quoted>{_RESOURCE})['\"]+\]|\.(?P<dotted>{_RESOURCE}))?"
)
_COLUMNS = re.compile(r"custom-columns=['\"]?(?P<columns>\S+?)['\"]?(?= |$)")
_LISTED = re.compile(r"\[(?P<columns>\.metadata\.name ?,[^|]{1,400})\]['\"]?\s*$")
_NAMED = re.compile(
    rf"\s*-? ?\"?(?P<name>{_RESOURCE})\"?(?:: ?|=)\"?(?P<count>{_AMOUNT})\"?,?\s*$"
)
_ALONE = re.compile(rf"\s*\"?(?P<count>{_AMOUNT}|null|<none>|<no value>)\"?\s*$")
_OF_ALL = re.compile(r"\.items\[\*?\]?\.status")
_OF_EACH = re.compile(rf"\s*\"?{_AMOUNT}(?:\s+{_AMOUNT}){{1,200}}\"?\s*$")
_MAP = re.compile(r"(?:map\[|\{)(?P<inside>[^\]{}]{3,400})[\]}]")
_ENTRY = re.compile(rf"\"?(?P<name>{_RESOURCE})\"?: ?\"?(?P<count>{_AMOUNT})\b")
_GAP = re.compile(r"\s{2,}|\t")
_NETWORKS = re.compile(r"network-status.{0,120}\bips\b")
_WANTED_NETWORKS = re.compile(r"cni\\{0,2}\.cncf\\{0,2}\.io/networks\b(?!-)")
_INTERFACE = re.compile(r"interface ?==? ?\\?[\"'](?P<name>\w{1,15})")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?")
_POD = re.compile(r"[a-z0-9][a-z0-9.-]{0,200}")
_WANTED = re.compile(r"\b(?P<what>limits|requests|resources)\b")


@dataclass(frozen=True, slots=True)
class _Pick:
    """One thing that a command asks of a node: what it has or offers, of which resource."""

    what: str
    resource: str = ""
    key: str = ""


@lru_cache(maxsize=64)
def _picks(text: str) -> tuple[_Pick, ...]:
    """Return what a command asks for, in its order.

    >>> _picks("jsonpath={.status.allocatable.rdma/hca}")
    (_Pick(what='allocatable', resource='rdma/hca', key=''),)
    """
    plain = text.replace("\\", "")
    return tuple(
        _Pick(one["what"], one["quoted"] or one["dotted"] or "", one["key"] or "")
        for one in _PATH.finditer(plain)
    )


def _amount(text: object) -> int:
    """Return a number as Kubernetes writes it; what is not there is none."""
    word = str(text)
    return (integer(word) or 0) * (1000 if word.endswith("k") else 1)


@dataclass(frozen=True, slots=True)
class _Question:
    """A command, and whom it asks."""

    command: str

    @property
    def picks(self) -> tuple[_Pick, ...]:
        """Return what it asks of nodes."""
        return _picks(self.command)

    @property
    def wanted(self) -> str:
        """Return which of a container's resources it asks for, if any."""
        found = None if self.picks else _WANTED.search(self.command)
        return found["what"] if found else ""

    def name(self, kind: str) -> str:
        """Return the node or pod that it names."""
        found = _OF.search(self.command)
        return found["name"] if found and found["kind"].startswith(kind) else ""

    def node(
        self, pick: _Pick, count: int, evidence: Evidence, *, resource: str = "", node: str = ""
    ) -> NodeResource:
        """State how much of a resource a node has or offers."""
        offered = pick.what == "allocatable"
        return NodeResource(
            resource=resource or pick.resource,
            node=node or self.name("no"),
            capacity=None if offered else count,
            allocatable=count if offered else None,
            evidence=evidence,
        )

    def pod(
        self, resource: str, count: int, evidence: Evidence, *, what: str = "", pod: str = ""
    ) -> PodResource:
        """State how much of a resource a container asks for."""
        limit = (what or self.wanted) != "requests"
        return PodResource(
            pod=pod or self.name("po"), resource=resource, evidence=evidence,
            limit=count if limit else None, request=None if limit else count,
        )  # fmt: skip


def _question(source: Source) -> _Question | None:
    """Return the question that the text under a command answers, if it is one of these."""
    command = source.command
    asked = _ASKED.search(command) and _PICKED.search(command)
    return _Question(command) if asked else None


@dataclass(slots=True)
class _Reader:
    """Reads the answers line by line, in the order of the questions."""

    source: Source
    asked: str = ""
    question: _Question | None = None
    at: int = 0
    seen: frozenset[str] = frozenset()

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line that answers."""
        if self.source.command != self.asked:
            self.asked, self.question = self.source.command, _question(self.source)
            self.at, self.seen = 0, frozenset()
        if self.question is None:
            return None
        evidence = self.source.evidence(text, number)
        return self._answer(self.question, text, evidence)

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _answer(
        self, question: _Question, text: str, evidence: Evidence
    ) -> Sequence[Fact] | None:
        if _WANTED_NETWORKS.search(question.command):
            return _wanted_networks(question, text, evidence)
        if _NETWORKS.search(question.command):
            return _network(question, text, evidence)
        columns = _columns(question.command)
        if columns:
            return _row(question, columns, text, evidence)
        if question.wanted:
            return tuple(_wants(question, text, evidence)) or None
        return self._counted(question, text, evidence)

    def _counted(
        self, question: _Question, text: str, evidence: Evidence
    ) -> Sequence[Fact] | None:
        """Read how much nodes have or offer: of each, in maps, or one count a line."""
        picks = question.picks
        named, alone = _NAMED.match(text), _ALONE.match(text)
        if named and picks:
            if named["name"] in self.seen:  # the next map begins
                self.at, self.seen = self.at + 1, frozenset()
            self.seen |= {named["name"]}
            pick = picks[min(self.at, len(picks) - 1)]
            count = _amount(named["count"])
            return (question.node(pick, count, evidence, resource=named["name"]),)
        if len(picks) == 1 and picks[0].resource and _OF_ALL.search(question.command):
            return _of_each(question, picks[0], text, evidence)
        if alone and self.at < len(picks) and picks[self.at].resource:
            self.at += 1
            return (question.node(picks[self.at - 1], _amount(alone["count"]), evidence),)
        return None


def _of_each(
    question: _Question, pick: _Pick, text: str, evidence: Evidence
) -> Sequence[Fact] | None:
    """Read one count of each node, which no name tells apart."""
    if not (_OF_EACH.match(text) or _ALONE.match(text)):
        return None
    counts = [_amount(word) for word in text.strip().strip('"').split()]
    return tuple(question.node(pick, count, evidence) for count in counts)


@lru_cache(maxsize=64)
def _columns(command: str) -> tuple[str, ...]:
    """Return the paths of the columns of a table that a command asks for."""
    table, listed = _COLUMNS.search(command), _LISTED.search(command)
    if table:
        return tuple(one.partition(":")[2] for one in table["columns"].split(","))
    return tuple(one.strip() for one in listed["columns"].split(",")) if listed else ()


def _row(
    question: _Question, columns: Sequence[str], text: str, evidence: Evidence
) -> Sequence[Fact] | None:
    """Read a row: what each column says of the node or pod that the row names."""
    words = _words(text)
    if len(words) != len(columns):
        return None
    name = next(
        (word for path, word in zip(columns, words, strict=True) if path == ".metadata.name"),
        "",
    )
    facts: list[Fact] = []
    for path, word in zip(columns, words, strict=True):
        pick, alone = _picks(path), _ALONE.match(word)
        if pick and pick[0].resource and alone:
            count = _amount(alone["count"])
            facts.append(question.node(pick[0], count, evidence, node=name))
        elif _WANTED.search(path) and not pick:
            facts += _wants(question, word, evidence, name)
    return facts or None


def _wanted_networks(
    question: _Question, text: str, evidence: Evidence
) -> Sequence[Fact] | None:
    """Read the networks that a pod's annotation asks for, alone or behind the pod's name."""
    words = text.split(maxsplit=1)
    pod = question.name("po")
    if not pod and len(words) > 1 and _POD.fullmatch(words[0]):
        pod, text = words
    return tuple(_pod_networks.asked(text, pod, evidence)) or None


def _network(question: _Question, text: str, evidence: Evidence) -> Sequence[Fact] | None:
    """Read a row that names a pod and one address of its networks."""
    words = text.split()
    addresses = [word.partition("/")[0] for word in words if _ADDRESS.fullmatch(word)]
    if len(addresses) != 1 or not _POD.fullmatch(words[0]):
        return None
    named = _INTERFACE.search(question.command)
    return (
        PodInterface(
            pod=words[0], interface=named["name"] if named else "", addresses=(addresses[0],),
            evidence=evidence,
        ),
    )  # fmt: skip


def _words(text: str) -> list[str]:
    """Return the cells of a row of a table, or of a JSON list."""
    if not text.startswith("["):
        return _GAP.split(text.strip())
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return ["<none>" if one is None else str(one) for one in row]


def _wants(
    question: _Question, text: str, evidence: Evidence, pod: str = ""
) -> Iterator[PodResource]:
    """Yield what a map of resources says that a container asks for."""
    for inside in _MAP.finditer(text):
        for one in _ENTRY.finditer(inside["inside"]):
            yield question.pod(one["name"], _amount(one["count"]), evidence, pod=pod)


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    """Return what a JSON answer states, or None for one of another question."""
    question = _question(source)
    if question and isinstance(value, list) and _WANTED_NETWORKS.search(question.command):
        text = json.dumps(value)
        evidence = Evidence(source.file, number, text[:300])
        return list(_pod_networks.asked(text, question.name("po"), evidence))
    if question is None or not isinstance(value, dict) or "kind" in value:
        return None
    evidence = Evidence(source.file, number, json.dumps(value)[:300])
    facts = list(_stated(question, value, evidence))
    return facts or None


def _stated(question: _Question, value: dict[str, Any], evidence: Evidence) -> Iterator[Fact]:
    keyed = {one.key: one for one in question.picks if one.key and one.resource}
    whole = [one for one in question.picks if not one.resource]
    for key, one in value.items():
        if key in {"capacity", "allocatable"} and isinstance(one, dict):
            for name, count in _counts(one):
                yield question.node(_Pick(key), count, evidence, resource=name)
        elif key in {"limits", "requests"} and isinstance(one, dict):
            for name, count in _counts(one):
                yield question.pod(name, count, evidence, what=key)
        elif key in keyed:
            yield question.node(keyed[key], _amount(one), evidence)
    for name, count in _counts(value):
        if question.wanted:
            yield question.pod(name, count, evidence)
        elif whole:
            yield question.node(whole[0], count, evidence, resource=name)


def _counts(value: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the resources of a map that have a name of their own, with how many there are."""
    for name, one in value.items():
        if re.fullmatch(_RESOURCE, str(name)) and re.fullmatch(_AMOUNT, str(one)):
            yield str(name), _amount(one)


kubernetes_picked = Parser(
    tool="kubectl with jq or jsonpath",
    marks=("jsonpath", "custom-columns", "jq ", "yq "),
    reader=_Reader,
    document=_document,
    rank=40,
)
