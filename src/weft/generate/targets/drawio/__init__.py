"""draw.io: the fabric as a drawing that people edit, what is alike folded into one box."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree as ET

from weft.generate.cabling import HOST, Cabling, Device, cabling
from weft.generate.plan import Feature, Plan
from weft.generate.target import Files, Proof, Target
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
    rate = f"{plan.link.rate_gbit_per_s.number():g}G"
    file = ET.Element("mxfile", host="weft")
    model = ET.SubElement(
        ET.SubElement(file, "diagram", name=plan.names.cluster.text()), "mxGraphModel"
    )
    root = ET.SubElement(model, "root")
    ET.SubElement(root, "mxCell", id="0")
    ET.SubElement(root, "mxCell", {"id": "1", "parent": "0"})
    drawn = list(dict.fromkeys(boxes.values()))
    widest = max(Counter(box.role for box in drawn).values()) * (WIDTH + GAP)
    for box, x, y in _places(drawn, widest):
        _box(root, box, whole, x, y)
    for (below, above), count in _bundles(whole, boxes).items():
        _line(root, below, above, f"{count} x {rate}")
    ET.indent(file, space=" ")
    yield "fabric.drawio", ET.tostring(file, encoding="unicode") + "\n"


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


def _box(root: ET.Element, box: Box, whole: Cabling, x: int, y: int) -> None:
    model = (whole.host if box.role == HOST else whole.switch).name
    value = f"{box.name}\n{box.count} x {model}" if box.count > 1 else f"{box.name}\n{model}"
    style = f"rounded=1;whiteSpace=wrap;fontSize=10;fillColor={COLOURS[box.role]};"
    cell = {"id": box.name, "value": value, "style": style, "vertex": "1", "parent": "1"}
    sides = {"x": str(x), "y": str(y), "width": str(WIDTH), "height": str(HEIGHT)}
    _cell(root, cell, sides)


def _line(root: ET.Element, below: str, above: str, label: str) -> None:
    style = "endArrow=none;fontSize=8;exitX=0.5;exitY=0;entryX=0.5;entryY=1;"
    cell = {"id": f"{below}--{above}", "value": label, "style": style, "edge": "1",
            "parent": "1", "source": below, "target": above}  # fmt: skip
    _cell(root, cell, {"relative": "1"})


def _cell(root: ET.Element, cell: dict[str, str], sides: dict[str, str]) -> None:
    drawn = ET.SubElement(root, "mxCell", cell)
    ET.SubElement(drawn, "mxGeometry", {**sides, "as": "geometry"})


drawio = Target(
    title="draw.io: the fabric as a drawing",
    supports=frozenset(set(Feature) - {Feature.PROVIDER}),
    configures=False,
    files=_files,
    proofs={"fabric.drawio": Proof.GOLDEN},
)
