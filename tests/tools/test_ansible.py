"""Ansible reads the role, and its linter has nothing to say; the inventory names every host."""

import json
import os
import shutil
import subprocess

import pytest

from weft.generate.plan import plan
from weft.generate.target import render, write
from weft.spec.load import preset

pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("ansible-playbook") is None,
        reason="ansible is not installed; run scripts/tools.sh",
    ),
]

CLUSTERS = {
    "roce": preset("hgx_h100_roce", hosts=12),
    "ib": preset("dgx_h100", hosts=2),
}


@pytest.fixture(scope="module", params=CLUSTERS)
def folder(request, tmp_path_factory):
    made = tmp_path_factory.mktemp("rendered")
    write(render(plan(CLUSTERS[request.param]), ["ansible"]), made)
    return made / "ansible"


def _run(folder, *words):
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False,
        env=own | {"ANSIBLE_LOCALHOST_WARNING": "false", "NO_COLOR": "1"},
    )  # fmt: skip


@pytest.mark.proves(
    "ansible",
    effect="the playbook is read",
    tool="ansible",
)
def test_the_playbook_is_read(folder):
    words = ("ansible-playbook", "-i", "inventory.yml", "--syntax-check", "playbook.yml")
    done = _run(folder, *words)
    assert done.returncode == 0, done.stderr
    tasks = folder / "roles" / "weft_host" / "tasks" / "main.yml"
    tasks.write_text(tasks.read_text().replace("builtin.copy", "builtin.kopy"))
    assert _run(folder, *words).returncode
    tasks.write_text(tasks.read_text().replace("builtin.kopy", "builtin.copy"))


@pytest.mark.skipif(
    shutil.which("ansible-lint") is None, reason="ansible-lint is not installed"
)
def test_the_linter_has_nothing_to_say(folder):
    done = _run(folder, "ansible-lint", "--offline", "--profile", "production", "-q", "-p")
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_the_inventory_names_every_host(folder):
    done = _run(folder, "ansible-inventory", "-i", "inventory.yml", "--list")
    hosts = json.loads(done.stdout)["weft"]["hosts"]
    assert hosts == [f"host-{number:04d}" for number in range(len(hosts))]
    assert len(hosts) in {cluster.hosts for cluster in CLUSTERS.values()}
