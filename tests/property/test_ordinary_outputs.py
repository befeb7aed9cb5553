"""What healthy hosts and switches print: counters since the start differ, and nothing is wrong.

The numbers are random: hosts of one role have been up for different times and carried
different loads. The outputs have the layout that each tool's manual describes.
"""

import json
from collections.abc import Callable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from weft.doctor.diagnose import Diagnosis, diagnose

HOSTS = 4
QUICK = settings(max_examples=6, deadline=None, phases=(Phase.explicit, Phase.generate))
Draw = Callable[[int, int], int]
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def numastat(draw: Draw) -> str:
    hits = [draw(10**8, 10**11) for _ in range(2)]
    return (
        "                           node0           node1\n"
        f"numa_hit        {hits[0]:15d} {hits[1]:15d}\n"
        f"numa_miss       {draw(0, 9000):15d} {draw(0, 90000):15d}\n"
        f"numa_foreign    {draw(0, 9000):15d} {draw(0, 90000):15d}\n"
        "interleave_hit            5512            5498\n"
        f"local_node      {hits[0] - 1000:15d} {hits[1] - 800:15d}\n"
        "other_node                1000             800\n"
    )


def netstat(draw: Draw) -> str:
    return (
        f"Ip:\n    {draw(10**6, 10**8)} total packets received\n"
        f"    {draw(0, 20)} with invalid addresses\n    0 incoming packets discarded\n"
        f"    {draw(0, 40)} outgoing packets dropped\n"
        f"Icmp:\n    {draw(100, 4000)} ICMP messages received\n"
        f"    {draw(0, 80)} input ICMP message failed\n    ICMP input histogram:\n"
        f"        destination unreachable: {draw(0, 300)}\n"
        f"Tcp:\n    {draw(10**4, 10**5)} active connection openings\n"
        f"    {draw(100, 900)} failed connection attempts\n"
        f"    {draw(100, 9000)} connection resets received\n"
        f"    {draw(10**8, 10**9)} segments received\n"
        f"    {draw(10**8, 10**9)} segments sent out\n"
        f"    {draw(10, 9000)} segments retransmitted\n"
        f"    {draw(1, 30)} bad segments received\n"
        f"Udp:\n    {draw(1, 40)} packets to unknown port received\n"
        f"    {draw(0, 4)} packet receive errors\n    0 receive buffer errors\n"
        f"TcpExt:\n    {draw(1, 40)} invalid SYN cookies received\n"
        f"    {draw(1, 40)} packets collapsed in receive queue due to low socket buffer\n"
        f"    TCPLostRetransmit: {draw(10, 4000)}\n    TCPTimeouts: {draw(10, 4000)}\n"
        f"    {draw(1, 40)} connections aborted due to timeout\n"
    )


def nstat(draw: Draw) -> str:
    names = ("IpInReceives", "IpOutNoRoutes", "IcmpInErrors", "TcpAttemptFails", "TcpInErrs",
             "TcpOutRsts", "UdpInErrors", "TcpExtTCPTimeouts", "TcpExtListenDrops")  # fmt: skip
    return "#kernel\n" + "".join(f"{one:32}{draw(1, 10**5):<16}   0.0\n" for one in names)


def vmstat(draw: Draw) -> str:
    names = ("K total memory", "K used memory", "K active memory", "pages paged in",
             "interrupts", "CPU context switches", "forks")  # fmt: skip
    return "".join(f"{draw(10**3, 10**9):12d} {one}\n" for one in names)


def interrupts(draw: Draw) -> str:
    rows = (("44", "IR-PCI-MSI nvme0q0"), ("45", "IR-PCI-MSI mlx5_async0"),
            ("LOC", "Local timer interrupts"), ("TRM", "Thermal event interrupts"),
            ("MCE", "Machine check exceptions"))  # fmt: skip
    text = "           CPU0       CPU1       CPU2       CPU3\n"
    for name, about in rows:
        counts = " ".join(f"{draw(0, 10**6):10d}" for _ in range(4))
        text += f"{name:>4}: {counts}  {about}\n"
    return text + "ERR:          0\nMIS:          0\n"


