"""What an awk program remembers: variables, arrays, and the record with its fields.

Not the evaluation. Invariants: the record and its fields always say the same; what is kept in
arrays is bounded, as a phone's memory is.
"""

from __future__ import annotations

from collections.abc import Iterable

from virtual_phone.awk.records import MOST_FIELDS, fields_of
from virtual_phone.awk.values import AwkError, Input, Value, number_of, text_of, whole_of

MOST_ITEMS = 300_000
MOST_KEPT_CHARS = 48 * 1024 * 1024
"""What all arrays may hold together."""

Array = dict[str, Value]


class Cell:
    """What a name stands for: a value, or an array.

    Args:
        value: what it is at first.
        origin: the cell that a function was given for it, which becomes an array with it.
    """

    __slots__ = ("origin", "value")

    def __init__(self, value: Value | Array = None, origin: Cell | None = None) -> None:
        self.value = value
        self.origin = origin


class Memory:
    """The variables of one run.

    Args:
        environment: for `ENVIRON`.
        arguments: for `ARGV`, the program's name first.
    """

    def __init__(self, environment: dict[str, str], arguments: Iterable[str]) -> None:
        given = {str(at): Input(word) for at, word in enumerate(arguments)}
        first: dict[str, Value | Array] = {
            "FS": " ",
            "OFS": " ",
            "RS": "\n",
            "ORS": "\n",
            "SUBSEP": "\x1c",
            "OFMT": "%.6g",
            "CONVFMT": "%.6g",
            "NR": 0.0,
            "FNR": 0.0,
            "RSTART": 0.0,
            "RLENGTH": -1.0,
            "FILENAME": "",
            "ARGC": float(len(given)),
            "ARGV": {**given},
            "ENVIRON": {name: Input(said) for name, said in environment.items()},
        }
        self._cells = {name: Cell(value) for name, value in first.items()}
        self.frames: list[dict[str, Cell]] = []
        self._record: str | None = ""
        self._fields: list[Value] | None = []
        self._items = 0
        self._chars = 0

    # --- variables ----------

    def cell(self, name: str) -> Cell:
        """Return what a name stands for."""
        if self.frames and name in self.frames[-1]:
            return self.frames[-1][name]
        found = self._cells.get(name)
        if found is None:
            found = self._cells[name] = Cell()
        return found

    def get(self, name: str) -> Value:
        """Return a variable. Raises AwkError: it is an array."""
        if name == "NF":
            return float(len(self._parted()))
        value = self.cell(name).value
        if isinstance(value, dict):
            raise AwkError(f"can't read value of {name}; it's an array name.")
        return value

    def text(self, name: str) -> str:
        """Return a variable as text."""
        return text_of(self.get(name))

    def set(self, name: str, value: Value) -> None:
        """Set a variable. Raises AwkError: it is an array."""
        if name == "NF":
            self._resize(whole_of(value))
            return
        cell = self.cell(name)
        if isinstance(cell.value, dict):
            raise AwkError(f"can't assign to {name}; it's an array name.")
        cell.value = value

    def count(self, *names: str) -> None:
        """Add one to numbers, as to `NR`."""
        for name in names:
            self.set(name, number_of(self.get(name)) + 1)

    # --- arrays ----------

    def array(self, name: str) -> Array:
        """Return an array; a name that was nothing becomes one. Raises AwkError: it is a value."""
        cell = self.cell(name)
        if cell.value is None:
            made: Array = {}
            at: Cell | None = cell
            while at is not None and at.value is None:
                at.value, at = made, at.origin
            if at is not None and isinstance(at.value, dict):
                cell.value = at.value
        if not isinstance(cell.value, dict):
            raise AwkError(f"can't use {name} as an array; it's a variable.")
        return cell.value

    def put(self, array: Array, key: str, value: Value) -> None:
        """Set an item. Raises AwkError: arrays hold too much."""
        if key not in array:
            self._items += 1
            self._chars += len(key)
        self._chars += _weight(value) - _weight(array.get(key))
        if self._items > MOST_ITEMS or self._chars > MOST_KEPT_CHARS:
            raise AwkError("out of memory")
        array[key] = value

    def drop(self, array: Array, key: str) -> None:
        """Take an item out, if it is there."""
        if key in array:
            self._items -= 1
            self._chars -= len(key) + _weight(array.pop(key))

    def empty(self, array: Array) -> None:
        """Take every item out."""
        for key in tuple(array):
            self.drop(array, key)

    def enter(self, cells: dict[str, Cell]) -> None:
        """Begin a function with these names of its own."""
        self.frames.append(cells)

    def leave(self) -> None:
        """End a function, with the arrays that were its own."""
        for cell in self.frames.pop().values():
            if cell.origin is None and isinstance(cell.value, dict):
                self.empty(cell.value)

    # --- the record ----------

    def set_record(self, text: str) -> None:
        """Take a text as the record."""
        self._record, self._fields = text, None

    def field(self, number: int) -> Value:
        """Return a field, or with 0 the record. Raises AwkError."""
        if number == 0:
            return Input(self.record())
        _check_field(number)
        fields = self._parted()
        return fields[number - 1] if number <= len(fields) else None

    def set_field(self, number: int, value: Value) -> None:
        """Set a field, or with 0 the record. Raises AwkError."""
        if number == 0:
            self.set_record(text_of(value, self.text("CONVFMT")))
            return
        _check_field(number)
        fields = self._parted()
        fields.extend(Input("") for _ in range(number - len(fields)))
        fields[number - 1] = value
        self._record = None

    def record(self) -> str:
        """Return the record as text."""
        if self._record is None:
            form = self.text("CONVFMT")
            said = (text_of(one, form) for one in self._fields or ())
            self._record = self.text("OFS").join(said)
        return self._record

    def _parted(self) -> list[Value]:
        if self._fields is None:
            found = fields_of(self.record(), self.text("FS"), lines_part=not self.text("RS"))
            self._fields = [Input(part) for part in found]
        return self._fields

    def _resize(self, count: int) -> None:
        _check_field(max(count, 0))
        fields = self._parted()
        del fields[max(count, 0) :]
        fields.extend(Input("") for _ in range(count - len(fields)))
        self._record = None


def _weight(value: Value) -> int:
    return len(value) if isinstance(value, str) else 0


def _check_field(number: int) -> None:
    if not 0 <= number <= MOST_FIELDS:
        raise AwkError(f"trying to access out of range field {number}")
