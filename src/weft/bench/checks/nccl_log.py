"""The log of NCCL: the network, adapters, GPUDirect, NVLS and paths that it chose."""

from collections.abc import Mapping

from weft.bench.check import Check, Seen
from weft.bench.expected import Setting
from weft.bench.infer import adapters, networks
from weft.inventory.inventory import Inventory
from weft.inventory.values import Value


def _read(setting: Setting, seen: Inventory) -> Mapping[str, Seen]:
    found: dict[str, Seen] = {}
    chosen = networks(seen)
    sockets = any("socket" in one.lower() for one in chosen)
    if chosen:
        text = f"the log says network {', '.join(sorted(set(chosen)))}"
        found["sockets"] = Seen(there=sockets, text=text)
    nics = setting.cluster.host.nics
    if count := min(adapters(seen), default=0):
        text = f"the log names {count} adapters of a host's {nics}"
        form = f"{count} of {nics} NICs work"
        found["fewer adapters"] = Seen(there=count < nics, text=text, form=form)
    direct = _told(seen, "gdr")
    # Sockets have no GPUDirect: that it is off is no fault of its own.
    if direct and not sockets:
        text = f"{sum(map(bool, direct))} of {len(direct)} kinds of channels over the network "
        found["no GPUDirect"] = Seen(there=not all(direct), text=f"{text}have GPUDirect")
    paths = {
        word for one in _told(seen, "local_paths") if isinstance(one, tuple) for word in one
    }
    if paths:
        text = f"GPUs of a host meet {'in host memory' if 'SHM' in paths else 'directly'}"
        found["no P2P"] = Seen(there="SHM" in paths, text=text)
    for what, name in (("NVLS", "nvls_channels"), ("CollNet", "collnet_channels")):
        if _told(seen, "channels"):
            most = max((one for one in _told(seen, name) if isinstance(one, float)), default=0)
            found[f"no {what}"] = Seen(there=not most, text=f"{most:g} channels of {what}")
    return found


def _told(seen: Inventory, name: str) -> list[Value]:
    """Return what the processes of a job say of themselves."""
    return [one.value for _, found in seen.of("process") for one in found.get(name, ())]


nccl_log = Check(
    title="NCCL's log of the run", command="NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH",
    read=_read,
)  # fmt: skip
