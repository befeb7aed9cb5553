"""A job of several hosts is told to meet on localhost.

What it checks: torchrun with more than one node and a rendezvous or master address of
localhost, without ranks, with an unknown backend or a port that is none; MASTER_ADDR of
workloads with several replicas.
Why it matters: every host waits for the others on itself: the job hangs until its time-out.
What to do: give the name of the first host, the same on all.
References: PyTorch, torchrun: rendezvous.
"""

from typing import Final

import re2

from weft.lint.facts import Launch, Workload
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_BACKENDS: Final = frozenset({"c10d", "etcd", "etcd-v2", "static", "zeus-adapter"})
_LAST_PORT: Final = 65535
_OWN_RANK: Final = ("Job/", "JobSet/", "Deployment/", "StatefulSet/")
"""Objects that tell pods nothing of their rank that torchrun reads by itself."""
_DEFAULT: Final = re2.compile(r"\$\{\w+:?-([^}]*)\}")
"""A variable of a shell with what is taken where it is unset."""
_LOCAL: Final = re2.compile(r"(localhost|127\.0\.0\.1|0\.0\.0\.0|::1)(:\d+)?")


def _check(case: Case) -> Found:
    for launch in case.of(Launch):
        yield from _form(launch)
        if (
            launch.tool == "torchrun"
            and _several(launch.words)
            and "--standalone" in launch.words
        ):
            yield problem(
                launch,
                "--standalone runs every host for itself",
                "remove it, and name a rendezvous",
            )
        place = _value(
            launch.words, "--rdzv-endpoint", "--rdzv_endpoint", "--master-addr", "--master_addr"
        )
        place = _DEFAULT.sub(r"\1", place)
        if launch.tool == "torchrun" and _several(launch.words) and _LOCAL.fullmatch(place):
            yield problem(
                launch,
                f"{place} is another place on every host",
                "name the first host, the same on all",
            )
    replicas = {one.device: one.replicas for one in case.of(Workload)}
    for one in case.variables("MASTER_ADDR"):
        if _LOCAL.fullmatch(one.value) and (replicas.get(one.device) or 1) > 1:
            yield problem(
                one, "MASTER_ADDR is another place in every pod", "name the first pod"
            )


def _form(launch: Launch) -> Found:
    if launch.tool != "torchrun":
        return
    backend = _value(launch.words, "--rdzv-backend", "--rdzv_backend")
    if backend and "$" not in backend and backend not in _BACKENDS:
        yield problem(
            launch,
            f"torchrun knows no rendezvous {backend!r}",
            f"use one of: {', '.join(sorted(_BACKENDS))}",
        )
    endpoint = _value(launch.words, "--rdzv-endpoint", "--rdzv_endpoint").rpartition(":")[2]
    port = _value(launch.words, "--master-port", "--master_port") or endpoint
    if port.isdecimal() and not 0 < int(port) <= _LAST_PORT:
        yield problem(launch, f"{port} is no port", f"use 1024 to {_LAST_PORT}")
    ranked = any(
        word.startswith(("--node-rank", "--node_rank", "--rdzv")) for word in launch.words
    )
    placed = any(word.startswith(("--master-addr", "--master_addr")) for word in launch.words)
    if placed and not ranked and _several(launch.words) and launch.device.startswith(_OWN_RANK):
        yield problem(
            launch,
            "no --node-rank: every pod takes itself for the first",
            'add --node-rank="$JOB_COMPLETION_INDEX", or the number of the pod',
        )


def _several(words: tuple[str, ...]) -> bool:
    nodes = _value(words, "--nnodes", "--nnodes")
    return bool(nodes) and nodes not in {"1", "1:1"}


def _value(words: tuple[str, ...], *names: str) -> str:
    for number, word in enumerate(words):
        head, equals, value = word.partition("=")
        if head in names:
            return value if equals else words[number + 1] if number + 1 < len(words) else ""
    return ""


launch_rendezvous = Rule(
    layer=Layer.NCCL,
    severity=Severity.ERROR,
    reference="https://docs.pytorch.org/docs/stable/elastic/run.html",
    check=_check,
)
