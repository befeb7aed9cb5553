"""Kernels that call the plug-ins of a folder by number."""

import importlib.util
import os
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from weft.kernel import cache


def ladder(name: str, arguments: str, plugins: Iterable[tuple[str, str]], hook: str) -> Any:
    """Write and import one kernel that calls plug-in number ``which`` of a folder.

    A call through a function pointer would cost a call per packet; an ``if`` ladder written
    by hand would be a list to edit. So the ladder is written from the folder's listing into
    the cache folder, where numba can cache it like any source file.

    Args:
        name: Of the kernel and of the file that holds it.
        arguments: What the hook takes, as source text ("flow, knobs, now").
        plugins: (module, exported name) in the order of their numbers.
        hook: Attribute of the exported plug-in that holds its kernel.
    """
    plugins = list(plugins)
    lines = ["from weft.kernel import inner"]
    lines += [
        f"from {module} import {plug} as p{i}" for i, (module, plug) in enumerate(plugins)
    ]
    lines += [f"h{i} = p{i}.{hook}" for i in range(len(plugins))]
    lines += ["@inner", f"def {name}(which, {arguments}):"]
    for i in range(len(plugins) - 1):
        lines += [f"    if which == {i}:", f"        return h{i}({arguments})"]
    lines += [f"    return h{len(plugins) - 1}({arguments})"]
    return getattr(_import_text(name, "\n".join(lines) + "\n"), name)


def _import_text(name: str, text: str) -> ModuleType:
    path = cache.CACHE / f"{name}.py"
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(text)
        unfinished.replace(path)
    full_name = f"weft_ladder_{name}"
    spec = importlib.util.spec_from_file_location(full_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[full_name] = module
    spec.loader.exec_module(module)
    return module
