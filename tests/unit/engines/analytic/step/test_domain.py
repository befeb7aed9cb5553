"""Whether a training step lies among those that were measured."""

from collections import defaultdict
from itertools import pairwise

import pytest

from weft import catalogue
from weft.accuracy import tables
from weft.accuracy.rows.training import case_of
from weft.engines.analytic.collective.domain import WITHIN
from weft.engines.analytic.step.domain import Place, distances, measured, sentence, widened
from weft.results import Estimate

HERE = Place(gpus=1024, generation="hopper", fabric="infiniband")
BAND = Estimate(1.0, 0.9, 1.2)


def at(**changes):
    return Place(**{name: getattr(HERE, name) for name in HERE.__slots__} | changes)


def test_the_spans_are_those_of_the_published_rows():
    gpus = defaultdict(int)
    for row in tables.read(tables.SHIPPED)["train_runs"]:
        case = case_of(row)
        if isinstance(case, str) or case.doubt is not None:
            continue
        generation = catalogue.find("gpus", case.cluster.host.gpu).generation
        gpus[generation] = max(gpus[generation], case.job.gpus or case.cluster.gpus)
    assert dict(gpus) == measured()["gpus"]


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (HERE, WITHIN),
        (at(gpus=65536), "extrapolated: 65,536 GPUs, largest measured 16,384"),
        (at(generation="rubin"), "extrapolated: GPU generation rubin not measured"),
        (at(fabric="ultra_ethernet"), "extrapolated: fabric ultra_ethernet not measured"),
    ],
)
def test_a_step_says_what_of_it_was_never_measured(place, text):
    assert sentence(place).startswith(text)
    assert bool(distances(place)) is (text != WITHIN)


def test_more_gpus_never_narrow_the_band():
    widths = [(found := widened(BAND, at(gpus=1024 << n))).high / found.low for n in range(10)]
    assert widths[0] == pytest.approx(1.2 / 0.9)
    assert all(wide >= narrow for narrow, wide in pairwise(widths))
    assert widths[-1] > widths[0]
