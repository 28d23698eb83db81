"""A hand for tests: find what is on a phone's screen by its words and act on it."""

import asyncio
from pathlib import Path

from virtual_phone.phone import Phone
from virtual_phone.ui.bind import walk
from virtual_phone.ui.views import View

NOON = 1_795_262_400.0  # A fixed time for tests, in seconds since the epoch: noon UTC.


def new_phone(home: Path, seed: int = 0) -> Phone:
    """Return a fresh phone whose clock stands still at noon."""
    return Phone(home, name="test-phone", seed=seed, clock=lambda: NOON)


class Hand:
    """Tap and look at a phone by the words on its screen."""

    def __init__(self, phone: Phone) -> None:
        self.phone = phone

    def see(self, words: str) -> View | None:
        """Return the topmost visible view with this text, description, hint, id or key."""
        for surface in reversed(self.phone.compositor.scene().surfaces):
            found = [
                view
                for view in walk(surface.root)
                if not view.clip.empty
                and words in (view.text, view.desc, view.hint, view.id, view.key)
            ]
            if found:
                return found[0]
        return None

    def view(self, words: str) -> View:
        """Return a view that must be there."""
        view = self.see(words)
        assert view is not None, f"{words!r} is not on the screen: {self.words()}"
        return view

    def words(self) -> list[str]:
        return [
            view.text or view.desc
            for surface in self.phone.compositor.scene().surfaces
            for view in walk(surface.root)
            if (view.text or view.desc) and not view.clip.empty
        ]

    async def tap(self, words: str) -> None:
        """Tap a view in its middle and wait until the screen is still."""
        clip = self.view(words).clip
        await self.phone.gestures.tap((clip.left + clip.right) / 2, (clip.top + clip.bottom) / 2)
        await self.phone.animations.wait_idle()

    async def tap_last(self, words: str) -> None:
        """Tap the last view with this text, such as a dialog's button."""
        found = [
            view
            for surface in self.phone.compositor.scene().surfaces
            for view in walk(surface.root)
            if view.text == words and not view.clip.empty
        ]
        clip = found[-1].clip
        await self.phone.gestures.tap((clip.left + clip.right) / 2, (clip.top + clip.bottom) / 2)
        await self.phone.animations.wait_idle()

    async def hold(self, words: str) -> None:
        clip = self.view(words).clip
        x, y = (clip.left + clip.right) / 2, (clip.top + clip.bottom) / 2
        await self.phone.gestures.long_press(x, y, 560)
        await self.phone.animations.wait_idle()

    async def open(self, package: str) -> None:
        """Start an app as its icon does."""
        self.phone.activities.launch(package)
        await self.phone.animations.wait_idle()
        await self.loaded()

    async def loaded(self) -> None:
        """Wait until the page in front has what it shows."""
        async with asyncio.timeout(30):
            while self.see("Loading") is not None:
                await self.phone.compositor.wait_newer(self.phone.compositor.version)
