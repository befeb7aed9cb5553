"""In the output of any tool the element that deviates is named; where all agree is silence.

Outputs are written from a list of values, in sizes from 3 to 1,000 elements and in several
spellings; none was tuned to a case.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.doctor.diagnose import Diagnosis, diagnose
from weft.doctor.verdict import Verdict

Files = Mapping[str, str]
Write = Callable[[list[str]], Files]
MANY = 1000


@dataclass(frozen=True)
class Output:
    """The output of a tool that shows one value for each element."""

    name: str
    write: Write
    good: tuple[str, ...]
    bad: tuple[str, ...]
    element: str
    """How the finding names the element, with its number."""
    most: int = MANY


def hosts(text: Callable[[int, str], str], file: str) -> Write:
    """Return a writer of one file a host."""
    return lambda values: {
        f"hosts/n{number}/{file}": text(number, value) for number, value in enumerate(values)
    }


def lines(header: str, row: Callable[[int, str], str], file: str = "out.txt") -> Write:
    """Return a writer of one table."""
    return lambda values: {
        file: header + "".join(f"{row(number, value)}\n" for number, value in enumerate(values))
    }


def _ibstat(number: int, rate: str, state: str = "Active") -> str:
    physical = "LinkUp" if state == "Active" else "Polling"
    return (
        f"CA 'mlx5_{number}'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n"
        f"\t\tState: {state}\n\t\tPhysical state: {physical}"
        f"\n\t\tRate: {rate}\n\t\tBase lid: {number + 1}\n\t\tSM lid: 1\n"
        "\t\tLink layer: InfiniBand"
    )


def _ibstatus(number: int, rate: str) -> str:
    return (
        f"Infiniband device 'mlx5_{number}' port 1 status:\n\tbase lid:\t 0x{number + 1:x}\n"
        "\tsm lid:\t\t 0x1\n\tstate:\t\t 4: ACTIVE\n\tphys state:\t 5: LinkUp\n"
        f"\trate:\t\t {rate} Gb/sec (4X NDR)\n\tlink_layer:\t InfiniBand"
    )


def _rdma(number: int, state: str) -> str:
    physical = "LINK_UP" if state == "ACTIVE" else "POLLING"
    return (
        f"link mlx5_{number}/1 subnet_prefix fe80:0000:0000:0000 lid {number + 1} sm_lid 1 "
        f"lmc 0 state {state} physical_state {physical} netdev ib{number}"
    )


def _devinfo(number: int, mtu: str) -> str:
    return (
        f"hca_id:\tmlx5_0\n\ttransport:\tInfiniBand (0)\n\tvendor_part_id:\t4129\n"
        "\tphys_port_cnt:\t1\n\t\tport:\t1\n\t\t\tstate:\tPORT_ACTIVE (4)\n"
        f"\t\t\tmax_mtu:\t4096 (5)\n\t\t\tactive_mtu:\t{mtu} (5)\n\t\t\tsm_lid:\t1\n"
        f"\t\t\tport_lid:\t{number + 1}\n\t\t\tlink_layer:\tInfiniBand\n"
    )


def _ip(number: int, mtu: str) -> str:
    del number
    return (
        f"4: ens3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {mtu} qdisc mq state UP mode DEFAULT "
        "group default qlen 1000\n    link/ether 94:6d:ae:00:11:22 brd ff:ff:ff:ff:ff:ff\n"
    )


def _lspci(number: int, width: str) -> str:
    return (
        f"{number:02x}:00.0 Infiniband controller: Mellanox Technologies MT2910 [ConnectX-7]\n"
        "\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n"
        f"\t\tLnkSta:\tSpeed 32GT/s, Width {width}"
    )


def _smi(number: int, count: str) -> str:
    return "".join(
        f"GPU {one}: NVIDIA H100 80GB HBM3 (UUID: GPU-{number}-{one})\n"
        for one in range(int(count))
    )


def _nvlink(number: int, link: str) -> str:
    return (
        f"GPU {number}: NVIDIA H100 80GB HBM3 (UUID: GPU-{number})\n"
        f"\t Link 0: 26.562 GB/s\n\t Link 1: {link}\n\t Link 2: 26.562 GB/s"
    )


def _twice(header: str, row: str, file: str) -> Write:
    """Return a writer of two readings of a counter on each host."""

    def write(values: list[str]) -> Files:
        files = {}
        for number, value in enumerate(values):
            for sample, (at_s, seen) in enumerate(((1780000000, "5"), (1780000060, value)), 1):
                where = f"hosts/n{number}/sample_{sample}_at_{at_s}/{file}"
                files[where] = header + row.format(value=seen)
        return files

    return write


def _sonic(number: int, rate: str = "400G", mtu: str = "9100", state: str = "up") -> str:
    return f"Ethernet{number}  1,2  {rate}  {mtu}  rs  etp{number}  routed  {state}  up  QSFP"


SONIC = (
    "admin@leaf1:~$ show interfaces status\n"
    "  Interface    Lanes    Speed    MTU    FEC    Alias    Vlan    Oper    Admin    Type\n"
    "-----------  -------  -------  -----  -----  -------  ------  ------  -------  ------\n"
)
EOS = (
    "leaf1#show interfaces status\n"
    "Port       Name   Status       Vlan     Duplex Speed  Type            Flags\n"
)
CUMULUS = (
    "cumulus@leaf4:~$ nv show interface\n"
    "Interface  Admin Status  Oper Status  Speed  MTU    Type      Remote Host\n"
    "---------  ------------  -----------  -----  -----  --------  -----------\n"
)
CSV = "index, name, pcie.link.width.current, pcie.link.width.max\n"
CLOCKS = "index, name, clocks.current.sm [MHz], utilization.gpu [%]\n"
PODS = "$ kubectl get pods\nNAME       READY   STATUS    RESTARTS   AGE\n"
NODES = "$ kubectl get nodes\nNAME     STATUS   ROLES    AGE   VERSION\n"
SINFO = "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
BGP = "Neighbor  V  AS  MsgRcvd  MsgSent  TblVer  InQ  OutQ  Up/Down  State/PfxRcd  PfxSnt\n"
FEC = (
    "      IFACE    STATE    FEC_CORR    FEC_UNCORR    FEC_SYMBOL_ERR\n"
    "-----------  -------  ----------  ------------  ----------------\n"
)
OUTPUTS = [
    Output("ibstat rate", lines("", _ibstat), ("400", "200"), ("100", "2.5"), "mlx5_{n}/"),
    Output(
        "ibstat state",
        lines("", lambda n, v: _ibstat(n, "400" if v == "Active" else "10", v)),
        ("Active",),
        ("Down",),
        "mlx5_{n}/",
    ),
    Output("ibstatus", lines("", _ibstatus), ("400",), ("200", "100"), "mlx5_{n}/"),
    Output("rdma link", lines("", _rdma), ("ACTIVE",), ("DOWN",), "mlx5_{n}/"),
    Output(
        "ibv_devinfo",
        hosts(_devinfo, "ibv_devinfo.txt"),
        ("4096",),
        ("1024", "2048"),
        "on n{n}",
        100,
    ),
    Output("ip link", hosts(_ip, "ip_link.txt"), ("9000", "4200"), ("1500",), "on n{n}", 100),
    Output(
        "ethtool",
        hosts(
            lambda _, v: (
                f"Settings for ens3:\n\tSpeed: {v}Mb/s\n\tDuplex: Full\n\tLink detected: yes\n"
            ),
            "ethtool_ens3.txt",
        ),
        ("400000", "100000"),
        ("25000", "40000"),
        "on n{n}",
        100,
    ),
    Output(
        "mlnx_qos",
        hosts(
            lambda _, v: f"DCBX mode: OS controlled\nPriority trust state: {v}\nCable len: 7\n",
            "mlnx_qos_-i_ens3.txt",
        ),
        ("dscp",),
        ("pcp",),
        "on n{n}",
        100,
    ),
    Output("lspci", lines("", _lspci), ("x16",), ("x8", "x1"), "{n:02x}:00.0", 200),
    Output(
        "nvidia-smi -L", hosts(_smi, "nvidia-smi_-L.txt"), ("8", "4"), ("3", "1"), "n{n}", 100
    ),
    Output(
        "nvidia-smi width",
        lines(CSV, lambda n, v: f"{n}, NVIDIA H100 80GB HBM3, {v}, 16", "gpu.csv"),
        ("16",),
        ("8", "4"),
        "GPU {n}",
    ),
    Output(
        "nvidia-smi clocks",
        lines(CLOCKS, lambda n, v: f"{n}, NVIDIA H100 80GB HBM3, {v} MHz, 99 %", "gpu.csv"),
        ("1980", "1755"),
        ("345", "600"),
        "GPU {n}",
    ),
    Output(
        "nvidia-smi nvlink",
        lines("$ nvidia-smi nvlink -s\n", _nvlink),
        ("26.562 GB/s",),
        ("<inactive>",),
        "GPU {n}",
    ),
    Output(
        "SONiC rate",
        lines(SONIC, lambda n, v: _sonic(n, rate=v)),
        ("400G", "800G"),
        ("100G", "40G"),
        "Ethernet{n} ",
    ),
    Output(
        "SONiC MTU",
        lines(SONIC, lambda n, v: _sonic(n, mtu=v)),
        ("9100",),
        ("1500", "9000"),
        "Ethernet{n} ",
    ),
    Output(
        "SONiC state",
        lines(SONIC, lambda n, v: _sonic(n, state=v)),
        ("up",),
        ("down",),
        "Ethernet{n} ",
    ),
    Output(
        "EOS rate",
        lines(EOS, lambda n, v: f"Et{n}  gn{n}  connected  routed  full  {v}  400GBASE-DR4"),
        ("400G",),
        ("100G", "40G"),
        "Et{n} ",
    ),
    Output(
        "Cumulus MTU",
        lines(CUMULUS, lambda n, v: f"swp{n}  up  up  400G  {v}  swp  gn{n}"),
        ("9216",),
        ("1500",),
        "swp{n} ",
    ),
    Output(
        "SONiC FEC",
        lines(FEC, lambda n, v: f"  Ethernet{n}        U       1,000  {v}        0"),
        ("0",),
        ("99,000",),
        "Ethernet{n} ",
    ),
    Output(
        "uname",
        hosts(lambda n, v: f"$ uname -a\nLinux n{n} {v} #1 SMP x86_64\n", "uname.txt"),
        ("5.15.0-105-generic",),
        ("5.15.0-72-generic", "6.8.0-1"),
        "n{n}",
        100,
    ),
    Output(
        "ethtool -S",
        _twice("NIC statistics:\n", "     rx_crc_errors_phy: {value}\n", "ethtool_-S_ens3.txt"),
        ("5",),
        ("4000", "99999999"),
        "on n{n}",
        60,
    ),
    Output(
        "perfquery",
        _twice("$ perfquery -C mlx5_1 -P 1\n", "SymbolErrorCounter:....{value}\n", "pq.txt"),
        ("5", "7"),
        ("4000", "65535"),
        "on n{n}",
        60,
    ),
    Output(
        "kubectl nodes",
        lines(NODES, lambda n, v: f"n{n}   {v}   <none>   9d   v1.30.4"),
        ("Ready",),
        ("NotReady",),
        "n{n}",
    ),
    Output(
        "kubectl pods",
        lines(PODS, lambda n, v: f"w-{n}   {int(v == 'Running')}/1   {v}   4   9d"),
        ("Running", "Completed"),
        ("CrashLoopBackOff", "ImagePullBackOff"),
        "w-{n}",
    ),
    Output(
        "sinfo",
        lines(SINFO, lambda n, v: f"gpu  up  infinite  1  {v}  n{n}"),
        ("idle", "alloc", "mix"),
        ("down*", "drain"),
        "n{n}",
    ),
    Output(
        "bgp",
        lines(BGP, lambda n, v: f"10.0.0.{n}  4  65001  9  9  0  0  0  1d  {v}  9"),
        ("64",),
        ("Active", "Idle"),
        "10.0.0.{n} ",
        200,
    ),
]


def diagnosed(files: Files) -> Diagnosis:
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return diagnose([Path(folder)])


def sizes(most: int) -> st.SearchStrategy[int]:
    return st.sampled_from([one for one in (3, 4, 8, 60, 200, 1000) if one <= most])


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda one: one.name)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_the_element_that_deviates_is_named(output: Output, data: st.DataObject) -> None:
    size = data.draw(sizes(output.most))
    good, bad = data.draw(st.sampled_from(output.good)), data.draw(st.sampled_from(output.bad))
    odd = data.draw(st.integers(0, size - 1))
    values = [bad if number == odd else good for number in range(size)]
    found = diagnosed(output.write(values))
    assert found.verdict is Verdict.PROBLEM, found.findings
    first = found.findings[0]
    places = f"{first.told} {' '.join(first.entities)} "
    assert output.element.format(n=odd) in places, places[:300]
    assert len(first.entities) <= 2, first.entities


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda one: one.name)
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_elements_that_agree_are_silence(output: Output, data: st.DataObject) -> None:
    size = data.draw(sizes(output.most))
    good = data.draw(st.sampled_from(output.good))
    found = diagnosed(output.write([good] * size))
    assert found.verdict is Verdict.NONE, (found.verdict, found.findings)
    assert not found.findings
