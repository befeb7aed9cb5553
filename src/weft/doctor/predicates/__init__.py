"""Joins that a table cannot say: functions that causes name, in one file an area."""
