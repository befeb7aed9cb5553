"""Objects of Kubernetes of any kind: what deviates is found by name, what agrees is silence."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.doctor.diagnose import Diagnosis, diagnose
from weft.doctor.verdict import Verdict

KINDS = st.from_regex(r"[A-Z][a-z]{3,8}(?:Job|Set|Policy|Queue)", fullmatch=True)
_NAMES = st.from_regex(r"[a-z]{3,6}-[0-9]{1,3}", fullmatch=True)
OBJECTS = st.tuples(KINDS, _NAMES)
GOOD = ("Ready", "Available", "Healthy", "WorkersReady", "Synced")
BAD = ("Degraded", "Failed", "ReplicaFailure", "DiskPressure", "Stalled")
FORMS = ("json", "yaml", "list", "describe")


def made(kind: str, name: str, **more: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "lab"}
    return {"apiVersion": "lab.example/v1", "kind": kind, "metadata": meta, **more}


def described(value: dict[str, Any], indent: int = 0) -> str:
    """Return an object as kubectl describes one of a kind that it does not know."""
    lines = []
    for name, inner in value.items():
        title = "".join(f" {c}" if c.isupper() else c for c in name).strip()
        title = title[:1].upper() + title[1:]
        if isinstance(inner, dict | list):
            lines.append(f"{' ' * indent}{title}:")
            below = inner if isinstance(inner, list) else [inner]
            lines += [described(one, indent + 2) for one in below]
        else:
            lines.append(f"{' ' * indent}{title}:  {inner}")
    return "\n".join(lines)


def written(value: dict[str, Any], form: str) -> tuple[str, str]:
    other = made("Other", "quiet", status={"phase": "Running"})
    if form == "json":
        return "object.json", json.dumps(value, indent=1)
    if form == "yaml":
        return "objects.yaml", yaml.safe_dump_all([other, value])
    if form == "list":
        listed = {"apiVersion": "v1", "kind": "List", "items": [other, value]}
        return "get.txt", f"$ kubectl get x -o yaml\n{yaml.safe_dump(listed)}$ date\n"
    meta = value["metadata"]
    head = f"Name:         {meta['name']}\nNamespace:    {meta['namespace']}\n"
    rest = {name: inner for name, inner in value.items() if name != "metadata"}
    return "describe.txt", head + described(rest) + "\n"


def diagnosed(value: dict[str, Any], form: str) -> Diagnosis:
    with TemporaryDirectory() as folder:
        name, text = written(value, form)
        (Path(folder) / name).write_text(text)
        return diagnose([Path(folder)])


def named(found: Diagnosis) -> str:
    return " ".join(f"{one.told} {one.entities}" for one in found.findings)


def condition(kind: str, *, holds: bool) -> dict[str, str]:
    return {"type": kind, "status": str(holds), "reason": "Told", "message": "as it is"}


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=12, deadline=None)
@given(OBJECTS, st.sampled_from(GOOD), st.sampled_from(BAD), st.booleans())
def test_a_condition_that_is_bad_is_found(form, of, good, bad, odd):
    kind, name = of
    conditions = [condition(good, holds=odd), condition(bad, holds=odd)]
    found = diagnosed(made(kind, name, status={"conditions": conditions}), form)
    assert found.verdict is Verdict.PROBLEM
    assert f"{kind} {name}" in named(found)
    assert "Told as it is" in named(found)
    conditions = [condition(good, holds=True), condition(bad, holds=False)]
    found = diagnosed(made(kind, name, status={"conditions": conditions}), form)
    assert found.verdict is Verdict.NONE, found.findings


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=12, deadline=None)
@given(OBJECTS, st.integers(1, 64), st.integers(0, 64))
def test_fewer_ready_than_wanted_are_found(form, of, wanted, ready):
    kind, name = of
    counts = {"desiredReplicas": wanted, "readyReplicas": ready}
    found = diagnosed(made(kind, name, status=counts), form)
    assert (found.verdict is Verdict.PROBLEM) is (ready < wanted), found.findings
    assert (f"{kind} {name}" in named(found)) is (ready < wanted)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=12, deadline=None)
@given(OBJECTS, st.sampled_from(["notReady", "Failed", "Running", "ready", "Succeeded"]))
def test_a_bad_state_is_found(form, of, state):
    kind, name = of
    found = diagnosed(made(kind, name, status={"state": state}), form)
    bad = state in {"notReady", "Failed"}
    assert (found.verdict is Verdict.PROBLEM) is bad, found.findings
    assert (f"{kind} {name}" in named(found)) is bad
