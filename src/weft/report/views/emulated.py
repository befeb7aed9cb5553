"""`weft emulate`: where the bundle is, and what to do with it."""

from weft.emulate.bundle import Emulated
from weft.report.page import Facts, Page, Sentences, View
from weft.report.views._provenance import footer


def _page(result: Emulated) -> Page:
    faults = "not named here"
    if result.injected is not None:
        faults = ", ".join(result.injected) or "none"
    return Page(
        title=f"Emulated {len(result.hosts)} hosts of {result.cluster}: {result.files} files",
        answer=(
            Facts(
                pairs=(
                    ("folder", result.folder), ("hosts", ", ".join(result.hosts)),
                    ("faults", faults),
                )
            ),
            Sentences(lines=(_next(result),)),
        ),
        blocks=(),
        footer=footer(result.provenance)[:1],
    )  # fmt: skip


def _next(result: Emulated) -> str:
    if result.injected is None:
        return "weft emulate --score ANSWER --named KIND@HOST/NUMBER scores what you find."
    if not result.injected:
        return f"weft diagnose {result.folder} should report no problem."
    return f"weft diagnose {result.folder} finds them."


emulated = View(shows="weft.emulate.bundle.Emulated", verb="emulate", page=_page)
