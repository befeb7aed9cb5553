"""What holds for every test, and clusters of H100 servers, of any size and fabric.

No machine is too slow or too busy, and chance is repeatable: property tests draw the same
examples every time; ``pytest --hypothesis-profile explore`` draws new ones. What a terminal or
a scheduler sets for its user is not there.
"""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from weft.spec.cluster import Cluster, FabricChoice, Host, Prices, ScaleUp, TopologyChoice

REPEATABLE, EXPLORE = "repeatable", "explore"
OF_THE_USER = (
    "COLUMNS", "FORCE_COLOR", "GITHUB_ACTIONS", "LINES", "NO_COLOR", "PY_COLORS",
    "TERMINAL_WIDTH", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "WEFT_DEBUG", "WEFT_HISTORY",
)  # fmt: skip

settings.register_profile(
    REPEATABLE, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(EXPLORE, settings.get_profile(REPEATABLE), derandomize=False)
settings.load_profile(REPEATABLE)
for name in OF_THE_USER:
    os.environ.pop(name, None)
# A shell's background job and nohup ignore some signals, and children inherit that: a test that
# interrupts one would wait for ever.
for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        usual = signal.default_int_handler if ignored == signal.SIGINT else signal.SIG_DFL
        signal.signal(ignored, usual)


@pytest.fixture
def h100():
    """Make a cluster of DGX H100 with 8 x 400 Gb/s."""

    def make(hosts=128, fabric="infiniband", **changes):
        host = Host.model_construct(
            server=changes.pop("server", "dgx_h100"), gpu="h100_sxm", gpus=8,
            nic=changes.pop("nic", "connectx7"), nics=8, nic_bytes_per_s=50e9,
            pcie_bytes_per_s=None, cpu="intel", gpudirect=True,
            scale_up=ScaleUp.model_construct(kind="nvlink", gpus=8, bytes_per_s=450e9),
        )  # fmt: skip
        prices = Prices().with_(**changes.pop("prices", {}))
        storage = changes.pop("storage", None)
        return Cluster(
            hosts=hosts,
            host=host,
            fabric=FabricChoice(kind=fabric),
            storage_fabric=FabricChoice(kind=storage) if storage else None,
            topology=TopologyChoice().with_(**changes),
            prices=prices,
        )

    return make
