"""Ethernet: what is read of it."""

from weft.collect.probe import Command, Each, Probe

ethernet = Probe(
    title="Ethernet",
    why="addresses, routes, MTU, pause, priorities, forward error correction, neighbours",
    commands=(
        Command("ip -s -d link"),
        Command("ip addr"),
        Command("ip route show table all"),
        Command("ip rule"),
        Command("lldpctl"),
        Command("ethtool {}", each=Each.INTERFACE),
        Command("ethtool -i {}", each=Each.INTERFACE),
        Command("ethtool -a {}", each=Each.INTERFACE),
        Command("ethtool -g {}", each=Each.INTERFACE),
        Command("ethtool --show-fec {}", each=Each.INTERFACE),
        Command("ethtool -m {}", each=Each.INTERFACE),
        Command("mlnx_qos -i {}", each=Each.INTERFACE),
    ),
    counters=(
        Command("ethtool -S {}", each=Each.INTERFACE),
        Command(
            "grep -s .",
            name="sysfs_net_statistics",
            files=("/sys/class/net/*/statistics/*", "/sys/class/net/*/carrier_changes"),
        ),
    ),
)
