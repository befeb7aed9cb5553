"""Outputs of switches and fabric tools, generated: an attribute that deviates is found.

Every output is written in the tool's own layout from a list of ports; where all ports agree
there is silence, and where one deviates the finding names it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from weft.doctor.diagnose import diagnose
from weft.doctor.verdict import Verdict


@dataclass(frozen=True)
class SwitchPort:
    """One port of a switch, up, without errors."""

    number: int
    gbit: int = 400
    mtu: int = 9216
    fec: str = "rs"
    lanes: int = 4
    crc: int = 0
    drops: int = 0
    ber: str = "0.00e+00"


def _dashed(titles: list[str], rows: list[list[str]]) -> str:
    """Lay a table out as tabulate does: a rule of dashes a column below the header."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    lines = [titles, ["-" * width for width in widths], *rows]
    return "".join(
        "  ".join(cell.rjust(width) for cell, width in zip(one, widths, strict=True)) + "\n"
        for one in lines
    )


def sonic_status(ports: list[SwitchPort]) -> str:
    titles = ["Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin",
              "Type", "Asym PFC"]  # fmt: skip
    rows = [
        [f"Ethernet{p.number * 8}", f"{p.number},{p.number + 1}", f"{p.gbit}G", str(p.mtu),
         p.fec, f"etp{p.number}", "routed", "up", "up", "QSFP-DD Double Density", "N/A"]
        for p in ports
    ]  # fmt: skip
    return "admin@leaf1:~$ show interfaces status\n" + _dashed(titles, rows)


def sonic_queues(ports: list[SwitchPort]) -> str:
    titles = ["Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes"]
    rows = [
        [f"Ethernet{p.number * 8}", "UC3", "8,812,331", "9,012,331", f"{p.drops:,}", "0"]
        for p in ports
    ]
    return "admin@leaf1:~$ show queue counters\n" + _dashed(titles, rows)


def sonic_fec(ports: list[SwitchPort]) -> str:
    titles = ["IFACE", "STATE", "FEC_CORR", "FEC_UNCORR", "FEC_SYMBOL_ERR", "FEC_PRE_BER",
              "FEC_POST_BER"]  # fmt: skip
    rows = [
        [f"Ethernet{p.number * 8}", "U", "12,340", "0", "0", "1.60e-08", p.ber] for p in ports
    ]
    return "admin@leaf1:~$ show interfaces counters fec-stats\n" + _dashed(titles, rows)


def nvue_brief(ports: list[SwitchPort]) -> str:
    titles = ["Interface", "Admin Status", "Oper Status", "Speed", "MTU", "Type", "Remote Host",
              "Remote Port"]  # fmt: skip
    rows = [
        [f"swp{p.number}", "up", "up", f"{p.gbit}G", str(p.mtu), "swp", "", ""] for p in ports
    ]
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    lines = [titles, ["-" * width for width in widths], *rows]
    return "cumulus@leaf1:~$ nv show interface --view=brief\n" + "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(one, widths, strict=True)).rstrip()
        + "\n"
        for one in lines
    )


def nxos_interfaces(ports: list[SwitchPort]) -> str:
    return "leaf1# show interface\n" + "".join(
        f"Ethernet1/{p.number} is up\nadmin state is up, Dedicated Interface\n"
        f"  MTU {p.mtu} bytes, BW {p.gbit * 1000000} Kbit , DLY 10 usec\n  RX\n"
        f"    0 runts  0 giants  {p.crc} CRC  0 no buffer\n    0 input error  0 short frame\n"
        for p in ports
    )


def eos_interfaces(ports: list[SwitchPort]) -> str:
    return "leaf1#show interfaces\n" + "".join(
        f"Ethernet{p.number}/1 is up, line protocol is up (connected)\n"
        f"  Ethernet MTU {p.mtu} bytes, BW {p.gbit * 1000000} kbit\n"
        f"     0 runts, 0 giants\n     0 input errors, {p.crc} CRC, 0 alignment, 0 symbol\n"
        for p in ports
    )


def eos_status(ports: list[SwitchPort]) -> str:
    head = "Port       Name      Status       Vlan     Duplex Speed  Type            Flags\n"
    return "leaf1#show interfaces status\n" + head + "".join(
        f"Et{p.number}/1      gpu {p.number}    connected  routed  full  {p.gbit}G  400G-CR8\n"
        for p in ports
    )  # fmt: skip


def eos_errors(ports: list[SwitchPort]) -> str:
    head = "Port             FCS    Align   Symbol     Rx    Runts   Giants      Tx\n"
    return "leaf1#show interfaces counters errors\n" + head + "".join(
        f"Et{p.number}/1 {p.crc:12} 0 0 {p.crc} 0 0 0\n" for p in ports
    )  # fmt: skip


