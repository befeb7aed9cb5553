"""Names of fabrics, switches, NICs and media become devices in one place: the resolver."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "weft"
KINDS = {"fabrics", "switches", "nics", "cables", "providers"}
RESOLVER = {"spec/compatibility.py", "network/network.py", "network/fabric.py"}
WITHOUT_A_CLUSTER = {
    "accuracy/rows/fabric_behaviour.py": "a published behaviour names its fabric alone",
    "accuracy/rows/topology.py": "a published design names its switch alone",
    "advise/attachment.py": "a search that has no NIC yet",
    "advise/best.py": "a search that has no cable yet",
    "advise/candidate.py": "a candidate has no cluster yet",
    "advise/latencies.py": "an article's latency names its fabric alone",
    "advise/wiring.py": "a search that has no switch yet",
    "design/described.py": "a description that is no cluster yet",
    "engines/analytic/collective/path.py": "variables of NCCL change the fabric that it uses",
    "engines/analytic/collective/spread.py": "as above",
    "engines/analytic/point_to_point.py": "one link, without a cluster",
    "lint/predicates/buffers.py": "a switch as it was found",
    "predict/probing.py": "a pattern of settings, not a cluster",
}


def looked_up(path):
    """Yield the lines of a module that look a part of a network up by its name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        first = node.args[0] if node.args else None
        device = isinstance(first, ast.Constant) and first.value in KINDS
        kind = first is not None and ast.unparse(first).endswith((".kind", ".fabric", "kind"))
        called = name.rpartition(".")[2]
        finds = called == "find" and (device or (kind and not isinstance(first, ast.Constant)))
        if finds or called in {"usual_switch", "medium"}:
            yield node.lineno


def test_only_the_resolver_looks_parts_of_a_network_up():
    found = {
        str(path.relative_to(SOURCE)): list(looked_up(path))
        for path in SOURCE.rglob("*.py")
        if not path.is_relative_to(SOURCE / "catalogue")
    }
    found = {name for name, lines in found.items() if lines}
    assert found - RESOLVER - WITHOUT_A_CLUSTER.keys() == set()
    assert WITHOUT_A_CLUSTER.keys() <= found, "an exception that is not needed any more"
