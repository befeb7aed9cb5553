"""The C++ twin of the packet engine: written by hand, compiled on demand, on the same tables.

Its structs are generated from the dtypes of the tables, so the two cannot drift apart.
"""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from weft.engines.packet import tables
from weft.engines.packet.hooks import BALANCINGS, CONTROLS, RECOVERIES
from weft.engines.packet.tables import FlowControl, State

HERE = Path(__file__).parent / "cpp"
C_TYPES = {
    "|i1": "int8_t",
    "|u1": "uint8_t",
    "<i8": "int64_t",
    "<i4": "int32_t",
    "<i2": "int16_t",
    "<f8": "double",
}
RECORDS = {
    "links": ("Link", tables.LINK),
    "packets": ("Packet", tables.PACKET),
    "flows": ("Flow", tables.FLOW),
    "hosts": ("Host", tables.HOST),
    "switches": ("Switch", tables.SWITCH),
    "pauses": ("PauseRow", tables.PAUSE),
    "parts": ("Part", tables.PART),
    "loads": ("Load", tables.LOAD),
    "shares": ("Share", tables.SHARE),
    "flowlets": ("Flowlet", tables.FLOWLET),
    "choices": ("Choice", tables.CHOICE),
    "relays": ("Relay", tables.RELAY),
    "settings": ("Settings", tables.SETTINGS),
    "counts": ("Counts", tables.COUNTS),
}
NOT_IN_C = {"switch": "switch_"}
CONTROLS_KNOWN = {"none", "dcqcn"}
BALANCINGS_KNOWN = {"ecmp", "spray"}
FLAGS = ["-O3", "-march=native", "-ffp-contract=off", "-std=c++17", "-shared", "-fPIC"]


class Twin:
    """The compiled twin; ``run`` advances a state in place like the engine's own loop."""

    def __init__(self, library: Path) -> None:
        """Load a compiled library."""
        self._run = ctypes.CDLL(str(library)).run
        self._run.restype = ctypes.c_int64

    def knows(self, state: State) -> bool:
        """Say whether the twin has what a state's settings ask for."""
        row = state.settings[0]
        return (
            CONTROLS[row.congestion] in CONTROLS_KNOWN
            and BALANCINGS[row.balancing] in BALANCINGS_KNOWN
            and RECOVERIES[row.recovery] == "trim"
            and row.watchdog == 0
            and row.limited == 0
            and row.relays == 0
            and row.classes == 1
            and row.flow_control != FlowControl.CBFC
        )

    def run(self, state: State, until: int) -> int:
        """Process events up to a time; return a Stop."""
        pointers = [getattr(state, name).ctypes.data for name in State._fields]
        row = state.settings[0]
        numbers = [
            len(state.packets),
            len(state.tree),
            len(state.pauses),
            int(CONTROLS[row.congestion] == "dcqcn"),
            int(BALANCINGS[row.balancing] == "spray"),
        ]
        given = (ctypes.c_int64 * (len(pointers) + len(numbers)))(*pointers, *numbers)
        return int(self._run(given, ctypes.c_int64(until)))


def compile_twin(folder: Path) -> Twin | str:
    """Compile the twin into a folder; return why not if that is impossible."""
    compiler = shutil.which("g++")
    if compiler is None:
        return "g++ is not on PATH"
    (folder / "tables.h").write_text(_header())
    library = folder / "twin.so"
    source = str(HERE / "packet.cpp")
    command = [compiler, *FLAGS, f"-I{folder}", source, "-o", str(library)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    return Twin(library) if made.returncode == 0 else made.stderr


def _header() -> str:
    lines = ["#pragma once", "#include <cstdint>", f"constexpr int64_t RING = {tables.RING};"]
    for name, dtype in RECORDS.values():
        lines += [f"struct {name} {{", *_fields(dtype), "};"]
        lines.append(f"static_assert(sizeof({name}) == {dtype.itemsize});")
    lines.append("struct State {")
    for name, kind in State.__annotations__.items():
        lines.append(f"  {_pointer(name, kind)} *{name};")
    lines += ["  int64_t pool, tree_size, pause_rows, dcqcn, spray;", "};"]
    return "\n".join(lines) + "\n"


def _fields(dtype: np.dtype[np.void]) -> list[str]:
    lines = []
    for name in dtype.names or ():
        kind = dtype[name]
        base, shape = kind.subdtype or (kind, ())
        size = "".join(f"[{n}]" for n in shape)
        lines.append(f"  {C_TYPES[base.str]} {NOT_IN_C.get(name, name)}{size};")
    return lines


def _pointer(name: str, kind: object) -> str:
    if name in RECORDS:
        return RECORDS[name][0]
    width = next(bits for bits in ("uint8", "int64", "int32") if bits in str(kind))
    return f"{width}_t"


def temporary_twin() -> Twin | str:
    """Compile the twin into a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        return compile_twin(Path(folder))
