"""Launch lines: torchrun on every host, or mpirun from one, with the environment of the job."""

from collections.abc import Iterator
from typing import Final

from weft.generate.cloud import cloud_of
from weft.generate.plan import Feature, Plan
from weft.generate.rails import used_addresses
from weft.generate.target import Files, Proof, Target, header
from weft.network import naming

PORT: Final = 29500
"""Where the hosts meet: PyTorch's usual port."""


def _files(plan: Plan) -> Files:
    for tenant, hosts in plan.cluster.groups():
        for name, lines in (
            ("torchrun.sh", _torchrun), ("mpirun.sh", _mpirun), ("hostfile", _hostfile),
        ):  # fmt: skip
            path = f"{tenant}/{name}" if tenant else name
            yield path, "\n".join(lines(plan, hosts)) + "\n"


def _torchrun(plan: Plan, hosts: range) -> Iterator[str]:
    """Yield what every host runs; the first one is where they meet."""
    cluster = plan.cluster
    yield "#!/bin/sh"
    yield header(plan, "torchrun")
    yield "# Run it on every host: sh torchrun.sh train.py ..."
    yield "set -eu"
    yield from _libraries(plan)
    yield from (f'export {name}="{one.text()}"' for name, one in plan.nccl.settings.items())
    yield (
        f"exec torchrun --nnodes={len(hosts)} --nproc-per-node={cluster.host.gpus} "
        '--rdzv-backend=c10d --rdzv-id="${JOB_ID:-weft}" \\'
    )
    first = naming.host(hosts.start, cluster.hosts)
    yield f'    --rdzv-endpoint="${{MEET:-{first}}}:{PORT}" "$@"'


def _libraries(plan: Plan) -> Iterator[str]:
    """Yield where the provider's plug-in is; a run without it stops before any rank starts."""
    cloud = cloud_of(plan.cluster)
    if cloud is None or not cloud.libraries:
        return
    first, *others = cloud.libraries
    yield f"plugin=${{NCCL_LIB_DIR:-{first}}}"
    yield '[ -d "$plugin" ] || {'
    yield f'    echo "$plugin is missing: install the plug-in of {cloud.title}," >&2'
    yield '    echo "or give its folder as NCCL_LIB_DIR" >&2'
    yield "    exit 1"
    yield "}"
    path = ":".join(("$plugin", *others))
    yield f"export LD_LIBRARY_PATH={path}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"


def _mpirun(plan: Plan, hosts: range) -> Iterator[str]:
    """Yield what one host runs; Open MPI passes on what -x names, with its value."""
    cluster = plan.cluster
    yield "#!/bin/sh"
    yield header(plan, "mpirun of Open MPI")
    yield "# Run it on one host: sh mpirun.sh ./all_reduce_perf -b 8 -e 8G -f 2 -g 1"
    yield "set -eu"
    yield from _libraries(plan)
    yield "# MPI only starts the ranks and exchanges addresses: over TCP, off the RDMA NICs."
    yield from _why_off(plan)
    yield (
        f"exec mpirun -np {len(hosts) * cluster.host.gpus} "
        '--hostfile "$(dirname "$0")/hostfile" '
        f"--map-by ppr:{cluster.host.gpus}:node --bind-to none \\"
    )
    yield "    --mca pml ob1 --mca btl tcp,self --mca coll ^hcoll \\"
    yield from _off_the_rails(plan)
    for name, one in plan.nccl.settings.items():
        yield f'    -x {name}="{one.text()}" \\'
    yield '    -x LD_LIBRARY_PATH "$@"'


def _why_off(plan: Plan) -> Iterator[str]:
    if plan.underlay is not None:
        yield "# A rail is reached from its own address alone, as RDMA does and MPI does not."


def _off_the_rails(plan: Plan) -> Iterator[str]:
    """Yield the addresses that MPI leaves alone, with those it leaves alone by itself."""
    if plan.underlay is not None:
        rails = ",".join(map(str, used_addresses(plan)))
        yield f"    --mca btl_tcp_if_exclude lo,sppp,{rails} \\"


def _hostfile(plan: Plan, hosts: range) -> Iterator[str]:
    cluster = plan.cluster
    for number in hosts:
        yield f"{naming.host(number, cluster.hosts)} slots={cluster.host.gpus}"


def _refuses(plan: Plan) -> str | None:
    if plan.cluster.fabric.kind == "slingshot":
        return "the environment of slingshot comes with its plug-in"
    return None


launch = Target(
    title="Launch lines: torchrun and mpirun",
    supports=frozenset(Feature) - {Feature.RACK},
    refuses=_refuses,
    files=_files,
    proofs={"torchrun.sh": Proof.GOLDEN, "mpirun.sh, hostfile": Proof.SOFTWARE},
)
