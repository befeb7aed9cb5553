"""The band: it widens away from what was measured, narrows with what is stated or measured."""

from dataclasses import replace
from itertools import pairwise

import pytest

from weft.engines.analytic.collective import collective_time
from weft.engines.analytic.collective.branches import NVLS_KEY, branches, with_key
from weft.engines.analytic.collective.constants import shipped
from weft.engines.analytic.collective.domain import WITHIN, Place, distances, extents, sentence
from weft.engines.analytic.collective.mixture import Law
from weft.engines.analytic.collective.settle import answers
from weft.engines.analytic.collective.spread import fixed
from weft.spec.load import preset
from weft.spec.overlay import CollectiveRatios, Overlay
from weft.traffic.collective import Group, Operation

HERE = Place(
    operation="all_reduce", ranks=64, domains=8, local=8, generation="hopper",
    fabric="infiniband", version=(2, 27, 3),
)  # fmt: skip
MEASURED = extents([HERE, replace(HERE, domains=16, ranks=128)])
SIZES = [2**power for power in range(10, 34, 4)]
OPERATIONS = [Operation.ALL_REDUCE, Operation.ALL_GATHER, Operation.ALL_TO_ALL]


def group(hosts, per_host=8):
    return Group(ranks=hosts * per_host, ranks_per_domain=per_host)


def pinned(here, algorithm, protocol):
    """Return the cluster with one algorithm and one protocol stated."""
    stated = with_key(here, "nccl.env.NCCL_ALGO", algorithm)
    return with_key(stated, "nccl.env.NCCL_PROTO", protocol)


def said(place):
    return sentence(place, MEASURED, distances(place, MEASURED))


def width(found):
    return found.time_s.high / found.time_s.low


@pytest.mark.parametrize(
    ("changes", "axis", "far"),
    [
        ({"ranks": 512, "domains": 64}, "size", 2.0),
        ({"local": 32}, "domain", 2.0),
        ({"operation": "alltoall"}, "collective", 1.0),
        ({"generation": "rubin"}, "generation", 1.0),
        ({"fabric": "ultra_ethernet"}, "fabric", 1.0),
        ({"version": (2, 30, 7)}, "version", 3.0),
    ],
)
def test_an_axis_counts_from_the_end_of_what_was_measured(changes, axis, far):
    assert distances(HERE, MEASURED) == {}
    assert distances(replace(HERE, **changes), MEASURED) == {axis: far}


def test_an_extrapolation_says_how_far_it_goes():
    assert said(HERE) == WITHIN
    beyond = said(replace(HERE, ranks=4096, domains=512))
    assert beyond == "extrapolated: 4,096 GPUs, largest measured 128"
    assert "ultra_ethernet not measured" in said(replace(HERE, fabric="ultra_ethernet"))


@pytest.mark.parametrize("axis", ["ranks", "local", "version"])
def test_farther_along_an_axis_never_narrows_the_spread(axis):
    spread = shipped().spread
    steps = {
        "ranks": [{"ranks": 64 << n, "domains": 8 << n} for n in range(1, 9)],
        "local": [{"local": 8 << n} for n in range(5)],
        "version": [{"version": (2, 27 + n)} for n in range(6)],
    }[axis]
    found = [
        spread.sigma(place, "large", distances(place, MEASURED))
        for place in (replace(HERE, **step) for step in steps)
    ]
    assert all(wider >= narrower for narrower, wider in pairwise(found))
    assert found[-1] > found[0]


def test_no_axis_is_free():
    assert all(tau > 0 for tau in shipped().spread.tau.values())


@pytest.mark.parametrize("hosts", [2, 16, 1024, 8192])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_more_hosts_than_were_measured_never_narrow_the_band(hosts, operation):
    """With one algorithm; the NICs also hold the fast end, so the slow one is compared."""
    cluster = pinned(preset("dgx_h100", hosts=2 * hosts), "Ring", "Simple")
    few, many = (
        collective_time(cluster, operation, 2**30, group(n)) for n in (hosts, 2 * hosts)
    )
    if "extrapolated" in few.domain:
        ratios = [found.time_s.high / found.time_s.value for found in (few, many)]
        assert ratios[1] >= ratios[0] * (1 - 1e-9)


