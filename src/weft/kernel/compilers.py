"""How kernels are compiled: what is inlined goes no further than its callers need.

numba optimises every function and makes machine code of it, with all that it calls inlined,
though only the outermost one is ever called: half of the time. Here a function that is inlined
stays what its source says until it is part of an entry, which is optimised in one pass.
"""

from contextlib import suppress
from typing import Any

from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary  # type: ignore[attr-defined, unused-ignore]
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from weft.kernel.cache import announce_compilation


class _WithoutCode:
    """numba's code generator without its last step."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def _add_module(self, module: Any) -> None:
        """Keep a module from the compiler of machine code."""

    def set_env(self, name: str, env: Any) -> None:
        """Set nothing: a function that is never called by itself has no constants to find."""


class _InnerLibrary(JITCodeLibrary):
    def _optimize_final_module(self) -> None:
        """Leave it to the library that this one becomes a part of."""

    def _finalize_specific(self) -> None:
        """Make no machine code."""

    def get_pointer_to_function(self, _name: str) -> int:
        self._ensure_finalized()
        return 0


class _EntryLibrary(JITCodeLibrary):
    def _optimize_final_module(self) -> None:
        """Optimise once: the first of numba's two rounds is for counts of references."""
        made = self._codegen._module_pass_manager()
        if isinstance(made, tuple):
            passes, builder = made
            passes.run(self._final_module, builder)
        else:  # before numba 0.62
            super()._optimize_final_module()


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):
    _name = "lowering of what is inlined"

    def run_pass(self, state: Any) -> bool:
        codegen = _WithoutCode(state.targetctx.codegen())
        state.library = _InnerLibrary(codegen, state.func_id.func_qualname)
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(NativeLowering):
    _name = "lowering of what Python calls"

    def run_pass(self, state: Any) -> bool:
        state.library = _EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class Inner(CompilerBase):
    """Compile a function for being inlined alone."""

    lowering: Any = _InnerLowering

    def define_pipelines(self) -> list[Any]:
        """Take numba's passes, but for the last."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (self.lowering if item is NativeLowering else item, title)
            for item, title in passes.passes
        ]
        passes.finalize()
        return [passes]


class Entry(Inner):
    """Compile a function that Python calls with a state, after saying that this takes time."""

    lowering: Any = _EntryLowering

    def define_pipelines(self) -> list[Any]:
        """Take numba's passes, but for the last."""
        announce_compilation(getattr(self.state.args[0].kind, "TITLE", "the simulator"))
        return super().define_pipelines()


class Quiet(Inner):
    """Compile a function that Python calls, without a word: it takes no time to speak of."""

    lowering: Any = _EntryLowering


class Kept(FunctionCache):
    """Compiled kernels on disk; reading one needs nothing of what compiling needs.

    numba would first import all that it can compile, SciPy's linear algebra with it: half of
    the time in which a process starts. A file that cannot be read, for whatever reason, is a
    kernel that is not there: it is compiled again and replaced.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel compiled for the types of a call; none if there is none."""
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - pickle raises anything on a damaged file
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel; a damaged index is begun anew, a full disk keeps nothing."""
        try:
            super().save_overload(sig, data)
        except Exception:  # noqa: BLE001 - as above
            with suppress(Exception):
                self.flush()
                super().save_overload(sig, data)
