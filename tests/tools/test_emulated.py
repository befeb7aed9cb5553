"""Real tools believe an emulated fabric: ibsim boots it, node_exporter reads its files."""

import re
import shutil
import socket
import subprocess
import time
import urllib.request
from contextlib import closing

import pytest

from tools.ibsim import Lab, cluster_of, needs_ibsim
from weft.emulate.bundle import BETWEEN_S, emulate, files, write
from weft.emulate.metrics import Timeline
from weft.generate.plan import plan
from weft.spec.load import preset

EXPORTER = shutil.which("prometheus-node-exporter") or shutil.which("node_exporter")
COMPARED = ("state_id", "rate_bytes_per_second", "link_downed_total",
            "port_errors_received_total")  # fmt: skip
pytestmark = [pytest.mark.tool, pytest.mark.slow]


class _Net:
    """What ibsim boots: the emulated subnet, without LIDs, at a rate that Debian's knows."""

    def __init__(self, text):
        self._text = text

    def text(self):
        return re.sub(r"lid \d+", "lid 0", self._text.replace("xNDR", "xHDR"))


def _cables(text):
    """Return nodes and ports as ibnetdiscover lists them; ibsim has its own GUIDs of ports."""
    plain = re.sub(r"lid \d+", "lid 0", text.replace("xNDR", "xHDR"))
    plain = re.sub(r"\([0-9a-f]{16}\)", "", plain)
    return sorted(one for one in plain.splitlines() if re.match(r"\[|Switch|Ca", one))


def _links(text):
    """Return the lines of switches of iblinkinfo; ibsim takes every port for 12X."""
    found = [one for one in text.splitlines() if re.search(r'^0x\w+ " *(?:leaf|spine)', one)]
    plain = (one.replace("106.25", "53.125").replace("Could be 12X", "") for one in found)
    near = (re.sub(r" +\d+ +(\d+)\[", r" port \1[", one) for one in plain)
    return sorted(re.sub(r"0xb8cef603[0-9a-f]{8}", "adapter", one) for one in near)


@needs_ibsim
def test_a_simulator_boots_the_subnet_and_the_tools_list_the_same_links(tmp_path):
    cluster = cluster_of(20, nics=4)
    state = emulate(plan(cluster), ["port-down"], seed=3)
    texts = dict(files(state, asked=["subnet"]))
    with Lab(tmp_path, _Net(texts["fabric/ibnetdiscover"])) as lab:
        lab.opensm("routing_engine minhop\n")
        cables, links = lab.ask("ibnetdiscover"), lab.ask("iblinkinfo", "-l")
    assert _cables(cables) == _cables(texts["fabric/ibnetdiscover"])
    assert _links(links) == _links(texts["fabric/iblinkinfo_-l"])
    assert len(_links(links)) > 300
    assert f'{state.injected[0].host} {state.injected[0].device}"' not in cables


@pytest.mark.skipif(
    EXPORTER is None, reason="prometheus-node-exporter is not installed; run scripts/tools.sh"
)
@pytest.mark.parametrize("name", ["dgx_h100", "hgx_h100_roce"])
def test_node_exporter_shows_the_series_that_are_emulated(name, tmp_path):
    made = plan(preset(name, hosts=64))
    state = emulate(made, ["port-down", "link-flap"], seed=5)
    write(state, tmp_path / "bundle", asked=["sysfs"])
    sound = emulate(made, (), seed=5)
    for number, host in enumerate(state.hosts):
        root = tmp_path / "bundle" / "hosts" / host.name / "sys"
        real = _compared(_scraped(root))
        timeline = Timeline(healthy=sound, faulty=state)
        assert real == _compared(timeline.metrics_text(number, BETWEEN_S))
        assert len(real) == len(COMPARED) * len(host.rails)


def _scraped(root):
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    words = [EXPORTER, f"--path.sysfs={root}", "--collector.disable-defaults",
             "--collector.infiniband", "--collector.netclass",
             f"--web.listen-address=127.0.0.1:{port}"]  # fmt: skip
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                with urllib.request.urlopen(
                    f"http://127.0.0.1:{port}/metrics", timeout=5
                ) as answer:
                    return answer.read().decode()
            except OSError:
                time.sleep(0.1)
        raise AssertionError("node_exporter did not start")
    finally:
        process.terminate()
        process.wait(timeout=20)


def _compared(text):
    """Return the InfiniBand series that both have; a link that is down has the rate of none."""
    found = {}
    for line in text.splitlines():
        name, _, value = line.rpartition(" ")
        if any(name.startswith(f"node_infiniband_{one}{{") for one in COMPARED):
            found[name] = float(value)
    down = {
        one.partition("{")[2]
        for one, value in found.items()
        if "state_id" in one and value == 1
    }
    rate = "node_infiniband_rate_bytes_per_second{"
    return {one: value for one, value in found.items()
            if not (one.startswith(rate) and one.partition("{")[2] in down)} | {
            f"{rate}{one}": 0.0 for one in down}  # fmt: skip
