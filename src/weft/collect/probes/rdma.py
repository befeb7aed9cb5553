"""RDMA devices: what is read of it."""

from weft.collect.probe import Command, Probe

rdma = Probe(
    title="RDMA devices",
    why="ports, rates, addresses, partition keys, permissions",
    commands=(
        Command("ibstat"),
        Command("ibv_devinfo -v"),
        Command("ibdev2netdev"),
        Command("show_gids"),
        Command("rdma link"),
        Command("ls -l /dev/infiniband"),
        Command(
            "grep -s .",
            name="sysfs_infiniband",
            files=(
                "/sys/class/infiniband/*/fw_ver",
                "/sys/class/infiniband/*/device/numa_node",
                "/sys/class/infiniband/*/ports/*/state",
                "/sys/class/infiniband/*/ports/*/rate",
                "/sys/class/infiniband/*/ports/*/pkeys/[0-7]",
                "/sys/class/infiniband/*/tc/*/traffic_class",
            ),
        ),
    ),
    counters=(
        Command(
            "grep -s .",
            name="sysfs_infiniband_counters",
            files=(
                "/sys/class/infiniband/*/ports/*/counters/*",
                "/sys/class/infiniband/*/ports/*/hw_counters/*",
            ),
        ),
        Command("rdma statistic show"),
    ),
)
