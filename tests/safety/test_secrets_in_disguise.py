"""Secrets are found however they are written, and numbers that are none stay."""

import random
import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.language.normal_form import normal_form
from agent.loop.acting.acts import stored_acts
from agent.protocol import Event, ToolCallRequested
from agent.safety.capabilities import Decision
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.texts import judge_text
from agent.safety.redacting.finding import Kind, find
from agent.safety.redacting.numbers import card_lengths, passes_luhn
from agent.safety.redacting.redaction import find_secrets, redact, redact_secrets
from agent.safety.redacting.secrets import is_secret_field
from agent.safety.typed_text import TypedText
from tests.safety.buttons import element

CARDS = (
    *("4111111111111111", "5555555555554444", "378282246310005", "6011111111111117"),
    *("3530111333300000", "30569309025904", "2223003122003222", "6200000000000005"),
    *("6759649826438453", "4222222222222", "2200000000000004"),
)
ZEROS = tuple(
    chr(code)
    for code in range(0x20000)
    if unicodedata.category(chr(code)) == "Nd" and unicodedata.decimal(chr(code)) == 0
)
"""The zero of every script, all of which are in the first two planes; the other nine follow."""


def normal(sign: str) -> str:
    return normal_form(sign).text


INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u0301\ufe0f\u20e3\u2062\u061c\u180e"
SEPARATORS = st.text(
    st.characters(
        exclude_categories=("Cs", "L", "N", "Cc"), exclude_characters="\u202e\u202c"
    ).filter(lambda sign: not any(map(str.isdigit, normal(sign)))),
    max_size=4,
)
"""Signs that are read as numbers, as those of the hours, are none."""


@given(st.sampled_from(CARDS), st.data())
def test_a_card_is_found_whatever_stands_between_its_digits(card: str, data: st.DataObject) -> None:
    zero = ord(data.draw(st.sampled_from(ZEROS)))
    written = "".join(
        chr(zero + int(digit))
        + data.draw(st.text(INVISIBLE, max_size=2))
        + data.draw(st.one_of(st.just(""), SEPARATORS))
        for digit in card
    )
    assert judge_text(written).decision is Decision.BLOCK
    left = redact_secrets(f"buy it with {written}")
    assert "[CARD REDACTED]" in left
    assert not any(c.isdecimal() for c in left)


def test_a_sign_that_is_made_of_letters_stands_between_digits_as_any_other() -> None:
    for sign in map(chr, range(0x110000)):
        if unicodedata.category(sign)[0] in "SPZ" and not any(map(str.isdigit, normal(sign))):
            assert "[CARD REDACTED]" in redact_secrets(f"card 4{sign}111 1111 1111 1111"), sign


@given(st.integers(10**8, 10**21 - 1), st.sampled_from(("parcel {}", "{}", "Nr. {} kommt", "№{}")))
def test_a_number_is_no_secret_by_its_length(number: int, said: str) -> None:
    digits = str(number)
    is_card = len(digits) in card_lengths(digits[:6]) and passes_luhn(digits)
    text = said.format(digits)
    assert find_secrets(text) == () or is_card
    assert is_card or redact(text) == text


def test_a_numero_sign_makes_no_account_of_the_number_after_it() -> None:
    assert redact("№4378769881928") == "№4378769881928"
    assert "IBAN" in redact("NO93 8601 1117 947")


