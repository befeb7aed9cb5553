"""NVIDIA Kubernetes Launch Kit: it validates connectivity and takes no bandwidth."""

from weft.generate.gate import Gate

l8k = Gate(
    title="Kubernetes Launch Kit",
    source="https://docs.nvidia.com/networking/display/kubernetes2640/k8s-launch-kit/k8s-launch-kit.html",
    refuses="l8k validate runs icmp, rping and ib_write_bw between nodes and takes no "
    "threshold of bandwidth; judge its ib_write_bw output with weft check",
)
