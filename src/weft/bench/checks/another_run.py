"""The same sweep again, at another hour and on other ports."""

from weft.bench.check import Check

another_run = Check(
    title="the same sweep again, at another hour", command="weft bench run ... --repeats 3"
)
