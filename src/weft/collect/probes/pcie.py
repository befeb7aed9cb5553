"""PCIe: what is read of it."""

from weft.collect.probe import Command, Probe

pcie = Probe(
    title="PCIe",
    why="links that trained narrow or slow, access control between peers",
    commands=(Command("lspci -vv"),),
)
