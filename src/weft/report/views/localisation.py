"""`weft bench localise`: which part is slow, how probably, and what to test next."""

from collections.abc import Iterator

from weft.bench.localise import SURE, Localisation
from weft.report.numbers import show_rate
from weft.report.page import Block, Columns, Facts, Sentences, View, table

_MOST = 8
_SHOWN = 0.005


def _answer(result: Localisation) -> Iterator[Block]:
    yield Facts(pairs=tuple(_facts(result)))
    suspects = [part for part in result.suspects if part.probability > _SHOWN][:_MOST]
    columns: Columns = {"part": "part", "faulty": lambda part: f"{part.probability:.0%}"}
    notes = (f"None of them: {result.none_probability:.0%}.",)
    yield table(suspects, columns, title="Suspects", notes=notes)
    if result.next:
        yield Sentences(title="Next tests", lines=result.commands)


def _blocks(result: Localisation) -> Iterator[Block]:
    if result.outcomes:
        best = result.expected_bytes_per_s or 1.0
        tests: Columns = {
            "hosts": "hosts", "rate": lambda test: _rate(test.bytes_per_s),
            "of a healthy one": lambda test: f"{test.bytes_per_s / best:.0%}",
        }  # fmt: skip
        yield table(result.outcomes, tests, title="Tests so far")
    if result.next:
        following: Columns = {
            "hosts": "hosts", "slow, probably": lambda test: f"{test.slow_probability:.0%}",
            "gain, bits": lambda test: f"{test.gain_bits:.2f}",
        }  # fmt: skip
        yield table(result.next, following, title="What the next tests tell")


def _rate(bytes_per_s: float) -> str:
    return show_rate(float(f"{bytes_per_s:.3g}"))


def _verdict(result: Localisation) -> str:
    if result.named:
        first = result.suspects[0]
        return f"{' and '.join(result.named)}: faulty ({first.probability:.0%} sure)."
    if result.none_probability >= SURE:
        return f"No part is faulty ({result.none_probability:.0%} sure)."
    if result.settled:
        return (
            "Not settled, and no more tests would: say what a healthy pair shows (--expected)."
        )
    return "Not settled yet: run the next test and give its result."


def _facts(result: Localisation) -> Iterator[tuple[str, str]]:
    yield "hosts", f"{len(result.layout.hosts)}"
    yield "tests", f"{len(result.outcomes)}; every pair would be {result.all_pairs}"
    if result.expected_bytes_per_s:
        seen = "" if result.expected_given else " or more: the best seen (--expected says it)"
        yield "healthy", f"{_rate(result.expected_bytes_per_s)}{seen}"


localisation = View(
    shows="weft.bench.localise.Localisation", verb="", title=_verdict, answer=_answer,
    blocks=_blocks,
)  # fmt: skip
