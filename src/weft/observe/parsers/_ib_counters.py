"""The counters of an InfiniBand port under the names of the kernel's files."""

_KERNEL = {
    "symbolerrorcounter": "symbol_error",
    "symbolerrors": "symbol_error",
    "linkerrorrecoverycounter": "link_error_recovery",
    "linkrecovers": "link_error_recovery",
    "linkdownedcounter": "link_downed",
    "linkdowned": "link_downed",
    "portrcverrors": "port_rcv_errors",
    "rcverrors": "port_rcv_errors",
    "portrcvremotephysicalerrors": "port_rcv_remote_physical_errors",
    "rcvremotephyserrors": "port_rcv_remote_physical_errors",
    "portrcvswitchrelayerrors": "port_rcv_switch_relay_errors",
    "rcvswrelayerrors": "port_rcv_switch_relay_errors",
    "portxmitdiscards": "port_xmit_discards",
    "xmtdiscards": "port_xmit_discards",
    "portxmitconstrainterrors": "port_xmit_constraint_errors",
    "xmtconstrainterrors": "port_xmit_constraint_errors",
    "portrcvconstrainterrors": "port_rcv_constraint_errors",
    "rcvconstrainterrors": "port_rcv_constraint_errors",
    "locallinkintegrityerrors": "local_link_integrity_errors",
    "linkintegrityerrors": "local_link_integrity_errors",
    "excessivebufferoverrunerrors": "excessive_buffer_overrun_errors",
    "excbufoverrunerrors": "excessive_buffer_overrun_errors",
    "excbufferoverrunerrors": "excessive_buffer_overrun_errors",
    "vl15dropped": "VL15_dropped",
    "portxmitdata": "port_xmit_data",
    "xmtdata": "port_xmit_data",
    "portrcvdata": "port_rcv_data",
    "rcvdata": "port_rcv_data",
    "portxmitpkts": "port_xmit_packets",
    "xmtpkts": "port_xmit_packets",
    "portrcvpkts": "port_rcv_packets",
    "rcvpkts": "port_rcv_packets",
    "portxmitwait": "port_xmit_wait",
    "xmtwait": "port_xmit_wait",
    "qp1dropped": "qp1_dropped",
    "portunicastxmitpkts": "unicast_xmit_packets",
    "portunicastrcvpkts": "unicast_rcv_packets",
    "portmulticastxmitpkts": "multicast_xmit_packets",
    "portmulticastrcvpkts": "multicast_rcv_packets",
}
_LIMITS = {0xFF, 0xFFFF, 0xFFFFFFFF}
_SHORT = {"link_error_recovery", "link_downed", "port_xmit_constraint_errors"}
_SHORT |= {"port_rcv_constraint_errors"}


def kernel_name(name: str) -> str:
    """Return the kernel's name of a counter, or the name itself."""
    return _KERNEL.get(name.lower(), name)


def saturated(name: str, value: int) -> bool:
    """Return whether a counter of this name stands at the end of its range.

    >>> saturated("symbol_error", 65535), saturated("symbol_error", 255)
    (True, False)
    """
    if value == min(_LIMITS):
        return name in _SHORT
    return value in _LIMITS
