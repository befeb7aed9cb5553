"""The faults whose curves the judge compares a run with, one file each."""
