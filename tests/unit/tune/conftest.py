"""One tiny scenario: four hosts, an incast that congestion control can act on."""

import pytest

from weft.spec.load import load_scenario


@pytest.fixture
def scenario():
    def make(**network):
        return load_scenario(
            {
                "name": "small",
                "cluster": {
                    "preset": "hgx_h100_roce",
                    "hosts": 4,
                    "host": {"gpus": 1, "nics": 1, "server": "", "scale_up": {"gpus": 1}},
                },
                "network": {"preset": "roce_default", **network},
                "traffic": [{"incast": {"senders": 3, "size_bytes": "2MiB"}}],
                "until_s": "20ms",
            }
        )

    return make
