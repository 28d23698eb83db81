"""Typed text arrives exactly: through a real shell and Android's rule for `%s`."""

import base64
import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.input.field_verify import difference, has_arrived
from agent.devices.input.input_methods import KNOWN, InputMethod
from agent.devices.input.input_text import COMMAND_LIMIT_BYTES, check, commands, has_keys, quote
from agent.errors import TextEntryError

ASCII = st.text(st.sampled_from([chr(code) for code in range(32, 127)] + ["\n", "%", "s", "'"]))


def android_input_text(argument: str) -> str:
    """Do what AOSP's `InputShellCommand.sendText` does with its argument: `%s` is a space."""
    typed: list[str] = []
    escaped = False
    for character in argument:
        if escaped and character == "s":
            typed[-1] = " "
            escaped = False
            continue
        typed.append(character)
        escaped = character == "%"
    return "".join(typed)


def typed_by(lines: list[str]) -> str:
    """Run command lines as a phone would and give what its field then holds."""
    typed = ""
    for line in lines:
        words = shlex.split(line)
        steps: list[list[str]] = [[]]
        for word in words:
            if word == "&&":
                steps.append([])
            else:
                steps[-1].append(word)
        for step in steps:
            if step[:2] == ["input", "text"]:
                assert len(step) == 3
                assert " " not in step[2]
                typed += android_input_text(step[2])
            else:
                assert step == ["input", "keyevent", "66"]
                typed += "\n"
    return typed


@given(ASCII)
def test_ascii_arrives_exactly(text: str) -> None:
    assert typed_by(commands(text, sdk=34)) == text


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=60))
def test_every_character_arrives_where_the_phone_takes_them(text: str) -> None:
    assert typed_by(commands(text, sdk=34)) == text


@settings(max_examples=25)
@given(st.text(st.sampled_from("ab '\"\\$`!;|&<>(){}[]*?~#%\té世"), max_size=40))
def test_a_real_shell_gives_the_quoted_text_back(text: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"printf %s {quote(text)}"], capture_output=True, check=True
    )
    assert done.stdout.decode() == text


@pytest.mark.parametrize("text", ["100%s", "%s", "%%s", "%s%s", "a %s b", "%", "%%", "s%", " "])
def test_a_literal_percent_s_stays_what_it_is(text: str) -> None:
    assert typed_by(commands(text, sdk=34)) == text


def test_ten_thousand_characters_go_in_commands_that_old_phones_take() -> None:
    text = 'It\'s 100%s of $HOME; `x` "y"\n' * 350
    lines = commands(text, sdk=34)
    assert typed_by(lines) == text
    assert max(len(line.encode()) for line in lines) <= COMMAND_LIMIT_BYTES


def test_what_has_no_key_is_known_beforehand() -> None:
    assert has_keys("a b\n~", unicode_input=False)
    assert not has_keys("naïve", unicode_input=False)
    assert has_keys("naïve", unicode_input=True)
    assert not has_keys("a\tb", unicode_input=True)


@pytest.mark.parametrize("character", ["\r", "\x00", "\x1b", "\x7f", "\x85", "\ud800"])
def test_control_characters_are_refused_everywhere(character: str) -> None:
    with pytest.raises(TextEntryError, match="U\\+"):
        check("phone", f"a{character}b")
    check("phone", "a\tb\nc")


def test_before_android_8_file_name_patterns_meet_an_empty_folder() -> None:
    (line,) = commands("*?[a]", sdk=19)
    assert line.startswith("mkdir -p /data/local/tmp/")
    assert "rmdir" in line
    (plain,) = commands("abc", sdk=19)
    assert plain == "input text 'abc'"


@pytest.mark.parametrize("method", KNOWN, ids=lambda method: method.name)
@given(text=st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=1200))
def test_an_input_methods_intent_carries_the_whole_text(method: InputMethod, text: str) -> None:
    lines = method.commands(text)
    assert "".join(base64.b64decode(shlex.split(line)[-1]).decode() for line in lines) == text
    assert max(len(line) for line in lines) < COMMAND_LIMIT_BYTES


@given(st.text(max_size=40), st.text(min_size=1, max_size=20), st.data())
def test_text_put_anywhere_into_a_field_or_over_a_selection_has_arrived(
    before: str, typed: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(before)))
    end = data.draw(st.integers(start, len(before)))
    assert has_arrived(before, typed, before[:start] + typed + before[end:])


@given(st.text("abc", max_size=12), st.text("abc", min_size=1, max_size=12), st.data())
def test_text_that_lost_or_gained_a_character_has_not_arrived(
    before: str, typed: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(typed) - 1))
    assert not has_arrived(before, typed + "!", before + typed)
    assert not has_arrived(before, typed, before + typed[:at] + "x" + typed[at:] + "?")


def test_a_difference_is_told_in_numbers_and_quotes_nothing() -> None:
    assert difference("", "secret", "secXet") == (
        "the field holds 6 characters of 6, and the first 3 are right"
    )
    assert difference("old", "secret", "old") == "the field holds what it held before"
    assert difference("a", "secret", "asec").startswith("the field holds 3 characters of 6")
