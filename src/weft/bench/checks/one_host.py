"""The same collective inside one host: what is slow there is no fault of the network."""

from dataclasses import replace

from weft.bench.check import Check
from weft.bench.expected import Setting
from weft.traffic.collective import Group


def _beside(setting: Setting) -> Setting | None:
    if setting.group.domains == 1 or setting.group.ranks_per_domain == 1:
        return None
    count = setting.group.ranks_per_domain
    return replace(setting, group=Group(ranks=count, ranks_per_domain=count))


one_host = Check(
    title="the same collective inside one host",
    command="weft bench run nccl-tests --launcher local --ranks-per-host 8",
    beside=_beside,
)