def junos(ports: list[SwitchPort]) -> str:
    return "admin@leaf1> show interfaces extensive\n" + "".join(
        f"Physical interface: et-0/0/{p.number}, Enabled, Physical link is Up\n"
        f"  Link-level type: Ethernet, MTU: {p.mtu}, Speed: {p.gbit}Gbps\n"
        f"    CRC/Align errors         {p.crc}                0\n"
        f"Queue: 4, Forwarding classes: no-loss\n  Tail-dropped packets : {p.drops}  0 pps\n"
        for p in ports
    )


def iblinkinfo(ports: list[SwitchPort]) -> str:
    return "".join(
        f'0x0002 "   leaf1"      4   {p.number}[  ] ==( {p.lanes}X        53.125 Gbps '
        f'Active/  LinkUp)==>  0x1{p.number}     12    1[  ] "gpu{p.number} mlx5_0" '
        f"( {'' if p.lanes == 4 else 'Could be 4X'})\n"
        for p in ports
    )


def ibnetdiscover(ports: list[SwitchPort]) -> str:
    head = 'Switch\t64 "S-0000000000300001"\t\t# "leaf1" enhanced port 0 lid 4 lmc 0\n'
    return head + "".join(
        f'[{p.number}]\t"H-000000000010000{p.number}"[1](10000{p.number}) \t\t'
        f'# "gpu{p.number} mlx5_0" lid 12 {p.lanes}xNDR\n'
        for p in ports
    )


def net_dump(ports: list[SwitchPort]) -> str:
    head = (
        '"leaf1", Mellanox, 0xfc6a1c0300d00010, LID 22\n'
        "     #        : IB#        : Sta   : PhysSta    : MTU   : LWA   : LSA   : Neighbor\n"
    )
    return head + "".join(
        f"     sw{p.number}p1    : {p.number}          : ACT   : LINK UP    : 5     : "
        f'{p.lanes}x    : 100   : "a:b"\n'
        for p in ports
    )


CASES: list[tuple[Callable[[list[SwitchPort]], str], dict[str, object], str]] = [
    (sonic_status, {"gbit": 100}, "Ethernet40"),
    (sonic_status, {"mtu": 1500}, "Ethernet40"),
    (sonic_status, {"fec": "none"}, "Ethernet40"),
    (sonic_queues, {"drops": 912331}, "Ethernet40"),
    (sonic_fec, {"ber": "3.10e-08"}, "Ethernet40"),
    (nvue_brief, {"gbit": 200}, "swp5"),
    (nvue_brief, {"mtu": 9000}, "swp5"),
    (nxos_interfaces, {"mtu": 1500}, "Ethernet1/5"),
    (nxos_interfaces, {"crc": 81233}, "Ethernet1/5"),
    (eos_interfaces, {"mtu": 1500}, "Ethernet5/1"),
    (eos_interfaces, {"crc": 81233}, "Ethernet5/1"),
    (eos_status, {"gbit": 100}, "Et5/1"),
    (eos_errors, {"crc": 7000}, "Et5/1"),
    (junos, {"mtu": 1514}, "et-0/0/5"),
    (junos, {"crc": 91233}, "et-0/0/5"),
    (junos, {"drops": 212121}, "et-0/0/5"),
    (iblinkinfo, {"lanes": 2}, "port 5 of leaf1"),
    (ibnetdiscover, {"lanes": 1}, "port 5 of leaf1"),
    (net_dump, {"lanes": 2}, "port 5 of leaf1"),
]


@pytest.mark.parametrize("count", [8, 64])
@pytest.mark.parametrize(
    ("written", "change", "named"), CASES, ids=lambda one: getattr(one, "__name__", str(one))
)
def test_one_port_that_deviates_is_named(
    tmp_path: Path,
    written: Callable[[list[SwitchPort]], str],
    change: dict[str, object],
    named: str,
    count: int,
) -> None:
    ports = [SwitchPort(number) for number in range(1, count + 1)]
    ports[4] = replace(ports[4], **change)  # type: ignore[arg-type]
    (tmp_path / "output.txt").write_text(written(ports))
    result = diagnose([tmp_path])
    assert result.verdict is Verdict.PROBLEM, result
    assert named in " ".join(result.findings[0].entities), result.findings
    assert len(result.findings[0].entities) == 1


