"""Files of a Linux host: NIC quality of service, MTU, addresses, limits, GPU and PCIe."""

from collections.abc import Iterator
from typing import Final

from weft.generate.lossless import Dcqcn, Labels
from weft.generate.plan import Feature, Plan
from weft.generate.rails import RAILS_HEAD, rail_links, rail_prefixes
from weft.generate.target import Files, header
from weft.network.network import resolve

PRIORITIES: Final = 8
FIRST_TABLE: Final = 101
SCRIPT: Final = "/usr/local/sbin/weft-rdma"
GPUDIRECT: Final = "/usr/local/sbin/weft-gpudirect"
RAILS: Final = "/etc/weft/rails.tsv"
ONE_RAIL_A_TABLE: Final = (
    ("net.ipv4.conf.all.arp_ignore", 1),
    ("net.ipv4.conf.all.arp_announce", 2),
    ("net.ipv4.conf.all.rp_filter", 2),
)
"""A NIC answers for its own address alone, and answers may come back on another rail.

As public scripts for hosts with an address a rail set them."""


def host_files(plan: Plan) -> Files:
    """Yield the files of every host; all hosts have the same ones."""
    yield "weft-rdma-limits.conf", _limits(plan)
    gpudirect = list(_gpudirect(plan))
    if gpudirect:
        yield "weft-gpudirect", "\n".join([*_HEAD, *gpudirect]) + "\n"
        yield "weft-gpudirect.service", _gpudirect_unit(plan)
    if Feature.IP not in plan.features:
        return
    yield "weft-rdma", "\n".join(_script(plan)) + "\n"
    yield "weft-rdma.service", _unit(plan)
    yield (
        "rails.tsv",
        "\n".join([RAILS_HEAD, *_rails(plan)]) + "\n",
    )
    sysctl = [f"{key} = {value}" for key, value in ONE_RAIL_A_TABLE]
    lines = [header(plan, "/etc/sysctl.d/90-weft-rdma.conf"), *sysctl]
    yield "90-weft-rdma.conf", "\n".join(lines) + "\n"


def _limits(plan: Plan) -> str:
    locked = plan.host.memlock
    why = f"# {locked.reason}"
    # The star leaves root out (limits.conf(5)), and benchmarks are often run by root.
    limits = [
        f"{who} {kind} memlock {locked.text()}"
        for who in ("*", "root")
        for kind in ("soft", "hard")
    ]
    path = "/etc/security/limits.d/weft-rdma-limits.conf"
    return "\n".join([header(plan, path), why, *limits]) + "\n"


_HEAD: Final = ("#!/bin/sh",)


def _gpudirect(plan: Plan) -> Iterator[str]:
    """Yield what lets the NIC reach the GPU; nothing where there is nothing to do."""
    host = plan.host
    off, module = host.acs.text() == "off", "nvidia-peermem" in host.gpu_memory.text()
    if off or module:
        yield header(plan, GPUDIRECT)
        yield from ("# Run it as often as you like: it sets, it never adds.", "set -eu")
    if off:
        yield from ("", f"# {host.acs.reason}.", *_ACS_OFF)
    if module:
        yield from ("", f"# {host.gpu_memory.reason}.", *_PEER_MEMORY)


_ACS_OFF: Final = (
    'for device in "${SYSFS:-/sys}/bus/pci/devices/"*; do',
    "    # Class 0x0604 is a bridge.",
    '    case $(cat "$device/class") in 0x0604*) ;; *) continue ;; esac',
    "    bridge=${device##*/}",
    "    # Without the capability there is nothing to turn off.",
    '    if setpci -s "$bridge" ECAP_ACS+0x6.w >/dev/null 2>&1; then',
    '        setpci -s "$bridge" ECAP_ACS+0x6.w=0000',
    "    fi",
    "done",
)
_PEER_MEMORY: Final = (
    'if [ "$(modinfo -F license nvidia)" = NVIDIA ]; then',
    "    modprobe nvidia-peermem",
    "fi",
)


