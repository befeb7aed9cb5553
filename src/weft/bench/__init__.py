"""Running benchmarks, judging what they measured, finding the part that is slow."""
