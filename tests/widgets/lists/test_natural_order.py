"""Names that hold numbers stand in the order that a reader expects."""

from hypothesis import given
from hypothesis import strategies as st

from agent.protocol import DeviceChanged
from console.palette.handles import handles
from tests.console.fakes import FakeCore, phone
from widgets.base.formatting import natural
from widgets.lists.session_rows import device_rows

NAMES = [f"phone-{number}" for number in range(1, 13)]


def test_phone_2_comes_before_phone_10_wherever_phones_are_listed() -> None:
    core = FakeCore()
    for name in sorted(NAMES):
        core.tell(DeviceChanged(device=phone(name, model=name)))
    assert [row.key for row in device_rows(core.state)] == NAMES
    assert handles(core.state.devices) == [f"@{name}" for name in NAMES]


@given(st.lists(st.text(st.sampled_from("0123456789٣aB:.-é"), max_size=30)))
def test_any_names_have_an_order_whatever_their_digits(names: list[str]) -> None:
    assert sorted(sorted(names, key=natural), key=natural) == sorted(names, key=natural)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_numbers_are_ordered_as_numbers(one: int, other: int) -> None:
    assert (natural(f"a{one}") < natural(f"a{other}")) is (one < other)


def test_more_digits_than_python_reads_as_a_number_are_sorted_too() -> None:
    assert natural("9" * 10_000) > natural("1" * 10_000)
