"""Send and receive on the same ranks: each to the next, with no algorithm to choose."""

from dataclasses import replace

from weft.bench.check import Check
from weft.bench.expected import Setting
from weft.traffic.collective import Operation


def _beside(setting: Setting) -> Setting | None:
    if setting.sweep.operation is Operation.SEND_RECV:
        return None
    return replace(setting, sweep=replace(setting.sweep, operation=Operation.SEND_RECV))


send_receive = Check(
    title="send and receive on the same ranks",
    command="weft bench run nccl-tests sendrecv --launcher mpirun --hosts A,B,...",
    beside=_beside,
)
