"""Which fields of the commands of an on-call engineer the doctor judges.

Run `python benchmarks/command_coverage.py [COMMAND]`: each command of `command_coverage.yaml`
has an output that is healthy, and faults that each change one field of it. A fault is *named*
where the first finding holds its element and the verdict is a problem, *suspected* where the
first finding holds it with less certainty, *elsewhere* where something else comes first, and
*silent* where nothing is found. An alarm is a finding on the healthy output.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml

from weft.doctor.diagnose import Diagnosis, diagnose
from weft.doctor.verdict import Verdict

TABLE: Final = Path(__file__).with_suffix(".yaml")
_ODD: Final = "n2"
"""The host of a fault where several hosts show the same output."""
_NAME: Final = re.compile(r"[^\w.-]+")


def main(wanted: str) -> None:
    """Print a row a command, and the counts."""
    counts: Counter[str] = Counter()
    for row in yaml.safe_load(TABLE.read_text(encoding="utf-8")):
        if wanted not in row["command"]:
            continue
        found = dict(judged(row))
        counts.update(found.values())
        rest = ", ".join(f"{name} {said}" for name, said in found.items() if said != "named")
        named = sum(said == "named" for said in found.values())
        print(f"{row['command'][:60]:60} {named}/{len(found)} {rest}")
    print(dict(counts))


def judged(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what becomes of each fault of a command, and of its healthy output."""
    healthy = diagnosed(row, row["output"])
    is_quiet = not [one for one in healthy.findings if one.severity != "info"]
    quiet = is_quiet and healthy.verdict in {Verdict.NONE, Verdict.UNKNOWN}
    yield "healthy", "named" if quiet else "ALARM"
    for field, (before, after, name) in row["faults"].items():
        assert before in row["output"], (row["command"], field)
        result = diagnosed(row, row["output"].replace(before, after, 1))
        yield field, verdict_on(result, name or (_ODD if row.get("hosts") else ""))


def verdict_on(result: Diagnosis, name: str) -> str:
    """Return whether the first finding holds a name, and how sure it is."""
    places = [" ".join((one.title, *one.entities)) for one in result.findings]
    if not places:
        return "silent" if result.verdict is Verdict.NONE else "unread"
    if not re.search(name, places[0]):
        return "elsewhere"
    return "named" if result.verdict is Verdict.PROBLEM else "suspected"


def diagnosed(row: Mapping[str, Any], output: str) -> Diagnosis:
    """Return the diagnosis of an output on one host, or on one of several."""
    hosts = [f"n{number}" for number in range(1, row.get("hosts", 1) + 1)]
    default = f"hosts/{{host}}/{_NAME.sub('_', row['command'])[:60]}.txt"
    with TemporaryDirectory() as folder:
        for host in hosts:
            path = Path(folder, row.get("file", default).format(host=host))
            path.parent.mkdir(parents=True, exist_ok=True)
            odd = host == _ODD or len(hosts) == 1
            path.write_text(output if odd else row["output"], encoding="utf-8")
        return diagnose([Path(folder)])


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