def test_random_parcel_numbers_stay_as_they_are() -> None:
    rng = random.Random(7)
    for _ in range(500):
        digits = "".join(rng.choices("0123456789", k=rng.choice((9, 10, 11, 12, 20, 22))))
        for text in (digits, f"Parcel 00{digits}", f"1Z{digits}", f"RB{digits[:9]}CN"):
            if len(digits) not in card_lengths(digits[:6]):
                assert redact_secrets(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Password is swordfish",
        "PASSWORD = x",
        "my passwоrd is Hunter2",  # with a Cyrillic letter
        "pass\u200bword: hunter",
        "PIN: 2580",
        "the pin for the red card is 2580",
        "2580 is my PIN",
        "mPIN 123456",
        "otp 482911",
        "OTP: AB12CD",
        "G-482911 is your verification code",
        "482 911 is the one-time code",
        "Passwort: geheim",
        "Mein Bankpasswort lautet Sommer2024!",
        "Geheimzahl 2580",
        "mot de passe : soleil",
        "code de vérification : 123 456",
        "la contraseña es perro123",
        "código de verificación 123456",
        "password: sole",
        "codice di verifica 123456",
        "senha: abacaxi",
        "wachtwoord: fiets",
        "hasło: rower",
        "kod weryfikacyjny 123456",
        "şifre: abc",
        "doğrulama kodu 123456",
        "пароль: qwerty",
        "код подтверждения 123456",
        "пароль — Qwerty12",
        "код підтвердження 123456",
        "kata sandi: abc",
        "kode verifikasi 123456",
        "mật khẩu: abc",
        "mã xác minh 123456",
        "密码是hunter2",
        "密码：2580",
        "驗證碼 123456",
        "パスワードは abc123",
        "暗証番号 2580",
        "認証コード：123456",
        "비밀번호는 hunter22",
        "인증번호 123456",
        "كلمة المرور: abc123",
        "رمز التحقق ١٢٣٤٥٦",
        "पासवर्ड: abc",
        "सत्यापन कोड 123456",
        "รหัสผ่าน: abc",
        "รหัสยืนยัน 123456",
        "סיסמה: abc",
        "קוד אימות 123456",
        "SSN 123456789",
        "my social security number is 123 45 6789",
        "123•45•6789",
        "cvv 123",
        "Prüfziffer: 123",
        "token ghp_abcdefghijklmnopqrstuvwxyz0123",
    ],
)
def test_a_secret_is_known_by_what_is_said_beside_it(text: str) -> None:
    assert find_secrets(text), text
    assert judge_text(text).decision is not Decision.ALLOW
    left = redact_secrets(f"{text} .")
    assert "REDACTED]" in left
    for secret in ("swordfish", "2580", "482911", "123456", "geheim", "abc123", "unter2"):
        assert secret not in left
    assert redact_secrets(left) == left


@pytest.mark.parametrize(
    "text",
    [
        *("Forgot password?", "Password required", "Your password is wrong", "Show password"),
        *("Password: ••••••••", "Das Passwort ist falsch", "Le mot de passe est incorrect"),
        *("PIN must have 4 to 6 digits", "Enter your PIN", "opinion: 12345", "shopping 12345"),
        *(
            "パスワードを忘れた場合",
            "忘记密码？",
            "비밀번호 찾기",
            "Забыли пароль?",
            "Şifremi unuttum",
        ),
        *("2026-11-22 18:50:03 – 2026-11-22 19:10:00", "Order 4111111111111112", "A 12-34-5678"),
        *(
            "000-12-3456",
            "666-12-3456",
            "123-00-4567",
            "12:30, 45 % and 2026",
            "DE89 is no account",
        ),
        *("Pin this chat", "Tan boots, size 42", "Code review at 10:30", "3.1415926535897932384"),
    ],
)
def test_an_ordinary_sentence_is_no_secret(text: str) -> None:
    assert find_secrets(text) == ()
    assert redact_secrets(text) == text


@given(st.text(max_size=200))
def test_redacting_any_text_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once) == once
    places = [(one.start, one.end) for one in find(text)]
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(end <= start for (_, end), (start, _) in pairwise(places))


