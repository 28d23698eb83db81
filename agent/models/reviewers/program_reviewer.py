"""A reviewer that is a program of the operator's: the question and its answer are JSON.

It implements the Model protocol, so that whoever asks makes no difference. Invariants: it is never
run through a shell; its time and its output are bounded.
"""

import asyncio
import json
import signal
from collections.abc import Callable, Sequence

from agent.child_process import converse, end_child
from agent.errors import ModelError
from agent.models.model import ModelReply, ModelRequest, Role
from agent.records import Usage
from agent.text import one_line

_OUTPUT_BYTES = 20_000
_END_S = 1.0


class ProgramReviewer:
    """Implements the Model protocol by a program.

    Args:
        command: the program and its arguments; not a shell's line. On stdin it gets one JSON object
            with `instructions`, `question` and `schema`; on stdout it writes one of the schema.
        timeout_s: how long one answer may take.
    """

    def __init__(self, command: Sequence[str], *, timeout_s: float) -> None:
        self._command = tuple(command)
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        return one_line(self._command[0].rpartition("/")[2], 80)

    @property
    def sees(self) -> bool:
        return False

    @property
    def notice(self) -> str:
        return ""

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        """Run the program once. Raises ModelError: it cannot be run, failed, or took too long."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ModelError(f"{self.name} cannot be run: {error}", retryable=False) from error
        try:
            async with asyncio.timeout(self._timeout_s):
                said = await self._converse(process, _as_json(request))
        except TimeoutError as error:
            raise ModelError(
                f"{self.name} took longer than {self._timeout_s:g} s.", retryable=False
            ) from error
        finally:
            await end_child(process, signals=[signal.SIGTERM], within_s=_END_S, group=True)
        return ModelReply(text=said, usage=Usage())

    async def close(self) -> None:
        return None

    async def _converse(self, process: asyncio.subprocess.Process, told: bytes) -> str:
        try:
            said = await converse(process, told, most_bytes=_OUTPUT_BYTES)
        except OverflowError as error:
            raise ModelError(f"{self.name} wrote {error}.", retryable=False) from error
        if process.returncode:
            raise ModelError(f"{self.name} ended with {process.returncode}.", retryable=False)
        return said


def _as_json(request: ModelRequest) -> bytes:
    told = {
        "instructions": "\n".join(m.text for m in request.messages if m.role is Role.SYSTEM),
        "question": "\n".join(m.text for m in request.messages if m.role is Role.USER),
        "schema": request.tools[0].parameters if request.tools else {},
    }
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
