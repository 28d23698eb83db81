"""One phone's way to scrcpy: which server it has, and runs of it for whoever needs one.

Not what a run is used for (`video`, `control_input`, `displays`, `recorder`). Invariants: an action
that the phone is known to refuse is never confirmed; the
server is looked for once per connection; that there is none to use is remembered and told with how
to get one; a phone that is asked for a sign of life is not changed by it.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from agent.devices.adb.client import ServiceClosedError
from agent.devices.scrcpy.arguments import SessionOptions
from agent.devices.scrcpy.control import ControlChannel
from agent.devices.scrcpy.decoding.pictures import Decoding, ThreadDecoding
from agent.devices.scrcpy.dialect import SPOKEN
from agent.devices.scrcpy.server_file import (
    NoServerError,
    PhoneServer,
    UnusableServerError,
    prepare_server,
)
from agent.devices.scrcpy.session import ScrcpySession, open_session
from agent.devices.shell.injection import refused
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError, InputRefusedError

PREPARE_TIMEOUT_S = 20.0
REFUSAL_WAIT_S = 0.3
"""How long a refusal may take from the phone's answer to the log of a server that cannot tell when
it has handled an event (before 2.7)."""
NO_SCID = 0  # The id of a run is chosen when it is opened.


@dataclass(frozen=True, slots=True)
class ScrcpySettings:
    """What the operator set about scrcpy."""

    server: str = ""  # The path of a server file; empty: looked for.
    video: bool = True  # Whether live pictures come by video where a phone gives it.
    control: bool = True  # Whether touches and keys go over a control socket where a phone has one.
    max_fps: int = 60


class ScrcpyLink:
    """Open runs of one phone's scrcpy server."""

    def __init__(
        self, shell: PhoneShell, settings: ScrcpySettings, decoding: Decoding | None = None
    ) -> None:
        self.settings = settings
        self.decoding: Decoding = decoding or ThreadDecoding()
        """What decodes the video of its runs."""
        self._shell = shell
        self._server: PhoneServer | None = None
        self._refusal: NoServerError | UnusableServerError | None = None
        self._preparing = asyncio.Lock()
        self.input_refusal: InputRefusedError | None = None
        """That the phone takes no injected input, as long as this connection lasts."""

    @property
    def shell(self) -> PhoneShell:
        return self._shell

    @property
    def serial(self) -> str:
        return self._shell.serial

    def forget(self) -> None:
        """Look for the server again: the phone came back and may be another build."""
        self._server = None
        self._refusal = None
        self.input_refusal = None

    async def server(self) -> PhoneServer:
        """Return the server that the phone can start, found and pushed once.

        Raises NoServerError when there is none, UnusableServerError when the one that the setting
        names cannot be used, DeviceError when the phone does not take it.
        """
        async with self._preparing:
            if self._refusal is not None:
                raise self._refusal
            if self._server is None:
                try:
                    self._server = await prepare_server(
                        self._shell, self.settings.server, timeout_s=PREPARE_TIMEOUT_S
                    )
                except (NoServerError, UnusableServerError) as error:
                    self._refusal = error
                    raise
            return self._server

    async def open(self, options: SessionOptions) -> ScrcpySession:
        """Start a run. Raises as `server` and `open_session` do; with what may explain it."""
        server = await self.server()
        try:
            return await open_session(self._shell, server, options)
        except DeviceError as error:
            if server.ways.caution:
                error.remedy = f"{error.remedy} {server.ways.caution} {SPOKEN}".strip()
            raise

    async def probe(self, timeout_s: float) -> None:
        """Ask the phone's adb daemon for a sign of life; no process starts on the phone.

        Because one connection serves all streams in order, an answer also proves that what was
        written to other streams before has reached the phone. Raises DeviceTimeoutError or
        DeviceLostError when none comes.
        """
        try:
            async with self._shell.client.open(
                self.serial, "reverse:list-forward", timeout_s=timeout_s
            ):
                return
        except ServiceClosedError:
            # Android before 5 knows no reversals, and says so: that is an answer as well.
            return

    async def confirm(self, channel: ControlChannel, timeout_s: float) -> None:
        """Have the phone answer behind an action that was sent.

        Behind the first action of a channel the server answers: it has injected the events, and
        Android has not refused them. Behind later ones adb's daemon does: they have reached the
        phone. That a window took them neither can tell.

        Raises:
            InputRefusedError: the server logged that Android refuses injected input.
            DeviceTimeoutError: no answer came.
            DeviceLostError: the phone or the server went away.
        """
        session = channel.session
        async with self._shell.bounded("an action", timeout_s):
            if channel.is_proven or not await channel.handled():
                await self.probe(timeout_s)
                if not channel.is_proven:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(REFUSAL_WAIT_S):
                            await session.refused.wait()
        if session.refusal:
            profile = await self._shell.profile()
            self.input_refusal = refused(self.serial, session.refusal, profile)
            raise self.input_refusal
        channel.is_proven = True
