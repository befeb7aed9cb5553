"""What the tools of one host print of its state, in the formats that the readers read."""

from collections.abc import Iterator
from typing import Final

from weft.emulate.state import ADAPTER_BUS, GPU_BUS, WORDS, Host, Part, State, slot_of
from weft.network.network import layout
from weft.units import gbit_from_rate

STATES: Final = {"active": ("Active", "ACTIVE"), "down": ("Down", "DOWN")}
PHYSICAL: Final = {"link_up": ("LinkUp", "LINK_UP"), "polling": ("Polling", "POLLING")}
HARDWARE: Final = {
    "port.packet_seq_err": "packet_seq_err",
    "port.out_of_sequence": "out_of_sequence",
    "port.ack_timeout": "local_ack_timeout_err",
    "port.cnp_handled": "rp_cnp_handled",
}
PORT_COUNTERS: Final = {
    "port.link_downed": "link_downed",
    "port.symbol_errors": "symbol_error",
    "port.rcv_errors": "port_rcv_errors",
}
INTERFACE_COUNTERS: Final = {
    "interface.rx_discards": "rx_discards_phy",
    "interface.crc_errors": "rx_crc_errors_phy",
    "interface.pause_storm": "tx_pause_storm_error_events",
    "interface.link_down_events": "link_down_events_phy",
}
PRIORITY_COUNTERS: Final = {
    "priority.rx_pause": "rx_prio{}_pause",
    "priority.rx_pause_duration": "rx_prio{}_pause_duration",
    "priority.rx_discards": "rx_prio{}_discards",
}
Files = Iterator[tuple[str, str]]


def rate_gbit(state: State, rail: Part) -> float:
    """Return the rate that a port runs at."""
    whole = gbit_from_rate(layout(state.plan.cluster).link_bytes_per_s)
    return float(whole * rail.values["port.rate_ratio"])


def outputs(state: State, host: Host) -> Files:
    """Yield the outputs of one host that weft collect takes once, by the name of their file."""
    yield "ibstat", "".join(_ibstat(state, host, rail) for rail in host.rails)
    yield "ibv_devinfo_-v", "".join(_devinfo(state, host, rail) for rail in host.rails)
    yield "rdma_link", "".join(_rdma_link(state, rail) for rail in host.rails)
    yield "lspci_-vv", "".join(_lspci(host))
    yield "dmesg", "".join(f"[  10.{n:06d}] {line}\n" for n, line in enumerate(_kernel(host)))
    yield "nvidia-smi_-q", _nvidia_smi(host)
    yield "lsmod", _lsmod(host)
    yield (
        "cat_proc_self_limits",
        "Max locked memory         unlimited            unlimited            bytes\n",
    )
    if state.kind == "roce":
        yield "show_gids", _gids(host)
        yield "ip_addr", "".join(_ip(rail) for rail in host.rails)
        for rail in host.rails:
            yield f"mlnx_qos_-i_rail{rail.number}", _qos(rail)


def samples(state: State, host: Host, at_s: float) -> Files:
    """Yield the outputs of one host that hold counters, at a time after the first sample."""
    lines = []
    for rail in host.rails:
        place = f"/sys/class/infiniband/{rail.device}/ports/1"
        lines += [f"{place}/counters/{name}:{rail.count(path, at_s)}"
                  for path, name in PORT_COUNTERS.items()]  # fmt: skip
        if state.kind == "roce":
            lines += [f"{place}/hw_counters/{name}:{rail.count(path, at_s)}"
                      for path, name in HARDWARE.items()]  # fmt: skip
    yield "sysfs_infiniband_counters", "\n".join(lines) + "\n"
    if state.kind == "roce":
        assert state.plan.labels is not None
        priority = state.plan.labels.priority.text()
        for rail in host.rails:
            yield f"ethtool_-S_rail{rail.number}", _ethtool(rail, priority, at_s)


def _guid(host: Host, rail: Part) -> str:
    return f"0x{0xB8CEF60300000000 + (host.number << 8) + rail.number:016x}"


def _ibstat(state: State, host: Host, rail: Part) -> str:
    up = rail.values["port.state"] == "active"
    lid = host.number * len(host.rails) + rail.number + 1 if state.kind == "infiniband" else 0
    guid = _guid(host, rail)
    return (
        f"CA '{rail.device}'\n\tCA type: MT4129\n\tNumber of ports: 1\n"
        f"\tFirmware version: {rail.values['adapter.firmware']}\n\tHardware version: 0\n"
        f"\tNode GUID: {guid}\n\tSystem image GUID: {guid}\n\tPort 1:\n"
        f"\t\tState: {STATES[rail.values['port.state']][0]}\n"
        f"\t\tPhysical state: {PHYSICAL[rail.values['port.physical']][0]}\n"
        f"\t\tRate: {rate_gbit(state, rail) if up else 10:g}\n\t\tBase lid: {lid}\n\t\tLMC: 0\n"
        f"\t\tSM lid: {int(lid > 0)}\n\t\tCapability mask: 0xa751e848\n\t\tPort GUID: {guid}\n"
        f"\t\tLink layer: {WORDS[state.kind]}\n"
    )


