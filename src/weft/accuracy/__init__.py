"""How far weft is from published measurements: rows of CSV files in, a scoreboard out."""

from weft.accuracy.run import score

__all__ = ["score"]
