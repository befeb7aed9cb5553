"""RoCE loses packets: the network does not hold them back.

What it checks: counters of packets out of sequence and of repeats of the adapter (their rise
where they were read twice). Congestion marks and notifications alone are health, not loss.
Why it matters: adapters repeat from the lost packet on; one per mille of loss costs half.
What to do: PFC (or ECN alone with selective repeat) on every hop, in the same priority; look
which switch port drops.
References: NVIDIA RDMA counters, out_of_sequence and packet_seq_err; IEEE 802.1Qbb; DCQCN,
Zhu et al., SIGCOMM 2015.
"""

from collections.abc import Iterator

from weft.doctor.rule import Facts, Fault, Finding, Rule, Severity, Symptom, finding
from weft.doctor.rules.link_errors import risen
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.service_quality import PauseSetting
from weft.observe.facts.verbs import CompletionError

_OTHER_VENDORS = (
    "oos_drop_count", "res_oos_drop_count", "seq_err_naks_rcvd", "to_retransmits",
    "rx_roce_out_of_seq", "RetransSegs", "retransSegs", "tcpRetransSegs", "rx_roce_discards",
    "req_rx_pkt_seq_err", "req_rx_impl_nak_seq_err", "req_tx_retry_excd_err",
    "resp_rx_outouf_seq", "resp_rx_out_of_seq", "tx_rdma_ack_timeout", "rx_rdma_out_of_order",
    "tx_rdma_retx_pkts", "tx_rdma_ccl_cts_ack_timeout", "rq_num_oos", "sq_num_oos",
)  # fmt: skip
"""The same of Broadcom (bnxt_re), Intel (irdma), Pensando (ionic) and ConnectX-3 (mlx4)."""
_LOSS = (
    "out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "implied_nak_seq_err",
    "rx_icrc_encapsulated", "roce_adp_retrans", "roce_slow_restart", *_OTHER_VENDORS,
)  # fmt: skip
_STRONG = frozenset(
    {"out_of_sequence", "packet_seq_err", "local_ack_timeout_err", *_OTHER_VENDORS}
)
_UNANSWERED = frozenset(
    {
        "local_ack_timeout_err", "req_tx_retry_excd_err", "tx_rdma_ack_timeout",
        "tx_rdma_ccl_cts_ack_timeout",
    }
)  # fmt: skip
"""These rise for a peer that is gone as well: nobody is there to say that packets came late."""
_MANY = 1000


def _check(facts: Facts) -> Iterator[Finding]:
    counters = [one for one in facts.of(Counter) if one.name in _LOSS and one.value > 0]
    rise = risen(facts.of(Counter))
    twice = {key[:3] for key in rise}
    rising = [
        one for one in counters if rise.get((one.host, one.where, one.port, one.name), 0) > 0
    ]
    many = [
        one for one in counters
        if one.value >= _MANY and (one.host, one.where, one.port) not in twice
    ]  # fmt: skip
    seen = [*rising, *many]
    strong = {one.name for one in seen} & _STRONG
    if not strong:
        return
    alone = strong <= _UNANSWERED
    sure = 0.55 if alone else 0.8 if rising or len(strong) > 1 else 0.6
    # What was lost since the host started is found on every network that may drop.
    now = rising or facts.any_of(CompletionError, CollectiveTimeout)
    yield finding(
        "roce-packet-loss",
        seen,
        sure,
        severity=Severity.ERROR if now and not alone else Severity.WARNING,
        subject=", ".join(dict.fromkeys(one.where for one in seen if one.where)),
        message="packets are lost and repeated on the way",
        advice="the same lossless priority on every hop, or an adapter set up for loss",
        next_command="ethtool -S <interface> | grep -e discard -e pause; show pfc counters",
        missing=() if facts.any_of(PauseSetting) else ("PFC and trust of hosts and switches",),
        explains=(Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, "mpi-ucx-not-nccl"),
        fault=Fault.MISTUNED,
    )


packet_loss = Rule(causes=("roce-packet-loss",), check=_check)
