"""The user's own numbers into the model: benchmarks read, ratios fitted, an overlay written."""

from weft.calibrate.calibration import Calibration, FileRead, calibrate

__all__ = ["Calibration", "FileRead", "calibrate"]
