"""P8: expected all-reduce of 1 GB on 8 GPUs, as times and as bandwidths."""

from dataclasses import dataclass

from weft.advise.case import Case
from weft.advise.claim import Claim, Evidence, Outcome, Trial, Verdict
from weft.advise.consideration import Number
from weft.advise.wording import figure
from weft.engines.analytic.collective import collective_time
from weft.spec.cluster import Cluster
from weft.traffic.collective import Group, Operation
from weft.units import gbit_from_rate, rate_from_gbit

SIZE_BYTES, RANKS = 1e9, 8
SAME = 1.10  # two figures agree when they are within ten per cent


@dataclass(frozen=True, slots=True)
class Expected:
    """One line of the article's table."""

    candidate: str
    nic_gbit: float
    busbw_gbit: float
    time_s: float


TABLE = (
    Expected("infiniband", 400, 380, 1.0e-3),
    Expected("roce_tuned", 100, 90, 2.5e-3),
    Expected("tcp", 100, 60, 15e-3),
)


def time_of(busbw_bytes_per_s: float) -> float:
    """Return the time that a bus bandwidth means: size x 2(n-1)/n / busbw."""
    return SIZE_BYTES * Operation.ALL_REDUCE.bus_factor(RANKS) / busbw_bytes_per_s


def _hosts_of_one(case: Case, line: Expected) -> Cluster:
    """Eight hosts of one GPU and one NIC: the one reading in which the network is used."""
    cluster = case.candidate(line.candidate).apply(case.cluster)
    host = cluster.host
    return cluster.with_(
        hosts=RANKS,
        host=host.with_(
            gpus=1,
            nics=1,
            nic_bytes_per_s=rate_from_gbit(line.nic_gbit),
            pcie_bytes_per_s=None,
            scale_up=host.scale_up.with_(gpus=1),
        ),
        fabric=cluster.fabric.with_(link_bytes_per_s=None),
        topology=cluster.topology.with_(switch=None, planes=1),
    )


def _test(trial: Trial) -> Verdict:
    group = Group(ranks=RANKS, ranks_per_domain=1)
    reasons, numbers, agree = [], [], 0
    for line in TABLE:
        means_s = time_of(rate_from_gbit(line.busbw_gbit))
        agree += 1 / SAME <= means_s / line.time_s <= SAME
        ours = collective_time(
            _hosts_of_one(trial.case, line), Operation.ALL_REDUCE, SIZE_BYTES, group
        )
        name = trial.case.candidate(line.candidate).short
        reasons.append(
            f"{name}: 1 GB x 7/4 / {figure(line.busbw_gbit, 'Gb/s')} is "
            f"{figure(means_s, 's')}, not {figure(line.time_s, 's')}; weft predicts "
            f"{figure(ours.time_s.value, 's')}, "
            f"{figure(gbit_from_rate(ours.busbw_bytes_per_s), 'Gb/s')}"
        )
        numbers += [
            Number(f"{line.candidate}, time its bandwidth means", means_s, "s"),
            Number(f"{line.candidate}, time printed", line.time_s, "s"),
            Number(f"{line.candidate}, time predicted", ours.time_s.value, "s"),
        ]
    reasons.append("eight GPUs of one host would use NVLink and none of these networks")
    return Verdict(
        outcome=Outcome.HOLDS if agree == len(TABLE) else Outcome.FAILS,
        reasons=tuple(reasons),
        numbers=tuple(numbers),
        evidence=Evidence.ARITHMETIC,
    )


p08_times_and_bandwidths = Claim(
    point="P8",
    articles=("K",),
    text="all_reduce_perf of 1 GB on 8 GPUs: NDR 380 Gb/s and 1.0 ms, RoCE 100G 90 Gb/s and "
    "2.5 ms, TCP 100G 60 Gb/s and 15 ms",
    test=_test,
)
