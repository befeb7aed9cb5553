"""EFA: the provider's device plug-in."""

from weft.generate.mode import Mode

efa = Mode(
    title="EFA devices from the provider's plug-in",
    fabrics=frozenset({"efa"}),
    one_pod_a_host="the plug-in gives devices without regard to rails, so a pod takes all",
    why="the provider attaches the devices; aws-efa-k8s-device-plugin hands them out",
    rank=10,
    resource="vpc.amazonaws.com/efa",
    whole_resource=True,
)
