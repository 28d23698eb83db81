"""Which keys are words without a field, by the time and the field that a test gives."""

from textual.events import Key, MouseDown, Paste

from console.input.stray_words import PAUSE_S, Hands, StrayWords


class Typist:
    """Press keys at times, with or without a field; `taken` is what nothing else got."""

    def __init__(self) -> None:
        self.at = Hands.NOWHERE
        self.said: list[str] = []
        self.words = StrayWords(lambda: self.at, self.said.append)
        self.now_s = 100.0

    def press(self, name: str, after_s: float = 0.1) -> bool:
        self.now_s += after_s
        key = Key(name, name if len(name) == 1 else None)
        key.time = self.now_s
        taken = self.words.takes(key)
        self.words.rest()
        return taken

    def open_for(self, *, comes: bool) -> None:
        """Press a key that opens a field."""
        self.now_s += 1e3
        key = Key("r", "r")
        key.time = self.now_s
        assert not self.words.takes(key)
        self.words.expect()
        self.at = Hands.IN_FIELD if comes else Hands.NOWHERE
        self.words.rest()


def test_words_behind_a_field_that_did_not_open_are_taken_until_enter() -> None:
    hands = Typist()
    hands.open_for(comes=False)
    assert [hands.press(one) for one in "xpc"] == [True] * 3
    assert hands.press("backspace")
    assert hands.press("enter")
    assert not hands.press("x")
    assert len(hands.said) == 1


def test_a_pause_ends_it() -> None:
    hands = Typist()
    hands.open_for(comes=False)
    assert hands.press("x")
    assert not hands.press("x", after_s=PAUSE_S + 0.1)
    assert not hands.press("x")


def test_a_key_after_a_pause_is_none_of_them() -> None:
    hands = Typist()
    hands.open_for(comes=False)
    assert not hands.press("x", after_s=PAUSE_S + 0.1)


def test_esc_alone_does_what_it_does() -> None:
    hands = Typist()
    hands.open_for(comes=False)
    assert not hands.press("escape")
    assert not hands.press("x")


def test_a_key_that_is_no_word_is_no_word() -> None:
    hands = Typist()
    hands.open_for(comes=False)
    assert hands.press("x")
    assert not hands.press("down")
    assert not hands.press("x")


def test_words_whose_field_closed_under_the_hands_are_taken() -> None:
    hands = Typist()
    hands.open_for(comes=True)
    assert not hands.press("p")
    hands.at = Hands.NOWHERE
    assert hands.press("l")
    assert hands.press("x")


def test_a_field_that_a_key_closed_takes_nothing_more() -> None:
    hands = Typist()
    hands.open_for(comes=True)
    hands.now_s += 0.1
    sent = Key("enter", None)
    sent.time = hands.now_s
    assert not hands.words.takes(sent)
    hands.at = Hands.NOWHERE
    hands.words.rest()
    assert not hands.press("x")


def test_the_mouse_ends_it_and_a_paste_does_not() -> None:
    hands = Typist()
    hands.open_for(comes=False)
    pasted = Paste("x p")
    pasted.time = hands.now_s
    assert hands.words.takes(pasted)
    pressed = MouseDown(None, 1, 1, 0, 0, 1, False, False, False)
    pressed.time = hands.now_s
    assert not hands.words.takes(pressed)
    assert not hands.press("x")


def test_what_was_typed_for_a_card_that_has_gone_answers_and_opens_nothing() -> None:
    hands = Typist()
    hands.at = Hands.AT_CARD
    assert not hands.press("j")
    hands.at = Hands.NOWHERE
    assert hands.press("enter")
    assert [hands.press(one) for one in "xpc"] == [True] * 3


def test_enter_after_a_key_that_found_no_card_opens_nothing() -> None:
    hands = Typist()
    assert not hands.press("!", after_s=1e3)
    hands.words.expect_card()
    assert hands.press("enter")
    assert hands.press("x")
    assert hands.press("enter")
    assert not hands.press("x")


def test_another_key_after_one_that_found_no_card_is_what_it_is() -> None:
    hands = Typist()
    assert not hands.press("!", after_s=1e3)
    hands.words.expect_card()
    assert not hands.press("x")
