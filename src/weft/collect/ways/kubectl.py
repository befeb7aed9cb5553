"""In a pod, through kubectl exec: what the job's own container sees."""

from weft.collect.reach import in_pod
from weft.collect.way import SHELL, Way

kubectl = Way(
    title="in a pod, through kubectl exec",
    takes="[namespace/]pod[:container]",
    words=lambda pod: in_pod(pod, SHELL, "--stdin"),
)
