"""The log of NCCL: the network, adapters, GPUDirect, NVLS and paths that it chose."""

from collections.abc import Mapping

from weft.bench.check import Check, Seen
from weft.bench.expected import Setting
from weft.bench.infer import adapters
from weft.observe.facts.communicators import ChannelCount, ChannelPath
from weft.observe.facts.transports import NetworkChosen
from weft.observe.reading import Observation


def _read(setting: Setting, seen: Observation) -> Mapping[str, Seen]:
    found: dict[str, Seen] = {}
    networks = {one.network for one in seen.of(NetworkChosen)}
    if networks:
        sockets = any("socket" in one.lower() for one in networks)
        found["sockets"] = Seen(
            there=sockets, text=f"the log says network {', '.join(sorted(networks))}"
        )
    nics = setting.cluster.host.nics
    if count := min(adapters(seen), default=0):
        text = f"the log names {count} adapters of a host's {nics}"
        form = f"{count} of {nics} NICs work"
        found["fewer adapters"] = Seen(there=count < nics, text=text, form=form)
    paths = seen.of(ChannelPath)
    far = [one for one in paths if one.transport == "NET"]
    # Sockets have no GPUDirect: that it is off is no fault of its own.
    if far and not ("sockets" in found and found["sockets"].there):
        through = sum(one.gpudirect for one in far)
        text = f"{through} of {len(far)} channels over the network have GPUDirect"
        found["no GPUDirect"] = Seen(there=through < len(far), text=text)
    if any(one.transport in {"P2P", "SHM"} for one in paths):
        shared = any(one.transport == "SHM" for one in paths)
        text = f"GPUs of a host meet {'in host memory' if shared else 'directly'}"
        found["no P2P"] = Seen(there=shared, text=text)
    counts = seen.of(ChannelCount)
    if counts:
        nvls, trees = max(c.nvls for c in counts), max(c.collnet for c in counts)
        found["no NVLS"] = Seen(there=not nvls, text=f"{nvls} channels of NVLS")
        found["no CollNet"] = Seen(there=not trees, text=f"{trees} channels of CollNet")
    return found


nccl_log = Check(
    title="NCCL's log of the run", command="NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH",
    read=_read,
)  # fmt: skip
