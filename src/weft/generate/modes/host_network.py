"""The host's own network: what NCCL over TCP needs."""

from weft.generate.mode import Mode

host_network = Mode(
    title="the network of the host",
    fabrics=frozenset({"tcp"}),
    one_pod_a_host="pods on one host's network would take one another's ports",
    why="NCCL over TCP gains nothing from a network of its own, and the overlay of the pods "
    "would cost it CPU and bandwidth",
    rank=10,
    on_host_network=True,
)
