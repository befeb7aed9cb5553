"""Files that `weft diagnose` gives to the readers of configurations, and those it does not."""

from pathlib import Path

import pytest

from rendered_fabrics import FABRICS, texts
from weft.inventory.table import rows
from weft.lint.files import collect
from weft.lint.lint import facts_of
from weft.lint.reader import all_readers
from weft.lint.text import Text
from weft.readers.configurations import may_be_configuration
from weft.readers.read import read, read_text

SAMPLES = Path(__file__).parents[2] / "samples" / "lint"


def _passed_over(given: list[Text]) -> list[str]:
    """Return the files that a reader of configurations knows and that it would not be given."""
    return [
        text.name for text in given
        if not may_be_configuration(text.name, text.content.encode())
        and (facts_of(text, printed=False)[0] or ["document"]) != ["document"]
        and text.stem != "cmdline"
    ]  # fmt: skip


def test_every_reader_has_its_rows():
    assert set(all_readers()) == set(rows("weft.readers", "configurations.yaml")) - {"manifest"}


@pytest.mark.parametrize("fabric", FABRICS)
def test_every_rendered_file_is_given_to_its_reader(fabric):
    given = [Text(name=name, content=text) for name, text in texts(fabric).items()]
    assert not _passed_over(given)


def test_every_sample_of_a_rule_is_given_to_its_reader():
    given = [one for one in collect([SAMPLES]) if isinstance(one, Text)]
    assert len(given) > 300
    assert not _passed_over(given)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("nccl.log", "n1:1:2 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_0"),
        ("ibstat.txt", "CA 'mlx5_0'\n\tCA type: MT4129\n"),
        ("env.txt", "NCCL_IB_HCA=mlx5_0\nPATH=/bin\n"),
        ("show_interface_status.txt", "Port  Name  Status\nEt1/1       connected\n"),
        ("nvidia-smi.json", '{"gpus": [{"index": 0}]}'),
        ("ip_link.txt", "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP\n"),
    ],
)
def test_outputs_are_no_configurations(file, text):
    assert not may_be_configuration(file, text.encode())


def test_lines_of_a_script_are_no_trouble(tmp_path):
    script = "#!/bin/sh\nfailed() { echo failed: cannot open; exit 1; }\nulimit -l unlimited\n"
    (tmp_path / "set-up.sh").write_text(script)
    assert read(tmp_path).files[0].unread
    known = read(tmp_path, configurations=lambda *_: ("host_script",)).files[0]
    assert not known.unread
    assert (known.matched, known.formats) == (known.lines, ("host_script",))


def test_a_script_that_a_job_printed_into_its_log_leaves_the_log_readable(tmp_path):
    text = "#!/bin/bash\n#SBATCH -N 2\nsrun train\nn1:1:2 [0] NCCL INFO Using network Socket\n"
    (tmp_path / "slurm-17.out").write_text(text)
    found = read(tmp_path, configurations=lambda *_: ("job_script",))
    assert [one for one, _ in found.of("process")]


def test_without_a_reader_of_configurations_nothing_changes():
    assert not read_text("ulimit -l unlimited\n", "set-up.sh").files[0].formats
