"""Clusters of H100 servers, of any size and fabric."""

import pytest

from weft.spec.cluster import Cluster, FabricChoice, Host, Prices, ScaleUp, TopologyChoice


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
