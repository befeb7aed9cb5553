"""What the files of a run say already of a check, by what a fault would show there.

A function has the name of its row in ``checks.toml``.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

from weft.bench.baseline import NARROWEST
from weft.bench.expected import Setting
from weft.bench.infer import adapters, networks, variables
from weft.inventory.inventory import Inventory
from weft.inventory.values import Value
from weft.readers.benchmarks import Measured, measured

CHANGES: Final = 0.1
"""Runs of large sizes that differ by more than this do change: three times what a cluster that
repeats closely shows. Judgement."""
_LARGE_BYTES: Final = 64 * 2**20
_FEWEST_RUNS: Final = 3
_FEWEST_ITERATIONS: Final = 5
_FEWEST_SIZES: Final = 3
_STEERS: Final = {
    "algorithm": ("NCCL_ALGO",),
    "protocol": ("NCCL_PROTO",),
    "channels": ("NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS"),
    "sockets": ("NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One thing that the files of a run say, or deny."""

    there: bool
    text: str
    """In words, as ``the log has NET/Socket``."""
    form: str = ""
    """The form of the fault that it names, as ``4 of 8 NICs work``."""


def another_run(_: Setting, inventory: Inventory) -> Mapping[str, Seen]:
    """Compare the runs that one file, or several, hold of the same collective."""
    by_size: dict[tuple[str, float], list[float]] = defaultdict(list)
    for row in _large(inventory):
        if not row.in_place:
            by_size[row.operation, row.size_bytes].append(math.log(row.time_s))
    spreads = [stdev(logs) for logs in by_size.values() if len(logs) >= _FEWEST_RUNS]
    spread = fmean(spreads) if spreads else CHANGES
    if not spreads or NARROWEST < spread < CHANGES:
        return {}
    text = f"runs of large sizes differ by {spread:.1%}"
    return {"changes": Seen(there=spread >= CHANGES, text=text)}


def within_run(_: Setting, inventory: Inventory) -> Mapping[str, Seen]:
    """Look at the iterations of large sizes, or at their two timings where there are none.

    What others send comes and goes while a run lasts; a slot, a lost NIC or a copy in host
    memory costs every iteration the same. That all of them take as long says little: what
    others send may be as steady, so it speaks against nothing.
    """
    large = _large(inventory)
    spreads = [
        stdev(map(math.log, row.times_s))
        for row in large
        if len(row.times_s) >= _FEWEST_ITERATIONS and min(row.times_s) > 0
    ]
    words = "iterations"
    if not spreads:
        spreads, words = _gaps(large), "timings in place and out of place"
    spread = fmean(spreads) if spreads else 0.0
    if spread < CHANGES:
        return {}
    text = f"{words} of large sizes differ by {spread:.0%}"
    return {"varies": Seen(there=True, text=text)}


def _large(inventory: Inventory) -> list[Measured]:
    return [
        row
        for row in measured(inventory)
        if row.what == "collective" and row.size_bytes >= _LARGE_BYTES
    ]


def _gaps(large: Iterable[Measured]) -> list[float]:
    """Return the spread of the two timings of each size, where sizes enough have both."""
    sides: dict[tuple[str, str, float], dict[bool, float]] = defaultdict(dict)
    for row in large:
        sides[row.file, row.operation, row.size_bytes][row.in_place] = row.time_s
    both = [times for times in sides.values() if len(times) > 1]
    gaps = [abs(math.log(times[True] / times[False])) / math.sqrt(2) for times in both]
    return gaps if len(gaps) >= _FEWEST_SIZES else []


def environment(setting: Setting, inventory: Inventory) -> Mapping[str, Seen]:
    """Compare variables that steer NCCL with those of the cluster."""
    own, values = setting.cluster.nccl.env, variables(inventory)
    logged = bool(networks(inventory))
    found = {}
    for what, names in _STEERS.items():
        odd = [name for name in names if name in values and own.get(name) != values[name]]
        # NCCL names each variable that it takes, so a log without one says that it is not set.
        if odd or (logged and what != "sockets"):
            text = f"the log has {odd[0]}={values[odd[0]]}" if odd else f"no {names[0]} is set"
            found[what] = Seen(there=bool(odd), text=text)
    return found


def nccl_log(setting: Setting, inventory: Inventory) -> Mapping[str, Seen]:
    """Return the network, adapters, GPUDirect, NVLS and paths that NCCL chose."""
    found: dict[str, Seen] = {}
    chosen = networks(inventory)
    sockets = any("socket" in network.lower() for network in chosen)
    if chosen:
        text = f"the log says network {', '.join(sorted(set(chosen)))}"
        found["sockets"] = Seen(there=sockets, text=text)
    nics = setting.cluster.host.nics
    if count := min(adapters(inventory), default=0):
        text = f"the log names {count} adapters of a host's {nics}"
        form = f"{count} of {nics} NICs work"
        found["fewer adapters"] = Seen(there=count < nics, text=text, form=form)
    direct = _of_processes(inventory, "gdr")
    # Sockets have no GPUDirect: that it is off is no fault of its own.
    if direct and not sockets:
        text = f"{sum(map(bool, direct))} of {len(direct)} kinds of channels over the network "
        found["no GPUDirect"] = Seen(there=not all(direct), text=f"{text}have GPUDirect")
    lists = _of_processes(inventory, "local_paths")
    paths = {path for listed in lists if isinstance(listed, tuple) for path in listed}
    if paths:
        text = f"GPUs of a host meet {'in host memory' if 'SHM' in paths else 'directly'}"
        found["no P2P"] = Seen(there="SHM" in paths, text=text)
    for what, name in (("NVLS", "nvls_channels"), ("CollNet", "collnet_channels")):
        if _of_processes(inventory, "channels"):
            counts = _of_processes(inventory, name)
            most = max((count for count in counts if isinstance(count, float)), default=0)
            found[f"no {what}"] = Seen(there=not most, text=f"{most:g} channels of {what}")
    return found


def _of_processes(inventory: Inventory, name: str) -> list[Value]:
    """Return the values of an attribute that the processes of a job have."""
    processes = inventory.of("process")
    return [reading.value for _, found in processes for reading in found.get(name, ())]
