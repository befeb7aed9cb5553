"""The kernel, its modules and services: what is read of it."""

from weft.collect.probe import Command, Probe

kernel = Probe(
    title="The kernel, its modules and services",
    why="Xid and SXid faults, links that went down, modules that were refused",
    commands=(
        Command("dmesg", end=True),
        Command("lsmod"),
        Command("mokutil --sb-state"),
        Command("ls -l /sys/kernel/mm/memory_peers"),
        Command("systemctl status --lines=20 nvidia-fabricmanager nvidia-imex opensm openibd"),
        Command("cat /proc/driver/nvidia/version"),
    ),
)
