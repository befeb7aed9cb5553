"""`weft bench localise`: which part is slow, how probably, and what to test next."""

from collections.abc import Iterator

from weft.bench.localise import SURE, Localisation
from weft.report.numbers import show_rate
from weft.report.page import Block, Facts, Page, Sentences, Table, View, rows_of

_MOST = 8
_SHOWN = 0.005


def _page(result: Localisation) -> Page:
    return Page(
        title=_verdict(result), answer=tuple(_answer(result)), blocks=tuple(_blocks(result))
    )


def _answer(result: Localisation) -> Iterator[Block]:
    yield Facts(pairs=tuple(_facts(result)))
    suspects = [one for one in result.suspects if one.probability > _SHOWN][:_MOST]
    yield Table(
        title="Suspects",
        columns=("part", "faulty"),
        rows=rows_of(*((one.part, f"{one.probability:.0%}") for one in suspects)),
        notes=(f"None of them: {result.none_probability:.0%}.",),
    )
    if result.next:
        yield Sentences(title="Next tests", lines=result.commands)


def _blocks(result: Localisation) -> Iterator[Block]:
    if result.outcomes:
        best = result.expected_bytes_per_s or 1.0
        yield Table(
            title="Tests so far",
            columns=("hosts", "rate", "of a healthy one"),
            rows=rows_of(
                *(
                    (", ".join(one.hosts), _rate(one.bytes_per_s),
                     f"{one.bytes_per_s / best:.0%}")
                    for one in result.outcomes
                )
            ),
        )  # fmt: skip
    if result.next:
        yield Table(
            title="What the next tests tell",
            columns=("hosts", "slow, probably", "gain, bits"),
            rows=rows_of(
                *(
                    (
                        ", ".join(one.hosts),
                        f"{one.slow_probability:.0%}",
                        f"{one.gain_bits:.2f}",
                    )
                    for one in result.next
                )
            ),
        )


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


localisation = View(shows="weft.bench.localise.Localisation", verb="", page=_page)
