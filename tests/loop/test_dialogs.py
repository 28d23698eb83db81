"""The system's dialogs are named; an app's own windows are not taken for them."""

import pytest

from agent.loop.screen.system_dialogs import dialog_note
from agent.records import Bounds, Element, Foreground, Observation


def screen(*labels: str, package: str = "com.app", count: int = 0) -> Observation:
    made = [*labels, *(f"item {n}" for n in range(count))]
    bounds = Bounds(left=0, top=0, right=1, bottom=1)
    return Observation(
        started_ms=1,
        ended_ms=2,
        foreground=Foreground(package="com.app"),
        elements=tuple(
            Element(number=n, key=str(n), kind="btn", label=label, bounds=bounds, package=package)
            for n, label in enumerate(made, 1)
        ),
    )


@pytest.mark.parametrize(
    ("seen", "word"),
    [
        (
            screen("While using the app", package="com.google.android.permissioncontroller"),
            "permission",
        ),
        (screen("Install", package="com.android.packageinstaller"), "installer"),
        (screen("Shop keeps stopping", "App info", "Close app", package="android"), "crashed"),
        (screen("Shop isn't responding", "Close app", "Wait", package="android"), "hangs"),
        (screen("System update available", "Later", package="android"), "update"),
    ],
)
def test_a_dialog_of_the_system_is_named(seen: Observation, word: str) -> None:
    assert word in dialog_note(seen)


@pytest.mark.parametrize(
    "seen",
    [
        screen("Software update", "Later"),
        screen("The bus has stopped", "Route"),
        screen("System update", package="android", count=20),
        screen(),
    ],
)
def test_an_apps_own_window_is_none(seen: Observation) -> None:
    assert dialog_note(seen) == ""
