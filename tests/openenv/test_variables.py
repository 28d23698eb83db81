"""The variables of android_env: their defaults, and what is refused by name."""

import pytest

from agent.errors import ConfigError
from console.openenv.variables import ImageFormat, read_variables


def test_the_variables_of_android_env_have_their_defaults() -> None:
    found = read_variables({})
    assert (found.image_format, found.image_quality, found.looks) == (ImageFormat.JPEG, 85, "both")
    found = read_variables({"ANDROID_IMAGE_FORMAT": "png", "ANDROID_IMAGE_QUALITY": "50"})
    assert (found.image_format, found.image_quality) == (ImageFormat.PNG, 50)


def test_virtual_phones_are_in_process_unless_told_otherwise_and_emulators_never() -> None:
    assert read_variables({}).in_process
    assert not read_variables({"SWITCHBOARD_ENV_WAY": "ADB"}).in_process
    assert not read_variables({"ANDROID_AVD_NAME": "pixel_6"}).in_process


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ANDROID_IMAGE_FORMAT", "WEBP"),
        ("ANDROID_IMAGE_QUALITY", "101"),
        ("ANDROID_IMAGE_QUALITY", "high"),
        ("ANDROID_RUN_HEADLESS", "false"),
        ("SWITCHBOARD_ENV_LOOKS", "nothing"),
        ("SWITCHBOARD_ENV_WAY", "telepathy"),
    ],
)
def test_a_variable_that_cannot_be_followed_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name) as refused:
        read_variables({name: value})
    assert refused.value.remedy
