"""How long rendering and linting take, for every target of clusters of growing size.

python benchmarks/lint.py            a table: wall-clock and processor seconds
python benchmarks/lint.py --json     one JSON row a case
"""

import argparse
import gc
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weft.generate.plan import plan
from weft.generate.target import Configuration, render, suitable, write
from weft.lint.lint import Linted, lint
from weft.spec.load import preset

BETWEEN_COLLECTIONS = 100_000
"""As the command sets it."""
CASES = (("hgx_h100_roce", 128), ("hgx_h100_roce", 1024), ("dgx_h100", 1024))


def timed(action: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what an action gives, and its wall-clock and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    found = action()
    return found, time.perf_counter() - wall, time.process_time() - processor


def rendered(name: str, hosts: int) -> Configuration:
    """Render every target of a cluster."""
    planned = plan(preset(name, hosts=hosts))
    return render(planned, suitable(planned))


def linted(folder: Path) -> Linted:
    """Lint a folder."""
    return lint([folder])


def main() -> None:
    """Time every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    gc.set_threshold(BETWEEN_COLLECTIONS)
    for name, hosts in CASES:
        with tempfile.TemporaryDirectory() as folder:
            made, *rendering = timed(lambda name=name, hosts=hosts: rendered(name, hosts))
            write(made, Path(folder))
            found, *linting = timed(lambda folder=folder: linted(Path(folder)))
        row = {"cluster": name, "hosts": hosts, "files": len(made.files),
               "findings": len(found.findings), "render_wall_s": rendering[0],
               "render_cpu_s": rendering[1], "lint_wall_s": linting[0],
               "lint_cpu_s": linting[1]}  # fmt: skip
        if as_json:
            print(json.dumps(row))
        else:
            print("  ".join(f"{k} {v:.2f}" if isinstance(v, float) else f"{k} {v}"
                            for k, v in row.items()))  # fmt: skip


if __name__ == "__main__":
    main()