@pytest.mark.parametrize(
    "part",
    [
        *("7 ", "4 ", "4111 ", "1-", "\u200b4", "123-45-6789 ", "+1 1", "x@", "DE89 "),
        *("password is ", "pin ", "otp a b c d e ", "the password for the ", "9 is your "),
        *("密码", "пароль ", "eyJabcdefghij.", "-----BEGIN ", "\u202e4 ", "Password: "),
    ],
)
def test_a_hostile_text_takes_time_by_its_length_alone(part: str) -> None:
    def took_s(chars: int) -> float:
        text = part * (chars // len(part))
        began = time.process_time()
        redact(text)
        return time.process_time() - began

    # Ten times the text: forty times the time at the most, and the machine may be loaded.
    assert took_s(100_000) < max(40 * took_s(10_000), 2.0)


# --- in pieces ----------


def typing(text: str, *, key: str = "note", value: str = "", clear: bool = False) -> Act:
    field = element("Note", key=key, editable=True, value=value)
    return Act(kind=ActKind.TYPE, element=field, text=text, clear=clear)


@given(st.sampled_from(CARDS), st.data())
def test_a_card_in_pieces_is_found_before_its_last_piece(card: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, len(card) - 1), min_size=1, max_size=5)))
    pieces = [card[a:b] for a, b in zip([0, *cuts], [*cuts, len(card)], strict=True)]
    typed = TypedText()
    for number, piece in enumerate(pieces[:-1]):
        act = typing(piece, key=f"field {number}")
        assert Kind.CARD not in typed.completes(act)
        typed.add(act)
    assert Kind.CARD in typed.completes(typing(pieces[-1], key="the last"))


def test_what_a_field_holds_is_judged_with_the_text_that_comes_to_it() -> None:
    typed = TypedText()
    assert typed.completes(typing("1111", value="4111 1111 1111 ")) == {Kind.CARD}
    assert typed.completes(typing("4111", value=" 1111 1111 1111")) == {Kind.CARD}
    assert typed.completes(typing("1111", value="4111 1111 1111 ", clear=True)) == frozenset()
    assert typed.completes(typing("swordfish", value="Password: ")) == {Kind.PASSWORD}


def test_digits_pressed_on_a_pad_make_a_card_too() -> None:
    typed = TypedText()
    for digit in "411111111111111":
        act = Act(kind=ActKind.PRESS, element=element(digit))
        assert typed.completes(act) == frozenset()
        typed.add(act)
    assert typed.completes(Act(kind=ActKind.PRESS, element=element("1"))) == {Kind.CARD}


def test_what_an_earlier_turn_typed_counts_too() -> None:
    def requested(text: str) -> Event:
        return Event(
            event_id=1,
            session_id="s-1",
            seq=1,
            ts_ms=1,
            msg=ToolCallRequested(
                step=1, call_id="c", tool="type_text", arguments=f'{{"text": "{text}"}}'
            ),
        )

    typed = TypedText.of([requested("4111 1111"), requested("1111 ")], stored_acts)
    assert typed.completes(typing("1111")) == {Kind.CARD}
    assert typed.completes(typing("1112")) == frozenset()


def test_a_text_that_was_replaced_counts_no_more() -> None:
    typed = TypedText()
    typed.add(typing("4111 1111 1111"))
    assert typed.completes(typing("1111", clear=True)) == frozenset()


@pytest.mark.parametrize(
    "label",
    [
        *(
            "Password",
            "Passwort eingeben",
            "Mot de passe",
            "Contraseña",
            "Пароль",
            "密码",
            "暗証番号",
        ),
        *(
            "비밀번호",
            "كلمة المرور",
            "पासवर्ड",
            "รหัสผ่าน",
            "סיסמה",
            "Verification code",
            "PIN",
            "TAN",
        ),
    ],
)
def test_a_field_for_a_secret_is_known_in_every_language(label: str) -> None:
    assert is_secret_field(element(label, editable=True))


@pytest.mark.parametrize("label", ["Search", "Search passwords", "Note", "Pin this", "Tan boots"])
def test_a_field_for_anything_else_is_none(label: str) -> None:
    assert not is_secret_field(element(label, editable=True))


def test_keys_that_are_pressed_together_and_what_is_copied_count_as_pieces() -> None:
    typed = TypedText()
    keys = [Act(kind=ActKind.PRESS, element=element(digit)) for digit in "4111111111111111"]
    assert typed.completes_by(keys[:-1]) == frozenset()
    assert typed.completes_by(keys) == {Kind.CARD}
    typed.add(Act(kind=ActKind.COPY, text="4111 1111 1111 "))
    assert typed.completes(Act(kind=ActKind.COPY, text="1111")) == {Kind.CARD}