@pytest.mark.parametrize("written", dict.fromkeys(one for one, _, _ in CASES))
def test_ports_that_agree_are_no_problem(
    tmp_path: Path, written: Callable[[list[SwitchPort]], str]
) -> None:
    (tmp_path / "output.txt").write_text(written([SwitchPort(one) for one in range(1, 33)]))
    result = diagnose([tmp_path])
    assert not result.findings
    assert result.files[0].matched > 8


def test_a_lane_without_light(tmp_path: Path) -> None:
    text = (
        "$ mlxlink -d mlx5_6 -m\nModule Info\n-----------\nTemperature [C]  : 58 [0..70]\n"
        "Rx Power Current [dBm]             : 1.2,0.9,{},1.1 [-8.5..5.0]\n"
    )
    (tmp_path / "a.txt").write_text(text.format("-11.3"))
    assert "mlx5_6" in " ".join(diagnose([tmp_path]).findings[0].entities)
    (tmp_path / "a.txt").write_text(text.format("-2.3"))
    assert not diagnose([tmp_path]).findings


def test_hosts_send_more_than_a_switch_passes(tmp_path: Path) -> None:
    host = "6: ens3f0np0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP\n"
    (tmp_path / "host.txt").write_text(host)
    (tmp_path / "leaf.txt").write_text(nxos_interfaces([SwitchPort(1, mtu=1500)]))
    assert diagnose([tmp_path]).findings[0].cause == "mtu-mismatch"


def mlnx_qos(lossless: int) -> str:
    enabled = "   ".join("1" if one == lossless else "0" for one in range(8))
    return (
        "$ mlnx_qos -i ens3f0np0\nDCBX mode: OS controlled\nPriority trust state: dscp\n"
        "PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
        f"\tenabled     {enabled}\n"
    )


@pytest.mark.parametrize("hosts", [2, 5, 40])
@pytest.mark.parametrize("odd", [3, 4])
def test_lossless_priorities_that_differ_between_hosts(
    tmp_path: Path, hosts: int, odd: int
) -> None:
    for one in range(hosts):
        (tmp_path / f"n{one}").mkdir()
        (tmp_path / f"n{one}" / "qos.txt").write_text(mlnx_qos(odd if one == 1 else 3))
    result = diagnose([tmp_path])
    if odd == 3:
        assert not result.findings
    else:
        assert "n1" in " ".join(result.findings[0].entities)


def dcb(lossless: int) -> str:
    states = " ".join(f"{one}:{'on' if one == lossless else 'off'}" for one in range(8))
    return f"$ dcb pfc show dev ens3f0np0\npfc-cap 8 delay 0\nprio-pfc {states}\n"


def ethtool(gbit: int) -> str:
    return f"Settings for ens3f0np0:\n\tSpeed: {gbit}000Mb/s\n\tLink detected: yes\n"


def ethtool_fec(name: str) -> str:
    return f"FEC parameters for ens3f0np0:\nActive FEC encoding: {name}\n"


def ip_counters(errors: int) -> str:
    return (
        "2: ens3f0np0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP\n"
        "    RX:  bytes packets errors dropped  missed   mcast\n"
        f"    123456789 12345678 {errors} 0 0 0\n"
    )


@pytest.mark.parametrize("hosts", [3, 30])
@pytest.mark.parametrize(
    ("written", "usual", "odd"),
    [
        (dcb, 3, 4),
        (ethtool, 400, 25),
        (ethtool_fec, "RS", "None"),
        (ip_counters, 0, 912331),
        (mlnx_qos, 3, 5),
    ],
)
def test_one_host_that_deviates_is_named(
    tmp_path: Path, written: Callable[..., str], usual: object, odd: object, hosts: int
) -> None:
    for one in range(hosts):
        (tmp_path / f"n{one}").mkdir()
        (tmp_path / f"n{one}" / "out.txt").write_text(written(usual))
    assert not diagnose([tmp_path]).findings
    (tmp_path / "n2" / "out.txt").write_text(written(odd))
    assert diagnose([tmp_path]).findings[0].entities == ("interface ens3f0np0 on n2",)


def test_faster_uplinks_are_no_problem(tmp_path: Path) -> None:
    ports = [SwitchPort(one, gbit=800 if one < 9 else 400) for one in range(1, 13)]
    (tmp_path / "output.txt").write_text(sonic_status(ports))
    assert not diagnose([tmp_path]).findings


def test_two_masters_of_one_subnet(tmp_path: Path) -> None:
    line = (
        "sminfo: sm lid {} sm guid 0x1, activity count 12 priority 14 state 3 SMINFO_MASTER\n"
    )
    for lid in (1, 9):
        (tmp_path / f"{lid}.txt").write_text(line.format(lid))
    assert diagnose([tmp_path]).findings[0].cause == "ib-several-masters"
