"""Draw the pictures of the README and the pages: python docs/pictures.py."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
CASE = "examples/llama3-405b-16k-h100-roce.yaml"
PICTURES = {
    "compare-decision.svg": ["compare", CASE, "--chart", "decision={}"],
    "compare-step.svg": ["compare", CASE, "--chart", "step_breakdown={}"],
    "compare-changes.svg": ["compare", CASE, "--chart", "break_even={}"],
    "need.svg": ["need", CASE, "--chart", "{}"],
    "expect.svg": ["expect", CASE, "--set", "hosts=8", "--chart", "{}"],
    "accuracy.svg": ["accuracy", "--kind", "collective_from_64MiB", "--chart", "{}"],
}


def main() -> None:
    """Run weft once a picture."""
    folder = ROOT / "docs" / "images"
    folder.mkdir(exist_ok=True)
    for name, words in PICTURES.items():
        command = [word.format(folder / name) for word in words]
        subprocess.run(
            [sys.executable, "-m", "weft", *command],
            cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        print(folder / name)


if __name__ == "__main__":
    main()
