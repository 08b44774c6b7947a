"""Thrift's compact protocol, the encoding of Parquet's footer and page headers."""

from collections.abc import Callable, Mapping
from typing import Any

MAX_DEPTH = 16
MAX_NUMBER_BYTES = 10

ThriftStruct = dict[int, Any]

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _TEXT, _MAP, _STRUCT = 0, 1, 2, 3, 7, 8, 11, 12
_NUMBERS, _LISTS = (4, 5, 6), (9, 10)
_DOUBLE_BYTES = 8
_LONG_LIST = 15


class TruncatedDataError(ValueError):
    """The data end in the middle of a value."""


class ThriftReader:
    """Reads structs as values by field number; ``position`` is the number of bytes read."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._depth = 0
        self.position = 0
        self._readers: Mapping[int, Callable[[], Any]] = {
            _TRUE: lambda: True,
            _FALSE: lambda: False,
            _BYTE: self._byte,
            **dict.fromkeys(_NUMBERS, self._signed),
            _DOUBLE: lambda: self._bytes(_DOUBLE_BYTES),
            _TEXT: lambda: self._bytes(self._unsigned()),
            **dict.fromkeys(_LISTS, self._list),
            _MAP: self._map,
            _STRUCT: self.read_struct,
        }

    def read_struct(self) -> ThriftStruct:
        """Read a struct; raise TruncatedDataError or another ValueError if the data are invalid."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError(f"structs are nested more than {MAX_DEPTH} deep")
        fields: ThriftStruct = {}
        number = 0
        while (head := self._byte()) != _STOP:
            number = number + (head >> 4) if head >> 4 else self._signed()
            fields[number] = self._value(head & 15)
        self._depth -= 1
        return fields

    def _value(self, kind: int) -> Any:
        if kind not in self._readers:
            raise ValueError(f"a value has the unknown type {kind}")
        return self._readers[kind]()

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, size: int) -> bytes:
        start, self.position = self.position, self.position + size
        if self.position > len(self._data):
            raise TruncatedDataError("a value is cut short")
        return self._data[start : self.position]

    def _unsigned(self) -> int:
        """Read a number that is not negative, such as a length."""
        value = 0
        for index in range(MAX_NUMBER_BYTES):
            byte = self._byte()
            value |= (byte & 127) << (7 * index)
            if byte < 128:
                return value
        raise ValueError(f"a number has more than {MAX_NUMBER_BYTES} bytes")

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def _list(self) -> list[Any]:
        head = self._byte()
        size = self._unsigned() if head >> 4 == _LONG_LIST else head >> 4
        return self._values(head & 15, size)

    def _values(self, kind: int, size: int) -> list[Any]:
        """Read values of one type; a boolean takes one byte, other values at least one."""
        if size > len(self._data) - self.position:
            raise TruncatedDataError("a list is cut short")
        if kind in (_TRUE, _FALSE):
            return [byte == _TRUE for byte in self._bytes(size)]
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError(f"lists are nested more than {MAX_DEPTH} deep")
        values = [self._value(kind) for _ in range(size)]
        self._depth -= 1
        return values

    def _map(self) -> None:
        """Skip a map; the structs read here hold no map that is needed."""
        size = self._unsigned()
        kinds = self._byte() if size else 0
        if size > len(self._data) - self.position:
            raise TruncatedDataError("a map is cut short")
        for _ in range(size):
            self._values(kinds >> 4, 1)
            self._values(kinds & 15, 1)
