"""How long the product takes to answer: start-up, compare, predict, search.

python benchmarks/answers.py            a table
python benchmarks/answers.py --json     one JSON row a case
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from weft.engines.analytic import step
from weft.predict.training import predict
from weft.spec.load import load_case, load_job, preset

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "llama3-405b-16k-h100-roce.yaml"
WEFT = [sys.executable, "-m", "weft"]
SIZES = (256, 1024, 4096, 16384, 65536)


def timed(action: Callable[[], object], repeat: int) -> float:
    """Return the median of several runs, in seconds."""
    runs = []
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        runs.append(time.perf_counter() - start)
    return statistics.median(runs)


def process(*arguments: str) -> Callable[[], object]:
    """Return a whole run of the command line."""
    return lambda: subprocess.run([*WEFT, *arguments], check=True, capture_output=True)


def cases(repeat: int) -> Iterator[tuple[str, float]]:
    """Yield every case with its seconds."""
    yield "weft --version (process)", timed(process("--version"), repeat)
    yield (
        "weft predict, 16,384 GPUs (process)",
        timed(process("predict", "-f", str(EXAMPLE)), repeat),
    )
    yield (
        "weft compare, 16,384 GPUs, six fabrics (process)",
        timed(process("compare", "-f", str(EXAMPLE), "-o", "json"), repeat),
    )
    cluster, job = load_case([EXAMPLE])
    predict(cluster, job)
    yield (
        "predict(), 16,384 GPUs, same cluster again",
        timed(lambda: predict(cluster, job), repeat),
    )
    for gpus in SIZES:
        fresh = [preset("dgx_h100", hosts=gpus // 8) for _ in range(repeat)]
        work = load_job(
            {
                "model": "llama3_70b",
                "global_batch": gpus,
                "sequence_length": 8192,
                "parallelism": {"tp": 8, "pp": 4, "virtual_stages": 5},
            }
        )
        yield (
            f"predict(), {gpus} GPUs, cluster not seen before",
            timed(lambda new=fresh, on=work: predict(new.pop(), on), repeat),
        )
    large = preset("dgx_h100", hosts=512)
    auto = load_job({"model": "llama3_70b", "global_batch": 2048, "sequence_length": 8192})
    yield (
        "parallelism search, up to 1,000 candidates",
        timed(lambda: step.search(large, auto, limit=1000), 1),
    )


def main() -> None:
    """Time every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeat", type=int, default=5, help="median of so many runs")
    arguments = parser.parse_args()
    for name, seconds in cases(arguments.repeat):
        if arguments.json:
            print(json.dumps({"name": name, "wall_s": seconds}))
        else:
            print(f"{name:55s} {seconds * 1e3:10.1f} ms")


if __name__ == "__main__":
    main()
