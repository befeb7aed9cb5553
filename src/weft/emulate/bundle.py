"""The bundle that weft collect would bring from an emulated fabric."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weft.emulate.job import nccl_log, nccl_tests
from weft.emulate.ordinary import Event
from weft.emulate.outputs import check_extras, outputs
from weft.emulate.state import Host, Injected, State, faults, healthy, inject, suitable
from weft.errors import SpecError, Unreadable
from weft.generate.plan import Plan
from weft.results import Provenance

BETWEEN_S: Final = 60
"""Time between the two samples of counters."""
FIRST_S: Final = 1_795_000_000
"""When the first sample was taken, in seconds since 1970."""
ANY: Final = "any"
"""Stands for a fault that the seed chooses."""
PEERS: Final = 3
"""Healthy hosts whose outputs are beside those of a faulty one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulated:
    """What was written, and the answer: which faults are where."""

    folder: str
    cluster: str
    hosts: tuple[str, ...]
    files: int
    injected: tuple[str, ...] | None
    """Faults as KIND@HOST/NUMBER; None where the answer is kept apart."""
    metrics: str | None = None
    """File of what exporters would have shown, where one was asked for."""
    provenance: Provenance


def emulate(
    plan: Plan,
    wanted: Sequence[str],
    *,
    hosts: int = PEERS + 1,
    seed: int = 0,
    events: Sequence[Event] = (),
) -> State:
    """Return the state of some hosts with faults, each KIND or KIND@HOST/NUMBER.

    A place that is not given is chosen by the seed, and so is the kind ``any``. The same
    words and seed give the same state. ``events`` happen on a healthy cluster too.

    Raises SpecError, UnknownName.
    """
    count = plan.cluster.hosts
    if not 1 <= hosts <= count:
        raise SpecError(f"--collect {hosts}: the cluster has {count} hosts")
    chance = random.Random(seed)  # noqa: S311 - choice of places, no secret
    numbers = sorted(chance.sample(range(count), hosts))
    state = healthy(plan, numbers, seed, events)
    for word in wanted:
        name, _, place = word.partition("@")
        if name == ANY:
            name = chance.choice(sorted(fault.name for fault in suitable(state.kind)))
        host, number = _place(state, name, place, chance)
        inject(state, name, host, number)
    return state


def _place(state: State, name: str, place: str, chance: random.Random) -> tuple[Host, int]:
    if not place:
        host = chance.choice(state.hosts)
        fault = faults().get(name)
        parts = host.gpus if fault is not None and fault.at == "gpu" else host.rails
        return host, chance.randrange(len(parts))
    wanted, _, number = place.partition("/")
    found = [host for host in state.hosts if host.name == wanted]
    if not found or not (number or "0").isdecimal():
        names = ", ".join(host.name for host in state.hosts)
        raise SpecError(f"{name}@{place}: write KIND@HOST/NUMBER; hosts collected: {names}")
    return found[0], int(number or 0)


def files(
    state: State, *, seed: int = 0, asked: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the files of a bundle: paths below its folder, and texts.

    ``asked`` are outputs that are left out else: those of switches, trees of the kernel's
    files. Raises SpecError for those that are not known.
    """
    check_extras(state, asked)
    texts: dict[str, str] = {}
    last_s = BETWEEN_S
    for name, text in outputs(state, last_s, "", asked, sampled=False):
        texts[name] = texts.get(name, "") + text
    for number, at_s in enumerate((0, last_s)):
        folder = f"sample_{number + 1}_at_{FIRST_S + at_s}"
        for name, text in outputs(state, at_s, folder, asked, sampled=True):
            texts[name] = texts.get(name, "") + text
    yield from texts.items()
    yield "nccl.log", nccl_log(state)
    if len(state.hosts) > 1:
        yield "all_reduce.txt", nccl_tests(state, seed)


def write(
    state: State,
    folder: Path,
    *,
    seed: int = 0,
    hidden: bool = False,
    asked: Sequence[str] = (),
) -> Emulated:
    """Write a bundle into a folder that does not exist or is empty.

    With ``hidden`` the faults are not named in what is returned. Raises Unreadable.
    """
    try:
        if folder.exists() and any(folder.iterdir()):
            raise Unreadable(f"{folder}: is not empty; name a new folder")
        count = 0
        for path, text in files(state, seed=seed, asked=asked):
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
            count += 1
    except OSError as failure:
        raise Unreadable(f"{folder}: cannot be written: {failure.strerror}") from failure
    return Emulated(
        folder=str(folder), cluster=state.plan.names.cluster.text(),
        hosts=tuple(host.name for host in state.hosts), files=count,
        injected=None if hidden else tuple(map(named, state.injected)),
        provenance=state.plan.provenance,
    )  # fmt: skip


def named(one: Injected) -> str:
    """Return a fault as it is written on the command line."""
    return f"{one.fault.name}@{one.host}/{one.number}"


def answer(state: State) -> str:
    """Return the answer of a rehearsal as JSON: faults, places, causes that name them."""
    return (
        json.dumps(
            [
                {
                    "fault": injected.fault.name,
                    "host": injected.host,
                    "number": injected.number,
                    "device": injected.device,
                    "causes": list(injected.fault.cause),
                }
                for injected in state.injected
            ],
            indent=1,
        )
        + "\n"
    )
