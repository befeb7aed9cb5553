"""Presets say what the catalogue says of their servers, and nothing that weft cannot use."""

import pytest

from weft import catalogue
from weft.spec.load import preset, presets, shipped_text

ADAPTED = {"a100_tcp_100g", "h100_tcp_100g", "l40s_tcp_100g"}  # other NICs in a known server


@pytest.mark.parametrize("name", presets())
def test_a_preset_is_the_server_that_it_names(name):
    host = preset(name).host
    server = catalogue.find("servers", host.server)
    assert (host.gpu, host.gpus, host.cpu) == (server.gpu, server.gpus, server.cpu)
    if name not in ADAPTED:
        assert (host.nic, host.nics) == (server.nic, server.nics)
        assert host.nic_bytes_per_s == float(server.nic_bytes_per_s)


@pytest.mark.parametrize("name", presets())
def test_a_preset_has_the_scale_up_network_of_its_gpu(name):
    host = preset(name).host
    gpu = catalogue.find("gpus", host.gpu)
    assert host.scale_up.kind == gpu.scale_up_kind
    if gpu.scale_up_bytes_per_s is not None:
        assert host.scale_up.bytes_per_s == float(gpu.scale_up_bytes_per_s)


@pytest.mark.parametrize("name", presets())
def test_a_preset_is_named_after_its_file_and_tells_its_source(name):
    assert preset(name).name == name.replace("_", "-")
    text = shipped_text("presets", name)
    assert text.startswith("# ")
    assert "source" in text.lower() or "catalogue" in text


def test_presets_cover_the_systems_that_people_rent_and_buy():
    wanted = {
        "dgx_a100", "dgx_h100", "dgx_h200", "dgx_b200", "gb200_nvl72", "mi300x_roce",
        "aws_p4d", "aws_p5", "gcp_a3_mega", "gcp_a3_ultra", "azure_nd_a100_v4",
        "azure_nd_h100_v5", "oci_a100", "oci_h100",
    }  # fmt: skip
    assert wanted <= set(presets())
