import pytest
from scipy import stats

from weft.bench import student


@pytest.mark.parametrize("degrees", [1, 3, 11, 28, 200])
@pytest.mark.parametrize("value", [-4.0, -0.3, 0.0, 1.2, 7.0])
def test_the_law_is_that_of_student(value, degrees):
    assert student.cumulative(value, degrees) == pytest.approx(stats.t.cdf(value, degrees))


@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.995])
def test_the_quantile_is_where_the_share_lies_below(share):
    assert student.quantile(share, 5) == pytest.approx(stats.t.ppf(share, 5), abs=1e-6)
