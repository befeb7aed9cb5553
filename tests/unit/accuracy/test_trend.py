from weft.accuracy.kind import Score
from weft.accuracy.trend import trends

ROWS = {
    "a": {"gpus": "8", "model": "m"},
    "b": {"gpus": "16", "model": "m"},
    "c": {"gpus": "16", "model": "m"},
    "d": {"gpus": "16", "model": "other"},
    "e": {"gpus": "", "model": "m"},
}


def score(row, measured, predicted, quantity="step_s"):
    return Score(
        kind="toy", row=row, site="s", labels={}, quantity=quantity, measured=measured,
        predicted=predicted, low=predicted, high=predicted,
    )  # fmt: skip


def found(*scores):
    return {one.name: one for one in trends(scores, lambda s: ROWS[s.row])}


def test_pairs_of_one_series_are_compared_by_size_and_by_layout():
    """8 GPUs against both runs on 16: one right, one wrong; the two on 16: wrong."""
    one = found(score("a", 10, 10), score("b", 6, 11), score("c", 5, 9))
    assert (one["gpus"].pairs, one["gpus"].right_order_ratio) == (2, 0.5)
    assert (one["layout"].pairs, one["layout"].right_order_ratio) == (1, 1.0)


def test_measurements_that_hardly_differ_have_no_order():
    assert found(score("a", 10, 10), score("b", 10.1, 9)) == {}


def test_other_models_and_rows_without_a_size_are_not_compared():
    assert found(score("b", 10, 10), score("d", 5, 5), score("e", 2, 2)) == {}
