"""The catalogue as a result."""

import pytest

from weft import catalogue, report
from weft.catalogue.sheet import listing, sheet


def test_a_listing_has_every_device_of_its_kind_and_counts_weak_figures():
    entries = {entry.name: entry for entry in listing("nics").entries}
    assert list(entries) == catalogue.names("nics")
    assert (entries["connectx7"].figures, entries["connectx7"].weak) == (3, 2)
    assert len(listing().entries) > len(entries)


def test_a_sheet_has_every_figure_with_unit_range_and_source():
    figures = {figure.name: figure for figure in sheet("switches", "qm9700").figures}
    price = figures["price"]
    assert (price.unit, price.value, price.low, price.high) == ("usd", 38000, 32000, 50000)
    assert figures["latency"].unit == "s"
    assert set(price.sources) <= {source.key for source in sheet("switches", "qm9700").sources}


def test_a_gpu_shows_its_rental_price_with_the_source_of_that_file():
    h100 = sheet("gpus", "h100_sxm")
    figures = {figure.name: figure for figure in h100.figures}
    assert figures["rental"].unit == "usd_per_h"
    assert set(figures["rental"].sources) <= {source.key for source in h100.sources}
    assert {
        "memory",
        "memory rate",
        "scale up rate",
        "bf16",
        "measured, bf16",
    } <= figures.keys()


def test_ports_and_headroom_are_facts():
    facts = sheet("switches", "sn5600").facts
    assert facts["ports at 400 Gb/s"] == "128"
    assert facts["headroom at 800Gb/s"].endswith("300m: 1150976 B")


def test_links_are_shown_in_bits_and_memories_in_bytes():
    assert "Gb/s" in report.show(sheet("nics", "connectx7"), "text")
    text = report.show(sheet("gpus", "h100_sxm"), "text")
    assert "GB/s" in text
    assert "Gb/s" not in text


@pytest.mark.parametrize("output", ["text", "json", "yaml", "md", "html"])
def test_every_format_names_source_and_confidence(output):
    text = report.show(sheet("assumptions", "electricity"), output)
    assert "epoch_const" in text
    assert "onfidence" in text
    assert "0.083" in text
