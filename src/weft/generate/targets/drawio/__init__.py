"""draw.io: the fabric as a drawing that people edit, what is alike folded into one box."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weft.generate.cabling import HOST, Cabling, Device, cabling
from weft.generate.plan import Plan
from weft.generate.target import Files, declared
from weft.generate.template import text_of
from weft.network.naming import TIER_NAMES

ROWS: Final = (*reversed(TIER_NAMES), HOST)
COLOURS: Final = {HOST: "#f5f5f5", "leaf": "#dae8fc", "spine": "#d5e8d4", "core": "#ffe6cc"}
MOST_BOXES: Final = 32
"""In one row; where there are more, hosts on the same leaves, and switches above the same
devices, are one box."""
WIDTH, HEIGHT, GAP, ROW = 150, 50, 30, 220
"""Of a box, between boxes, and between rows, in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Devices drawn as one."""

    name: str
    role: str
    count: int


def _files(plan: Plan) -> Files:
    whole = cabling(plan)
    boxes = _boxes(whole)
    drawn = list(dict.fromkeys(boxes.values()))
    widest = max(Counter(box.role for box in drawn).values()) * (WIDTH + GAP)
    yield "fabric.drawio", text_of(
        "drawio/fabric.drawio.j2", name=plan.names.cluster.text(), colours=COLOURS,
        places=_places(drawn, widest), bundles=_bundles(whole, boxes).items(), width=WIDTH,
        height=HEIGHT, rate=f"{plan.link.rate_gbit_per_s.number():g}G",
        models={role: (whole.host if role == HOST else whole.switch).name for role in ROWS},
    )  # fmt: skip


def _boxes(whole: Cabling) -> dict[str, Box]:
    """Return the box of each device: those of a crowded row with the same peers share one."""
    peers: dict[str, set[str]] = {device.name: set() for device in whole.devices}
    roles = {device.name: device.role for device in whole.devices}
    for cable in whole.cables:
        below, above = cable.below.device, cable.above.device
        peers[above].add(below)
        if roles[below] == HOST:
            peers[below].add(above)
    crowded = {role for role, n in Counter(roles.values()).items() if n > MOST_BOXES}
    groups: dict[object, list[Device]] = {}
    for device in whole.devices:
        alike = (device.role, frozenset(peers[device.name]))
        groups.setdefault(alike if device.role in crowded else device, []).append(device)
    return {
        device.name: Box(name=_label(devices), role=device.role, count=len(devices))
        for devices in groups.values()
        for device in devices
    }


def _label(devices: list[Device]) -> str:
    first, last = devices[0].name, devices[-1].name
    return first if len(devices) == 1 else f"{first} ... {last}"


def _places(boxes: list[Box], widest: int) -> Iterator[tuple[Box, int, int]]:
    """Yield every box with its corner; each row is centred, hosts lowest."""
    rows = [row for role in ROWS if (row := [box for box in boxes if box.role == role])]
    for height, row in enumerate(rows):
        left = (widest - len(row) * (WIDTH + GAP)) // 2
        for place, box in enumerate(row):
            yield box, left + place * (WIDTH + GAP), height * ROW


def _bundles(whole: Cabling, boxes: dict[str, Box]) -> Counter[tuple[str, str]]:
    return Counter(
        (boxes[cable.below.device].name, boxes[cable.above.device].name)
        for cable in whole.cables
    )


drawio = declared("drawio", files=_files)