def ethtool(draw: Draw) -> str:
    names = ("rx_packets", "tx_packets", "rx_bytes", "tx_queue_stopped", "tx_queue_wake",
             "ch_events", "ch_poll", "rx_corrected_bits_phy", "rx_err_lane_0_phy")  # fmt: skip
    text = "".join(f"     {one}: {draw(10**3, 10**6)}\n" for one in names)
    return f"NIC statistics:\n{text}     rx_xdp_drop: 0\n     module_bus_stuck: 0\n"


def boot(draw: Draw) -> str:
    times = sorted(draw(0, 60_000_000) for _ in range(9))
    said = (
        "Linux version 6.8.0-40-generic (builder@lcy02) #40-Ubuntu SMP PREEMPT_DYNAMIC",
        "ACPI: IRQ0 used by override.",
        "ACPI BIOS Warning (bug): Optional FADT field Pm2ControlBlock has valid Length",
        "pci 0000:00:1f.0: BAR 13: no space for [io  size 0x1000]",
        "ERST: Error Record Serialization Table (ERST) support is initialized.",
        "nvme nvme0: 128/0/0 default/read/poll queues",
        "EXT4-fs (nvme0n1p2): mounted filesystem. Opts: errors=remount-ro",
        "mlx5_core 0000:5e:00.0: firmware version: 28.39.2048",
        "systemd[1]: Condition check resulted in Failover watch being skipped.",
    )  # fmt: skip
    lines = (f"[{at / 1e6:12.6f}] {text}\n" for at, text in zip(times, said, strict=True))
    return "".join(lines)


def idle_switch(draw: Draw) -> str:
    rows = "".join(
        f"Et{port}/1  {draw(0, 10**9):16d} {draw(0, 10**7):12d} {draw(0, 900):8d}\n"
        for port in range(1, 9)
    )
    return f"Port           InOctets    InUcastPkts  InBcast\n{rows}"


@pytest.mark.parametrize(
    "write", [numastat, netstat, nstat, vmstat, interrupts, ethtool, boot, idle_switch],
    ids=lambda one: one.__name__,
)  # fmt: skip
@QUICK
@given(data=st.data())
def test_counters_since_the_start_are_no_finding(write, data):
    def draw(low: int, high: int) -> int:
        return data.draw(st.integers(low, high))

    files = {f"hosts/n{host}/{write.__name__}.txt": write(draw) for host in range(HOSTS)}
    assert not diagnosed(files).findings


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("label", ["fan", "name", None])
@QUICK
@given(size=st.integers(3, 9), data=st.data())
def test_the_item_of_a_json_list_that_is_bad_is_named(nested, label, size, data):
    odd = data.draw(st.integers(0, size - 1))
    items = [{"status": "failed" if n == odd else "ok", "rpm": 9000} for n in range(size)]
    if label:
        items = [{label: f"F{n}", **item} for n, item in enumerate(items)]
    whole = {"data": {"fans": items}} if nested else {"fans": items}
    found = diagnosed({"hosts/n1/thermal.json": json.dumps(whole)}).findings
    assert f"fans {'F' if label else ''}{odd}/" in found[0].told
    assert sum("/status" in one for one in found[0].entities) == 1


def commands() -> list[Mapping[str, object]]:
    table = BENCHMARKS / "command_coverage.yaml"
    return yaml.safe_load(table.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@pytest.mark.parametrize("row", commands(), ids=lambda row: str(row["command"])[:40])
def test_the_healthy_output_of_a_command_is_silent(row):
    """A disk of the system beside disks of data is the one that is not, in iostat."""
    spec = spec_from_file_location("command_coverage", BENCHMARKS / "command_coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    if row["command"] == "iostat -x":
        pytest.xfail("its rows are of two kinds of disks")
    assert not [
        one for one in module.diagnosed(row, row["output"]).findings if one.severity != "info"
    ]


def diagnosed(files: Mapping[str, str]) -> Diagnosis:
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return diagnose([Path(folder)])
