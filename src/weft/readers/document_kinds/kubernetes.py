"""Objects of Kubernetes as JSON: nodes, pods and events, one or a list of them."""

from collections.abc import Iterator
from typing import Any

from weft.readers.documents import Document
from weft.readers.line import Line
from weft.readers.scribe import Scribe


def _reads(document: Any, title: str, scribe: Scribe) -> bool:  # noqa: ANN401 - any JSON
    """Record what objects state; return whether the document is of this kind."""
    del title
    if not isinstance(document, dict) or "apiVersion" not in document:
        return False
    for item in _items(document):
        kind = item.get("kind")
        name = str((item.get("metadata") or {}).get("name", ""))
        if kind == "Node":
            _node(item, name, scribe)
        elif kind == "Pod":
            _pod(item, name, scribe)
    return True


def _items(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    listed = document.get("items")
    found = listed if isinstance(listed, list) else [document]
    yield from (one for one in found if isinstance(one, dict))


def _node(item: dict[str, Any], name: str, scribe: Scribe) -> None:
    status = item.get("status") or {}
    for field in ("capacity", "allocatable"):
        for resource, count in (status.get(field) or {}).items():
            if "/" in resource:
                line = Line(1, f"{name}: {field} {resource}: {count}", b"")
                key = {"host": name, "resource": resource}
                scribe.said(f"resource.{field}", str(count), line, key)


def _pod(item: dict[str, Any], name: str, scribe: Scribe) -> None:
    spec, status = item.get("spec") or {}, item.get("status") or {}
    line = Line(1, f"pod {name}: {status.get('phase', '')}", b"")
    scribe.said("pod.phase", str(status.get("phase", "")).lower(), line, {"pod": name})
    host_network = "yes" if spec.get("hostNetwork") else "no"
    scribe.said("pod.host_network", host_network, line, {"pod": name})
    for container in spec.get("containers") or ():
        limits = (container.get("resources") or {}).get("limits") or {}
        for resource in limits:
            if "/" in resource:
                key = {"host": str(spec.get("nodeName", "")), "resource": resource}
                scribe.said("resource.requested", "yes", line, key)


kubernetes = Document("kubernetes", _reads)
