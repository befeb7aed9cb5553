"""Every command and every Python example of the README and the pages runs as printed.

A fenced block marked ``sh`` is a session: its ``weft`` lines run in order in one folder that
holds the examples; a line may end in ``# exit 5`` when another code than 0 is right.
Blocks marked ``python`` run in the same folder. Other marks are shown, not run.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"#\s*exit (\d)\s*$")
WITH_BLOCKS = [page for page in PAGES if BLOCK.search(page.read_text())]


def _run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder, capture_output=True, text=True, timeout=3600, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_commands_of_a_page_run_as_printed(page, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for language, text in BLOCK.findall(page.read_text()):
        if language == "python":
            script = tmp_path / "block.py"  # a file: kernels are cached by the file they are in
            script.write_text(text)
            done = _run([str(script)], tmp_path)
            assert done.returncode == 0, f"{text}\n{done.stderr}"
            continue
        for line in text.replace("\\\n", " ").splitlines():
            if not line.startswith("weft "):
                continue
            wanted = EXIT.search(line)
            done = _run(["-m", "weft", *shlex.split(line, comments=True)[1:]], tmp_path)
            code = int(wanted.group(1)) if wanted else 0
            assert done.returncode == code, f"{line}\n{done.stdout}\n{done.stderr}"


LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_link_inside_the_repository_leads_somewhere(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
