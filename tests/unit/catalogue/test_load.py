"""The catalogue: what it refuses, and what every device of it has."""

import dataclasses
import re
from typing import get_args

import pytest

from weft import catalogue, units
from weft.catalogue.load import Folder, read_device
from weft.errors import SpecError, UnknownName
from weft.sources import Kind, Sourced

FOLDERS = get_args(Folder)
DEVICES = [(folder, name) for folder in FOLDERS for name in catalogue.names(folder)]
SOURCES = '[sources.a]\nkind = "datasheet"\ntitle = "A"\n'
NIC = 'title = "N"\nfacts = ["a"]\n'


def numbers(device):
    """Yield every sourced number of a device, with its field."""
    for field in dataclasses.fields(device):
        value = getattr(device, field.name)
        if isinstance(value, Sourced):
            yield field.name, value
        elif isinstance(value, dict):
            yield from (
                (f"{field.name}.{key}", item)
                for key, item in value.items()
                if isinstance(item, Sourced)
            )


@pytest.mark.parametrize(("folder", "name"), DEVICES, ids=lambda v: v)
def test_a_device_is_read_and_its_sources_are_all_used(folder, name):
    device = catalogue.find(folder, name)
    assert device.name == name
    assert device.title
    used = set(device.facts) | {key for _, number in numbers(device) for key in number.sources}
    used |= {point.source for point in getattr(device, "points", ())}
    rental = getattr(device, "rental_usd_per_h", None)
    used -= set(rental.sources if rental else ()) - device.sources.keys()
    assert used == device.sources.keys()
    assert device.facts, "counts and names need a source too"


@pytest.mark.parametrize(("folder", "name"), DEVICES, ids=lambda v: v)
def test_a_number_that_rests_on_an_estimate_alone_says_so_and_has_a_range(folder, name):
    device = catalogue.find(folder, name)
    for field, number in numbers(device):
        kinds = {device.sources[key].kind for key in number.sources if key in device.sources}
        if kinds == {Kind.ESTIMATE}:
            assert number.confidence == 1, field
            assert number.low < number.high, field


def test_no_estimate_has_a_title_that_gives_no_reason():
    for folder, name in DEVICES:
        for source in catalogue.find(folder, name).sources.values():
            if source.kind == Kind.ESTIMATE:
                assert len(source.title.split()) > 5, source.title


def test_every_gpu_has_a_price_so_that_every_cluster_has_a_cost():
    assert all(catalogue.find("gpus", name).price_usd for name in catalogue.names("gpus"))


def test_every_switch_and_cable_has_price_and_power():
    for name in catalogue.names("switches"):
        assert catalogue.find("switches", name).price_usd
        assert catalogue.find("switches", name).power_w
    for name in catalogue.names("cables"):
        assert catalogue.find("cables", name).price_usd
        assert catalogue.find("cables", name).power_per_end_w


def test_servers_name_gpus_and_nics_of_the_catalogue():
    for name in catalogue.names("servers"):
        server = catalogue.find("servers", name)
        assert catalogue.find("gpus", server.gpu).power_w
        nic = catalogue.find("nics", server.nic)
        assert server.nic_bytes_per_s.value <= nic.bytes_per_s.value
        assert server.cloud or server.price_usd


def test_a_gpu_has_its_rental_price_from_the_dated_points():
    assert catalogue.find("gpus", "h100_sxm").rental_usd_per_h.value == 2.95
    points = catalogue.find("rentals", "h100_sxm").points
    assert len(points) > 40
    assert all(re.match(r"20\d\d", point.date) for point in points)
    assert [point.date for point in points] == sorted(point.date for point in points)


def test_published_facts_are_in_units_of_weft():
    gpu = catalogue.find("gpus", "h100_sxm")
    assert gpu.flop_per_s["bf16"].value == 989e12
    assert gpu.measured_flop_per_s["bf16"].value == 794.5e12
    assert gpu.scale_up_bytes_per_s.value == 450e9
    switch = catalogue.find("switches", "qm9700")
    assert switch.radix[units.rate_from_gbit(400)] == 64
    assert switch.latency_s.high == pytest.approx(330e-9)
    headroom = catalogue.find("switches", "sn5600").headroom_bytes
    assert headroom["800Gb/s"]["300m"] == 1_150_976


def test_xdr_has_neither_passive_copper_nor_multimode():
    """[LinkX 200G-PAM4 list]."""
    rate = units.rate_from_gbit(800)
    media = [catalogue.find("cables", name) for name in catalogue.names("cables")]
    xdr = {c.name for c in media if c.bytes_per_s.value == rate and "infiniband" in c.fabrics}
    assert xdr == {"acc_800g_xdr", "dr4_800g_xdr"}


def test_an_unknown_device_is_answered_with_what_is_near():
    with pytest.raises(UnknownName, match=r"near it: .*connectx7"):
        catalogue.find("nics", "conectx7")
    with pytest.raises(UnknownName, match="no kind 'toasters'; there are: gpus"):
        catalogue.names("toasters")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NIC + 'rate = { value = "1Gb/s", source = ["b"], confidence = 3 }\n' + SOURCES,
         "rate: source 'b' is not under"),
        (NIC + 'rate = { value = "1Gb/s", confidence = 3 }\n' + SOURCES, "needs source"),
        (NIC + 'rate = { value = "1Gb/s", source = ["a"] }\n' + SOURCES, "and confidence"),
        (NIC + 'rate = { value = "1Gb/s", low = "2Gb/s", source = ["a"], confidence = 1 }\n'
         + SOURCES, "lies outside"),
        (NIC + 'rate = { value = "1G", source = ["a"], confidence = 1 }\n' + SOURCES, "a rate"),
        (NIC + SOURCES, "rate is missing"),
        (NIC + 'rate = { value = "1Gb/s", source = ["a"], confidence = 3 }\nspeed = 3\n'
         + SOURCES, "no field of nics is called speed"),
        (NIC + 'rate = { value = "1Gb/s", source = ["a"], confidence = 3, date = 1 }\n'
         + SOURCES, "a number has no date"),
        (NIC, r"has no \[sources\]"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_with_file_and_key(text, message):
    with pytest.raises(SpecError, match=message) as caught:
        read_device("nics", "wrong", text)
    if "a rate" not in message:
        assert "catalogue/nics/wrong.toml" in str(caught.value)


def test_the_name_of_the_catalogue_is_a_digest():
    assert re.fullmatch(r"[0-9a-f]{64}", catalogue.sha256())
