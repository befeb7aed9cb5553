"""An adapter or its host is too slow for the packets that arrive.

What it checks: packets discarded at the adapter's input and for want of receive buffers, and
how small the packets are.
Why it matters: the network is fine and the host drops; tuning switches does not help.
What to do: more and longer receive queues, larger packets, interrupts near the adapter; look
at the PCI link too.
References: mlx5 driver, ethtool counters rx_discards_phy and rx_out_of_buffer.
"""

from collections.abc import Iterator

from weft.doctor.rule import Facts, Finding, Rule, Severity, finding
from weft.doctor.rules.link_errors import risen
from weft.observe.facts.interfaces import Counter

_PORT = (
    "rx_discards_phy",
    "rx_missed_errors",
    "rx_fifo_errors",
    "rx_no_buffer_count",
    "rx_missed",
    "rx_total_discard_pkts",
    "rx_stat_discard",
    "rx_dropped.nic",
    "port.rx_dropped",
    "hw_rx_dropped",
    *(f"rx_prio{one}_buf_discard" for one in range(8)),
    *(f"rx_prio{one}_discards" for one in range(8)),
)
_BUFFER = ("rx_out_of_buffer", "out_of_buffer", "rx_no_dma_resources")
_MANY = 1000


def _check(facts: Facts) -> Iterator[Finding]:
    rise = risen(facts.of(Counter))
    counters = [one for one in facts.of(Counter) if not one.on_switch]
    seen = [
        one for one in counters
        if one.name in (*_PORT, *_BUFFER)
        and rise.get((one.host, one.where, one.port, one.name), one.value) >= _MANY
    ]  # fmt: skip
    if not seen:
        return
    both = {one.name in _PORT for one in seen} == {True, False}
    now = any(rise.get((one.host, one.where, one.port, one.name)) for one in seen)
    small = _mean_packet_bytes(counters)
    yield finding(
        "nic-rx-overrun",
        seen,
        0.8 if both else 0.55,
        severity=Severity.ERROR if both and now else Severity.WARNING,
        subject=", ".join(dict.fromkeys(one.where for one in seen if one.where)),
        message="an adapter discards packets its host does not take in time"
        + (" (the packets are tiny)" if small is not None and small < 256 else ""),  # noqa: PLR2004 - bytes
        advice="more receive queues and descriptors, interrupts on the near NUMA domain",
        next_command="ethtool -S <interface> | grep -e discard -e out_of_buffer; "
        "ethtool -g <interface>",
        missing=()
        if now
        else ("the same counters later: only their rise says that it is now",),
    )


def _mean_packet_bytes(counters: list[Counter]) -> float | None:
    sizes = {one.name: one.value for one in counters}
    octets = sizes.get("rx_bytes_phy") or sizes.get("rx_bytes")
    packets = sizes.get("rx_packets_phy") or sizes.get("rx_packets")
    return octets / packets if octets and packets else None


receive_overrun = Rule(causes=("nic-rx-overrun",), check=_check)
