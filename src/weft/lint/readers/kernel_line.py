"""The command line of the kernel: ``/etc/default/grub``, ``/proc/cmdline``."""

from collections.abc import Iterator

import re2

from weft.lint.facts import Fact, option
from weft.lint.reader import File, Reader

_GRUB = re2.compile(r'GRUB_CMDLINE_LINUX(?:_DEFAULT)?\s*=\s*"?(.*?)"?\s*$')


def _read(file: File) -> Iterator[Fact]:
    for number, line in file.lines():
        match = _GRUB.match(line)
        words = match[1] if match else line if file.text.stem == "cmdline" else ""
        for word in words.split():
            name, _, value = word.partition("=")
            yield option(file.at(number), "kernel", name, value)


kernel_line = Reader(title="kernel command line", read=_read)
