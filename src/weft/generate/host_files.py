"""Files of a Linux host: NIC quality of service, MTU, addresses, limits, GPU and PCIe."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from weft.generate.lossless import Dcqcn, Labels
from weft.generate.plan import Feature, Plan
from weft.generate.rails import RAILS_HEAD, rail_links, rail_prefixes
from weft.generate.target import Files, header
from weft.generate.template import text_of
from weft.network.network import resolve
from weft.records import records

PRIORITIES: Final = 8
FIRST_TABLE: Final = 101
ONE_RAIL_A_TABLE: Final = (
    ("net.ipv4.conf.all.arp_ignore", 1),
    ("net.ipv4.conf.all.arp_announce", 2),
    ("net.ipv4.conf.all.rp_filter", 2),
)
"""A NIC answers for its own address alone, and answers may come back on another rail.

As public scripts for hosts with an address a rail set them; they have rp_filter 0, which an
interface with 1 of its own overrides: the kernel takes the larger of the two."""
_FIRMWARE_CABLE_M: Final = 7
"""Length of cable that the NIC keeps headroom for unless told otherwise (mlnx_qos)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a file goes, what it is and what follows when it changes."""

    what: str
    path: str
    mode: str = "0644"
    notify: str = ""


@cache
def places() -> Mapping[str, Place]:
    """Return the places by name of the file, in the order in which they are installed."""
    return records("weft.generate", "host_files", Place)


def host_files(plan: Plan) -> Files:
    """Yield the files of every host; all hosts have the same ones."""

    def file(template: str, name: str, **values: object) -> tuple[str, str]:
        head = header(plan, places()[name].path)
        return name, text_of(f"linux_host/{template}.j2", plan=plan, head=head, **values)

    yield file("limits", "weft-rdma-limits.conf")
    # What lets the NIC reach the GPU, where there is something to do.
    off = plan.host.acs.text() == "off"
    module = "nvidia-peermem" in plan.host.gpu_memory.text()
    if off or module:
        script = "weft-gpudirect"
        yield file("gpudirect", script, acs_off=off, module=module)
        yield file("unit", f"{script}.service", script=places()[script].path, unit=(
            "Description=PCIe and GPU as RDMA needs them",
            "After=systemd-modules-load.service",
        ))  # fmt: skip
    if Feature.IP not in plan.features:
        return
    script = "weft-rdma"
    yield file("rdma", script, **_nics(plan))
    yield file("unit", f"{script}.service", script=places()[script].path, unit=(
        "Description=Quality of service, MTU and addresses of the RDMA NICs",
        "After=network-pre.target", "Before=network-online.target",
        f"ConditionPathExists={places()['rails.tsv'].path}",
    ))  # fmt: skip
    yield "rails.tsv", "\n".join([RAILS_HEAD, *_rails(plan)]) + "\n"
    yield file("sysctl", "90-weft-rdma.conf", settings=ONE_RAIL_A_TABLE)


def _nics(plan: Plan) -> dict[str, object]:
    """Return what the script for NICs needs beside the plan."""
    labels, nic = plan.labels, resolve(plan.cluster).nic
    lossless = range(0) if labels is None else [labels.priority.whole()]
    return {
        "labels": labels, "nvidia": nic is None or nic.vendor == "NVIDIA",
        "devices": plan.names.device_list(), "rails": places()["rails.tsv"].path,
        "rail_prefixes": list(rail_prefixes(plan)),
        "pfc": ",".join(str(int(number in lossless)) for number in range(PRIORITIES)),
        "cable_m": plan.pause.room("host").cable_m.number() if plan.pause else 0,
        "firmware_cable_m": _FIRMWARE_CABLE_M,
        "dcqcn": _dcqcn(labels, plan.dcqcn) if labels and plan.dcqcn else (),
    }  # fmt: skip


_DCQCN: Final = (
    ("roce_np/cnp_dscp", "np_cnp_dscp", "cnp_dscp"),
    ("roce_np/cnp_802p_prio", "np_cnp_prio", "cnp_priority"),
    ("roce_np/min_time_between_cnps", "np_min_time_between_cnps", "min_time_between_cnps_us"),
    ("roce_rp/rpg_ai_rate", "rp_ai_rate", "ai_rate_mbit_per_s"),
    ("roce_rp/rpg_hai_rate", "rp_hai_rate", "hai_rate_mbit_per_s"),
    ("roce_rp/rpg_time_reset", "rp_time_reset", "time_reset_us"),
    ("roce_rp/rpg_byte_reset", "rp_byte_reset", "byte_reset"),
    ("roce_rp/dce_tcp_g", "rp_dce_tcp_g", "alpha_gain"),
    ("roce_rp/rate_reduce_monitor_period", "rp_rate_reduce_monitor_period",
     "rate_reduce_monitor_period_us"),
    ("roce_rp/rpg_min_rate", "rp_min_rate", "minimum_rate_mbit_per_s"),
    ("roce_rp/rpg_threshold", "rp_threshold", "fast_recovery_stages"),
    ("roce_rp/dce_tcp_rtt", "rp_dce_tcp_rtt", "alpha_timer_us"),
)  # fmt: skip
"""Settings of DCQCN: the file of MLNX_OFED, that of the kernel's driver, number of the plan."""


def _dcqcn(labels: Labels, control: Dcqcn) -> list[tuple[str, str, str]]:
    """Return the settings of DCQCN that are planned: both files, and the value."""
    asked = (
        (ofed, kernel, getattr(labels if name.startswith("cnp_") else control, name))
        for ofed, kernel, name in _DCQCN
    )
    return [(ofed, kernel, item.text()) for ofed, kernel, item in asked if item is not None]


def _rails(plan: Plan) -> Iterator[str]:
    """Yield one line for every NIC of every host, in order."""
    devices = plan.names.device_list()
    for link in rail_links(plan):
        table = str(FIRST_TABLE + link.rail)
        row = (link.name, devices[link.rail], f"{link.address}/31", link.gateway, table)
        yield "\t".join(row)
