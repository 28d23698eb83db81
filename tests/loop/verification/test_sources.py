"""Each value of a result is found on the screen that it was read from, or said to be on none."""

import pytest

from agent.loop.verification.sources import missing, sources_of
from tests.loop.paper_phone import button, node
from tests.loop.verification.screens import stored

SCREENS = (
    stored(2, node("Balance | $1,284.50", (0.1, 0.1, 0.9, 0.15))),
    stored(
        3, node("Saldo: 1.284,50 €", (0.1, 0.1, 0.9, 0.15)), button("Order 1042 | 3 items", 0.3)
    ),
    stored(
        5,
        button("Bluetooth", 0.3, checkable=True, checked=True, class_name="Switch"),
        button("Airplane mode | Off", 0.5),
    ),
)


@pytest.mark.parametrize(
    ("value", "step"),
    [
        (1284.5, 3),
        ("$1,284.50", 2),
        (1042, 3),
        ("order 1042", 3),
        (3, 3),
        (284, 0),
        (50, 0),
        (4, 0),
        ("Order 1043", 0),
        (10**40, 0),
        (-1e300, 0),
    ],
)
def test_a_value_is_found_however_a_screen_writes_it(value: object, step: int) -> None:
    (source,) = sources_of({"v": value}, SCREENS)
    assert (source.path, source.step) == ("$.v", step)


def test_a_truth_value_is_that_of_the_switch_or_the_line_of_its_name() -> None:
    said = {"bluetooth": True, "airplane_mode": False}
    assert [one.step for one in sources_of(said, SCREENS)] == [5, 5]
    assert missing(sources_of({"bluetooth": False, "wifi": True}, SCREENS)) == (
        "$.bluetooth",
        "$.wifi",
    )


def test_paths_lead_into_lists_and_what_claims_nothing_needs_no_source() -> None:
    said = {"rows": [{"id": 1042, "note": None, "tags": []}, {"id": 9, "note": " "}]}
    found = sources_of(said, SCREENS)
    assert [(one.path, one.step) for one in found] == [("$.rows[0].id", 3), ("$.rows[1].id", 0)]


@pytest.mark.parametrize(
    ("text", "value", "is_found"),
    [
        ("शेष ₹12,34,567.50", 1234567.5, True),
        ("الرصيد ١٬٢٨٤٫٥٠", 1284.5, True),
        ("Solde 1 284,50 €", 1284.5, True),
        ("Stand 1’284", 1284, True),
        ("½ litre", 0.5, True),
        ("1.2K views", 1200, True),
        ("1.2K views", 1234, False),
        ("12,34,567", 34567, False),
        ("π ≈ 3.14", 3.14159, True),
    ],
)
def test_a_number_is_its_value_in_any_script(text: str, value: float, is_found: bool) -> None:
    (source,) = sources_of({"v": value}, (stored(7, node(text, (0.1, 0.1, 0.9, 0.15))),))
    assert (source.step == 7) is is_found
