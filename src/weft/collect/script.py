"""The script that gathers a bundle: one POSIX shell file that can be read before it is run."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from typing import Final

from weft.collect.children import held
from weft.collect.probe import INTERFACES, MOST_BYTES, Command, Probe, all_probes
from weft.collect.secrets import program
from weft.errors import SpecError
from weft.expectations.coverage import lost_with

PATIENCE_S: Final = 60
"""For one command."""
LONGEST_S: Final = 1500
"""For all of them, besides the interval."""
LONGEST_INTERVAL_S: Final = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What to gather."""

    interval_s: int = 10
    """Between the two samples of each counter."""
    fabric: bool = False
    """Also what is the same from every host: the subnet, the Kubernetes cluster."""
    redact: bool = False
    """Hide addresses, names and serial numbers, the same one always the same way."""
    keep_secrets: bool = False
    """Leave passwords, tokens and keys in what is collected."""
    salt: str = ""
    """Of which, and of the thing, each substitute is made; letters and digits."""


def script(wish: Wish) -> str:
    """Return the script: it reads, changes nothing, and asks no network for anything.

    Raises:
        SpecError: an interval below a second or above an hour.
    """
    if not 1 <= wish.interval_s <= LONGEST_INTERVAL_S:
        raise SpecError(
            f"interval {wish.interval_s} s: two samples are 1 to {LONGEST_INTERVAL_S} s apart"
        )
    used = [probe for probe in all_probes() if wish.fabric or not probe.fabric]
    frame = held((files("weft.collect") / "bundle.sh").read_text("utf-8"))
    blocks = {
        "host": _block(used, fabric=False, counters=False),
        "fabric": _block(used, fabric=True, counters=False),
        "host counters": _block(used, fabric=False, counters=True),
        "fabric counters": _block(used, fabric=True, counters=True),
        "secrets": _without_secrets(wish),
        "redact": _redaction(wish.salt) if wish.redact else "",
        "lost": _lost(used),
    }
    if wish.redact and not wish.salt.isalnum():
        raise SpecError("redaction needs a salt of letters and digits")
    for mark, text in blocks.items():
        frame = frame.replace(f"# <{mark}>\n", f"{text}\n" if text else "")
    numbers = {
        "<patience_s>": str(PATIENCE_S),
        "<most_bytes>": str(MOST_BYTES),
        "<interval_s>": str(wish.interval_s),
        "<named>": "" if wish.redact else "-$host",
        "<longest_s>": str(LONGEST_S + wish.interval_s),
        "<filter>": "cat" if wish.keep_secrets else "awk",
        "<what_of_secrets>": _SECRETS_STAY if wish.keep_secrets else _SECRETS_GO,
    }
    for mark, text in numbers.items():
        frame = frame.replace(mark, text)
    return frame


def _block(used: list[Probe], *, fabric: bool, counters: bool) -> str:
    """Write the commands of the probes of a scope, indented as the body of a function."""
    lines: list[str] = []
    for probe in used:
        commands = probe.counters if counters else probe.commands
        if probe.fabric is fabric and commands:
            lines += [f"# {probe.title}: {probe.why}", *_lines(commands)]
    return "\n".join(f"    {line}" for line in lines)


def _lost(used: list[Probe]) -> str:
    """Write for each command what cannot be judged without it."""
    words = (
        command.words.split()[0]
        for probe in used
        for command in (*probe.commands, *probe.counters)
    )
    return "\n".join(
        f"    {shlex.quote(word)}) echo ' (not judged without it: {', '.join(lost)})' ;;"
        for word in dict.fromkeys(words)
        if (lost := lost_with(word))
    )


def _lines(commands: tuple[Command, ...]) -> Iterator[str]:
    for is_repeated, group in groupby(commands, key=lambda command: command.is_repeated):
        if not is_repeated:
            yield from map(_keep, group)
            continue
        yield f"for path in {INTERFACES}; do"
        yield '    [ -e "$path" ] || continue'
        yield "    name=${path%/*}"
        yield "    name=${name##*/}"
        yield from (f"    {_keep(command)}" for command in group)
        yield "done"


def _keep(command: Command) -> str:
    """Write one command: its words are quoted, only its patterns are left to the shell."""
    verb = "keep_end" if command.end else "keep"
    words = " ".join(
        '"$name"' if word == "{}" else shlex.quote(word) for word in shlex.split(command.words)
    )
    file = f'"{command.file}_$name"' if command.is_repeated else shlex.quote(command.file)
    return " ".join((verb, file, words, *command.files))


_SECRETS_STAY: Final = "Secrets in what commands print stay in it."
_SECRETS_GO: Final = "Secrets in what commands print are removed."


def _without_secrets(wish: Wish) -> str:
    """Write the filter that each output passes before it is kept."""
    if wish.keep_secrets:
        return "without_secrets() { cat; }"
    salt = wish.salt if wish.salt.isalnum() else "none"
    return (
        "# shellcheck disable=SC2016 # awk's own dollar signs\n"
        f"secrets='\n{program()}'\n"
        "without_secrets() {\n"
        f'    awk -v secret={salt} -v file="$1" -v report="$removed" "$secrets"\n'
        "}"
    )


def _redaction(secret: str) -> str:
    """Write the pass over all files that hides who and where."""
    program = (files("weft.collect") / "redact.awk").read_text("utf-8")
    frame = (files("weft.collect") / "redact.sh").read_text("utf-8")
    return frame.replace("# <program>\n", program).replace("<secret>", secret)
