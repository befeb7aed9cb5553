"""The rules of the house that no linter knows."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import weft
from weft import plugins

SOURCE = Path(weft.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
KINDS = {
    "weft.engines.analytic.collective.algorithms": (
        "weft.engines.analytic.collective.algorithm.CollectiveAlgorithm"
    ),
    "weft.engines.packet.balancing": "weft.engines.packet.balance.Balancing",
    "weft.engines.packet.congestion": "weft.engines.packet.control.Control",
    "weft.engines.packet.patterns": "weft.engines.packet.pattern.Pattern",
    "weft.engines.packet.recovery": "weft.engines.packet.recover.Recovery",
    "weft.generate.gates": "weft.generate.gate.Gate",
    "weft.generate.targets": "weft.generate.target.Target",
    "weft.lint.readers": "weft.lint.reader.Reader",
    "weft.network.routings": "weft.network.routing.Routing",
    "weft.network.topologies": "weft.network.topology.Topology",
    "weft.readers.descriptions": "weft.readers.description.Description",
    "weft.readers.document_kinds": "weft.readers.documents.Document",
    "weft.readers.parsers": "weft.readers.parser.Parser",
    "weft.readers.traces": "weft.readers.trace.Format",
    "weft.report.charts": "types.FunctionType",
    "weft.report.renderers": "weft.report.page.Renderer",
    "weft.report.views": "weft.report.page.View",
    "weft.traffic.collectives": "weft.traffic.collective.Algorithm",
}
PLUGINS = [
    (folder, name, kind)
    for folder, kind in KINDS.items()
    for name in plugins.names(importlib.import_module(folder))
]
LONGEST_FUNCTION = 60
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "core", "misc", "manager"}


def _relative(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize(
    ("folder", "name", "kind"), PLUGINS, ids=lambda v: v.rpartition(".")[2]
)
def test_a_plugin_exports_its_own_name_and_says_what_it_is(folder, name, kind):
    module, _, cls = kind.rpartition(".")
    plugins.load(
        importlib.import_module(folder), name, getattr(importlib.import_module(module), cls)
    )
    assert importlib.import_module(f"{folder}.{name}").__doc__


TABLES = (
    "weft.accuracy.kind.all_kinds",
    "weft.advise.consideration.CONSIDERATIONS", "weft.advise.inputs.INPUTS",
    "weft.bench.check.all_checks", "weft.bench.fault.all_faults",
    "weft.bench.launcher.LAUNCHERS", "weft.bench.tool.TOOLS", "weft.collect.way.WAYS",
    "weft.study.backend.BACKENDS", "weft.tune.knob.all_knobs", "weft.tune.objective.OBJECTIVES",
)  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_every_row_of_a_table_has_a_title_and_rows_are_in_order(table):
    module, _, name = table.rpartition(".")
    rows = getattr(importlib.import_module(module), name)
    rows = dict(rows() if callable(rows) else rows)
    assert rows
    assert list(rows) == sorted(rows)
    assert all(row.title for row in rows.values())


def test_every_folder_of_plugins_is_under_test():
    """A folder beside a module named in the singular holds plug-ins, so it stands in KINDS."""
    for module in SOURCE.rglob("*.py"):
        for plural in (
            module.with_suffix("").parent / f"{module.stem}{end}" for end in ("s", "es")
        ):
            if plural.is_dir() and (plural / "__init__.py").is_file():
                name = "weft." + ".".join(plural.relative_to(SOURCE).parts)
                assert name in KINDS, f"add {name} to KINDS in this file"


@pytest.mark.parametrize("path", MODULES, ids=_relative)
def test_only_units_knows_that_a_byte_has_eight_bits(path):
    if path.name == "units.py":
        return
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        code = line.partition("#")[0]
        assert not re.search(r"[*/]\s*8(\.0)?\b(?![\d.])", code), (
            f"{path}:{number}: convert in weft/units.py"
        )


@pytest.mark.parametrize("path", MODULES, ids=_relative)
def test_no_function_is_longer_than_a_screen(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            assert lines <= LONGEST_FUNCTION, f"{path}:{node.lineno} {node.name}: {lines} lines"


def test_no_module_has_a_name_that_says_nothing():
    for path in MODULES:
        assert not FORBIDDEN_NAMES & {*path.relative_to(SOURCE).with_suffix("").parts}, path


def _numbers_without_source(table: dict, sources: dict, where: str) -> list[str]:
    missing = []
    for key, value in table.items():
        if isinstance(value, dict) and "value" in value:
            named = value.get("source", [])
            named = [named] if isinstance(named, str) else named
            if not named or any(one not in sources for one in named):
                missing.append(f"{where}: {key}")
        elif isinstance(value, dict) and key != "sources":
            missing += _numbers_without_source(value, sources, f"{where}: {key}")
    return missing


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "catalogue").rglob("*.toml")), ids=lambda p: p.stem
)
def test_every_number_of_the_catalogue_has_a_source(path):
    device = tomllib.loads(path.read_text())
    assert not _numbers_without_source(device, device.get("sources", {}), path.name)


def test_nothing_is_loaded_before_it_is_needed():
    """`import weft` brings in no library that takes noticeable time."""
    heavy = ("numpy", "numba", "pydantic", "altair", "rich", "typer", "pandas", "scipy")
    code = f"import sys, weft; print([m for m in {heavy!r} if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