def _gpudirect_unit(plan: Plan) -> str:
    return "\n".join(
        [
            header(plan, "/etc/systemd/system/weft-gpudirect.service"),
            "[Unit]",
            "Description=PCIe and GPU as RDMA needs them",
            "After=systemd-modules-load.service",
            "",
            "[Service]",
            "Type=oneshot",
            "RemainAfterExit=yes",
            f"ExecStart={GPUDIRECT}",
            "",
            "[Install]",
            "WantedBy=multi-user.target",
        ]
    ) + "\n"  # fmt: skip


def _unit(plan: Plan) -> str:
    return "\n".join(
        [
            header(plan, "/etc/systemd/system/weft-rdma.service"),
            "[Unit]",
            "Description=Quality of service, MTU and addresses of the RDMA NICs",
            "After=network-pre.target",
            "Before=network-online.target",
            f"ConditionPathExists={RAILS}",
            "",
            "[Service]",
            "Type=oneshot",
            "RemainAfterExit=yes",
            f"ExecStart={SCRIPT}",
            "",
            "[Install]",
            "WantedBy=multi-user.target",
        ]
    ) + "\n"  # fmt: skip


def _script(plan: Plan) -> Iterator[str]:
    link = plan.link
    assert link.host_mtu_bytes is not None, "an Ethernet plan has the MTU of its hosts"
    yield "#!/bin/sh"
    yield header(plan, SCRIPT)
    yield from _SCRIPT_HEAD
    yield f"for device in {' '.join(plan.names.device_list())}; do"
    yield '    interface=$(interface_of "$device")'
    yield '    [ -n "$interface" ] || { failed "$device has no network interface"; continue; }'
    mtu = link.host_mtu_bytes.text()
    yield f'    ip link set dev "$interface" mtu {mtu} up || failed "MTU of $interface"'
    if plan.labels is not None:
        yield from _quality(plan, plan.labels)
    yield "done"
    yield ""
    yield from _addresses(plan)
    yield 'exit "$trouble"'


_SCRIPT_HEAD: Final = (
    "# Run it as often as you like: it sets, it never adds. What fails is reported, the rest",
    "# is done all the same, and the exit code is 1.",
    "set -u",
    "sys=${SYSFS:-/sys}",
    "trouble=0",
    'failed() { echo "weft-rdma: failed: $*" >&2; trouble=1; }',
    "",
    "# The network interface of an RDMA device.",
    "interface_of() {",
    '    for path in "$sys/class/infiniband/$1/device/net/"*; do',
    '        [ -e "$path" ] && echo "${path##*/}"',
    "        return",
    "    done",
    "}",
    "",
)
_FIRMWARE_CABLE_M: Final = 7
"""Length of cable that the NIC keeps headroom for unless told otherwise (mlnx_qos)."""


def _quality(plan: Plan, labels: Labels) -> Iterator[str]:
    lossless = labels.priority.text()
    yield "    # PFC by priority replaces the pause of the whole link."
    yield '    ethtool -A "$interface" rx off tx off 2>/dev/null  # no harm if refused'
    nic = resolve(plan.cluster).nic
    nvidia = nic is None or nic.vendor == "NVIDIA"
    if nvidia:
        yield "    if command -v mlnx_qos >/dev/null; then"
        yield from _by_mlnx_qos(plan, labels)
        yield "    else"
    indent = "        " if nvidia else "    "
    pairs = f"{labels.dscp.text()}:{lossless} {labels.cnp_dscp.text()}:"
    for words in (
        "dcbx set {} host ieee",
        f"pfc set {{}} prio-pfc all:off {lossless}:on",
        f"app replace {{}} dscp-prio {pairs}{labels.cnp_priority.text()}",
    ):
        what = words.split()[0]
        full = words.format('dev "$interface"')
        yield f'{indent}dcb {full} || failed "{what} of $interface"'
    if nvidia:
        if _cable_m(plan) > _FIRMWARE_CABLE_M:
            yield (
                f'{indent}failed "mlnx_qos is missing: $interface keeps headroom for '
                f'{_FIRMWARE_CABLE_M} m of cable, not {_cable_m(plan)}"'
            )
        yield "    fi"
    yield from _class_of_connections(labels)
    if nvidia and plan.dcqcn is not None:
        yield from _dcqcn(labels, plan.dcqcn)
    elif not nvidia:
        yield "    # Congestion control: DCQCN is set with the tool of the NIC's vendor."


