"""Ansible: the files of linux_host as a role, with an inventory and a playbook."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weft.generate.host_files import GPUDIRECT, RAILS, SCRIPT, host_files
from weft.generate.names import hosts_range
from weft.generate.plan import Feature, Plan
from weft.generate.target import Files, Proof, Target, header

ROLE: Final = "roles/weft_host"
GROUP: Final = "weft"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a file goes, what it is and what follows when it changes."""

    what: str
    path: str
    mode: str = "0644"
    notify: str = ""


PLACES: Final = {
    "weft-rdma-limits.conf": _Place(
        what="the limit of locked memory",
        path="/etc/security/limits.d/weft-rdma-limits.conf"),
    "weft-gpudirect": _Place(
        what="the script for PCIe and GPU", path=GPUDIRECT, mode="0755",
        notify="Restart weft-gpudirect"),
    "weft-gpudirect.service": _Place(
        what="the unit for PCIe and GPU",
        path="/etc/systemd/system/weft-gpudirect.service", notify="Restart weft-gpudirect"),
    "90-weft-rdma.conf": _Place(
        what="the settings of the kernel", path="/etc/sysctl.d/90-weft-rdma.conf",
        notify="Apply the settings of the kernel"),
    "rails.tsv": _Place(
        what="the addresses of all hosts", path=RAILS, notify="Restart weft-rdma"),
    "weft-rdma": _Place(
        what="the script for the NICs", path=SCRIPT, mode="0755",
        notify="Restart weft-rdma"),
    "weft-rdma.service": _Place(
        what="the unit for the NICs", path="/etc/systemd/system/weft-rdma.service",
        notify="Restart weft-rdma"),
}  # fmt: skip
"""By name of the file, in the order in which they are installed."""


def _files(plan: Plan) -> Files:
    own = dict(host_files(plan))
    names = [name for name in PLACES if name in own]
    yield "inventory.yml", _text(plan, "inventory", _inventory(plan))
    yield "playbook.yml", _text(plan, "playbook", _PLAYBOOK)
    yield f"{ROLE}/tasks/main.yml", _text(plan, "tasks", _tasks(names))
    yield f"{ROLE}/handlers/main.yml", _text(plan, "handlers", _handlers(names))
    for name in names:
        yield f"{ROLE}/files/{name}", own[name]


def _text(plan: Plan, what: str, lines: Iterator[str] | tuple[str, ...]) -> str:
    return "\n".join([header(plan, f"Ansible: {what}"), "---", *lines]) + "\n"


def _inventory(plan: Plan) -> Iterator[str]:
    yield from ("all:", "  children:", f"    {GROUP}:", "      hosts:")
    yield f"        {hosts_range(plan.cluster.hosts)}:"


_PLAYBOOK: Final = (
    "- name: Prepare hosts for RDMA",
    f"  hosts: {GROUP}",
    "  become: true",
    "  gather_facts: false",
    "  roles:",
    "    - role: weft_host",
)


def _tasks(names: list[str]) -> Iterator[str]:
    if "rails.tsv" in names:
        folder, _, _ = RAILS.rpartition("/")
        yield from ("- name: Make the folder of the addresses", "  ansible.builtin.file:",
                    f"    path: {folder}", "    state: directory", "    owner: root",
                    "    group: root", '    mode: "0755"')  # fmt: skip
    for name in names:
        yield from _copy(name, PLACES[name])
    for unit in _units(names):
        yield from (f"- name: Enable and start {unit}", "  ansible.builtin.systemd:",
                    f"    name: {unit}.service", "    enabled: true", "    state: started",
                    "    daemon_reload: true")  # fmt: skip


def _copy(name: str, place: _Place) -> Iterator[str]:
    yield from (f"- name: Install {place.what}", "  ansible.builtin.copy:",
                f"    src: {name}", f"    dest: {place.path}", "    owner: root",
                "    group: root", f'    mode: "{place.mode}"')  # fmt: skip
    if place.notify:
        yield f"  notify: {place.notify}"


def _units(names: list[str]) -> list[str]:
    return [name.removesuffix(".service") for name in names if name.endswith(".service")]


def _handlers(names: list[str]) -> Iterator[str]:
    if "90-weft-rdma.conf" in names:
        path = PLACES["90-weft-rdma.conf"].path
        yield from ("- name: Apply the settings of the kernel", "  ansible.builtin.command:",
                    f"    cmd: sysctl -p {path}", "  changed_when: true")  # fmt: skip
    for unit in _units(names):
        yield from (f"- name: Restart {unit}", "  ansible.builtin.systemd:",
                    f"    name: {unit}.service", "    state: restarted",
                    "    daemon_reload: true")  # fmt: skip
    if not _units(names):
        yield "[]"


ansible = Target(
    title="Ansible: a role that installs what linux_host writes",
    supports=frozenset({Feature.IP, Feature.PFC, Feature.SUBNET, Feature.MESH}),
    files=_files,
    proofs={
        "inventory.yml, playbook.yml": Proof.SOFTWARE,
        "roles/weft_host/tasks/main.yml, roles/weft_host/handlers/main.yml": Proof.SOFTWARE,
        ", ".join(PLACES): Proof.GOLDEN,
    },
)
