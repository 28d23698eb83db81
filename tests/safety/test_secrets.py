"""Secrets: hidden wherever they turn up, found by the field and not by the flag alone."""

import pytest

from agent.safety.redacting.redaction import passes_luhn, redact_secrets
from agent.safety.redacting.secrets import SECRET, Secrets, is_placeholder
from agent.safety.redacting.tree_redaction import redact_tree


def test_a_known_secret_is_hidden_wherever_it_stands() -> None:
    secrets = Secrets()
    secrets.add("hunter2!")
    assert secrets.hide("typed hunter2! and hunter2!") == f"typed {SECRET} and {SECRET}"


def test_the_longer_of_two_secrets_is_hidden_whole() -> None:
    secrets = Secrets()
    secrets.add("pass")
    secrets.add("password1")
    assert secrets.hide("password1") == SECRET


def test_a_text_too_short_to_be_told_from_others_is_not_hidden_everywhere() -> None:
    secrets = Secrets()
    secrets.add("12")
    assert secrets.hide("12 of 1234") == "12 of 1234"


@pytest.mark.parametrize("text", ["[SECRET]", "[PASSWORD REDACTED]", "<your password>", " [pin] "])
def test_a_stand_in_is_known(text: str) -> None:
    assert is_placeholder(text)


@pytest.mark.parametrize("text", ["password", "hunter2", "secret garden", "[todo]", ""])
def test_a_text_that_may_be_meant_is_no_stand_in(text: str) -> None:
    assert not is_placeholder(text)


@pytest.mark.parametrize(
    "number",
    [
        "4222222222222",  # 13 digits
        "30569309025904",  # 14, Diners
        "378282246310005",  # 15, American Express
        "5555555555554444",
        "6304000000000000",
        "6759649826438453",
        "62000000000000000",  # 17
        "6799990100000000019",  # 19, Maestro
    ],
)
def test_safety_cards_of_13_to_19_digits_are_taken_out(number: str) -> None:
    assert passes_luhn(number), number
    assert redact_secrets(f"card {number}.") == "card [CARD REDACTED]."


def test_safety_a_card_beside_its_expiry_date_is_taken_out() -> None:
    assert redact_secrets("4111 1111 1111 1111 12/27") == "[CARD REDACTED] 12/27"
    assert redact_secrets("2 x 4111-1111-1111-1111") == "2 x [CARD REDACTED]"


def test_an_order_number_that_is_no_card_stays() -> None:
    assert redact_secrets("order 4111111111111112") == "order 4111111111111112"


def test_keys_of_endpoints_are_taken_out() -> None:
    assert "abcdefgh" not in redact_secrets("sk-proj-abcdefghijklmnop1234")
    assert "abcdefgh" not in redact_secrets("Authorization: Bearer abcdefgh12345678")


def test_a_tree_loses_a_password_that_the_phone_shows() -> None:
    xml = (
        b'<hierarchy><node class="android.widget.EditText" password="false" '
        b'resource-id="com.x:id/login_password" text="correct horse" />'
        b'<node class="android.widget.TextView" text="it is battery staple" /></hierarchy>'
    )
    secrets = Secrets()
    secrets.add("battery staple")
    redacted = redact_tree(xml, secrets.hide)
    assert b"horse" not in redacted
    assert b"staple" not in redacted


def test_a_card_far_down_a_list_of_numbers_is_found_and_the_list_stays() -> None:
    assert "4111" not in redact_secrets("12 " * 400 + "4111 1111 1111 1111")
    endless = redact_secrets("7 " * 60_000 + "4111111111111111")
    assert endless == "7 " * 60_000 + "[CARD REDACTED]"


def test_an_attribute_that_stands_twice_in_a_tag_is_looked_at_both_times() -> None:
    tree = b'<node text="4111 1111 1111 1111" checked="true" text="ok" />'
    assert redact_tree(tree) == b'<node text="[CARD REDACTED]" checked="true" text="ok" />'


def test_a_secret_that_is_a_word_of_the_tree_itself_is_hidden_as_any_other() -> None:
    secrets = Secrets()
    secrets.add("false")
    tree = redact_tree(b'<node text="false" class="android.widget.TextView" />', secrets.hide)
    assert b"false" not in tree
