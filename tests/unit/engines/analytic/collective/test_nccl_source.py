"""Weft's copy of NCCL's cost model against NCCL's own code and a real run.

``samples/nccl_tuning`` holds figures that NCCL's functions gave, compiled release by release,
and choices that NCCL made between real ranks.
"""

import csv
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from weft.engines.analytic.collective.choice import choose, options
from weft.engines.analytic.collective.constants import Fitted
from weft.engines.analytic.collective.path import Path as Route
from weft.engines.analytic.collective.path import Same, path_of
from weft.traffic.collective import Group, Operation

from .clusters import cluster

FOLDER = Path(__file__).parents[4] / "samples" / "nccl_tuning"
FITTED = Fitted({}, {"any": (1.0, 1.0)})
GPUS = {"ampere": ("a100_sxm_80", 300e9), "hopper": ("h100_sxm", 450e9),
        "blackwell": ("b200_sxm", 900e9)}  # fmt: skip
OPERATIONS = {
    "AllReduce": Operation.ALL_REDUCE,
    "AllGather": Operation.ALL_GATHER,
    "ReduceScatter": Operation.REDUCE_SCATTER,
}
LATENCY_US = 0.01
BANDWIDTH = 2e-3


def rows(name):
    with (FOLDER / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


@cache
def route(release: str, host: tuple[str, int, int, int, str], hosts: int) -> Route:
    gpu_class, gpus, nics, gbit, cpu = host
    gpu, up = GPUS[gpu_class]
    here = cluster(
        hosts, gpu=gpu, gpus=gpus, nics=max(1, nics), rate=(gbit or 400) / 8 * 1e9, up=up,
        reduces=gpu_class != "ampere", version=release,
    )  # fmt: skip
    here = here.with_(host=here.host.with_(cpu=cpu))
    group = Group(ranks=hosts * gpus, ranks_per_domain=gpus)
    return path_of(Same(here), group, FITTED)


def route_of(row) -> Route:
    host = (row["gpu_class"], int(row["gpus"]), int(row["nics"]),
            int(row["nic_gbit_per_s"]), row["cpu"])  # fmt: skip
    return route(row["release"], host, int(row["hosts"]))


def by_host(found):
    grouped = defaultdict(list)
    for row in found:
        host = f"{row['gpu_class']}-{row['gpus']}x{row['nics']}x{row['nic_gbit_per_s']}"
        grouped[row["release"], host].append(row)
    return [pytest.param(rows, id="-".join(key)) for key, rows in sorted(grouped.items())]


@pytest.mark.parametrize("found", by_host(rows("tables.csv")))
def test_latency_and_bandwidth_of_every_pair_are_those_of_nccls_code(found):
    wrong = []
    for row in found:
        operation = Operation(row["operation"])
        mine = {(o.kind.name, o.protocol): o for o in options(route_of(row), operation)}
        pair = (row["algorithm"], row["protocol"])
        if pair not in mine:
            wrong.append((row["hosts"], *pair, "not an option"))
            continue
        latency_us = mine[pair].nccl_latency_s * 1e6
        algbw = mine[pair].nccl_algbw_bytes_per_s / 1e9
        near = abs(latency_us - float(row["latency_us"])) <= LATENCY_US + 1e-4 * latency_us
        if not (near and algbw == pytest.approx(float(row["algbw_gbyte_per_s"]), BANDWIDTH)):
            wrong.append((row["hosts"], *pair, latency_us, algbw, row))
    assert not wrong


@pytest.mark.parametrize("found", by_host(rows("choices.csv")))
def test_the_choice_at_every_size_is_that_of_nccls_code(found):
    for row in found:
        path, operation = route_of(row), Operation(row["operation"])
        runs = re.findall(r"(\S+) x(\d+)", row["choices"])
        expected = [name for name, times in runs for _ in range(int(times))]
        chosen = [choose(path, operation, 2.0**power) for power in range(2, 34)]
        names = [f"{o.kind.name}/{o.protocol}" for o in chosen]
        assert names == expected, row


@pytest.mark.parametrize(
    "row",
    rows("socket_choices.csv"),
    ids=lambda row: f"{row['op']}-{row['hosts']}-{row['size_bytes']}",
)
def test_the_choice_over_sockets_is_that_of_a_real_run(row):
    hosts = int(row["hosts"])
    here = cluster(
        hosts, gpus=1, nics=1, rate=1.25e9, fabric="tcp", version=row["nccl_version"],
        gpudirect=False,
    )  # fmt: skip
    path = path_of(Same(here), Group(ranks=hosts, ranks_per_domain=1), FITTED)
    operation = OPERATIONS[row["op"]]
    # NCCL logs what one rank holds of an all-gather, weft counts the whole array.
    shares = 1 if operation is Operation.ALL_REDUCE else hosts
    chosen = choose(path, operation, float(row["size_bytes"]) * shares)
    assert (chosen.kind.name, chosen.protocol) == (
        row["algorithm"].lower(), row["protocol"].lower(),
    )  # fmt: skip
