"""No name of a file, line of a log or key reaches a reader as a command, a tag or a link."""

import json
import re
import subprocess
import sys
from base64 import b64decode
from hashlib import sha256
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.lint.lint import lint_texts
from weft.lint.text import Text
from weft.report import escape, formats, show
from weft.report.page import Entries, Entry, Facts, Page, Rendering, Sentences, Table, View
from weft.report.renderers.html import html
from weft.report.renderers.md import md
from weft.report.renderers.text import text as plain

PIECES = (
    "\x1b[31m", "\x1b]0;title\x07", "\x9b31m", "\n::error file=a::forged", "::add-mask::x",
    "##[error]x", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\\", "]]>",
    "](javascript:x)", "[a]: javascript:x", "\u202egnp.exe", "\u2028", "\udcff", "\x00", "&lt;",
    '"', "'", "|", "`", "%0A::error::", "-->", "eth0", " ",
)  # fmt: skip
hostile = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=6).map("".join)
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
FORGED = re.compile(r"(?m)^\s*(::|##\[)")


def _page(one):
    return Page(
        title=one,
        answer=(Entries(title=one, items=(Entry(head=one, text=one, lines=(one,)),)),),
        blocks=(
            Table(title=one, columns=(one, "b"), rows=((one, one),), left=(0,), notes=(one,)),
            Facts(title=one, pairs=((one, one),)),
            Sentences(lines=(one, one)),
        ),
        footer=(one,),
    )


def _rendering(one, **more):
    view = View(shows="nothing", verb="", whole=_page)
    return Rendering(result=one, view=view, command=f"weft lint {one}", **more)


@given(hostile)
@settings(deadline=None)
def test_text_and_markdown_hold_no_command(one):
    for renderer in (plain, md):
        for full in (True, False):
            shown = renderer.render(_rendering(one, full=full))
            assert not CONTROL.search(shown)
            assert not FORGED.search(shown)


@given(hostile)
@settings(deadline=None)
def test_markdown_holds_no_tag_and_no_link(one):
    """The last line is the user's own command, in a code span."""
    shown = md.render(_rendering(one)).rpartition("\n``")[0]
    assert "<" not in shown
    assert not re.search(r"(?<!\\)(\\\\)*\][(\[:]", shown)


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, tuple(name for name, _ in attrs)))


def _tags(shown):
    parser = _Tags()
    parser.feed(shown)
    return parser.seen


@given(hostile.filter(str.strip))
@settings(deadline=None)
def test_html_has_the_tags_of_a_harmless_page(one):
    assert _tags(html.render(_rendering(one))) == _tags(html.render(_rendering("a")))


def test_the_policy_of_html_allows_its_own_script_and_no_other():
    shown = html.render(_rendering("a"))
    allowed = b64decode(re.search("script-src 'sha256-([^']+)'", shown)[1])
    (script,) = re.findall("<script>(.*?)</script>", shown, re.DOTALL)
    assert sha256(script.encode()).digest() == allowed
    assert "default-src 'none'" in shown
    assert " on" not in re.sub(
        ">[^<]*<", "><", shown.partition("<body>")[2].partition("<script")[0]
    )


@given(hostile, hostile)
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("form", formats("linted"))
def test_lint_shows_names_and_lines_in_every_format(form, name, line):
    """What a file holds and is called was decoded before: it has no half characters."""
    name, line = name.replace("\udcff", ""), line.replace("\udcff", "")
    text = Text(
        name=f"{name}.sh", content=f"export NCCL_IB_HCA=mlx5_0{line}\nexport NCCL_NO={line}"
    )
    shown = show(lint_texts([text]), form)
    shown.encode()
    assert not CONTROL.search(shown.replace("\t", "")) or form == "yaml"
    if form == "github":
        assert all(
            one.startswith(("::error ", "::warning ", "::notice "))
            for one in shown.splitlines()
        )
    elif form == "junit":
        ET.fromstring(shown)  # noqa: S314 - our own
    elif form in {"json", "sarif"}:
        json.loads(shown)
    elif form in {"text", "md"}:
        assert not FORGED.search(shown)


@given(hostile)
def test_what_is_visible_stays_what_it_is(one):
    assert escape.visible(escape.visible(one)) == escape.visible(one)
    assert json.loads(escape.json_text({"a": one.replace("\udcff", "")}))["a"] == one.replace(
        "\udcff", ""
    )


def test_an_error_message_is_escaped(tmp_path):
    name = f"{tmp_path}/\x1b[31m\n::error::x.yaml"
    done = subprocess.run(
        [sys.executable, "-m", "weft", "predict", name],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert not CONTROL.search(done.stderr)
    assert not FORGED.search(done.stderr)
