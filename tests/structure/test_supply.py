"""What is installed is locked, and what is promised has a test."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LOCKED = re.compile(r"^([a-z0-9][a-z0-9._-]*)==(\S+)(.*)$", re.MULTILINE)
PROMISE = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_every_requirement_is_locked_with_hashes():
    """Run scripts/lock.sh after a change of the dependencies."""
    lock = (ROOT / "requirements.lock").read_text()
    locked: dict[str, list[Version]] = {}
    for name, version, _ in LOCKED.findall(lock):
        locked.setdefault(name, []).append(Version(version))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for text in (*project["dependencies"], *project["optional-dependencies"]["dev"]):
        wanted = Requirement(text)
        versions = locked.get(canonicalize_name(wanted.name), [])
        assert versions, f"{wanted.name} is not in requirements.lock: run scripts/lock.sh"
        assert all(one in wanted.specifier for one in versions), text
    entries = re.split(r"\n(?=[a-z0-9])", lock.partition("\n\n")[2] or lock)
    assert not [one for one in entries if "==" in one and "--hash=sha256:" not in one]


def _promises():
    page = (ROOT / "docs/explanation/promises.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ")][1:]
    return [(row, PROMISE.findall(row)) for row in rows]


@pytest.mark.parametrize(("row", "tests"), _promises(), ids=lambda one: str(one)[:50])
def test_every_promise_has_a_test(row, tests):
    assert tests, row
    for file, name in tests:
        assert f"\ndef {name}(" in (ROOT / file).read_text(), name
