"""Typed text arrives exactly: through a real shell and Android's rule for `%s`."""

from __future__ import annotations

import base64
import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.text_entry import COMMAND_LIMIT_BYTES, commands, keyboard_commands, quote
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
    assert typed_by(commands("phone", text, unicode_input=False, sdk=34)) == text


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=60))
def test_every_character_arrives_where_the_phone_takes_them(text: str) -> None:
    assert typed_by(commands("phone", text, unicode_input=True, sdk=34)) == text


@settings(max_examples=25)
@given(st.text(st.sampled_from("ab '\"\\$`!;|&<>(){}[]*?~#%\té世"), max_size=40))
def test_a_real_shell_gives_the_quoted_text_back(text: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"printf %s {quote(text)}"], capture_output=True, check=True
    )
    assert done.stdout.decode() == text


@pytest.mark.parametrize("text", ["100%s", "%s", "%%s", "%s%s", "a %s b", "%", "%%", "s%", " "])
def test_a_literal_percent_s_stays_what_it_is(text: str) -> None:
    assert typed_by(commands("phone", text, unicode_input=False, sdk=34)) == text


def test_ten_thousand_characters_go_in_commands_that_old_phones_take() -> None:
    text = 'It\'s 100%s of $HOME; `x` "y"\n' * 350
    lines = commands("phone", text, unicode_input=False, sdk=34)
    assert typed_by(lines) == text
    assert max(len(line.encode()) for line in lines) <= COMMAND_LIMIT_BYTES


def test_non_ascii_is_refused_where_it_cannot_arrive_and_says_what_to_install() -> None:
    with pytest.raises(TextEntryError, match="ASCII") as caught:
        commands("phone", "naïve", unicode_input=False, sdk=34)
    assert "U+00EF" in caught.value.message
    assert "ADBKeyBoard" in caught.value.remedy


@pytest.mark.parametrize("character", ["\t", "\r", "\x00", "\x1b", "\x7f", "\x85", "\ud800"])
def test_control_characters_are_refused_everywhere(character: str) -> None:
    for unicode_input in (False, True):
        with pytest.raises(TextEntryError, match="U\\+"):
            commands("phone", f"a{character}b", unicode_input=unicode_input, sdk=34)


def test_before_android_8_file_name_patterns_meet_an_empty_folder() -> None:
    (line,) = commands("phone", "*?[a]", unicode_input=False, sdk=19)
    assert line.startswith("mkdir -p /data/local/tmp/")
    assert "rmdir" in line
    (plain,) = commands("phone", "abc", unicode_input=False, sdk=19)
    assert plain == "input text 'abc'"


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=1200))
def test_the_keyboard_intent_carries_the_whole_text(text: str) -> None:
    parts = [shlex.split(line)[-1] for line in keyboard_commands("phone", text)]
    assert "".join(base64.b64decode(part).decode() for part in parts) == text
