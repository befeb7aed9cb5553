"""perftest between two hosts, rail by rail: what one NIC can do."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft.generate.attachment import kubernetes, meta
from weft.generate.job import Job
from weft.generate.manifest import Manifest, Value
from weft.generate.pod import JOB_LABEL, labels, template, worker

if TYPE_CHECKING:
    from weft.generate.plan import Plan

NAME: Final = "perftest"
PORT: Final = 18515
"""Where perftest meets by default."""
OPTIONS: Final = "-F --report_gbits -D 10"
"""Whatever the CPU's clock does, in Gb/s, for ten seconds."""


def _manifests(plan: "Plan") -> Iterator[Manifest]:
    part = kubernetes(plan)
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**meta(NAME, part.namespace.text()), "labels": labels(plan, NAME)},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {"job-name": NAME},
        },
    }
    container = worker(plan, NAME, part.tools_image.text(), tuple(_script(plan)))
    del container["env"]  # NCCL has no part in it
    apart: dict[str, Value] = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {JOB_LABEL: NAME}},
    }
    own: dict[str, Value] = {
        "affinity": {
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}
        },
        "subdomain": NAME,
        "restartPolicy": "Never",
    }
    pod = template(plan, NAME, container, own)
    yield {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**meta(NAME, part.namespace.text()), "labels": labels(plan, NAME)},
        "spec": {
            "completionMode": "Indexed",
            "completions": 2,
            "parallelism": 2,
            "backoffLimit": 0,
            "template": pod,
        },
    }


def _script(plan: "Plan") -> Iterator[str]:
    """Yield what both pods run: the first serves, the second measures."""
    yield "set -eu"
    yield "server=" + NAME + "-0." + NAME
    yield "rail=0"
    yield f"for device in {_devices(plan)}; do"
    yield f"  port=$(({PORT} + rail))"
    yield f'  test="ib_write_bw -d $device -p $port {OPTIONS}{_class(plan)}"'
    yield '  if [ "$JOB_COMPLETION_INDEX" = 0 ]; then'
    yield "    $test >/dev/null"
    yield "  else"
    yield '    echo "# rail $rail, $device"'
    yield "    # The server may be on its way still."
    yield "    for try in 1 2 3 4 5 6; do"
    yield "      sleep 5"
    yield '      if $test "$server"; then break; fi'
    yield '      [ "$try" != 6 ] || exit 1'
    yield "    done"
    yield "  fi"
    yield "  rail=$((rail + 1))"
    yield "done"


def _devices(plan: "Plan") -> str:
    """Return the devices of the rails: by their names, or as the pod's interfaces have them."""
    if kubernetes(plan).attached().keeps_device_names:
        return " ".join(plan.names.device_list())
    return "$(for one in /sys/class/net/net*/device/infiniband/*; do basename $one; done)"


def _class(plan: "Plan") -> str:
    """Return what marks the packets as those of collectives are."""
    if plan.labels is not None:
        return f" --tclass={plan.labels.traffic_class.text()}"
    return f" --sl={plan.subnet.sl.text()}" if plan.subnet is not None else ""


perftest = Job(
    title="ib_write_bw between two hosts, rail by rail",
    file="perftest.yaml",
    needs="nothing but Kubernetes",
    rdma_alone=True,
    manifests=_manifests,
)
