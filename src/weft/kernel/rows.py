"""Tables and rows as compiled kernels see them: addresses, and nothing else.

numba's own arrays are seven numbers each, so a state of thirty of them fills every call with
two hundred arguments, and most of the time of a compilation goes into those. Here a state is
one address, of a list of the addresses of its tables; a row is the address of its first byte.
Integers of any width are read as 64 bits, so that a kernel is compiled for one kind of integer.
"""

import operator
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types  # type: ignore[attr-defined, unused-ignore]
from numba.core.typing.templates import AttributeTemplate  # type: ignore[attr-defined, unused-ignore]
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)

from weft.kernel.table import CACHE_LINE_BYTES

_BYTE, _WORD = ir.IntType(8), ir.IntType(64)


class Row(types.Type):
    """A row of a table: its address."""

    def __init__(self, name: str, dtype: np.dtype[Any]) -> None:
        """Name a row by its table; what counts is its layout."""
        self.dtype = dtype
        super().__init__(f"row of {name}")

    @property
    def key(self) -> Any:
        """Return what makes it the same type as another."""
        return self.name, self.dtype

    def kind_of(self, field: str) -> Any:
        """Return the type of a field, or none."""
        if field not in (self.dtype.fields or {}):
            return None
        dtype = self.dtype[field]
        if dtype.subdtype is not None:
            return Rows(f"{self.name}.{field}", dtype.subdtype[0])
        return _number(dtype)


class Rows(types.Type):
    """A table, or a column of numbers: its address."""

    def __init__(self, name: str, dtype: np.dtype[Any]) -> None:
        """Name a table; what counts is the layout of its rows."""
        self.dtype = dtype
        super().__init__(f"rows of {name}")

    @property
    def key(self) -> Any:
        """Return what makes it the same type as another."""
        return self.name, self.dtype

    @property
    def element(self) -> Any:
        """Return the type of what an index gives."""
        return Row(self.name, self.dtype) if self.dtype.names else _number(self.dtype)


class Tables(types.Type):
    """A state: the address of the list of the addresses of its tables."""

    def __init__(self, kind: type, columns: tuple[tuple[str, np.dtype[Any]], ...]) -> None:
        """Take the class of a state, and name and layout of its tables in their order."""
        self.kind, self.columns = kind, columns
        self.places = {name: place for place, (name, _) in enumerate(columns)}
        super().__init__(kind.__name__)

    @property
    def key(self) -> Any:
        """Return what makes it the same type as another."""
        return self.kind, self.columns

    def rows(self, name: str) -> Any:
        """Return the type of a table, or none."""
        place = self.places.get(name)
        return None if place is None else Rows(name, self.columns[place][1])


def _number(dtype: np.dtype[Any]) -> Any:
    return types.float64 if dtype.kind == "f" else types.int64


for _kind in (Row, Rows, Tables):
    register_model(_kind)(models.OpaqueModel)


class Addresses:
    """What a compiled kernel is given for a state; it keeps the tables alive."""

    def __init__(self, state: Any) -> None:
        """List the addresses of the tables of a state."""
        self.state = state
        self.list = np.array([array.ctypes.data for array in state], np.uint64)
        self.address = self.list.ctypes.data
        columns = zip(type(state)._fields, (array.dtype for array in state), strict=True)
        self.kind = Tables(type(state), tuple(columns))


