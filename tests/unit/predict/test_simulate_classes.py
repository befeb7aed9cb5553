"""Traffic classes in a scenario: isolation, what each class shows, and mistakes."""

from pathlib import Path

import pytest

from weft.engines.packet.settings import options_of
from weft.engines.packet.tables import FlowControl
from weft.errors import WeftError
from weft.predict.simulate import simulate
from weft.spec.load import load_scenario

EXAMPLE = Path(__file__).parents[3] / "examples/scenarios/storage-in-its-own-class.yaml"
CLUSTER = {
    "preset": "hgx_h100_roce",
    "hosts": 16,
    "host": {"server": "", "gpus": 1, "nics": 1, "scale_up": {"gpus": 1}},
}
STORAGE = {"incast": {"senders": 12, "size_bytes": "2MiB", "traffic_class": "storage"}}
RING = {"collective": {"operation": "all_gather", "size_bytes": "8MiB", "first_host": 1}}


GATHER = "{collective: {operation: all_gather, size_bytes: 64MiB, first_host: 1}}"


def scenario(network, *traffic, **more):
    return load_scenario(
        {"cluster": CLUSTER, "network": network, "traffic": list(traffic), **more}
    )


@pytest.fixture(scope="module")
def apart():
    return simulate(load_scenario(EXAMPLE))


def test_a_class_of_its_own_keeps_storage_from_pausing_training(apart):
    """The ring keeps its 3/4 of every port, and takes a quarter of the time it does mixed."""
    alone, mixed = (
        simulate(load_scenario(EXAMPLE, [f"traffic={traffic}"]))
        for traffic in (
            f"[{GATHER}]",
            f"[{GATHER}, {{incast: {{senders: 48, size_bytes: 4MiB}}}}]",
        )
    )
    times = [one.traffic[0].completion_s.value for one in (alone, apart, mixed)]
    assert times[0] < times[1] < times[0] / 0.75 * 1.05
    assert times[2] > 4 * times[1]


def test_results_tell_classes_apart(apart):
    training, storage = apart.classes
    assert (training.name, storage.name) == ("training", "storage")
    assert training.paused_s == 0
    assert storage.paused_s > 0
    assert storage.pauses > training.pauses == 0
    assert apart.pause_roots[0].link == "leaf0 to host0.nic0, storage"
    assert apart.queues[0].link.endswith(", storage")
    assert max(apart.queues[0].queue_bytes) <= storage.largest_queue_bytes
    assert max(one.paused_links for one in apart.moments) > 0


def test_what_a_class_sets_is_laid_over_the_network():
    network = {
        "preset": "roce_tuned",
        "ecn": {"kmin_bytes": "100kB"},
        "classes": [
            {"name": "training"},
            {
                "name": "storage",
                "flow_control": "none",
                "congestion": "dctcp",
                "recovery": "go_back_n",
                "queue_limit_bytes": "1MB",
                "ecn": {"kmax_bytes": "300kB"},
            },
        ],
    }
    options = options_of(scenario(network, STORAGE), seed=1)
    training, storage = (one.options for one in options.classes)
    assert training.flow_control is FlowControl.PFC
    assert training.congestion == options.congestion == "dcqcn"
    assert training.knobs == options.knobs
    assert (storage.flow_control, storage.congestion) == (FlowControl.NONE, "dctcp")
    assert storage.knobs == {}
    assert (storage.kmin_bytes, storage.kmax_bytes) == (100_000, 300_000)
    assert storage.queue_limit_bytes == 1_000_000
    result = simulate(scenario(network, STORAGE, RING))
    assert result.complete
    assert result.classes[0].drops == 0
    assert result.classes[1].drops > 0


def test_a_receiver_can_be_stuck_in_one_class():
    network = {"preset": "roce_tuned", "classes": [{"name": "training"}, {"name": "storage"}]}
    stuck = [{"gpu": 0, "end_s": "2ms", "traffic_class": "storage"}]
    slow, quick = simulate(scenario(network, STORAGE, RING, stuck=stuck)).traffic
    assert slow.completion_s.value > 2e-3 > quick.completion_s.value


@pytest.mark.parametrize(
    ("classes", "says"),
    [
        ([{"name": "a"}], "is no traffic class"),
        ([], "names none"),
        ([{"name": "storage"}, {"name": "storage"}], "the name of two classes"),
        ([{"name": "storage", "congestion": "dctpc"}], "dctcp"),
        ([{"name": "storage", "weight": 0}], "greater than 0"),
        ([{"name": "storage", "knobs": {"speed": 1}}], "no knob speed"),
    ],
)
def test_mistakes_are_told(classes, says):
    with pytest.raises(WeftError, match=says):
        simulate(scenario({"classes": classes}, STORAGE))
