"""Shell scripts, Slurm batch scripts and files of variables: the environment of a job."""

from collections.abc import Iterator

import re2

from weft.lint.facts import Fact, option
from weft.lint.jobs import is_of_job, job_facts
from weft.lint.reader import File, Reader

_DIRECTIVE = re2.compile(r"#SBATCH\s+(--?[A-Za-z-]+)(?:[=\s]\s*(\S+))?")


def _claims(file: File) -> bool:
    return file.is_shell or any(
        is_of_job(name) for command in file.commands for name, _ in command.assignments
    )


def _read(file: File) -> Iterator[Fact]:
    yield from job_facts(file.commands)
    for number, line in file.lines():
        match = _DIRECTIVE.match(line)
        if match:
            yield option(file.at(number), "sbatch", match[1].lstrip("-"), match[2] or "")


job_script = Reader(title="shell and Slurm batch scripts", claims=_claims, read=_read)
