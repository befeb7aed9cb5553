"""Kubernetes: what is read of it."""

from weft.collect.probe import Command, Probe, Scope

kubernetes = Probe(
    title="Kubernetes",
    why="nodes and events; pods are left alone: their environments may hold passwords",
    scope=Scope.FABRIC,
    commands=(
        Command("kubectl get nodes -o json"),
        Command("kubectl get events -A"),
        Command("kubectl get daemonsets -A"),
        Command("kubectl describe nodes"),
    ),
)
