"""In pods that run already, through kubectl exec."""

from weft.bench.launcher import Launcher
from weft.collect.reach import in_pod

kubectl = Launcher(
    title="in pods, through kubectl exec",
    takes="[namespace/]pod[:container]",
    on=lambda pod, command: in_pod(pod, command.through_env(), "--stdin"),
    needs_master=True,
)
