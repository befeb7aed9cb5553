"""Ansible: the files of linux_host as a role, with an inventory and a playbook."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from textwrap import dedent
from typing import Final

from weft.generate.host_files import GPUDIRECT, RAILS, SCRIPT, host_files
from weft.generate.names import hosts_range
from weft.generate.plan import Feature, Plan
from weft.generate.target import Files, Proof, Target, header

Node = str | bool | None | Sequence["Node"] | Mapping[str, "Node"]
ROLE: Final = "roles/weft_host"
GROUP: Final = "weft"
LONGEST_LINE: Final = 160
"""Of the profile of ansible-lint; what is longer would be folded."""


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
    yield "playbook.yml", _text(plan, "playbook", [_PLAYBOOK])
    yield f"{ROLE}/tasks/main.yml", _text(plan, "tasks", list(_tasks(names)))
    yield f"{ROLE}/handlers/main.yml", _text(plan, "handlers", list(_handlers(names)))
    for name in names:
        yield f"{ROLE}/files/{name}", own[name]


def _text(plan: Plan, what: str, document: Node) -> str:
    """Write one document as ansible-lint wants it: lists indented, a line a value."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - where a document is written

    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.width = LONGEST_LINE
    stream = StringIO()
    yaml.dump(document, stream)
    # A list at the top stands at the margin.
    body = dedent(stream.getvalue()) if isinstance(document, list) else stream.getvalue()
    return "\n".join([header(plan, f"Ansible: {what}"), "---", body])


def _inventory(plan: Plan) -> Node:
    hosts: Node = {hosts_range(plan.cluster.hosts): None}
    return {"all": {"children": {GROUP: {"hosts": hosts}}}}


_PLAYBOOK: Final[Node] = {
    "name": "Prepare hosts for RDMA",
    "hosts": GROUP,
    "become": True,
    "gather_facts": False,
    "roles": [{"role": "weft_host"}],
}


def _tasks(names: list[str]) -> Iterator[Node]:
    if "rails.tsv" in names:
        folder, _, _ = RAILS.rpartition("/")
        yield {
            "name": "Make the folder of the addresses",
            "ansible.builtin.file": {"path": folder, "state": "directory", **_owned("0755")},
        }
    for name in names:
        yield _copy(name, PLACES[name])
    for unit in _units(names):
        yield {
            "name": f"Enable and start {unit}",
            "ansible.builtin.systemd": {
                "name": f"{unit}.service", "enabled": True, "state": "started",
                "daemon_reload": True,
            },
        }  # fmt: skip


def _copy(name: str, place: _Place) -> Node:
    copied = {"src": name, "dest": place.path, **_owned(place.mode)}
    task: dict[str, Node] = {
        "name": f"Install {place.what}",
        "ansible.builtin.copy": copied,
    }
    return task | ({"notify": place.notify} if place.notify else {})


def _owned(mode: str) -> dict[str, str]:
    return {"owner": "root", "group": "root", "mode": mode}


def _units(names: list[str]) -> list[str]:
    return [name.removesuffix(".service") for name in names if name.endswith(".service")]


def _handlers(names: list[str]) -> Iterator[Node]:
    if "90-weft-rdma.conf" in names:
        path = PLACES["90-weft-rdma.conf"].path
        yield {
            "name": "Apply the settings of the kernel",
            "ansible.builtin.command": {"cmd": f"sysctl -p {path}"},
            "changed_when": True,
        }
    for unit in _units(names):
        yield {
            "name": f"Restart {unit}",
            "ansible.builtin.systemd": {
                "name": f"{unit}.service", "state": "restarted", "daemon_reload": True,
            },
        }  # fmt: skip


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
