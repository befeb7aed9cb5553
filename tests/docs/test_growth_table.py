"""The table of a growing cluster holds what the layouts of its networks have."""

import re
from pathlib import Path

from weft.network.network import layout
from weft.spec.load import load_cluster

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "grow-a-cluster.md"
ROW = re.compile(r"^\| ([\d,]+) \|(.+)\|$", re.MULTILINE)
COLUMNS = ((1, None), (2, None), (4, None), (1, "200Gb/s"), (2, "200Gb/s"))
"""Planes, and the rate of a NIC where it is not that of the cluster."""


def shown(hosts, planes, rate):
    kind = "multi_plane" if planes > 1 else "rail_optimized"
    fabric = {} if rate is None else {"fabric": {"link_bytes_per_s": rate}}
    found = layout(load_cluster(
        {"preset": "hgx_h100_roce", "hosts": hosts,
         "topology": {"kind": kind, "planes": planes}, **fabric}
    ))  # fmt: skip
    switches = f"{found.switches:,}"
    return f"**{switches}**" if found.tiers > 2 else switches


def test_switches_and_tiers_are_those_of_the_layouts():
    rows = ROW.findall(PAGE.read_text("utf-8"))
    assert len(rows) == 6
    for hosts, cells in rows:
        wanted = [shown(int(hosts.replace(",", "")), *column) for column in COLUMNS]
        assert [cell.strip() for cell in cells.split("|")] == wanted
