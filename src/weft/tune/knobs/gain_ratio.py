"""How fast alpha follows marks (g)."""

from weft.tune.knob import of_dcqcn

gain_ratio = of_dcqcn(
    "gain_ratio",
    title="gain (g)",
    low=1 / 1024,
    high=0.125,
    why="1/1024 (firmware) to an eighth; the paper has 1/256",
)
