import pytest

from weft.cli import app
from weft.errors import SpecError, Unreadable
from weft.generate.plan import plan
from weft.monitor.prometheus import Prometheus, Samples
from weft.monitor.week import Asked, week
from weft.spec.load import load_job, preset

LABELS = {"alertname": "WeftXidMemory", "severity": "page", "cause": "gpu-xid-ecc-contained",
          "instance": "host-0001", "gpu": "3"}  # fmt: skip
JOB = load_job({"model": "llama3_70b", "global_batch": 512})


class Server:
    """Answers that alerts fired at some looks, and nothing else."""

    def __init__(self, *fired):
        self.fired = fired

    def over(self, _query, begin_s, _end_s, step_s):
        return [Samples(labels=LABELS | more, values=tuple((begin_s + look * step_s, 1.0)
                for look in looks)) for more, looks in self.fired]  # fmt: skip

    def now(self, _query, _at_s):
        return []


def _week(*fired):
    made = plan(preset("hgx_h100_roce", hosts=16))
    return week(Asked(server=Server(*fired), plan=made, job=JOB, end_s=2e9, lasting_s=604_800))


def test_an_alert_that_goes_and_comes_again_stops_the_job_twice():
    (once,) = _week(({}, [5, 6, 7])).losses
    (twice,) = _week(({}, [5, 6, 7, 20, 21])).losses
    assert (once.episodes, twice.episodes) == (1, 2)
    assert once.lasted_s == pytest.approx(3 * 120)
    assert twice.lost_s.value == pytest.approx(2 * once.lost_s.value)
    assert twice.usd.value == pytest.approx(2 * once.usd.value)


def test_what_another_alert_explains_is_not_counted_twice():
    storm = {"alertname": "WeftPauseSent", "cause": "pfc-storm"}
    paused = {"alertname": "WeftPauseStorm", "cause": "pfc-storm"}
    both = _week((storm, [5, 6]), (paused, [5, 6, 7]))
    assert [one.alert for one in both.losses] == ["WeftPauseSent"]
    apart = _week((storm, [5, 6]), (paused, [50, 51]))
    assert len(apart.losses) == 2
    other = _week((storm, [5, 6]), (paused | {"instance": "host-0002"}, [5, 6]))
    assert len(other.losses) == 2


def test_an_alert_without_a_price_is_shown_without_one():
    found = _week(({"alertname": "WeftCrcErrors", "cause": "ib-link-errors"}, [1]))
    assert found.losses[0].usd is None
    assert found.goodput_ratio.value == 1


def test_a_quiet_week_costs_nothing():
    found = _week()
    assert found.losses == ()
    assert found.usd.value == 0
    assert found.busy_ratio is None


def test_a_server_that_is_none_is_refused(capsys):
    with pytest.raises(SpecError, match="http://prometheus:9090"):
        Prometheus(url="file:///etc/passwd")
    with pytest.raises(Unreadable, match="check the address"):
        Prometheus(url="http://127.0.0.1:9").now("up", 0)
    words = ["report", "week", "--preset", "dgx_h100", "--hosts", "4", "--model", "llama3_8b"]
    assert app.run([*words, "--prometheus", "http://127.0.0.1:9"]) == 3
    assert "no answer of a Prometheus server" in capsys.readouterr().err
