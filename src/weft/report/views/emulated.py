"""`weft emulate`: where the bundle is, and what to do with it."""

from collections.abc import Iterator

from weft.emulate.bundle import Emulated
from weft.report.page import Block, Facts, Sentences, View


def _title(result: Emulated) -> str:
    return f"Emulated {len(result.hosts)} hosts of {result.cluster}: {result.files} files"


def _answer(result: Emulated) -> Iterator[Block]:
    named = result.injected
    faults = "not named here" if named is None else ", ".join(named) or "none"
    hosts = ", ".join(result.hosts)
    metrics = (("metrics", result.metrics),) if result.metrics else ()
    facts = (("folder", result.folder), ("hosts", hosts), ("faults", faults), *metrics)
    yield Facts(pairs=facts)
    if named is None:
        line = "weft emulate --score ANSWER --named KIND@HOST/NUMBER scores what you find."
    elif named:
        line = f"weft diagnose {result.folder} finds them."
    else:
        line = f"weft diagnose {result.folder} should report no problem."
    yield Sentences(lines=(line,))


emulated = View(
    shows="weft.emulate.bundle.Emulated", verb="emulate", title=_title, answer=_answer,
    is_modelled=False,
)  # fmt: skip
