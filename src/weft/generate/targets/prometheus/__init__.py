"""Prometheus: recording rules and alerts of this fabric, their tests, Alertmanager, scrapes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import yaml

from weft.generate.alert import (
    SEVERITIES,
    SHORT,
    TYPICAL,
    Alert,
    alerts,
    cause_of,
    inhibitions,
    key_of,
    recorded,
    series_of,
)
from weft.generate.dashboard import expressions
from weft.generate.expected_busbw import (
    EXPECTED,
    SIZED,
    SIZES_MIB,
    TOLERANCE,
    Point,
    points,
    size_label,
    size_pattern,
)
from weft.generate.plan import Plan
from weft.generate.runbook import runbook_of
from weft.generate.target import Files, declared, header
from weft.generate.targets.prometheus.cases import Fabric, cases
from weft.generate.template import manifests_of
from weft.metrics.source import exporters
from weft.network import naming

INTERVAL: Final = "30s"
BUSBW: Final = "collective.busbw"
RUNBOOK: Final = "runbook.html"
_FIELDS: Final = {
    "entities": "it", "adapter": "{{ $labels.device }}", "interface": "{{ $labels.device }}",
    "hosts": "{{ $labels.instance }}", "gpu": "{{ $labels.gpu }}", "slot": "SLOT",
}  # fmt: skip
"""What fields of a fix are in an alert, where only labels are known."""
Rule = Mapping[str, Any]


def _files(plan: Plan) -> Files:
    chosen = alerts(plan)
    expected = list(points(plan)) if any(alert.observes == BUSBW for alert in chosen) else []
    groups = [
        {"name": "weft-recorded", "interval": INTERVAL, "rules": list(_recorded(plan, chosen))},
        {"name": "weft-expected", "interval": INTERVAL, "rules": list(_expected(expected))},
        {"name": "weft-alerts", "interval": INTERVAL,
         "rules": [_rule(plan, alert) for alert in chosen]},
    ]  # fmt: skip
    filled = {"groups": [group for group in groups if group["rules"]]}
    yield "weft.rules.yml", _text(plan, "recording rules and alerts", filled)
    for name, document in cases(Fabric(plan=plan, chosen=chosen, expected=expected)).items():
        yield name, _text(plan, "tests of the rules (promtool test rules)", _shared(document))
    for what in ("Alertmanager", "Prometheus"):
        name = f"{what.lower()}.yml"
        [document] = manifests_of(
            f"prometheus/{name}.j2",
            interval=INTERVAL,
            cluster=plan.names.cluster.text(),
            # Every exporter that runs on hosts.
            ports={
                exporter.job: exporter.port
                for exporter in exporters().values()
                if "host" in exporter.labels
            },
            severities=[
                severity
                for severity in SEVERITIES
                if any(a.severity == severity for a in chosen)
            ],
            inhibit_rules=list(_inhibit_rules(chosen)),
        )
        yield name, _text(plan, what, document)
    hosts = plan.cluster.hosts
    targets = [{"targets": [naming.host(number, hosts) for number in range(hosts)]}]
    yield "hosts.json", json.dumps(targets, indent=1) + "\n"


def _shared(document: dict[str, Any]) -> dict[str, Any]:
    """Make equal series of the cases one object, which YAML writes once."""
    known: dict[tuple[str, str], dict[str, str]] = {}
    for test in document["tests"]:
        test["input_series"] = [
            known.setdefault((item["series"], item["values"]), item)
            for item in test["input_series"]
        ]
    return document


def _text(plan: Plan, what: str, document: Mapping[str, Any]) -> str:
    dumped = yaml.safe_dump(document, sort_keys=False, width=10_000, allow_unicode=True)
    return f"{header(plan, what)}\n{dumped}"


def _recorded(plan: Plan, chosen: Sequence[Alert]) -> Iterator[Rule]:
    extra = [f"[[{BUSBW}:avg]]"] if any(alert.observes == BUSBW for alert in chosen) else []
    for series in series_of([*(alert.expr for alert in chosen), *extra, *expressions(plan)]):
        yield {"record": series.record, "expr": series.expr(key_of(plan))}


def _expected(expected: Sequence[Point]) -> Iterator[Rule]:
    """Yield expected values, measured values by size, and which of them are too low."""
    if not expected:
        return
    for point in expected:
        yield {"record": EXPECTED, "expr": f"vector({point.busbw_bytes_per_s.low:.4g})",
               "labels": point.labels}  # fmt: skip
    measured = recorded(f"[[{BUSBW}:avg]]")
    for size_mib in SIZES_MIB:
        yield {
            "record": SIZED,
            "expr": f'{measured}{{message_size=~"{size_pattern(size_mib)}"}}',
            "labels": {"size": size_label(size_mib)},
        }
    same = "collective, n_nodes, nranks, size"
    kept = f"{same}, comm_name, slurm_job_id"
    yield {
        "record": SHORT,
        "expr": f"(avg by ({kept}) ({SIZED})) < bool on ({same}) group_left () "
        f"({TOLERANCE} * {EXPECTED})",
    }
    yield {"record": TYPICAL, "expr": f"avg by ({same}) ({SIZED})"}


def _rule(plan: Plan, alert: Alert) -> Rule:
    cause = cause_of(alert)
    annotations = {
        "summary": alert.summary,
        "description": alert.because,
        "runbook_url": f"{RUNBOOK}#{runbook_of(alert.cause)}",
        "runbook": f"weft runbook {runbook_of(alert.cause)}",
    }
    if cause is not None:
        annotations |= {"action": _labelled(cause.fix), "confirm": _labelled(cause.confirm)}
    return {
        "alert": alert.name,
        "expr": recorded(alert.expr),
        "for": alert.hold,
        "labels": {"severity": alert.severity, "cause": alert.cause,
                   "cluster": plan.names.cluster.text()},
        "annotations": annotations,
    }  # fmt: skip


def _labelled(text: str) -> str:
    for name, label in _FIELDS.items():
        text = text.replace(f"{{{name}}}", label)
    return text


def _inhibit_rules(chosen: Sequence[Alert]) -> Iterator[dict[str, Any]]:
    """Yield one rule a source and scope: the same GPU, host, or for jobs the same cluster."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for source, target in inhibitions(chosen):
        found.setdefault((source.name, _shared_place(source, target)), []).append(target.name)
    for (name, equal), targets in found.items():
        yield {
            "source_matchers": [f'alertname="{name}"'],
            "target_matchers": [f'alertname=~"{"|".join(targets)}"'],
            "equal": [*equal],
        }


def _shared_place(source: Alert, target: Alert) -> tuple[str, ...]:
    """Return the labels that say that two alerts are about the same place."""
    kinds = {alert.observes.partition(".")[0] for alert in (source, target)}
    if kinds & {"collective", "ib", "queue", "switch_port", "ras", "rank"}:
        return ("cluster",)
    return ("cluster", "instance", "gpu") if kinds == {"gpu"} else ("cluster", "instance")


prometheus = declared("prometheus", files=_files)
