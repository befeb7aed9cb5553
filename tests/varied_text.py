"""The same outputs, handed in as people, terminals, launchers and logging systems hand them in.

A variation takes the files of a case, as pairs of a name and a text, and returns others that
say the same.
"""

import csv
import html
import io
import json
from collections.abc import Callable

Files = list[tuple[str, str]]
Variation = Callable[[Files], Files]


def _clock(line: int) -> str:
    return f"{line // 3600 % 24:02d}:{line // 60 % 60:02d}:{line % 60:02d}"


def _each_line(change: Callable[[str, int, int], str]) -> Variation:
    """Change each line, of whose text are known its number and the number of its file."""

    def varied(files: Files) -> Files:
        return [
            (name, "\n".join(change(*item, file) for item in _numbered(text)) + "\n")
            for file, (name, text) in enumerate(files)
        ]

    return varied


def _numbered(text: str) -> list[tuple[str, int]]:
    return [(line, number) for number, line in enumerate(text.rstrip("\n").split("\n"))]


def _each_text(change: Callable[[str], str]) -> Variation:
    return lambda files: [(name, change(text)) for name, text in files]


def _pasted(around: Callable[[str, str], str]) -> Variation:
    """Paste all files into one text."""
    return lambda files: [("1.txt", "\n".join(around(*file) for file in files))]


def _table(text: str) -> str:
    written = io.StringIO()
    rows = csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n")
    rows.writerow(["Date", "Host", "Message"])
    for line, number in _numbered(text):
        rows.writerow([f"2026-03-02T{_clock(number)}.5Z", "gpu-7", line])
    return written.getvalue()


def _records(text: str) -> str:
    stamped = (
        {"timestamp": f"2026-03-02T{_clock(number)}Z", "textPayload": line, "severity": "INFO"}
        for line, number in _numbered(text)
    )
    return json.dumps(list(stamped), indent=2)


def _streams(text: str) -> str:
    values = [[str(1_772_445_600_000_000_000 + n), line] for line, n in _numbered(text)]
    return json.dumps({"data": {"result": [{"stream": {"pod": "w-0"}, "values": values}]}})


def _wrapped(width: int) -> Variation:
    def cut(line: str) -> str:
        return "\n".join(line[at : at + width] for at in range(0, len(line) or 1, width))

    return _each_line(lambda line, *_: cut(line))


def _issue(name: str, text: str) -> str:
    return (
        f"### What happened\nThe job hangs since the update. Output of {name}:\n\n"
        f"```console\n{text.rstrip()}\n```\n\nThanks!\n"
    )


LABELS = {
    "srun -l": "{file:2d}: ",
    "kubectl --prefix": "[pod/train-w-{file}/main] ",
    "kubectl --prefix --timestamps": "[pod/train-w-{file}/main] 2026-03-02T{clock}.123456789Z ",
    "stern": "train-w-{file} main ",
    "stern of a replica set": "train-6d5f9c7b8d-x{file}4zt main ",
    "stern of all namespaces": "ml train-w-{file} main ",
    "docker compose": "worker-{file}-1  | ",
    "journald": "Mar 02 {clock} gpu-{file} train[1234]: ",
    "syslog of today": "2026-03-02T{clock}.123456+00:00 gpu-{file} slurmstepd: ",
    "a stamp": "2026-03-02T{clock}.123Z ",
    "a stamp with slashes": "2026/03/02 {clock} ",
    "a clock": "[{clock}] ",
    "ctime": "Mon Mar  2 {clock} 2026 ",
    "seconds": "17724456{line:02d}.123456 ",
    "Python's logging": "2026-03-02 {clock},123 - INFO - ",
    "Python's logging, brief": "INFO:train:",
    "Python's logging with places": "[2026-03-02 {clock},123] [INFO] [launch.py:351:main] ",
    "loguru": "2026-03-02 {clock}.1 | INFO     | a.b:run:57 - ",
    "klog": "I0302 {clock}.123456       1 run.go:77] ",
    "Ray": "(RayWorker pid=40{file}, ip=10.0.0.{file}) ",
    "vLLM": "(EngineCore_0 pid=7) (Worker_TP{file} pid=4{file}) ",
    "torchrun": "[rank{file}]: ",
    "torchrun, glued": "[default{file}]:",
    "mpirun": "[1,{file}]<stdout>:",
    "mpirun with stamps": "Mon Mar  2 {clock} 2026[1,{file}]<stderr>:",
    "pdsh": "gpu-{file}.example.org: ",
    "pdsh by address": "10.0.0.{file}: ",
    "a search in a folder": "logs/out-{file}.log:",
    "a search with numbers": "{line}:",
    "cat -n": "{line:6d}\t",
    "a list": "- ",
    "a quote of a quote": "> > ",
    "an indent": "    ",
}
"""What stands before each line."""


def _labelled(label: str) -> Variation:
    return _each_line(
        lambda line, number, file: (
            label.format(line=number + 1, clock=_clock(number), file=file) + line
        )
    )


def _logged(line: str, number: int, _: int) -> str:
    return json.dumps({"ts": 1_772_445_600.5 + number, "msg": line})


def _shipped(line: str, number: int, file: int) -> str:
    pod = {"pod_name": f"w-{file}", "namespace_name": "ml"}
    stamp = f"2026-03-02T{_clock(number)}Z"
    return json.dumps({"@timestamp": stamp, "message": line, "kubernetes": pod})


def _paired(line: str, number: int, _: int) -> str:
    return f"time=2026-03-02T{_clock(number)}Z level=info msg={json.dumps(line)}"


VARIATIONS: dict[str, Variation] = {
    **{name: _labelled(label) for name, label in LABELS.items()},
    "one text": _pasted(lambda _, text: text.rstrip()),
    "an issue": _pasted(_issue),
    "a ticket": _pasted(lambda name, text: f"h3. {name}\n{{noformat}}\n{text}{{noformat}}\n"),
    "a quote": _each_text(
        lambda text: "".join(f"> {line}\n" for line in text.rstrip().split("\n"))
    ),
    "an escaped page": _each_text(html.escape),
    "paragraphs": _each_line(lambda line, *_: f"<p>{html.escape(line)}<br/></p>"),
    "a cell": _each_line(lambda line, *_: f"| {line:60} |"),
    "colours that lost their mark": _each_line(lambda line, *_: f"[0;32m{line}[0m"),
    "ends of Windows": _each_text(lambda text: text.replace("\n", "\r\n")),
    "blank lines between": _each_text(lambda text: text.replace("\n", "\n\n")),
    "a log in JSON": _each_line(_logged),
    "a log of a cluster in JSON": _each_line(_shipped),
    "keys and values": _each_line(_paired),
    "an array of records": _each_text(_records),
    "streams of a query": _each_text(_streams),
    "a table": _each_text(_table),
    "lines cut at 132": _wrapped(132),
}
"""Each keeps what the output of every tool needs to be known."""
