"""All-to-all on the same ranks: no algorithm to choose, every pair of hosts at once."""

from dataclasses import replace

from weft.bench.check import Check
from weft.bench.expected import Setting
from weft.traffic.collective import Operation


def _beside(setting: Setting) -> Setting | None:
    if setting.sweep.operation is Operation.ALL_TO_ALL:
        return None
    return replace(setting, sweep=replace(setting.sweep, operation=Operation.ALL_TO_ALL))


all_to_all = Check(
    title="all-to-all on the same ranks",
    command="weft bench run nccl-tests alltoall --launcher mpirun --hosts A,B,...",
    beside=_beside,
)
