"""One life of the process that decodes: started, spoken to, and its end.

Not whether another life follows (`decode_process`). A plain child with a socket for standard input:
`multiprocessing` needs a standard error that a console has taken away. Invariants: every call is
answered, or raises once the process is gone; one that does not answer in time is ended; it leaves
nothing behind.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Self

from agent.child_environment import child_environment
from agent.devices.scrcpy.decoding.decode_memory import PictureMemory, Places, new_file
from agent.devices.scrcpy.decoding.decode_wire import (
    LENGTH_BYTES,
    Answer,
    Asked,
    Ready,
    framed,
    said_decoder,
)
from agent.devices.scrcpy.decoding.pictures import DecoderLostError
from agent.text import one_line

READY_TIMEOUT_S = 30.0
ANSWER_TIMEOUT_S = 30.0
"""Decoding takes milliseconds: a process that needs longer hangs, or the machine does."""
_END_TIMEOUT_S = 3.0
_WORDS_BYTES = 4096
# What we import is imported there, whatever directory the operator stands in.
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from agent.devices.scrcpy.decoding.decode_program import main; main(int(sys.argv[2]))"
)


class DecodeLink(asyncio.Protocol):
    """One process. Made by `start`."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.places = Places()
        self.why_ended = ""
        """How it ended, after "it ended"; empty while it runs."""
        self._ready: asyncio.Future[None] = loop.create_future()
        self._calls: dict[int, asyncio.Future[Answer]] = {}
        """Those that are not answered, the oldest first."""
        self._asked_s: dict[int, float] = {}
        self._overlooking: asyncio.TimerHandle | None = None
        self._last_call = 0
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._memory: PictureMemory | None = None
        self._watching: asyncio.Task[None] | None = None
        self._killing: asyncio.TimerHandle | None = None

    @classmethod
    async def start(cls) -> Self:
        """Start the process and wait until it can decode.

        Raises OSError or ValueError where there can be none, DecoderLostError when it ended first.
        """
        link = cls()
        try:
            await link._begin()
            await asyncio.wait({link._ready}, timeout=READY_TIMEOUT_S)
            if not link._ready.done():
                raise DecoderLostError(
                    f"The decoder was not ready within {READY_TIMEOUT_S:g} s.", "It is tried again."
                )
            link._ready.result()
        except BaseException:
            await link.close()
            raise
        return link

    @property
    def memory(self) -> PictureMemory:
        assert self._memory is not None
        return self._memory

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    def post(self, make: Callable[[int], Asked]) -> asyncio.Future[Answer]:
        """Ask something; `make` is given the number of the call."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        if self.why_ended or self._transport is None:
            answer.set_exception(self._lost())
            return answer
        self._last_call += 1
        self._calls[self._last_call] = answer
        loop = asyncio.get_running_loop()
        self._asked_s[self._last_call] = loop.time()
        if self._overlooking is None:
            self._overlooking = loop.call_later(ANSWER_TIMEOUT_S, self._look_at_oldest)
        if not self._transport.is_closing():
            # What is written to a dead socket is a line of the log each; the process's end, which
            # is about to be seen, answers the call.
            self._transport.write(framed(make(self._last_call)))
        return answer

    async def call(self, make: Callable[[int], Asked]) -> Answer:
        """Ask something and wait for the answer. Raises DecoderLostError when none comes."""
        return await self.post(make)

    async def close(self) -> None:
        """End the process; closing twice is fine."""
        if self._transport is not None:
            self._transport.abort()
        else:
            self._kill()
        watching = self._watching
        if watching is not None:
            # It ends with its socket, or is killed soon after.
            await asyncio.wait({watching})
            watching.result()
        if self._memory is not None:
            # Not when its garbage is collected: it is a gigabyte of addresses and a descriptor.
            self._memory.close()

    # --- the socket ----------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        at = 0
        while len(received) - at >= LENGTH_BYTES:
            start = at + LENGTH_BYTES
            end = start + int.from_bytes(received[at:start])
            if len(received) < end:
                break
            self._hear(bytes(received[start:end]))
            at = end
        del received[:at]

    def connection_lost(self, exc: Exception | None) -> None:
        # A process that let go of its socket ends; one that does not is of no use. Not at once: to
        # signal a child that is ending would reap it before asyncio does.
        self._killing = asyncio.get_running_loop().call_later(_END_TIMEOUT_S, self._kill)

    def _hear(self, data: bytes) -> None:
        said = said_decoder.decode(data)
        if isinstance(said, Ready):
            if not self._ready.done():
                self._ready.set_result(None)
            return
        answer = self._calls.pop(said.call, None)
        self._asked_s.pop(said.call, None)
        if answer is not None and not answer.done():
            answer.set_result(said)

    def _look_at_oldest(self) -> None:
        """End the process when its oldest call has waited too long.

        One timer for all calls: hundreds are made a second. After the console was suspended an
        answer and the end of time come at once; answers are read first.
        """
        self._overlooking = None
        oldest = next(iter(self._asked_s.items()), None)
        if oldest is None or self.why_ended:
            return
        call, asked_s = oldest
        loop = asyncio.get_running_loop()
        left_s = asked_s + ANSWER_TIMEOUT_S - loop.time()
        if left_s > 0:
            self._overlooking = loop.call_later(left_s, self._look_at_oldest)
            return
        self.why_ended = f"after it had not answered for {ANSWER_TIMEOUT_S:g} s"
        self._kill()
        self._fail([self._calls.pop(call)])

    # --- the process ----------

    async def _begin(self) -> None:
        file = new_file()
        try:
            self._memory = PictureMemory(file)
            ours, theirs = socket.socketpair()
            try:
                with theirs:
                    self._process = await asyncio.create_subprocess_exec(
                        sys.executable,
                        "-c",
                        _PROGRAM,
                        json.dumps(sys.path),
                        str(file),
                        stdin=theirs.fileno(),
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.PIPE,
                        pass_fds=(file,),
                        # A Ctrl+C in the terminal is for us; it ends when its socket does.
                        start_new_session=True,
                        env=child_environment(),
                    )
                self._watching = asyncio.create_task(self._watch(), name="end of the decoder")
                await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=ours)
            except BaseException:
                ours.close()
                raise
        finally:
            os.close(file)

    async def _watch(self) -> None:
        """Wait for the end of the process, and tell everybody who waits for an answer."""
        process = self._process
        assert process is not None and process.stderr is not None
        words = b""
        while chunk := await process.stderr.read(_WORDS_BYTES):
            words = (words + chunk)[-_WORDS_BYTES:]
        code = await process.wait()
        self.why_ended = self.why_ended or _why(code, words)
        for timer in (self._killing, self._overlooking):
            if timer is not None:
                timer.cancel()
        if self._transport is not None:
            self._transport.abort()
        calls, self._calls = self._calls, {}
        self._fail([self._ready, *calls.values()])

    def _fail(self, waiting: Sequence[asyncio.Future[Any]]) -> None:
        for answer in waiting:
            if not answer.done():
                answer.set_exception(self._lost())
                # Who does not wait any more need not hear of it.
                answer.exception()

    def _lost(self) -> DecoderLostError:
        return DecoderLostError(
            f"The decoder ended {self.why_ended or 'because it was stopped'}.",
            "It restarts automatically.",
        )

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            if self._process is not None and self._process.returncode is None:
                self._process.kill()


def _why(code: int, words: bytes) -> str:
    if code < 0:
        with suppress(ValueError):
            return f"by {signal.Signals(-code).name}"
    lines = words.decode("utf-8", "replace").strip().splitlines()
    return f"with code {code}" + (f": {one_line(lines[-1], 200).rstrip('.')}" if lines else "")