def _cable_m(plan: Plan) -> float:
    return plan.pause.room("host").cable_m.number() if plan.pause is not None else 0


def _by_mlnx_qos(plan: Plan, labels: Labels) -> Iterator[str]:
    lossless = labels.priority.whole()
    pfc = ",".join(str(int(number == lossless)) for number in range(PRIORITIES))
    cable = f" --cable_len {_cable_m(plan):g}" if plan.pause is not None else ""
    yield "        # The operating system decides (-d os): nothing a switch offers changes it."
    yield (
        f'        mlnx_qos -i "$interface" -d os --trust dscp --pfc {pfc}{cable} >/dev/null ||'
    )
    yield '            failed "PFC and trust of $interface"'
    for dscp, priority in (
        (labels.dscp, labels.priority),
        (labels.cnp_dscp, labels.cnp_priority),
    ):
        mapped = f"set,{dscp.text()},{priority.text()}"
        yield f'        mlnx_qos -i "$interface" --dscp2prio {mapped} >/dev/null 2>&1 ||'
        yield (
            f'            mlnx_qos -i "$interface" | grep -Eq '
            f"'prio:{priority.text()} dscp:.*\\b{dscp.text()}\\b' ||"
        )
        yield f'            failed "DSCP {dscp.text()} of $interface"'


def _class_of_connections(labels: Labels) -> Iterator[str]:
    """Yield the class of connections that name none: RoCE v2, with the label of the fabric."""
    class_ = labels.traffic_class.text()
    yield "    if command -v cma_roce_tos >/dev/null; then"
    yield '        cma_roce_mode -d "$device" -p 1 -m 2 >/dev/null || failed "mode of $device"'
    yield (
        f'        cma_roce_tos -d "$device" -t {class_} >/dev/null || failed "class of $device"'
    )
    yield "    else"
    yield '        manager=$sys/kernel/config/rdma_cm/$device; mkdir -p "$manager"'
    yield '        echo "RoCE v2" >"$manager/ports/1/default_roce_mode" ||'
    yield '            failed "mode of $device"'
    yield f'        echo {class_} >"$manager/ports/1/default_roce_tos" ||'
    yield '            failed "class of $device"'
    yield "    fi"
    yield "    # Only MLNX_OFED has this file; without it programs name their class."
    yield '    if [ -e "$sys/class/infiniband/$device/tc/1/traffic_class" ]; then'
    yield f'        echo {class_} >"$sys/class/infiniband/$device/tc/1/traffic_class" ||'
    yield '            failed "traffic_class of $device"'
    yield "    fi"


