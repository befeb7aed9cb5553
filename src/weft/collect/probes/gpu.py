"""GPUs: what is read of it."""

from weft.collect.probe import Command, Probe

gpu = Probe(
    title="GPUs",
    why="faults, throttling, memory that was remapped, scale-up links, which NIC is near",
    commands=(
        Command("nvidia-smi"),
        Command("nvidia-smi -q"),
        Command("nvidia-smi topo -m"),
        Command("nvidia-smi nvlink --status"),
        Command("rocm-smi --showtopo"),
    ),
    counters=(Command("nvidia-smi nvlink -e"), Command("nvidia-smi -q -d ECC")),
)
