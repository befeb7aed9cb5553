"""Variables and files that steer NCCL."""

from collections.abc import Mapping

from weft.bench.check import Check, Seen
from weft.bench.expected import Setting
from weft.bench.infer import networks, variables
from weft.inventory.inventory import Inventory

_STEERS = {
    "algorithm": ("NCCL_ALGO",),
    "protocol": ("NCCL_PROTO",),
    "channels": ("NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS"),
    "sockets": ("NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD"),
}


def _read(setting: Setting, seen: Inventory) -> Mapping[str, Seen]:
    own = setting.cluster.nccl.env
    values = variables(seen)
    logged = bool(networks(seen))
    found = {}
    for what, names in _STEERS.items():
        odd = [n for n in names if n in values and own.get(n) != values[n]]
        # NCCL names each variable that it takes, so a log without one says that it is not set.
        if odd or (logged and what != "sockets"):
            text = f"the log has {odd[0]}={values[odd[0]]}" if odd else f"no {names[0]} is set"
            found[what] = Seen(there=bool(odd), text=text)
    return found


environment = Check(
    title="variables and files that steer NCCL",
    command="env | grep NCCL_; cat /etc/nccl.conf ~/.nccl.conf",
    read=_read,
)
