"""A monkey at the phone: whatever is tapped, typed and swiped, no app fails and nothing is lost."""

import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from support.hand import new_phone
from virtual_phone.input import keycodes
from virtual_phone.phone import Phone
from virtual_phone.ui.bind import walk
from virtual_phone.ui.views import Kind, View

TYPED = (
    "milk",
    "12.50",
    "🎉👨‍👩‍👧",
    "世界",
    "\x00\x1b[31m",
    "a" * 300,
    "line\nline",
    "'; --",
    "\ud800",
)


def targets(phone: Phone) -> list[View]:
    return [
        view
        for surface in phone.compositor.scene().surfaces
        for view in walk(surface.root)
        if view.acts and not view.clip.empty
    ]


async def step(phone: Phone, rng: random.Random) -> None:
    """Do one thing at random, without the waiting that hands do."""
    what = rng.random()
    x, y = rng.uniform(0, phone.displays.width), rng.uniform(0, phone.displays.height)
    if what < 0.62 and (found := targets(phone)):
        view = rng.choice(found)
        x, y = (view.clip.left + view.clip.right) / 2, (view.clip.top + view.clip.bottom) / 2
        phone.gestures.finger("down", 0, x, y)
        phone.gestures.finger("up", 0, x, y)
        if view.kind is Kind.FIELD:
            phone.keys.type_text(rng.choice(TYPED))
    elif what < 0.72:
        phone.gestures.finger("down", 0, x, y)
        phone.gestures.finger("move", 0, x + rng.uniform(-600, 600), y + rng.uniform(-900, 900))
        phone.gestures.finger("up", 0, x, y)
    elif what < 0.78:
        for view in targets(phone):
            if view.on_long_click is not None and rng.random() < 0.3:
                phone.run(view.on_long_click, phone.compositor.scene().focused())
                break
    elif what < 0.9:
        phone.keys.press(
            rng.choice(
                [
                    keycodes.BACK,
                    keycodes.ENTER,
                    keycodes.DEL,
                    keycodes.TAB,
                    keycodes.DPAD_DOWN,
                    keycodes.DPAD_LEFT,
                    keycodes.PAGE_DOWN,
                    keycodes.VOLUME_UP,
                ]
            )
        )
    else:
        phone.keys.type_text(rng.choice(TYPED))


@pytest.mark.parametrize(
    "package",
    [info.package for info in Phone(Path("/nonexistent")).packages if info.launcher_activity],
)
async def test_no_app_fails_whatever_is_done_to_it(package: str, tmp_path: Path) -> None:
    rng = random.Random(package)
    phone = new_phone(tmp_path)
    phone.settings.put("global", "transition_animation_scale", "0")
    failed: list[str] = []
    phone.prompts.crash = lambda package, hangs=False: failed.append(package)  # type: ignore[method-assign]
    for i in range(80):
        if i % 16 == 0:
            phone.activities.launch(package)
        await step(phone, rng)
        assert not failed
        if i % 5 == 0 and phone.power.screen_on:
            ElementTree.fromstring(phone.windows.dump())
            phone.compositor.paint(phone.compositor.scene(), 164, 364)
    taken = phone.snapshot()
    phone.restore(taken)
    assert phone.snapshot() == taken
    phone.close()
