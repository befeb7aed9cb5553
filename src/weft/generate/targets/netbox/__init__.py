"""NetBox: devices, interfaces and cables as its bulk import takes them, one CSV a kind."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Final

from weft.generate.cabling import HOST, Cabling, Device, End, cabling
from weft.generate.plan import Feature, Plan
from weft.generate.target import Files, declared
from weft.network.naming import TIER_NAMES
from weft.records import table

INTERFACE: Final = "dcim.interface"
COLOURS: Final = {HOST: "9e9e9e", "leaf": "2196f3", "spine": "4caf50", "core": "ff9800"}
Rows = Iterable[tuple[object, ...]]


def _files(plan: Plan) -> Files:
    whole = cabling(plan)
    site = plan.names.label.text()
    roles = [role for role in (HOST, *TIER_NAMES) if any(d.role == role for d in whole.devices)]
    models = {whole.model(device): None for device in whole.devices}
    makers = {model.vendor: None for model in models}
    tables: dict[str, tuple[str, Rows]] = {
        "1-sites": ("name,slug,status", [(plan.cluster.name, site, "active")]),
        "2-manufacturers": ("name,slug", [(name, _slug(name)) for name in makers]),
        "3-device-roles": ("name,slug,color", [(role, role, COLOURS[role]) for role in roles]),
        "4-device-types": (
            "manufacturer,model,slug,u_height",
            [(m.vendor, m.name, _slug(m.name), m.rack_units) for m in models],
        ),
        "5-devices": (
            "name,role,manufacturer,device_type,site,status",
            [_device(whole, device, plan.cluster.name) for device in whole.devices],
        ),
        "6-interfaces": ("device,name,type,mtu", _interfaces(plan, whole)),
        "7-cables": (
            "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,status",
            [(*_end(c.below), *_end(c.above), "connected") for c in whole.cables],
        ),
    }
    for name, (columns, rows) in tables.items():
        yield f"{name}.csv", _csv(columns, rows)


def _device(whole: Cabling, device: Device, site: str) -> tuple[object, ...]:
    model = whole.model(device)
    return device.name, device.role, model.vendor, model.name, site, "planned"


def _interfaces(plan: Plan, whole: Cabling) -> Iterator[tuple[object, ...]]:
    kind = _interface_type(plan)
    link = plan.link
    for cable in whole.cables:
        for end in (cable.below, cable.above):
            mtu = link.host_mtu_bytes if end.nic else link.switch_mtu_bytes
            yield end.device, interface_name(end), kind, mtu.text() if mtu else ""


def _end(end: End) -> tuple[str, str, str]:
    return end.device, INTERFACE, interface_name(end)


def interface_name(end: End) -> str:
    """Return what a port is called: the NIC of a host, or the number on the front."""
    return end.nic or f"swp{end.number + 1}"


def _interface_type(plan: Plan) -> str:
    family = "infiniband" if Feature.SUBNET in plan.features else "ethernet"
    rate = f"{plan.link.rate_gbit_per_s.number():.0f}"
    return str(table("weft.generate", "interface_types")[family].get(rate, "other"))


def _slug(text: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


def _csv(header: str, rows: Rows) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header.split(","))
    writer.writerows(rows)
    return stream.getvalue()


netbox = declared("netbox", files=_files)