def _dcqcn(labels: Labels, control: Dcqcn) -> Iterator[str]:
    """Yield DCQCN in the files of MLNX_OFED, else in those of the kernel's driver."""
    ecn = '"$net/ecn'
    priority = labels.priority.text()
    settings = [
        (ofed, kernel, value.text())
        for ofed, kernel, value in (
            ("roce_np/cnp_dscp", "np_cnp_dscp", labels.cnp_dscp),
            ("roce_np/cnp_802p_prio", "np_cnp_prio", labels.cnp_priority),
            ("roce_np/min_time_between_cnps", "np_min_time_between_cnps",
             control.min_time_between_cnps_us),
            ("roce_rp/rpg_ai_rate", "rp_ai_rate", control.ai_rate_mbit_per_s),
            ("roce_rp/rpg_hai_rate", "rp_hai_rate", control.hai_rate_mbit_per_s),
            ("roce_rp/rpg_time_reset", "rp_time_reset", control.time_reset_us),
            ("roce_rp/rpg_byte_reset", "rp_byte_reset", control.byte_reset),
            ("roce_rp/dce_tcp_g", "rp_dce_tcp_g", control.alpha_gain),
            ("roce_rp/rate_reduce_monitor_period", "rp_rate_reduce_monitor_period",
             control.rate_reduce_monitor_period_us),
            ("roce_rp/rpg_min_rate", "rp_min_rate", control.minimum_rate_mbit_per_s),
            ("roce_rp/rpg_threshold", "rp_threshold", control.fast_recovery_stages),
            ("roce_rp/dce_tcp_rtt", "rp_dce_tcp_rtt", control.alpha_timer_us),
        )
        if value is not None
    ]  # fmt: skip
    yield "    net=$sys/class/net/$interface"
    yield '    if [ -d "$net/ecn" ]; then'
    for role in ("roce_np", "roce_rp"):
        yield f'        echo {control.enabled.text()} >{ecn}/{role}/enable/{priority}" ||'
        yield f'            failed "{role} of $interface"'
    for ofed, _, value in settings:
        what = ofed.partition("/")[2]
        yield f'        echo {value} >{ecn}/{ofed}" || failed "{what} of $device"'
    yield "    else"
    yield '        slot=$(readlink -f "$sys/class/infiniband/$device/device")'
    yield "        # DCQCN itself is on in the kernel's driver."
    yield "        control=$sys/kernel/debug/mlx5/${slot##*/}/cc_params"
    for _, kernel, value in settings:
        yield f'        echo {value} >"$control/{kernel}" || failed "{kernel} of $device"'
    yield "    fi"


def _addresses(plan: Plan) -> Iterator[str]:
    assert plan.underlay is not None, "an Ethernet plan has an underlay"
    pool = plan.underlay.pool.text()
    way = 'via "$gateway" dev "$interface"'
    yield "# Each rail answers through its own table, so packets leave where they belong."
    yield "self=$(hostname -s)"
    yield "tab=$(printf '\\t')"
    yield 'while IFS="$tab" read -r host device address gateway table; do'
    yield '    [ "$host" = "$self" ] || continue'
    yield '    interface=$(interface_of "$device")'
    yield '    [ -n "$interface" ] || continue'
    yield '    ip address replace "$address" dev "$interface" || failed "address of $interface"'
    yield f'    ip route replace {pool} {way} table "$table" || failed "route of $interface"'
    yield '    ip rule del from "${address%/*}" table "$table" 2>/dev/null'
    yield '    ip rule add from "${address%/*}" table "$table" || failed "rule of $interface"'
    yield "    # What binds no address, as NCCL where its ranks meet, takes the main table, and"
    yield "    # would find the default gateway alone there."
    yield "    prefixes="
    yield "    case $device in"
    devices = plan.names.device_list()
    for rail, prefixes in rail_prefixes(plan):
        yield f'        {devices[rail]}) prefixes="{" ".join(map(str, prefixes))}" ;;'
    yield "    esac"
    yield "    for prefix in $prefixes; do"
    yield f'        ip route replace "$prefix" {way} || failed "route to $prefix"'
    yield "    done"
    yield f'done <"${{RAILS:-{RAILS}}}"'


def _rails(plan: Plan) -> Iterator[str]:
    """Yield one line for every NIC of every host, in order."""
    devices = plan.names.device_list()
    for link in rail_links(plan):
        table = str(FIRST_TABLE + link.rail)
        row = (link.name, devices[link.rail], f"{link.address}/31", link.gateway, table)
        yield "\t".join(row)
