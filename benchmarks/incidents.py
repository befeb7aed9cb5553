"""Emulated incidents: how often weft diagnose names the fault and its place, and nothing else.

python benchmarks/incidents.py [--cases COUNT] [--seed NUMBER] [--json]

Every case is a fabric of 64 to 1,024 hosts, InfiniBand or RoCE, of which four hosts are
collected, with ordinary noise and ordinary events (checkpoints, errors that were corrected, a
link that came up); one case in five is healthy. The main cause is that of the first
finding of severity warning or worse.
"""

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from weft.doctor.diagnose import diagnose
from weft.doctor.findings import Finding
from weft.emulate.bundle import emulate, write
from weft.emulate.ordinary import ordinary
from weft.emulate.state import Injected, State, suitable
from weft.generate.plan import plan
from weft.spec.load import preset

PRESETS = {"infiniband": "dgx_h100", "roce": "hgx_h100_roce"}
SIZES = (64, 128, 256, 512, 1024)
HEALTHY_SHARE = 0.2
LEAST_RATIO = 0.5
"""From this probability on a finding is named."""


def _case(number: int, seed: int) -> tuple[State, list[Finding]]:
    chance = random.Random(f"{seed}/{number}")  # noqa: S311 - cases, no secret
    kind = chance.choice(sorted(PRESETS))
    cluster = preset(PRESETS[kind], hosts=chance.choice(SIZES))
    healthy = chance.random() < HEALTHY_SHARE
    faults = sorted(one.name for one in suitable(kind))
    # Kinds take turns, so that every one of them is tried equally often.
    wanted = [] if healthy else [faults[number % len(faults)]]
    with tempfile.TemporaryDirectory() as folder:
        state = emulate(
            plan(cluster), wanted, seed=chance.randrange(1 << 30), events=ordinary()
        )  # fmt: skip
        write(state, Path(folder) / "bundle", seed=number)
        found = diagnose([Path(folder) / "bundle"], cluster).findings
    named = [
        one for one in found
        if one.severity.value != "info" and _with_rivals(one) >= LEAST_RATIO
    ]  # fmt: skip
    return state, named


def _with_rivals(finding: Finding) -> float:
    """Return the probability of a finding and of the rivals that are shown with it."""
    return finding.probability_ratio + sum(one.probability_ratio for one in finding.rivals)


def _right(finding: Finding, fault: Injected) -> bool:
    return finding.cause in fault.fault.cause


def _element(finding: Finding, fault: Injected) -> bool:
    shown = " ".join((finding.title, *finding.entities, *finding.deviations))
    host = fault.host in shown or any(fault.host in line.file for line in finding.evidence)
    rail = fault.fault.at != "port" or _rail(finding, fault)
    return host and rail


def _rail(finding: Finding, fault: Injected) -> bool:
    names = (fault.device, f"rail{fault.number}", f"{0x18 + 2 * fault.number:02x}:00")
    texts = [*finding.entities, *finding.deviations, finding.title]
    texts += [f"{line.file} {line.text}" for line in finding.evidence]
    return any(name in text for name in names for text in texts)


def run(cases: int, seed: int) -> dict[str, Any]:
    """Return the figures over some cases."""
    counts: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    place: Counter[str] = Counter()
    started = time.monotonic()
    for number in range(cases):
        state, named = _case(number, seed)
        if not state.injected:
            counts["healthy"] += 1
            counts["false alarms"] += bool(named)
            wrong.update(f"healthy: {one.cause}" for one in named[:1])
            continue
        (fault,) = state.injected
        counts["faults"] += 1
        right = [one for one in named if _right(one, fault)]
        first = bool(named) and _right(named[0], fault)
        counts["named"] += bool(named)
        counts["found"] += bool(right)
        counts["first right"] += first
        counts["element right"] += any(_element(one, fault) for one in right)
        if not right:
            missed[fault.fault.name] += 1
        elif not any(_element(one, fault) for one in right):
            place[fault.fault.name] += 1
        if named and not first:
            wrong[f"{fault.fault.name}: {named[0].cause}"] += 1
    alarms = counts["named"] + counts["false alarms"]
    return {
        "cases": cases, "seed": seed, "faults": counts["faults"], "healthy": counts["healthy"],
        "precision_ratio": counts["first right"] / alarms if alarms else 1.0,
        "recall_ratio": counts["found"] / counts["faults"] if counts["faults"] else 1.0,
        "element_ratio": (
            counts["element right"] / counts["found"] if counts["found"] else 1.0
        ),
        "false_alarms": counts["false alarms"], "missed": dict(missed), "wrong": dict(wrong),
        "place": dict(place), "took_s": time.monotonic() - started,
    }  # fmt: skip


def main() -> None:
    """Run the cases and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    found = run(words.cases, words.seed)
    if words.json:
        print(json.dumps(found, indent=1))
        return
    for name, value in found.items():
        print(f"{name:16} {value:.3f}" if isinstance(value, float) else f"{name:16} {value}")


if __name__ == "__main__":
    main()