def _devinfo(state: State, host: Host, rail: Part) -> str:
    mtu, lid = rail.values["port.mtu"], host.number * len(host.rails) + rail.number + 1
    codes = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
    return (
        f"hca_id:\t{rail.device}\n\ttransport:\t\t\tInfiniBand (0)\n"
        f"\tfw_ver:\t\t\t\t{rail.values['adapter.firmware']}\n\tvendor_part_id:\t\t\t4129\n"
        f"\tphys_port_cnt:\t\t\t1\n\t\tport:\t1\n"
        f"\t\t\tstate:\t\t\tPORT_{STATES[rail.values['port.state']][1]} (4)\n"
        f"\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t{mtu} ({codes.get(mtu, 0)})\n"
        f"\t\t\tport_lid:\t\t{lid if state.kind == 'infiniband' else 0}\n"
        f"\t\t\tlink_layer:\t\t{WORDS[state.kind]}\n\n"
    )


def _rdma_link(state: State, rail: Part) -> str:
    one, two = STATES[rail.values["port.state"]][1], PHYSICAL[rail.values["port.physical"]][1]
    subnet = " subnet_prefix fe80:0000:0000:0000 lid 1 sm_lid 1 lmc 0"
    middle = subnet if state.kind == "infiniband" else ""
    netdev = f" netdev rail{rail.number}" if state.kind == "roce" else ""
    return f"link {rail.device}/1{middle} state {one} physical_state {two}{netdev}\n"


def _gids(host: Host) -> str:
    lines = ["DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4\t\tVER\tDEV"]
    for rail in host.rails:
        address = (10, rail.number, host.number >> 8, host.number & 0xFF)
        low = "".join(f"{one:02x}" for one in address)
        gid = f"0000:0000:0000:0000:0000:ffff:{low[:4]}:{low[4:]}"
        shown = ".".join(map(str, address))
        lines.append(f"{rail.device}\t1\t3\t{gid}\t{shown}\tv2\trail{rail.number}")
    return "\n".join(lines) + "\n"


def _ip(rail: Part) -> str:
    up = rail.values["interface.state"] == "up"
    flags = "BROADCAST,MULTICAST,UP,LOWER_UP" if up else "NO-CARRIER,BROADCAST,MULTICAST,UP"
    return (
        f"{rail.number + 4}: rail{rail.number}: <{flags}> mtu {rail.values['interface.mtu']} "
        f"qdisc mq state {'UP' if up else 'DOWN'} group default qlen 1000\n"
    )


def _qos(rail: Part) -> str:
    flags = "   ".join(rail.values["interface.pfc"].split())
    return (
        f"DCBX mode: OS controlled\nPriority trust state: {rail.values['interface.trust']}\n"
        "PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
        f"\tenabled     {flags}\n"
    )


def _ethtool(rail: Part, priority: str, at_s: float) -> str:
    lines = ["NIC statistics:"]
    for path, name in INTERFACE_COUNTERS.items():
        twin = "port.link_downed" if path == "interface.link_down_events" else path
        lines.append(f"     {name}: {rail.count(twin, at_s)}")
    lines += [f"     {name.format(priority)}: {rail.count(path, at_s)}"
              for path, name in PRIORITY_COUNTERS.items()]  # fmt: skip
    return "\n".join(lines) + "\n"


def _lspci(host: Host) -> Iterator[str]:
    for rail in host.rails:
        slot, width, speed = slot_of(rail, ADAPTER_BUS), *(
            rail.values[one] for one in ("slot.width", "slot.speed"))  # fmt: skip
        yield (
            f"{slot} Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n"
            f"\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n"
            f"\t\tLnkSta:\tSpeed {speed:g}GT/s{'' if speed == 32 else ' (downgraded)'}, "  # noqa: PLR2004 - Gen5
            f"Width x{width}{'' if width == 16 else ' (downgraded)'}\n\n"  # noqa: PLR2004 - as above
        )


def _kernel(host: Host) -> list[str]:
    boot = [f"mlx5_core {slot_of(rail, ADAPTER_BUS)}: firmware version: "
            f"{rail.values['adapter.firmware']}" for rail in host.rails]  # fmt: skip
    return [*boot, *host.kernel]


def _nvidia_smi(host: Host) -> str:
    head = (
        "==============NVSMI LOG==============\n\n"
        f"Driver Version                            : {host.values['host.driver']}\n"
        f"CUDA Version                              : 12.8\n\n"
        f"Attached GPUs                             : {len(host.gpus)}\n"
    )
    return head + "".join(_gpu(gpu) for gpu in host.gpus)


def _gpu(gpu: Part) -> str:
    def active(path: str) -> str:
        return "Active" if gpu.values[path] == "yes" else "Not Active"

    def yes(path: str) -> str:
        return str(gpu.values[path]).capitalize()

    return (
        f"GPU 0000{slot_of(gpu, GPU_BUS).upper()}\n"
        "    Clocks Event Reasons\n"
        f"        HW Power Brake Slowdown           : {active('gpu.throttle_power_brake')}\n"
        f"        SW Thermal Slowdown               : {active('gpu.throttle_thermal')}\n"
        "    Remapped Rows\n"
        f"        Pending                           : {yes('gpu.remap_pending')}\n"
        f"        Remapping Failure Occurred        : {yes('gpu.remap_failed')}\n"
        "    Temperature\n"
        f"        GPU Current Temp                  : {gpu.values['gpu.temperature']} C\n"
    )


def _lsmod(host: Host) -> str:
    loaded = host.values["host.gdr"] == "yes"
    peer = "nvidia_peermem         20480  0\n" if loaded else ""
    return f"Module  Size  Used by\nmlx5_core            2904064  1 mlx5_ib\n{peer}"
