"""Fields of a format: names of a place, its attributes, how tools spell them, its counters."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from weft.emulate.ordinary import counted
from weft.emulate.state import ADAPTER_BUS, GPU_BUS, WORDS, Host, Part, State, slot_of
from weft.inventory.entity import attribute
from weft.inventory.table import rows
from weft.network import naming
from weft.network.network import layout
from weft.units import gbit_from_rate

_FIELD: Final = re.compile(r"\{([A-Za-z]\w*(?:\.\w+)?)(?::([<>]?\d+))?\}")
_LANES: Final = 4
"""Of an InfiniBand link."""
_SPEEDS: Final = (
    (200, "XDR", "212.5"), (100, "NDR", "106.25"), (50, "HDR", "53.125"),
    (25, "EDR", "25.78125"), (10, "QDR", "10.0"), (0, "SDR", "2.5"),
)  # fmt: skip
"""Rate of a lane in Gb/s: from here on, what it is called, and with the coding of the link."""
_DOWN_GBIT: Final = 10
"""What tools show of a link that is down."""
_WORD_BYTES, _MOST_WORDS = 4, 2**32 - 1
"""PortXmitData counts words, in 32 bits that stay at their largest. [IBA 16.1.3.5]"""
PACKET_BYTES: Final = 4096
_ADAPTERS: Final = 0xB8CEF60300000000


class Fields(dict[str, Any]):
    """Fields by name; attributes, their spellings and counters follow from the part."""

    def __init__(
        self, named: Mapping[str, Any], part: Part | None = None,
        counter: Callable[[str], int] = lambda _: 0,
    ) -> None:  # fmt: skip
        """Keep what is named; ``counter`` returns a counter of the part by its path."""
        super().__init__(named)
        self._values = part.values if part else {}
        self.counter = counter

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - texts and numbers
        """Return a spelling, an attribute or a counter; raise KeyError where there is none."""
        if name in _words():
            of, says = _words()[name]
            value = str(self[of])
            return says.get(value, says.get("else", value))
        if name in self._values:
            return self._values[name]
        attribute(name)
        return self.counter(name)

    def fill(self, text: str) -> str:
        """Put the fields into a text.

        >>> Fields({"device": "mlx5_0", "lid": 7}).fill("{device} {lid:>4} {{}}")
        'mlx5_0    7 {{}}'
        """
        return _FIELD.sub(lambda found: format(self[found[1]], found[2] or ""), text)


@cache
def _words() -> Mapping[str, tuple[str, Mapping[str, str]]]:
    return {row["word"]: (row["of"], row["says"]) for row in rows("weft.emulate", "words.yaml")}


def counters(state: State, host: Host | None, part: Part, at_s: float) -> Callable[[str], int]:
    """Return what reads a counter of a part; a host that is not collected counts nothing."""
    if host is None:
        return lambda _: 0
    return lambda path: counted(
        state.events, host, part, path, since_s=state.since_s, at_s=at_s
    )


def of_host(host: Host) -> Fields:
    """Return the fields of a host."""
    named = {"host": host.name, "gpus": len(host.gpus)}
    return Fields(named | host.values)


def of_rail(state: State, number: int, rail: Part, at_s: float) -> Fields:
    """Return the fields of a port of a host, collected or not."""
    host = state.host(number)
    infiniband = state.kind == "infiniband"
    lid = lid_of(state, number, rail.number) if infiniband else 0
    guid = guid_of(number, rail.number)
    address = (10, rail.number, number >> 8, number & 0xFF)
    low = "".join(f"{number:02x}" for number in address)
    labels = state.plan.labels
    counter = counters(state, host, rail, at_s)
    words = counter("port.tx_bytes") // _WORD_BYTES
    named = {
        "host": naming.host(number, state.plan.cluster.hosts), "device": rail.device,
        "interface": f"rail{rail.number}", "number": rail.number, "index": rail.number + 4,
        "slot": slot_of(rail, ADAPTER_BUS), "guid": guid, "mac": mac(guid),
        "guid_words": ":".join(guid[at : at + 4] for at in range(0, 16, 4)),
        "lid": lid, "lid_hex": f"{lid:#x}", "sm_lid": int(infiniband),
        "layer": WORDS[state.kind], "address": ".".join(map(str, address)),
        "gid": f"0000:0000:0000:0000:0000:ffff:{low[:4]}:{low[4:]}",
        "priority": labels.priority.text() if labels else "",
        "pfc_flags": "   ".join(rail.values["interface.pfc"].split()),
        "words64": words, "words": min(_MOST_WORDS, words),
        "carrier_changes": 2 * counter("port.link_downed"), **speed(state, rail),
    }  # fmt: skip
    return Fields(named, rail, counter)


def of_gpus(host: Host) -> Iterator[Fields]:
    """Yield the fields of the GPUs of a host."""
    return (Fields({"slot": slot_of(gpu, GPU_BUS).upper()}, gpu) for gpu in host.gpus)


def rate_gbit(state: State, rail: Part) -> float:
    """Return the rate that a port runs at."""
    whole = gbit_from_rate(layout(state.plan.cluster).link_bytes_per_s)
    return float(whole * rail.values["port.rate_ratio"])


def speed(state: State, rail: Part) -> Mapping[str, Any]:
    """Return the rate of a link and its lanes: a slow link has fewer of them."""
    up = rail.values["port.state"] == "active"
    rate = rate_gbit(state, rail) if up else _DOWN_GBIT
    width = max(1, round(_LANES * rail.values["port.rate_ratio"]))
    name, lane = next(found for least, *found in _SPEEDS if rate / width >= least)
    narrow = f"Could be {_LANES}X" if width < _LANES else ""
    return {"rate": f"{rate:g}", "width": width, "speed": name, "lane": lane, "could": narrow,
            "mbit": int(rate * 1000) if up else -1}  # fmt: skip


def lid_of(state: State, number: int, nic: int) -> int:
    """Return the LID of a port of a host; the subnet manager runs at the first."""
    return number * state.rails + nic + 1


def guid_of(number: int, nic: int) -> str:
    """Return the GUID of a port of a host."""
    return f"{_ADAPTERS + (number << 8) + nic:016x}"


def mac(guid: str) -> str:
    """Return the MAC address that belongs to a GUID.

    >>> mac("b8cef60300000102")
    'b8:ce:f6:00:01:02'
    """
    digits = guid[:6] + guid[10:]
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2))
