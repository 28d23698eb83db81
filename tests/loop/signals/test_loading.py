"""A screen is loading where it says so; a bar that shows a share of something says nothing."""

import pytest

from agent.loop.signals.loading import is_loading
from tests.loop.paper_phone import button, node

SPINNER = (0.45, 0.48, 0.55, 0.525)


@pytest.mark.parametrize("said", ["Loading", "Loading…", "loading...", "Please wait", "Загрузка"])
def test_a_text_that_says_no_more_than_that_is_loading(said: str) -> None:
    assert is_loading([node(said)])


@pytest.mark.parametrize("said", ["Loading zone ahead", "Please wait for your table", "", "Load"])
def test_a_text_that_says_more_is_not(said: str) -> None:
    assert not is_loading([node(said)])


def test_a_button_called_loading_is_no_sign() -> None:
    assert not is_loading([button("Loading", 0.4)])


def test_a_spinner_is_loading_and_a_flat_bar_or_one_with_a_text_is_not() -> None:
    bar = "android.widget.ProgressBar"
    assert is_loading([node(at=SPINNER, class_name=bar)])
    assert not is_loading([node(at=(0.1, 0.5, 0.9, 0.51), class_name=bar)])
    assert not is_loading([node("40 %", at=SPINNER, class_name=bar)])
    assert not is_loading([node(at=SPINNER, class_name="android.widget.SeekBar")])
