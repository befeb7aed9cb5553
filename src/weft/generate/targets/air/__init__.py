"""NVIDIA Air: the fabric as a simulation of Cumulus Linux switches, for its JSON import."""

import json
from typing import Any, Final

from weft.generate.cabling import HOST, Device, End, cabling
from weft.generate.plan import Plan
from weft.generate.target import Files, declared
from weft.generate.targets.containerlab import interface_name

SWITCH_OS: Final = "cumulus-vx-5.16.1"
HOST_OS: Final = "generic/ubuntu2404"
SWITCH_SIZE: Final = {"cpu": 2, "memory": 4096, "storage": 20}
HOST_SIZE: Final = {"cpu": 2, "memory": 2048, "storage": 10}
"""Cores, MiB and GB, as in NVIDIA's example of a custom topology."""


def _files(plan: Plan) -> Files:
    whole = cabling(plan)
    simulation = {
        "format": "JSON",
        "name": plan.names.cluster.text(),
        "content": {
            "nodes": {device.name: _node(device) for device in whole.devices},
            "links": [[_end(cable.below), _end(cable.above)] for cable in whole.cables],
        },
    }
    yield "topology.json", json.dumps(simulation, indent=1) + "\n"


def _node(device: Device) -> dict[str, Any]:
    if device.role == HOST:
        return {"os": HOST_OS, **HOST_SIZE}
    return {"os": SWITCH_OS, **SWITCH_SIZE}


def _end(end: End) -> dict[str, str]:
    return {"node": end.device, "interface": interface_name(end)}


air = declared("air", files=_files)
