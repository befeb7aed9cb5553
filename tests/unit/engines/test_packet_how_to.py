"""The page that teaches to add a congestion control does what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "add-a-congestion-control.md"
BLOCKS = re.findall(r"```python[^\n]*\n(.*?)```", PAGE.read_text(), re.DOTALL)
ADDED_FOLDER = """
import sys
from weft.engines.packet import congestion
congestion.__path__.append(sys.argv[1])
"""


def test_the_control_of_the_page_works_as_one_added_file(tmp_path):
    """The file goes beside the others (here: in a folder added to theirs), and is found."""
    plugin, usage = BLOCKS
    (tmp_path / "aimd.py").write_text(plugin)
    result = subprocess.run(
        [sys.executable, "-c", ADDED_FOLDER + usage, str(tmp_path)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    first, second, marks = map(int, re.findall(r"\d+", result.stdout))
    ideal_ps = 2 * (1 << 20) * 20
    assert ideal_ps < max(first, second) < 1.2 * ideal_ps  # 12 seeds: 1.10 to 1.19
    assert marks > 0
