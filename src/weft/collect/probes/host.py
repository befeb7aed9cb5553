"""The host itself: what is read of it."""

from weft.collect.probe import Command, Probe

host = Probe(
    title="The host itself",
    why="which kernel, how much memory, which limits and file systems a job meets",
    commands=(
        Command("uname -a"),
        Command("uptime"),
        Command("cat /proc/meminfo"),
        Command("cat /proc/self/limits"),
        Command("df -h"),
        Command("lscpu"),
        Command("numactl -H"),
        Command("cat /proc/cmdline"),
        Command("sysctl net.core net.ipv4.tcp_rmem net.ipv4.tcp_congestion_control"),
        Command("cat /etc/os-release"),
        Command("chronyc tracking"),
        Command(
            "grep -s .",
            name="sysfs_governor",
            files=("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",),
        ),
        Command("ipmitool sdr elist"),
    ),
)
