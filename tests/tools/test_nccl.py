"""Every variable that is rendered is one of NCCL's, with a value that it accepts."""

import json
import re
from pathlib import Path

import pytest

from weft.generate.names import version
from weft.generate.plan import plan
from weft.spec.load import preset, presets

TABLE = Path(__file__).parents[3] / "shared" / "knowledge" / "nccl_env.json"

PLUGINS = ("NCCL_FASTRAK_", "NCCL_GPUDIRECTTCPX_")
"""Variables of plug-ins, of which NCCL itself knows nothing."""
UNTOLD = {"NCCL_P2P_NVL_CHUNKSIZE", "NCCL_P2P_PCI_CHUNKSIZE", "NCCL_NVLS_CHUNKSIZE"}
"""Parameters that are in NCCL and in Google's profiles, but not in NVIDIA's guide."""

pytestmark = [
    pytest.mark.tool,
    pytest.mark.skipif(not TABLE.is_file(), reason=f"NCCL's variables are not in {TABLE}"),
]


@pytest.fixture(scope="module")
def known():
    return {one["name"]: one for one in json.loads(TABLE.read_text())["variables"]}


def _variants():
    for name in presets():
        cluster = preset(name, hosts=64)
        yield cluster
        if cluster.fabric.kind == "roce":
            yield cluster.with_(fabric=cluster.fabric.with_(load_balancing="adaptive"))
        if cluster.fabric.kind == "infiniband":
            yield cluster.with_(fabric=cluster.fabric.with_(in_network_reduction=True))


@pytest.mark.proves(
    "nccl",
    effect="every variable is known, current and in range",
    tool="nccl_table",
)
def test_every_variable_is_known_current_and_in_range(known):
    seen = set()
    for cluster in _variants():
        for name, one in plan(cluster).nccl.settings.items():
            if not name.startswith("NCCL_") or name.startswith(PLUGINS) or name in UNTOLD:
                continue
            seen.add(name)
            assert name in known, name
            assert not known[name]["deprecated_or_removed"], name
            since = known[name]["since"]
            if since and re.fullmatch(r"[\d.]+", since):
                assert version(since) <= version(cluster.nccl.version), name
            accepted = known[name]["accepted"]
            if span := re.match(r"(\d+)\.\.(\d+)", accepted):
                assert int(span[1]) <= int(one.text()) <= int(span[2]), name
            elif re.fullmatch(r"\d(, \d)+", accepted):
                assert one.text() in accepted.split(", "), name
    assert {"NCCL_IB_TC", "NCCL_IB_SL", "NCCL_IB_HCA", "NCCL_COLLNET_ENABLE"} <= seen
