"""Runs of the Ultra Ethernet consortium's simulator come out as near as their page says."""

import numpy as np
import pytest
from consortium import PAGE, RUNS, Run, compared, page, read_rows, revision_of, simulated

QUICK = (
    "one.cm", "bidir.cm", "test_cr_1f1m100p.cm", "perm_16n", "_2c_0us_1Ms.cm",
    "_8c_16us_1Ms.cm", "_64c_16us_2Ms.cm", "_128c_16us_1Ms.cm",
)  # fmt: skip


def quick_rows():
    """Return rows of few flows: of the sender's control or the receiver's, on many paths."""
    return [
        row
        for row in read_rows(RUNS)
        if any(name in row["command"] for name in QUICK)
        and Run(row["command"], revision_of(row["file"])).control != "both"
        and "-failed" not in row["command"]
        and "-paths 1 " not in row["command"] + " "
    ]


@pytest.mark.published
def test_small_runs_end_as_those_of_the_consortium():
    rows = quick_rows()
    assert len(rows) > 40
    ours = np.array(
        [simulated(Run(row["command"], revision_of(row["file"]))).last_s for row in rows]
    )
    errors = abs(1e6 * ours / np.array([float(row["last_fct_us"]) for row in rows]) - 1)
    assert np.median(errors) <= 0.02
    assert np.quantile(errors, 0.9) <= 0.15


def test_every_kept_run_can_be_read():
    for row in read_rows(RUNS):
        run = Run(row["command"], revision_of(row["file"]))
        assert run.flows.total_bytes > 0
        assert run.oversubscription in {1, 4, 8}
        assert run.gbit_per_s in {100, 200, 400, 800}


def test_the_page_is_that_of_the_results_and_says_why_groups_miss():
    rows = read_rows(RUNS)
    assert PAGE.read_text("utf-8") == "\n".join(page(rows)) + "\n"
    assert "not known" not in PAGE.read_text("utf-8")
    assert sum(one.kept for one in compared(rows).values()) == len(rows)
