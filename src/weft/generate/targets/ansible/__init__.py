"""Ansible: the files of linux_host as a role, with an inventory and a playbook."""

from typing import Final

from weft.generate.host_files import host_files, places
from weft.generate.names import hosts_range
from weft.generate.plan import Plan
from weft.generate.target import Files, declared, header
from weft.generate.template import text_of

ROLE: Final = "roles/weft_host"
TEXTS: Final = {
    "inventory.yml": "inventory",
    "playbook.yml": "playbook",
    f"{ROLE}/tasks/main.yml": "tasks",
    f"{ROLE}/handlers/main.yml": "handlers",
}
"""What each file is, by its path."""


def _files(plan: Plan) -> Files:
    own = dict(host_files(plan))
    placed = {name: place for name, place in places().items() if name in own}
    for path, what in TEXTS.items():
        yield path, text_of(
            f"ansible/{path}.j2", head=header(plan, f"Ansible: {what}"), places=placed,
            hosts=hosts_range(plan.cluster.hosts),
        )  # fmt: skip
    for name in placed:
        yield f"{ROLE}/files/{name}", own[name]


ansible = declared("ansible", files=_files)
