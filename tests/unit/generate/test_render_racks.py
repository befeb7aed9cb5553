"""A host that is a rack of several machines is not written as one machine."""

import re

import pytest

from weft.generate.plan import plan
from weft.generate.target import reason_against, render, suitable
from weft.spec.load import preset


def test_of_a_rack_only_the_network_and_its_manager_are_written():
    assert set(suitable(plan(preset("gb200_nvl72")))) == {
        "drawio", "netbox", "opensm", "slurm", "ufm",
    }  # fmt: skip


@pytest.mark.parametrize("target", ["nccl", "linux_host", "ansible", "launch"])
def test_what_is_for_one_machine_says_that_racks_are_several(target):
    assert "racks of several machines" in reason_against(target, plan(preset("gb200_nvl72")))


@pytest.mark.parametrize("name", ["gb200_nvl72", "gb300_nvl72"])
def test_a_rack_is_a_block_of_slurm_whose_trays_are_its_nodes(name):
    """Sizes of blocks grow by powers of two, as topology/block takes them."""
    cluster = preset(name, hosts=16)
    texts = {file.path: file.text for file in render(plan(cluster), ["slurm"]).files}
    topology = texts["slurm/topology.conf"]
    assert topology.count("BlockName=") == cluster.hosts
    assert "BlockName=host-0003 Nodes=host-0003-tray-[00-17]\n" in topology
    first, *further = map(int, re.search(r"BlockSizes=(\S+)", topology)[1].split(","))
    assert first == 18
    assert all((size // first).bit_count() == 1 and size > first for size in further)
    assert (
        "host-[0000-0015]-tray-[00-17] Name=gpu File=/dev/nvidia[0-3]"
        in texts["slurm/gres.conf"]
    )


def test_a_rack_of_unknown_trays_is_refused():
    cluster = preset("gb200_nvl72")
    unnamed = cluster.with_(host=cluster.host.with_(server=""))
    assert "name the rack as host.server" in reason_against("slurm", plan(unnamed))
