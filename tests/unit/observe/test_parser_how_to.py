"""The page that shows how to add a parser shows one that works."""

import re
from pathlib import Path

from weft.observe.parser import Parser, Source

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "add-a-parser.md"


def test_the_parser_of_the_page_reads_the_output_of_the_page():
    text = PAGE.read_text()
    output = re.search(r"```\n(Switch .*?)```", text, re.DOTALL)[1]
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    names: dict[str, object] = {}
    exec(compile(code, str(PAGE), "exec"), names)  # noqa: S102 - our own page
    parser = names["ibroute_count"]
    assert isinstance(parser, Parser)
    reader = parser.reader(Source("routes.txt"))
    facts = [
        fact
        for number, line in enumerate(output.splitlines(), start=1)
        for fact in reader.take(line, number)
    ]
    told = [(fact.where, fact.name, fact.value) for fact in facts]
    assert told[-1] == ("leaf-8", "unreachable_routes", 22)
    assert len(told) == 4
