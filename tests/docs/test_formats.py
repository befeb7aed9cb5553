"""The page of what is read names every parser, and no other."""

import re
from pathlib import Path

from weft import plugins
from weft.observe import parsers

PAGE = Path(__file__).parents[2] / "docs/reference/formats.md"
SAME_NAMES = {
    "ibstat", "ibstatus", "ibv_devices", "ibv_devinfo", "ibdev2netdev", "show_gids", "mlxlink",
    "iblinkinfo", "ibnetdiscover", "ibqueryerrors", "perfquery", "ibportstate", "devlink",
}  # fmt: skip
"""In rows that say "of the same names"."""


def test_every_parser_stands_on_the_page_and_every_name_is_a_parser():
    rows = [one for one in PAGE.read_text().splitlines() if one.startswith("| ")]
    last = [one.rstrip("| ").rpartition("|")[2] for one in rows if one.count("|") == 4]
    named = set(re.findall(r"`([a-z]\w+)`", " ".join(last))) | SAME_NAMES
    assert named == set(plugins.names(parsers)), f"say in {PAGE.name} what a new parser reads"