class Column:
    """What a compiled kernel is given for an array of numbers; it keeps the array alive."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        """Take the address of an array without gaps."""
        self.array = np.ascontiguousarray(array)
        self.address = self.array.ctypes.data
        self.kind = Rows("an argument", self.array.dtype)


def given(argument: Any) -> Any:
    """Return what stands for an argument of a kernel: arrays are given by their address."""
    return Column(argument) if isinstance(argument, np.ndarray) else argument


@typeof_impl.register(Addresses)
@typeof_impl.register(Column)
def _typeof(value: Addresses | Column, _context: Any) -> Any:
    return value.kind


@unbox(Rows)
@unbox(Tables)
def _unbox(_kind: Any, value: Any, unboxing: Any) -> Any:
    attribute = unboxing.pyapi.object_getattr_string(value, "address")
    number = unboxing.pyapi.long_as_ulonglong(attribute)
    unboxing.pyapi.decref(attribute)
    return NativeValue(unboxing.builder.inttoptr(number, _BYTE.as_pointer()))


@infer_getattr
class _AttributesOfTables(AttributeTemplate):
    key = Tables

    def generic_resolve(  # type: ignore[override, unused-ignore]
        self, tables: Any, name: str
    ) -> Any:
        return tables.rows(name)


@infer_getattr
class _AttributesOfRow(AttributeTemplate):
    key = Row

    def generic_resolve(  # type: ignore[override, unused-ignore]
        self, row: Any, name: str
    ) -> Any:
        return row.kind_of(name)


@lower_getattr_generic(Tables)
def _read_table(context: Any, builder: Any, kind: Any, address: Any, name: str) -> Any:
    """Load the address of a table; it never changes, so the compiler may load it once."""
    pointer = _BYTE.as_pointer()
    start = builder.bitcast(address, pointer.as_pointer())
    loaded = builder.load(builder.gep(start, [_WORD(kind.places[name])]))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


@lower_getattr_generic(Row)
def _read_field(context: Any, builder: Any, kind: Any, address: Any, name: str) -> Any:
    dtype, offset = kind.dtype.fields[name][:2]
    place = builder.gep(address, [_WORD(offset)], inbounds=True)
    return place if dtype.subdtype else _load(builder, place, dtype)


@lower_setattr_generic(Row)
def _write_field(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
    dtype, offset = signature.args[0].dtype.fields[name][:2]
    place = builder.gep(arguments[0], [_WORD(offset)], inbounds=True)
    _store(builder, place, dtype, arguments[1])


@type_callable(operator.getitem)
def _type_getitem(_context: Any) -> Any:
    def typer(rows: Any, index: Any) -> Any:
        if isinstance(rows, Rows) and isinstance(index, types.Integer):
            return rows.element
        return None

    return typer


@type_callable(operator.setitem)
def _type_setitem(_context: Any) -> Any:
    def typer(rows: Any, index: Any, value: Any) -> Any:
        if isinstance(rows, Rows) and isinstance(index, types.Integer):
            return types.none
        return None

    return typer


@lower_builtin(operator.getitem, Rows, types.Integer)
def _read_row(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    rows = signature.args[0]
    place = _place(context, builder, signature, arguments)
    return place if rows.dtype.names else _load(builder, place, rows.dtype)


@lower_builtin(operator.setitem, Rows, types.Integer, types.Any)
def _write_number(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    rows, _, given = signature.args
    value = context.cast(builder, arguments[2], given, _number(rows.dtype))
    _store(builder, _place(context, builder, signature, arguments), rows.dtype, value)
    return context.get_dummy_value()


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    rows, index = signature.args[:2]
    number = context.cast(builder, arguments[1], index, types.intp)
    offset = builder.mul(number, _WORD(rows.dtype.itemsize), flags=("nsw",))
    return builder.gep(arguments[0], [offset], inbounds=True)


def _load(builder: Any, place: Any, dtype: np.dtype[Any]) -> Any:
    stored = _stored(dtype)
    value = builder.load(builder.bitcast(place, stored.as_pointer()))
    if dtype.kind == "f" or stored == _WORD:
        return value
    return (builder.sext if dtype.kind == "i" else builder.zext)(value, _WORD)


def _store(builder: Any, place: Any, dtype: np.dtype[Any], value: Any) -> None:
    stored = _stored(dtype)
    if stored != value.type:
        value = builder.trunc(value, stored)
    builder.store(value, builder.bitcast(place, stored.as_pointer()))


def _stored(dtype: np.dtype[Any]) -> Any:
    return ir.DoubleType() if dtype.kind == "f" else ir.IntType(8 * dtype.itemsize)


@intrinsic
def prefetch(_context: Any, rows: Any, row: Any, line: Any) -> Any:
    """Ask for one cache line of a row of a table, before it is needed."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, number = _BYTE.as_pointer(), ir.IntType(32)
        offset = builder.mul(arguments[1], _WORD(rows.dtype.itemsize))
        offset = builder.add(offset, builder.mul(arguments[2], _WORD(CACHE_LINE_BYTES)))
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        asks = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        to_read, keep_close, data = number(0), number(3), number(1)
        builder.call(asks, [builder.gep(arguments[0], [offset]), to_read, keep_close, data])
        return context.get_dummy_value()

    return types.void(rows, types.int64, types.int64), generate


@intrinsic
def choice(_context: Any, state: Any) -> Any:
    """Return the constant ``CHOICE`` of the class of a state; kernels compile once for each."""
    chosen = bool(getattr(state.kind, "CHOICE", False))

    def generate(_context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return ir.Constant(ir.IntType(1), int(chosen))

    return types.boolean(state), generate
