"""What a picture of one stream is worth now: live, static, stale, secure or unknown.

A still screen sends nothing, and neither does a phone that is gone or an encoder that hangs; this
tells them apart by asking. Invariants: a still picture is called static only while the phone, and
now and then its encoder, answer; a picture that cannot be vouched for is stale and keeps its age.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from agent.devices.facts.fact import Known, Unknown
from agent.devices.frames.capture_feed import SECURE_DETAIL, IsSecure, ask_secure, unsure_detail
from agent.devices.frames.subscribers import PictureStatus, Readers
from agent.devices.scrcpy import messages
from agent.devices.scrcpy.session import ScrcpySession
from agent.errors import DeviceError
from agent.records import FrameSource, FrameStatus

STATIC_AFTER_S = 0.5
PROBE_EVERY_S = 2.0
PROBE_TIMEOUT_S = 2.0
GIVE_UP_AFTER_S = 10.0
"""A phone that has not answered for so long is left to captures, which say why."""
KEY_FRAME_EVERY_S = 20.0
"""A still stream is asked for a key frame so often, because its encoder must answer as well."""
ACTION_GRACE_S = 1.0
"""An action that brought no picture in this time has the encoder asked whether it works."""
KEY_FRAME_TIMEOUT_S = 3.0
FIRST_PICTURE_S = 8.0
_TICK_S = 0.25

Probe = Callable[[float], Awaitable[None]]
"""Asks the phone for a sign of life within seconds; raises DeviceError when none came."""


class Watch:
    """Judge one stream."""

    def __init__(
        self, session: ScrcpySession, readers: Readers, probe: Probe, is_secure: IsSecure
    ) -> None:
        self._session = session
        self._readers = readers
        self._probe = probe
        self._is_secure = is_secure
        now = time.monotonic()
        self._started_s = now
        self._moved_s = now
        self._proven_s = now
        self._proven_ms = 0
        self._key_s = now
        self._asked_s = 0.0
        self._wants_key = False
        self._checked_action_s = now
        self._black = False
        self._secure = False
        self._unsure = ""
        self._secure_asked_s = 0.0
        self._stale = ""
        self._undecoded = ""
        self._told: PictureStatus | None = None
        self.key_frames = 0
        """How many pictures came that refer to no other."""

    @property
    def asked_for_key(self) -> bool:
        """Whether the next picture may be an answer and no change of the screen."""
        return self._asked_s > 0

    def saw_picture(self, arrived_ms: int, *, moved: bool, black: bool, has_key: bool) -> None:
        """Take note of a new picture, and whether it refers to no other."""
        self.key_frames += has_key
        now = time.monotonic()
        if moved:
            self._moved_s = now
        self._proven_s = self._key_s = now
        self._proven_ms = arrived_ms
        self._asked_s, self._wants_key, self._stale, self._undecoded = 0.0, False, "", ""
        self._black = black
        self._secure = self._secure and black
        self._unsure = self._unsure if black else ""

    def want_key_frame(self) -> None:
        """Have the encoder asked for a picture that refers to no other."""
        self._wants_key = True

    def lose_decoder(self, why: str) -> None:
        """Take note that no picture can be decoded until a key frame comes."""
        self._undecoded = why
        self._asked_s = 0.0

    # --- saying ----------

    def picture_status(self) -> PictureStatus:
        """Return what the newest picture is worth."""
        if self._stale or self._undecoded:
            status, detail = FrameStatus.STALE, self._stale or self._undecoded
        elif self._secure:
            status, detail = FrameStatus.SECURE, SECURE_DETAIL
        elif self._unsure:
            status, detail = FrameStatus.UNKNOWN, self._unsure
        else:
            is_still = time.monotonic() - self._moved_s >= STATIC_AFTER_S
            status, detail = (FrameStatus.STATIC if is_still else FrameStatus.LIVE), ""
        self._told = PictureStatus(status, FrameSource.SCRCPY, self._proven_ms, detail)
        return self._told

    def take_news(self) -> bool:
        """Return whether something else is to be said than was said last."""
        return self._told is not None and self._told != self.picture_status()

    def next_news_s(self) -> float:
        """Return in how many seconds a live picture becomes a static one."""
        left_s = self._moved_s + STATIC_AFTER_S - time.monotonic()
        return left_s if left_s > 0 else STATIC_AFTER_S

    # --- asking ----------

    async def run(self) -> None:
        """Ask what has to be asked, until cancelled. Raises DeviceError to give the stream up."""
        try:
            while True:
                await asyncio.sleep(_TICK_S)
                await self._ask()
        finally:
            self._readers.wake.set()

    async def _ask(self) -> None:
        now = time.monotonic()
        serial = self._session.serial
        if not self._proven_ms and now - self._started_s > FIRST_PICTURE_S:
            raise DeviceError(
                f"The encoder of {serial} gave no picture within {FIRST_PICTURE_S:g} s.",
                "Pictures are taken by screencap instead.",
            )
        if self._asked_s and now - self._asked_s > KEY_FRAME_TIMEOUT_S:
            raise DeviceError(
                f"The encoder of {serial} hangs: it gave no picture for "
                f"{now - self._key_s:.0f} s, though it was asked for one.",
                "Pictures are taken by screencap instead.",
            )
        if self._black and not self._secure and now - self._secure_asked_s > self._ask_again_s:
            await self._ask_secure()
        if self._is_key_due(now):
            self.ask_key_frame()
        if now - self._proven_s > PROBE_EVERY_S:
            await self._ask_phone()

    @property
    def _ask_again_s(self) -> float:
        """Return how long the phone is not asked about a black picture again."""
        return PROBE_EVERY_S if self._unsure else 0.0

    def _is_key_due(self, now: float) -> bool:
        if self._asked_s or not self._session.ways.has_reset_video:
            return False
        acted_s = self._readers.acted_s
        if acted_s > self._checked_action_s and now - acted_s > ACTION_GRACE_S:
            self._checked_action_s = acted_s
            return self._moved_s < acted_s
        return self._wants_key or (self._proven_ms > 0 and now - self._key_s > KEY_FRAME_EVERY_S)

    def ask_key_frame(self) -> None:
        """Ask the encoder for a picture that refers to no other, now."""
        control = self._session.control
        if control is None:
            return
        self._asked_s, self._wants_key = time.monotonic(), False
        control.writer.write(messages.reset_video(self._session.ways))

    async def _ask_phone(self) -> None:
        try:
            await self._probe(PROBE_TIMEOUT_S)
        except DeviceError:
            silent_s = time.monotonic() - self._proven_s
            if silent_s > GIVE_UP_AFTER_S:
                raise
            self._stale = f"The phone has not answered for {silent_s:.0f} s."
        else:
            self._proven_s, self._proven_ms = time.monotonic(), time.time_ns() // 1_000_000
            self._stale = ""
        self._readers.wake.set()

    async def _ask_secure(self) -> None:
        self._secure_asked_s = time.monotonic()
        match await ask_secure(self._is_secure):
            case Known(value=secure):
                self._secure, self._unsure = secure, ""
                self._black = secure
            case Unknown(reason=reason):
                # A black picture that nobody can explain is no live one; it is asked about again.
                self._secure, self._unsure = False, unsure_detail(reason)
        self._readers.wake.set()
