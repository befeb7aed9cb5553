"""The first screen of every command holds its answer: 24 lines at 80 columns."""

from pathlib import Path

import pytest

from weft import plugins
from weft.cli import app
from weft.report import views
from weft.report.page import SCREEN_LINES, View

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "tests" / "samples"
CASE = str(ROOT / "examples" / "llama70b-finetune-64gpu-100g-tcp.yaml")
LARGE = str(ROOT / "examples" / "llama3-405b-16k-h100-roce.yaml")
SLOW = str(ROOT / "examples" / "runs" / "all_reduce_h100_slow.txt")
INCAST = str(ROOT / "examples" / "scenarios" / "incast-32-to-1.yaml")
SMALL = ["--set", "traffic.0.incast.senders=3", "--set", "cluster.hosts=4"]
WITHOUT_FILES = ["--preset", "dgx_h200", "--gpus", "512", "--model", "llama3_70b"]

STUDY = str(ROOT / "examples" / "studies" / "fabric-under-load.yaml")

EXAMPLES = {
    "predict": [[CASE], [LARGE], WITHOUT_FILES, [LARGE, "--sweep", "gpus=4096,8192,16384"]],
    "compare": [[CASE], [LARGE], WITHOUT_FILES],
    "need": [[CASE], [LARGE], WITHOUT_FILES, [LARGE, "--target", "mfu=0.99"]],
    "expect": [[CASE], [LARGE, "alltoall"], ["--preset", "gb200_nvl72"]],
    "claims": [[CASE], WITHOUT_FILES],
    "whatif": [[CASE], WITHOUT_FILES],
    "plan": [[CASE], [LARGE], ["--preset", "dgx_h100"]],
    "emulate": [["--preset", "dgx_h100", "--fault", "port-down"]],
    "check": [[str(SAMPLES / "rules" / "link_degraded" / "fires"), "--preset", "dgx_h100"]],
    "runbook": [[CASE], ["pfc-storm", "--preset", "hgx_h100_roce"]],
    "render": [["nccl", "opensm", "--preset", "dgx_h100"]],
    "lint": [[str(SAMPLES / "lint" / "ecn_queue" / "fires")], [str(SAMPLES / "lint")]],
    "diff": [["--preset", "hgx_h100_roce", str(SAMPLES / "lint" / "ecn_queue" / "fires")]],
    "diagnose": [[str(SAMPLES / "rules" / "link_degraded" / "fires")]],
    "bench judge": [[SLOW], [SLOW, "--preset", "dgx_h100", "--hosts", "2"]],
    "bench localise": [["--hosts", "a,b,c,d", "--result", "a,b=92Gb/s"]],
    "bench history": [["--history", "sqlite:///kept.sqlite3"]],
    "bench load": [
        ["--simulate", LARGE, "--peak", "200Gb/s", "--to", "1", "--simulated-hosts", "2"]
    ],
    "explain": [[str(SAMPLES / "rules" / "link_degraded" / "fires")], [SLOW]],
    "catalog": [[]],
    "replay": [
        [str(SAMPLES / "traces" / "ddp"), "--preset", "dgx_h100", "--hosts", "1"],
        [
            *[str(SAMPLES / "traces" / "ddp")] * 2,
            "--preset",
            "hgx_h100_roce",
            "--hosts",
            "8",
            "--fidelity",
            "flow",
            "--placement",
            "packed",
            "--placement",
            "scattered",
        ],
    ],
    "simulate": [[INCAST, *SMALL], [INCAST, INCAST, *SMALL]],
    "tune": [[INCAST, *SMALL, "--trials", "2", "--seeds", "1", "--knob", "kmin_bytes"]],
    "sweep": [[STUDY, "--table", "rows.csv", "--set", "samples=1"]],
    "accuracy": [["--kind", "topology"], []],
    "calibrate": [[str(SAMPLES / "calibrate" / "two_hosts.txt"), "--preset", "dgx_h100"]],
}
"""Words of each command that answers a question; a new command belongs here."""
NO_ANSWER = {
    "bench run": "runs on hosts",
    "collect": "prints a script",
    "init": "writes files",
    "monitor": "serves metrics",
    "report week": "asks a Prometheus server; its first screen is tested with one",
    "schema": "a document",
    "spec": "documents",
    "version": "one line",
}
"""Commands that print what was asked for and nothing else."""


def _commands():
    for name in app.command_names():
        below = getattr(app.load_command(name), "commands", {})
        grouped = name in {"bench", "report"}
        yield from [f"{name} {inner}" for inner in below] if grouped else [name]


@pytest.mark.parametrize("command", list(_commands()))
def test_every_command_is_here(command):
    assert (command in EXAMPLES) != (command in NO_ANSWER), (
        f"write words for {command} into EXAMPLES, or into NO_ANSWER why it has no answer"
    )


@pytest.mark.parametrize(
    ("command", "words"),
    [(command, words) for command, several in EXAMPLES.items() for words in several],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value))[-60:],
)
def test_the_answer_is_on_the_first_screen(command, words, capsys, tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(tmp_path)  # calibrate writes beside itself
    status = app.run([*command.split(), *words])
    shown = capsys.readouterr()
    assert status in {0, 4, 5}, shown.err
    lines = shown.out.splitlines()
    most = max(
        [plugins.load(views, n, View).screen_lines for n in _views_of(command)]
        or [SCREEN_LINES]
    )
    assert len(lines) <= most, shown.out
    assert max(map(len, lines)) <= 80, shown.out
    assert not lines[1].startswith("="), "the view has no answer: see Page.answer"


def _views_of(command):
    return [
        name for name in plugins.names(views)
        if plugins.load(views, name, View).verb in {*command.split()}
    ]  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ["version"],
        ["init", "--preset", "dgx_h100"],
        ["init", "--list"],
        ["spec", "validate", "cluster.yaml"],
        ["spec", "show", "cluster.yaml"],
        ["catalog", "switches"],
        ["monitor", "--help"],
        ["report", "week", "--help"],
        ["--help"],
    ],
    ids=" ".join,
)
def test_what_other_commands_print_is_no_wider_than_a_screen(
    words, capsys, tmp_path, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    app.run(["init", "--preset", "dgx_h100", "--dir", "there"])
    (tmp_path / "there" / "cluster.yaml").rename("cluster.yaml")
    capsys.readouterr()
    assert app.run([*words, *(["--force"] if "--preset" in words else [])]) == 0
    shown = capsys.readouterr()
    assert max(map(len, (shown.out + shown.err).splitlines())) <= 80


@pytest.mark.parametrize("command", list(EXAMPLES))
def test_every_command_with_an_answer_has_a_flag_for_the_rest(command, capsys):
    assert app.run([*command.split(), "--help"]) == 0
    assert "--full" in capsys.readouterr().out
