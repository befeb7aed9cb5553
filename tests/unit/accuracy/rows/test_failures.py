import pytest

from weft.accuracy.kind import LeftOut, Score, all_kinds

BASE = {"row_id": "x1", "study": "s", "gpus": "1000"}


def scored(**cells):
    (found,) = all_kinds()["failures"].score({"failures": [BASE | cells]})
    return found


@pytest.mark.parametrize(
    ("cells", "stops"),
    [
        ({"subcategory": "unexpected interruptions", "count": "54", "period": "54 days"}, 1e-3),
        ({"subcategory": "failures", "rate": "8", "rate_unit": "per 1000 node-days"}, 1e-3),
        ({"subcategory": "machines down", "rate": "~2", "rate_unit": "per day"}, 2e-3),
        ({"subcategory": "MTTF of a job", "rate": "24", "rate_unit": "h"}, 1e-3),
        ({"subcategory": "mean time between interruptions", "rate": "500-2000",
          "rate_unit": "GPU-days"}, 1e-3),
    ],
)  # fmt: skip
def test_rates_are_brought_to_stops_per_gpu_and_day(cells, stops):
    assert scored(**cells).measured == pytest.approx(stops)


def test_the_share_of_time_kept_is_predicted_for_the_size_of_the_job():
    small = scored(subcategory="ETTR", rate="97", rate_unit="%")
    large = scored(subcategory="ETTR", rate="97", rate_unit="%", gpus="100,000")
    assert small.measured == 0.97
    assert large.predicted < small.predicted < 1
    assert small.low <= small.predicted <= small.high


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"subcategory": "MTTF", "rate": "2", "rate_unit": "h (projected)"}, "projection"),
        ({"subcategory": "restarts", "rate": ">100", "period": "3 weeks"}, "bound"),
        ({"subcategory": "restarts", "rate": "90", "period": ""}, "period not stated"),
        ({"subcategory": "Faulty GPU", "count": "148"}, "a cause"),
        ({"subcategory": "ETTR", "rate": "97", "rate_unit": "%", "gpus": ""}, "GPUs not"),
    ],
)
def test_what_is_no_rate_is_left_out_with_its_reason(cells, reason):
    found = scored(**cells)
    assert isinstance(found, LeftOut)
    assert reason in found.reason


def test_a_row_is_one_score():
    assert isinstance(scored(subcategory="failures", count="5", period="1 year"), Score)


def test_the_rows_that_the_default_comes_from_are_apart():
    cells = {"subcategory": "unexpected interruptions", "count": "419", "period": "54 days"}
    assert not scored(study="Llama 3 405B (Table 5)", **cells).healthy
    assert scored(study="another", **cells).healthy
