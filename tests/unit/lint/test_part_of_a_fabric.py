"""Files of some switches beside those of all hosts: what is not given is no fault."""

import json
from functools import cache
from random import Random

import pytest

from weft.generate.plan import plan
from weft.generate.target import render
from weft.lint.lint import causes, facts_of, find, lint_texts
from weft.lint.rule import Case
from weft.lint.text import Text
from weft.spec.load import preset

SWITCHES = {
    "sonic": "", "cumulus": "", "eos": "arista_7060x6_64pe", "nxos": "cisco_n9364e_sg2",
    "junos": "juniper_qfx5240_64od",
}  # fmt: skip


@cache
def _rendered(vendor):
    cluster = preset("hgx_h100_roce", hosts=32)
    if SWITCHES[vendor]:
        cluster = cluster.with_(topology=cluster.topology.with_(switch=SWITCHES[vendor]))
    return {one.path: one.text for one in render(plan(cluster), ["all"]).files}


@cache
def _facts(name, content):
    return tuple(facts_of(Text(name=name, content=content))[1])


def _switch(name):
    return name.split("/")[1].partition(".")[0]


def _part(vendor, kept):
    """Return the files of some switches of a vendor and of everything that is no switch."""
    return {
        name: text
        for name, text in _rendered(vendor).items()
        if name.split("/")[0] not in SWITCHES
        or (name.startswith(f"{vendor}/") and _switch(name) in kept)
    }


def _case(files):
    return Case([fact for name, text in files.items() for fact in _facts(name, text)])


@pytest.mark.parametrize("vendor", SWITCHES)
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_a_part_of_the_switches_is_no_fault_and_the_rest_is_known(vendor, count):
    names = sorted({_switch(one) for one in _rendered(vendor) if one.startswith(f"{vendor}/")})
    for seed in range(4):
        kept = Random(seed).sample(names, count)  # noqa: S311 - a choice of samples
        case = _case(_part(vendor, kept))
        assert not [one.message for one in find(case)[0]]
        assert case.absent


def test_a_gateway_that_its_own_switch_lacks_is_found_in_a_part_of_the_fabric():
    files = _part("sonic", ["leaf-0000"])
    path = "sonic/leaf-0000/config_db.json"
    config = json.loads(files[path])
    gone = next(one for one in config["INTERFACE"] if "|" in one and "." in one)
    del config["INTERFACE"][gone]
    found, _ = find(_case(files | {path: json.dumps(config, indent=1)}))
    messages = {one.message for one in found if one.rule == "address_gateway"}
    assert len(messages) == 1
    assert gone.partition("|")[2].partition("/")[0] in min(messages)


def test_findings_that_one_change_fixes_are_one_cause():
    text = json.dumps(
        {
            "DEVICE_METADATA": {"localhost": {"hostname": "leaf"}},
            "PORT": {f"Ethernet{n}": {"speed": "400000", "fec": "none"} for n in range(19)},
        }
    )
    result = lint_texts([Text(name="config_db.json", content=text)])
    fec = [one for one in causes(result.findings) if one[0].rule == "link_fec"]
    assert [len(one) for one in fec] == [19]
