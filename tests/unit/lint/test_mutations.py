"""How many faults of distinct classes the linter finds in what weft renders.

`mutations.yaml` is the table: each row changes one setting of one file, as people do; it names
no rule. What is rendered whole, and a part of its switches, raise nothing (tests beside this).
"""

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from rendered_fabrics import findings, texts

ROWS = yaml.safe_load(Path(__file__).with_name("mutations.yaml").read_text("utf-8"))
LEAST_RATIO = 0.95
TARGETS = {"sonic", "cumulus", "eos", "nxos", "junos", "frr", "linux_host", "nccl", "opensm",
           "slurm", "kubernetes", "kubernetes_jobs", "launch"}  # fmt: skip


def test_there_are_128_faults_of_distinct_classes_over_the_targets():
    assert len({row["class"] for row in ROWS}) == len(ROWS) == 128
    assert {row["file"].partition("/")[0] for row in ROWS} == TARGETS


def _changed(row):
    """Return the files of a fabric with one fault in them."""
    files = dict(texts(row["fabric"]))
    name = min(one for one in files if fnmatch(one, row["file"]))
    text, count = re.subn(row["old"], row["new"], files[name], count=row.get("count", 1))
    assert count, f"{row['class']}: {row['old']} is not in {name}"
    assert text != files[name], row["class"]
    return files | {name: text}


@pytest.mark.slow
def test_at_least_95_percent_of_the_planted_faults_are_found():
    """Share found = faults with a finding worse than a remark / faults planted."""
    missed = [row["class"] for row in ROWS if not findings(_changed(row))]
    assert len(missed) <= (1 - LEAST_RATIO) * len(ROWS), missed
