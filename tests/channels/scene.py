"""A real core with operators and their channels, each at a server of its protocol on loopback."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agent.channels.configured import running_channels
from agent.channels.dispatch import NO_MORE, Dispatch
from agent.loop.task_context import TaskContext
from agent.operators.changes import granted
from agent.operators.door import Door
from agent.operators.file_register import FileRegister
from agent.operators.operator import Operator
from agent.protocol import SessionCancel, SessionCreate
from agent.records import EffectVerb, Question, QuestionOption, Right
from agent.settings import ChannelKind, NoticeChannel
from support.adb import free_port
from tests.channels.ntfy_server import NtfyServer, ntfy_server
from tests.channels.telegram_server import TOKEN, TelegramServer, telegram_server
from tests.channels.webhook_program import SECRET, WebhookProgram, webhook_program
from tests.fakes import FakeFleet
from tests.stage import PATIENCE_S, Stage

T = TypeVar("T")
TOPIC, DANS_TOPIC = "ana-0123456789abcdef", "dan-0123456789abcdef"
BENS_ACCOUNT, ANOTHER_ACCOUNT = 4242, 6666
RIGHTS = {
    "ana": (Right.APPROVE, Right.ANSWER),
    "ben": (Right.APPROVE, Right.ANSWER),
    "cleo": (Right.APPROVE, Right.ANSWER),
    "dan": (Right.WATCH,),
}
OPTIONS = (QuestionOption(label="red"), QuestionOption(label="blue"))


async def _approves(context: TaskContext) -> str:
    answer = await context.ask("Pay the fee?", call_id="c", step=1, approval=True)
    return f"answered: {answer}"


async def _asks(context: TaskContext) -> str:
    answer = await context.ask("Which colour?", call_id="c", step=1, options=OPTIONS)
    return f"answered: {answer}"


async def _asks_in_secret(context: TaskContext) -> str:
    await context.ask("The code of the door?", call_id="c", step=1, secret=True)
    return "answered"


@dataclass(kw_only=True)
class Scene:
    """The core, its people, and the servers of their channels."""

    stage: Stage
    register: FileRegister
    ntfy: NtfyServer
    telegram: TelegramServer
    program: WebhookProgram
    dispatch: Dispatch = field(init=False)
    before: dict[str, int] = field(default_factory=dict)
    """How many messages each channel had when the newest question was asked."""

    def mark(self) -> None:
        """Count what each channel has got: what is looked for comes later."""
        self.before = {
            "ana": len(self.ntfy.of(TOPIC)),
            "ben": len(self.telegram.sent),
            "cleo": len(self.program.posted()),
        }

    def told(self) -> list[str]:
        """Name the people who have got something since the mark."""
        now = {
            "ana": len(self.ntfy.of(TOPIC)),
            "ben": len(self.telegram.sent),
            "cleo": len(self.program.posted()),
        }
        return [name for name, count in now.items() if count > self.before[name]]

    async def ask(self, goal: str = "approve") -> tuple[str, Question]:
        """Have a session ask; returns it and its question."""
        self.mark()
        op = SessionCreate(goal=goal, serial="phone-1")
        session_id = (await self.stage.do(op)).session_id

        async def asked() -> Question | None:
            found = await self.stage.store.open_questions()
            return next((one for one in found if one.session_id == session_id), None)

        return session_id, await self.stage.until(asked, "the question")

    async def is_open(self, question: Question) -> bool:
        return question.question_id in {
            one.question_id for one in await self.stage.store.open_questions()
        }

    async def end(self, session_id: str) -> None:
        """Cancel a session, so that its phone is free."""
        await self.stage.do(SessionCancel(session_id=session_id))

    async def on_ntfy(self) -> dict[str, Any]:
        """Wait for the message with buttons of the newest question."""

        def found() -> dict[str, Any] | None:
            sent = self.ntfy.of(TOPIC)[self.before["ana"] :]
            return next((one for one in sent if one.get("actions")), None)

        return await heard(self.ntfy.news, found)

    async def on_telegram(self) -> dict[str, Any]:
        """Wait for the message with buttons of the newest question."""

        def found() -> dict[str, Any] | None:
            sent = self.telegram.sent[self.before["ben"] :]
            return next((one for one in sent if "reply_markup" in one), None)

        return await heard(self.telegram.news, found)

    async def on_webhook(self) -> dict[str, Any]:
        """Wait for the notice with options of the newest question."""

        def found() -> dict[str, Any] | None:
            sent = self.program.posted()[self.before["cleo"] :]
            return next((one for one in sent if one["options"]), None)

        return await heard(self.program.news, found)

    async def said_on_ntfy(self, *, after: int, topic: str = TOPIC) -> str:
        """Wait for what is said on a topic about an answer."""

        def found() -> str | None:
            # What was asked before may end now.
            sent = [one for one in self.ntfy.of(topic)[after:] if "actions" not in one]
            said = [one for one in sent if not one["message"].endswith(NO_MORE)]
            return str(said[0]["message"]) if said else None

        return await heard(self.ntfy.news, found)


async def let(register: FileRegister, name: str, rights: tuple[Right, ...]) -> None:
    """Have an operator with exactly these rights."""
    operator = granted(Operator(name=name), rights, ())
    await register.change(name, lambda _known: operator)


async def heard(news: asyncio.Condition, found: Callable[[], T | None]) -> T:
    """Wait until something has arrived at a server."""
    async with asyncio.timeout(PATIENCE_S), news:
        await news.wait_for(lambda: found() is not None)
        made = found()
        assert made is not None
        return made


@asynccontextmanager
async def scene(
    directory: Path,
    *,
    two_people: tuple[EffectVerb, ...] = (),
    now_ms: int | None = None,
    pictures: tuple[str, ...] = (),
    **notices: object,
) -> AsyncIterator[Scene]:
    """Run a core with four operators: ana by ntfy, ben by Telegram, cleo by a webhook, dan, who
    may only watch, by ntfy.
    """
    stage = Stage(directory / "data", FakeFleet("phone-1"))
    stage.now_ms = now_ms
    stage.parts = {"approve": _approves, "ask": _asks, "secret": _asks_in_secret}
    register = FileRegister(stage.directory)
    async with (
        ntfy_server(access_token="tk_core") as ntfy,
        telegram_server() as telegram,
        webhook_program(stage.clock) as program,
    ):
        port = free_port()
        program.answers_at = f"http://127.0.0.1:{port}/webhooks/cleo"
        made = Scene(stage=stage, register=register, ntfy=ntfy, telegram=telegram, program=program)

        def secret(name: str, text: str) -> str:
            path = directory / name
            path.write_text(f"{text}\n")
            path.chmod(0o600)
            return str(path)

        access = secret("access", "tk_core")
        channels = {
            "ana": NoticeChannel(
                kind=ChannelKind.NTFY,
                operator="ana",
                url=ntfy.url,
                secret_file=secret("ana", TOPIC),
                token_file=access,
            ),
            "ben": NoticeChannel(
                kind=ChannelKind.TELEGRAM,
                operator="ben",
                url=telegram.url,
                secret_file=secret("ben", TOKEN),
                user=BENS_ACCOUNT,
            ),
            "cleo": NoticeChannel(
                kind=ChannelKind.WEBHOOK,
                operator="cleo",
                url=program.url,
                secret_file=secret("cleo", SECRET),
            ),
            "dan": NoticeChannel(
                kind=ChannelKind.NTFY,
                operator="dan",
                url=ntfy.url,
                secret_file=secret("dan", DANS_TOPIC),
                token_file=access,
            ),
        }
        for name in pictures:
            channels[name] = msgspec.structs.replace(channels[name], pictures=True)
        stage.set(
            safety={"two_people": two_people},
            notices={"channels": channels, "listen": f"127.0.0.1:{port}", **notices},
        )
        async with stage.play():
            door = Door(stage.core, register, clock_ms=stage.clock)
            stage.core.approved_by(door.may_approve)
            for name, rights in RIGHTS.items():
                await let(register, name, rights)
            async with running_channels(
                stage.settings, stage.core, door, stage.core.notices, stage.clock
            ) as dispatch:
                assert dispatch is not None
                made.dispatch = dispatch
                yield made
