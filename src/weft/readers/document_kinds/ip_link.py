"""``ip -j`` of iproute2: interfaces with their state, MTU and addresses."""

from typing import Any

from weft.readers.documents import Document
from weft.readers.line import Line
from weft.readers.scribe import Scribe


def _reads(document: Any, title: str, scribe: Scribe) -> bool:  # noqa: ANN401 - any JSON
    """Record each interface; return whether the document is of this kind."""
    del title
    if not isinstance(document, list) or not document:
        return False
    found = [one for one in document if isinstance(one, dict) and "ifname" in one]
    if not found:
        return False
    for one in found:
        name = str(one["ifname"])
        key = {"interface": name}
        line = Line(1, f"{name}: mtu {one.get('mtu')} state {one.get('operstate')}", b"")
        scribe.said("interface.mtu", str(one.get("mtu", "")), line, key)
        state = str(one.get("operstate", "")).lower()
        if state in {"up", "down"}:
            scribe.said("interface.state", state, line, key)
        addresses = [str(a.get("local")) for a in one.get("addr_info") or () if a.get("local")]
        if addresses:
            scribe.state("interface.address", tuple(addresses), line, key)
    return True


ip_link = Document("ip_link", _reads)
