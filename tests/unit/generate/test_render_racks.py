"""A host that is a rack of several machines is not written as one machine."""

import pytest

from weft.generate.plan import plan
from weft.generate.target import reason_against, suitable
from weft.spec.load import preset


def test_of_a_rack_only_the_network_and_its_manager_are_written():
    assert set(suitable(plan(preset("gb200_nvl72")))) == {
        "drawio", "netbox", "opensm", "ufm",
    }  # fmt: skip


@pytest.mark.parametrize("target", ["nccl", "linux_host", "ansible", "slurm", "launch"])
def test_what_is_for_one_machine_says_that_racks_are_several(target):
    assert "racks of several machines" in reason_against(target, plan(preset("gb200_nvl72")))
