"""Text, Markdown and HTML of one page say the same, and survive what they are fed."""

import json
import re
from html.parser import HTMLParser

import pytest

from weft import report
from weft.errors import UnknownName
from weft.report.page import Drawing, Facts, Page, Rendering, Sentences, Table, View
from weft.report.renderers import html, md, text

NASTY = "<b>|&\"' </script>"
PAGE = Page(
    title="A title",
    blocks=(
        Sentences(title="One", lines=("alone",)),
        Sentences(title="None", lines=()),
        Facts(title="Facts", pairs=(("name", NASTY),)),
        Table(
            title="Numbers",
            columns=("what", "time"),
            rows=(("first", "1.00 s"), (NASTY, "10.0 s")),
            notes=("a note",),
        ),
    ),
    footer=("the end",),
)


def _render(renderer, **settings):
    view = View(shows="", verb="", whole=lambda _: PAGE)
    return renderer.render(Rendering(result={"text": NASTY}, view=view, **settings))


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.outside = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.outside += [v for k, v in attrs if k in ("src", "href") and v]
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_numbers_line_up_on_the_right_and_words_on_the_left():
    lines = _render(text.text).splitlines()
    start = lines.index("Numbers")
    assert lines[start + 2].endswith("  time")
    assert lines[start + 4].endswith("1.00 s")
    assert len(lines[start + 4]) == len(lines[start + 5])


def test_an_empty_block_leaves_no_title():
    for renderer in (text.text, md.md, html.html):
        assert "None" not in _render(renderer)


def test_a_narrow_terminal_wraps_words_and_cuts_nothing():
    wide = Page(
        title="t",
        blocks=(
            Table(
                columns=("claim", "ratio"),
                rows=(("a long sentence of many words that goes on and on", "0.123"),),
            ),
        ),
    )
    view = View(shows="", verb="", whole=lambda _: wide)
    shown = text.text.render(Rendering(result=None, view=view, width=40))
    assert max(map(len, shown.splitlines())) <= 40
    assert " ".join(re.findall(r"[a-z]{2,}|a", shown)).count("goes on") == 1
    assert "0.123" in shown


def test_a_table_that_is_too_wide_wraps_headings_and_puts_bands_below():
    """No number is cut, and none leaves its unit."""
    cells = ("infiniband", "905 [816 to 975] ms", "44.2 [41.0 to 49.0]", "12.4 %")
    table = Table(columns=("network", "step time of all", "MFU %", "exposed"), rows=(cells,))
    view = View(shows="", verb="", whole=lambda _: Page(title="t", blocks=(table,)))
    lines = {
        width: text.text.render(Rendering(result=None, view=view, width=width)).splitlines()[3:]
        for width in (80, 60, 50)
    }
    assert len(lines[80]) == 3
    assert any(line.endswith("12.4 %") and "[816 to 975] ms" in line for line in lines[80])
    assert any("[816 to 975] ms" in line and "905" not in line for line in lines[50])
    assert max(map(len, lines[60])) <= 60


def test_a_terminal_too_narrow_for_the_columns_gets_a_line_for_each_value(monkeypatch):
    """Numbers are never cut: 30 columns have no room for five of them side by side."""
    monkeypatch.setenv("NO_COLOR", "1")
    numbers = tuple(f"{n}23.4 GB/s" for n in range(5))
    table = Table(columns=("fabric", *"abcde"), rows=(("tcp", *numbers),))
    view = View(shows="", verb="", whole=lambda _: Page(title="t", blocks=(table,)))
    shown = text.text.render(Rendering(result=None, view=view, terminal=True, width=30))
    assert all(number in shown for number in numbers)
    assert max(map(len, shown.splitlines())) <= 30


def test_html_is_well_formed_and_needs_nothing_from_outside():
    page = _render(html.html, command="weft x")
    elements = Elements()
    elements.feed(page)
    assert elements.open == []
    assert elements.outside == []
    assert "<b>" not in page
    assert not re.search(r"(?:https?:)?//(?!www\.w3\.org)[a-z]", page)


def test_html_carries_the_document_and_the_command():
    page = _render(html.html, command="weft x --set 'a=<b>'")
    held = re.search(r'<script type="application/json" id="result">(.*?)</script>', page)
    assert json.loads(held[1])["text"] == NASTY
    assert "a=&lt;b&gt;" in page


def test_a_bar_in_a_cell_does_not_end_it_in_markdown():
    row = next(line for line in _render(md.md).splitlines() if "10.0 s" in line)
    assert len(re.findall(r"(?<!\\)\|", row)) == 3


@pytest.mark.parametrize("form", ["text", "md", "html", "json", "yaml"])
def test_every_format_shows_a_result_without_a_view(form):
    shown = report.show({"answer_s": 42.0, "rows": [{"a": 1.23456, "b": "x"}]}, form)
    assert shown.endswith("\n")
    assert "42" in shown


def test_a_terminal_gets_the_same_words(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    view = View(shows="", verb="", whole=lambda _: PAGE)
    shown = text.text.render(Rendering(result=None, view=view, terminal=True, width=60))
    for words in ("A title", "alone", "1.00 s", "a note", "the end"):
        assert words in shown


def test_a_result_without_that_chart_says_which_it_has(expectation):
    with pytest.raises(UnknownName, match="busbw_curve"):
        report.picture(expectation, "break_even", "svg")
    with pytest.raises(UnknownName, match="svg, png"):
        report.picture(expectation, None, "gif")
    with pytest.raises(UnknownName, match="no chart"):
        report.picture({"a": 1}, None, "svg")


def test_a_drawing_is_no_text_but_is_in_the_html(expectation):
    assert isinstance(report.view_of(type(expectation)).page(expectation).drawings[0], Drawing)
    assert "<svg" in report.show(expectation, "html")


LONG = Table(title="Rows", columns=("n",), rows=tuple((str(n),) for n in range(90)))
SCREEN = Page(
    title="A verdict",
    answer=(LONG, Sentences(title="Next", lines=("do this", "then that"))),
    blocks=(Facts(title="Details", pairs=(("name", "value"),)),),
    footer=("the end",),
)


def _screen(page, **settings):
    view = View(shows="", verb="", whole=lambda _: page)
    return text.text.render(Rendering(result=None, view=view, width=80, full=False, **settings))


def test_the_first_screen_holds_the_answer_and_names_the_rest():
    shown = _screen(SCREEN)
    lines = shown.splitlines()
    assert len(lines) <= 24
    assert lines[0] == "A verdict"
    assert "- do this" in lines
    assert "- then that" in lines
    counted = next(line for line in lines if line.startswith("... and "))
    numbers = sum(line.strip().isdecimal() for line in lines)
    assert counted == f"... and {90 - numbers} more"
    assert lines[-1] == "More with --full: details."


def test_an_answer_with_little_in_it_is_printed_whole():
    page = Page(title="t", answer=(Sentences(lines=("one",)),), blocks=())
    assert _screen(page) == "t\n\none\n"


def test_a_page_without_an_answer_is_printed_whole():
    lines = _screen(Page(title="t", blocks=(LONG,))).splitlines()
    assert sum(line.strip().isdecimal() for line in lines) == 90


def test_every_other_format_holds_everything():
    view = View(shows="", verb="", whole=lambda _: SCREEN)
    for renderer in (md.md, html.html):
        shown = renderer.render(Rendering(result={}, view=view, full=False))
        for words in ("89", "then that", "Details", "the end"):
            assert words in shown
