"""Have one phone's channels go the ways that its passport says are best.

Not the choosing (`agent.devices.passport.choosing`). Invariants: a passport of another build, or of
another phone, changes nothing; one is taken up once, so what the channels learn afterwards counts;
a way that was not tried is tried as usual.
"""

import asyncio
from math import inf

from agent.devices.frames.fast_capture import QuickCaptures
from agent.devices.input.text_channel import TextChannel
from agent.devices.passport.passport import CaptureWay, Choices, InputWay, TreeWay
from agent.devices.passport.passport_file import PassportFolder
from agent.devices.scrcpy.control_input import WarmInput
from agent.devices.shell.profile import Profile
from agent.devices.trees.tree_provider import WarmTrees


class ChosenWays:
    """The channels of one phone that a passport speaks of.

    Args:
        passports: where they are kept; None: nothing is known of any phone.
        warm: None where the phone is driven without scrcpy.
    """

    def __init__(
        self,
        passports: PassportFolder | None,
        *,
        captures: QuickCaptures,
        trees: WarmTrees,
        warm: WarmInput | None,
        text: TextChannel,
    ) -> None:
        self._passports = passports
        self._captures = captures
        self._trees = trees
        self._warm = warm
        self._text = text
        self._made_ms = 0
        """Of the passport that was taken up; 0: none was."""

    def forget(self) -> None:
        """Look again: the phone came back and may be another build; its channels forgot too."""
        self._made_ms = 0

    async def take_up(self, serial: str, profile: Profile) -> None:
        """Take up the newest passport of this build, unless that was done."""
        if self._passports is None:
            return
        phone = profile.phone or serial
        passport = await asyncio.to_thread(self._passports.load, phone)
        if passport is None or not passport.is_of(phone, profile.fingerprint):
            return
        if passport.made_ms != self._made_ms:
            self._made_ms = passport.made_ms
            self._go(passport.choices)

    def _go(self, choices: Choices) -> None:
        if choices.capture_ms:
            self._captures.expect(choices.capture_ms / 1000)
        elif choices.capture is CaptureWay.VIDEO:
            self._captures.expect(inf)
        fails = TreeWay.SERVICE in choices.trees_failing
        self._trees.avoid_service(fails and choices.tree is TreeWay.DUMP)
        self._text.prefer(choices.text)
        if self._warm is not None:
            works = choices.input is not None
            self._warm.avoid(
                socket=works and InputWay.CONTROL in choices.inputs_failing,
                cold=works and InputWay.SHELL in choices.inputs_failing,
            )
