"""A shell sets a variable of NCCL and does not export it.

What it checks: files in which a shell exports variables of NCCL, for those that it only sets.
Why it matters: the job does not see the variable; it runs with the default.
What to do: export it.
References: POSIX shell, export.
"""

from weft.lint.facts import Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    files: dict[str, list[Variable]] = {}
    for one in case.of(Variable):
        if one.exported is not None and one.name.startswith("NCCL_"):
            files.setdefault(one.at.text.name, []).append(one)
    for name, rows in files.items():
        exported = {one.name: one for one in rows if one.exported}
        if not exported or _exports_all(rows):
            continue
        for one in rows:
            later = _named_later(one)
            if not one.exported and one.name not in exported and not later:
                yield problem(
                    [one, next(iter(exported.values()))],
                    f"{name} sets {one.name} and does not export it, as it does the others",
                    f"export {one.name}",
                )


def _exports_all(rows: list[Variable]) -> bool:
    return any(line.strip() in _ALL for line in rows[0].at.text.lines)


_ALL = frozenset({"set -a", "set -o allexport"})


def _named_later(one: Variable) -> bool:
    """Return whether a line hands the variable on by name: export NAME, -x NAME."""
    others = (line for n, line in enumerate(one.at.text.lines, 1) if n != one.at.line)
    return any(one.name in line for line in others)


nccl_not_exported = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