@pytest.mark.parametrize("hosts", [1, 2, 16])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("operation", OPERATIONS[:2])
@pytest.mark.parametrize("name", ["dgx_h100", "dgx_b200"])
def test_settling_what_is_likely_never_widens_the_band(name, hosts, size, operation):
    here = preset(name, hosts=hosts)
    bare = collective_time(here, operation, size, group(hosts))
    keys = {b.settle_key for b in branches(here, operation, size, group(hosts))}
    if NVLS_KEY in keys:
        on = collective_time(with_key(here, NVLS_KEY, "1"), operation, size, group(hosts))
        assert width(on) <= width(bare) * 1.001
    sure = pinned(here, bare.algorithm.replace("_", ""), bare.protocol)
    assert width(collective_time(sure, operation, size, group(hosts))) <= width(bare) * 1.001


def test_the_answer_that_narrows_most_comes_first_and_narrows():
    found = answers(preset("dgx_h100", hosts=2), Operation.ALL_REDUCE, 2**30, group(2))
    assert NVLS_KEY in {one.key for one in found}
    for one in found:
        assert one.after.high / one.after.low < one.before.high / one.before.low


@pytest.mark.parametrize("left_over", [1.0001, 1.1, 4.0])
@pytest.mark.parametrize("size", SIZES)
def test_a_calibrated_cluster_never_has_a_wider_band(left_over, size):
    here = preset("dgx_h100", hosts=4)
    ratios = CollectiveRatios(
        fixed_ratio=1.2, volume_ratio=1.1, low_ratio=1 / left_over, high_ratio=left_over, rows=9
    )
    overlay = Overlay(name="mine", collectives={"across.any.any": ratios})
    bare, laid = (
        collective_time(here.with_(overlay=o), Operation.ALL_REDUCE, size, group(4))
        for o in (None, overlay)
    )
    assert width(laid) <= width(bare) * (1 + 1e-9)


def test_a_mixture_has_the_quantiles_of_its_parts():
    one = Law((1.0,), (0.0,), 0.2)
    assert one.quantile(0.5) == pytest.approx(1.0)
    two = Law((0.5, 0.5), (-1.0, 1.0), 0.01)
    assert two.quantile(0.25) == pytest.approx(0.3679, rel=1e-3)
    assert two.quantile(0.75) == pytest.approx(2.718, rel=1e-3)


@pytest.mark.parametrize("weight", [0.05, 0.3, 0.5])
@pytest.mark.parametrize("apart", [0.1, 0.5, 2.0])
def test_a_mixture_is_never_narrower_than_its_widest_part(weight, apart):
    law = Law((1 - weight, weight), (0.0, apart), 0.2)
    alone = Law((1.0,), (0.0,), 0.2)
    assert law.quantile(0.9) / law.quantile(0.1) >= alone.quantile(0.9) / alone.quantile(0.1)


def test_a_fixed_spread_is_a_factor_to_each_side():
    spread = fixed(1.5)
    law = Law((1.0,), (0.0,), spread.sigma(HERE, "small", {}))
    low, high = spread.ends(HERE, "small", {})
    assert law.quantile(high) == pytest.approx(1.5)
    assert law.quantile(low) == pytest.approx(1 / 1.5)


@pytest.mark.parametrize("hosts", [2, 4, 16, 1024])
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("name", ["dgx_h100", "dgx_b200", "dgx_a100"])
def test_no_end_of_a_band_is_faster_than_the_nics(name, hosts, operation):
    """A domain sends (D - 1) / D of an all-gather, twice that of an all-reduce."""
    here = preset(name, hosts=hosts)
    size = 2.0**32
    leaves = {
        Operation.ALL_REDUCE: 2 * (hosts - 1) / hosts * size,
        Operation.ALL_GATHER: (hosts - 1) / hosts * size,
        Operation.ALL_TO_ALL: here.host.gpus * size * (hosts - 1) / hosts,
    }[operation]
    line = here.host.nics * here.host.nic_bytes_per_s
    found = collective_time(here, operation, size, group(hosts))
    assert found.time_s.low >= min(leaves / line, found.time_s.value) * (1 - 1e-9)
    assert found.time_s.low <= found.time_s.value <= found.time_s.high
