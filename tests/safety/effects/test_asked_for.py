"""Personal details on a screen are hidden, unless the operator's own words speak of them."""

import pytest

from agent.safety.redacting.let_through import letting_nothing_through
from agent.safety.redacting.redaction import redact
from agent.safety.redacting.requested_details import Detail, all_requested_in, requested_in, showing

NUMBER, ADDRESS, CARD = "+81 90 5555 0114", "hiro@example.org", "4111 1111 1111 1111"
SCREEN = f"Hiro, {NUMBER}, {ADDRESS}, {CARD}"


@pytest.mark.parametrize(
    "goal",
    [
        "Find Hiro's phone number",
        "Call Mum",
        "Suche die Telefonnummer von Hiro",
        "Trouve le numéro de téléphone de Hiro",
        "Busca el teléfono de Hiro",
        "Trova il numero di Hiro",
        "Qual é o número da Ana?",
        "Zoek het telefoonnummer van Hiro",
        "Znajdź numer telefonu",
        "Найди номер телефона",
        "Знайди номер телефону",
        "找到他的电话号码",
        "電話番号を調べて",
        "전화번호를 찾아줘",
        "ابحث عن رقم الهاتف",
        "फ़ोन नंबर ढूँढो",
        "หาเบอร์โทรศัพท์",
        "Tìm số điện thoại",
        "Telefon numarasını bul",
        "Etsi puhelinnumero",
        "Βρες τον αριθμό τηλεφώνου",
        "מצא את מספר הטלפון",
    ],
)
def test_a_goal_that_speaks_of_numbers_shows_them(goal: str) -> None:
    assert Detail.PHONE in requested_in(goal)


@pytest.mark.parametrize(
    "goal",
    [
        "Write a mail to Grace",
        "Schreib eine E-Mail",
        "Envía un correo",
        "Напиши письмо",
        "メールを書いて",
    ],
)
def test_a_goal_that_speaks_of_mail_shows_addresses(goal: str) -> None:
    assert Detail.EMAIL in requested_in(goal)


@pytest.mark.parametrize("goal", ["", "Turn on Bluetooth", "Order two mugs", "Écris une note"])
def test_other_goals_show_neither(goal: str) -> None:
    assert not requested_in(goal)


def test_only_what_was_asked_for_is_shown_and_never_a_card() -> None:
    assert NUMBER not in redact(SCREEN) and ADDRESS not in redact(SCREEN)
    with showing(lambda: all_requested_in(["Look around", "What is his number?"])):
        shown = redact(SCREEN)
        assert NUMBER in shown and ADDRESS not in shown and CARD not in shown
        with letting_nothing_through():
            assert NUMBER not in redact(SCREEN)
    assert NUMBER not in redact(SCREEN)
