"""Each pair of hosts alone: one pair is slow, or all are."""

from weft.bench.check import Check

pair_tests = Check(title="pairs of hosts alone", command="weft bench localise --hosts A,B,...")
