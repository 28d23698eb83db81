"""Hand notices to a command that the operator configured: desktop notices with inline reply.

The command gets the notice as one JSON object on stdin; what it writes on stdout before it ends
with 0 is the reply. Invariants: it is never run through a shell; its time, its output and how many
run at once are bounded; a notice that goes takes its command with it.
"""

import asyncio
import json
import logging
import signal
from collections.abc import Sequence

from agent.child_process import converse, end_child, send
from agent.records import Notice
from agent.text import one_line

AT_ONCE = 4
REPLY_LIMIT_BYTES = 10_000
_END_S = 2.0
_log = logging.getLogger(__name__)


class CommandSink:
    """A command that shows notices.

    Args:
        command: the program and its arguments; not a shell's line.
        timeout_s: how long one notice may be shown.
    """

    def __init__(self, command: Sequence[str], *, timeout_s: float) -> None:
        self._command = tuple(command)
        self._timeout_s = timeout_s
        self._room = asyncio.Semaphore(AT_ONCE)
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self._gone: set[str] = set()

    async def post(self, notice: Notice) -> str:
        """Show a notice and wait until it is dealt with; returns the reply, empty for none.

        Whatever goes wrong with the command is logged and is no reply.
        """
        async with self._room:
            if notice.token in self._gone:
                self._gone.discard(notice.token)
                return ""
            try:
                process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.DEVNULL,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                _log.warning("The notice command %s cannot be run: %s", self._command[0], error)
                return ""
            self._running[notice.token] = process
            try:
                # It may have been taken away while its command was being started.
                if notice.token in self._gone:
                    self._gone.discard(notice.token)
                    return ""
                async with asyncio.timeout(self._timeout_s):
                    return await self._converse(process, notice)
            except TimeoutError:
                _log.warning("The notice command took longer than %g s", self._timeout_s)
                return ""
            finally:
                del self._running[notice.token]
                await end_child(process, signals=[signal.SIGTERM], within_s=_END_S, group=True)

    def withdraw(self, notice: Notice) -> None:
        """Take a notice away: its command is ended."""
        process = self._running.get(notice.token)
        if process is None:
            self._gone.add(notice.token)
        else:
            send(process, signal.SIGTERM, group=True)

    async def _converse(self, process: asyncio.subprocess.Process, notice: Notice) -> str:
        try:
            said = await converse(process, _as_json(notice), most_bytes=REPLY_LIMIT_BYTES)
        except OverflowError as error:
            _log.warning("The notice command wrote %s", error)
            return ""
        code = process.returncode or 0
        if code:
            # A signal is how a notice is taken away.
            if code > 0:
                _log.warning("The notice command ended with %d", code)
            return ""
        return said.strip() if notice.may_reply else ""


def _as_json(notice: Notice) -> bytes:
    told = {
        "token": notice.token,
        "sessionId": notice.session_id,
        "kind": notice.kind.value,
        "title": one_line(notice.title),
        "text": notice.text,
        "speaker": notice.speaker.value,
        "options": list(notice.options),
        "mayReply": notice.may_reply,
    }
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
