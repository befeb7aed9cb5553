"""What stands around the fabric: the site's values, and placeholders where it is silent."""

import json
import re

import pytest
from pydantic import ValidationError

from weft.errors import SpecError
from weft.generate.plan import plan
from weft.generate.target import MANIFEST, render, write
from weft.lint.lint import facts_of
from weft.lint.text import Text
from weft.spec.load import preset
from weft.spec.site import Aaa, Site


def _cluster(switch: str, hosts: int = 8):
    cluster = preset("hgx_h100_roce", hosts=hosts)
    return cluster.with_(
        host=cluster.host.with_(nic="connectx7", nics=8, nic_bytes_per_s=50e9),
        topology=cluster.topology.with_(kind="fat_tree", switch=switch, oversubscription=2.0),
    )


LINUX = _cluster("sn4700")
CASES = {
    "cumulus": _cluster("sn4700"),
    "eos": _cluster("arista_7060x6_32pe", hosts=12),
    "nxos": _cluster("cisco_n9364e_sg2", hosts=24),
    "sonic": _cluster("sn5600", hosts=24),
    "junos": _cluster("juniper_qfx5240_64od", hosts=24),
    "frr": LINUX.with_(fabric=LINUX.fabric.with_(kind="tcp")),
}
WHOLE = [name for name in CASES if name != "frr"]
"""Targets of a whole switch; FRR is a part of one."""
OWN = {"junos": {"FILL_IN_GNMI_CERTIFICATE"}}
"""Placeholders of one target alone: gNMI of Junos needs a certificate by name."""
GIVEN = Site(
    management_prefix="192.0.2.0/24", ntp=("192.0.2.3", "192.0.2.4"), syslog=("192.0.2.5",),
    aaa=Aaa(protocol="radius", servers=("192.0.2.6",)), snmp_user="monitor",
    banner="Property of the site", maintenance=("spine-0000",),
)  # fmt: skip


def _texts(target, site):
    made = render(plan(CASES[target].with_(site=site)), [target])
    return {file.path: file.text for file in made.files}


def _placeholders(path, text):
    facts = facts_of(Text(name=path, content=text))[1]
    found = [one for one in facts if getattr(one, "rule", "") == "placeholder_left"]
    return {word for one in found for word in re.findall(r"FILL_IN_\w+", one.message)}


@pytest.mark.parametrize("target", CASES)
def test_without_a_site_nothing_of_it_is_written(target):
    for path, text in _texts(target, None).items():
        assert "FILL_IN_" not in text, path
        assert not re.search(r"tacacs|TACPLUS|ntp|syslog|bfd", text, re.IGNORECASE), path


@pytest.mark.parametrize("target", WHOLE)
def test_what_the_site_leaves_open_is_a_placeholder_that_lint_reports(target):
    wanted = {f"FILL_IN_{one}" for one in
              ("NTP_SERVER", "SYSLOG_SERVER", "TACACS_SERVER", "TACACS_SECRET")}  # fmt: skip
    for path, text in _texts(target, Site()).items():
        assert _placeholders(path, text) == wanted | OWN.get(target, set()), path


@pytest.mark.parametrize("target", WHOLE)
def test_what_the_site_gives_is_written_and_only_secrets_are_left(target):
    left = {"FILL_IN_RADIUS_SECRET", "FILL_IN_SNMP_AUTH_SECRET", "FILL_IN_SNMP_PRIV_SECRET"}
    values = ("192.0.2.3", "192.0.2.4", "192.0.2.5", "192.0.2.6", "monitor",
              "Property of the site")  # fmt: skip
    for path, text in _texts(target, GIVEN).items():
        assert [one for one in values if one not in text] == [], path
        assert _placeholders(path, text) == left | OWN.get(target, set()), path


@pytest.mark.parametrize("target", WHOLE)
def test_every_switch_has_a_management_address_of_its_own(target):
    texts = _texts(target, GIVEN)
    found = [re.search(r"192\.0\.2\.(\d+)/24", text)[1] for text in texts.values()]
    assert sorted(map(int, found)) == list(range(11, 11 + len(texts)))


DRAINED = {
    "cumulus": "graceful-shutdown enabled", "eos": "quiesce", "frr": "bgp graceful-shutdown",
    "nxos": "system mode maintenance", "junos": "graceful-shutdown",
    "sonic": '"graceful_shutdown": "true"',
}  # fmt: skip


@pytest.mark.parametrize("target", CASES)
def test_a_switch_in_maintenance_is_drained_and_no_other(target):
    for path, text in _texts(target, GIVEN).items():
        assert (DRAINED[target] in text) == path.endswith(
            ("spine-0000/nvue.commands", "spine-0000/eos.conf", "spine-0000/nxos.conf",
             "spine-0000/junos.conf", "spine-0000/config_db.json", "spine-0000/frr.conf")
        ), path  # fmt: skip


BFD = {
    "cumulus": "peer-group FABRIC bfd profile FABRIC", "eos": "neighbor FABRIC bfd",
    "frr": " neighbor FABRIC bfd", "nxos": "    bfd\n",
    "junos": "bfd-liveness-detection", "sonic": '"bfd": "true"',
}  # fmt: skip


@pytest.mark.parametrize("target", CASES)
def test_bfd_is_on_unless_the_site_says_otherwise(target):
    for site, on in ((Site(), True), (Site(bfd=False), False)):
        for path, text in _texts(target, site).items():
            if (
                path.endswith((".conf", ".commands", ".json"))
                and "/" in path[len(target) + 1 :]
            ):
                assert (BFD[target] in text) == on, path


def test_a_prefix_with_too_few_addresses_is_refused():
    with pytest.raises(SpecError, match="give a larger one"):
        _texts("cumulus", Site(management_prefix="192.0.2.0/29"))


def test_a_switch_in_maintenance_that_is_none_is_refused():
    with pytest.raises(SpecError, match="no switch spine-0099"):
        _texts("cumulus", Site(maintenance=("spine-0099",)))


@pytest.mark.parametrize("site", [
    {"banner": "a^ reload"}, {"ntp": ("192.0.2.1 prefer",)}, {"syslog": ("a\nb",)},
    {"banner": 'a" ; reload'},
    {"management_prefix": "192.0.2.0/33"}, {"snmp_user": "a b"}, {"release": "new"},
    {"banner": "a\nEOF\nreload"}, {"gnmi_port": 0}, {"management_vrf": "x y"},
])  # fmt: skip
def test_a_value_cannot_end_its_line_and_begin_another(site):
    with pytest.raises(ValidationError):
        Site(**site)


@pytest.mark.parametrize("target", CASES)
def test_report_and_manifest_say_how_files_are_applied(target, tmp_path):
    made = render(plan(CASES[target]), [target])
    (applied,) = made.applied
    write(made, tmp_path)
    assert json.loads((tmp_path / MANIFEST).read_text())["apply"] == {target: applied.how}
    assert applied.how.startswith(("merge", "whole"))
    if target == "sonic":
        assert "`config reload`" in applied.how
        assert "remove what the site has" in applied.how
