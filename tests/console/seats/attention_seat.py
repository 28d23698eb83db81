"""A console to which something comes whenever its terminal loses the focus."""

import asyncio
import sys

from agent.protocol import NoticePosted, RequestUserInput, SessionConfigured
from agent.records import Notice, NoticeKind, Question, Session
from console.app import SwitchboardApp
from tests.console.fakes import FakeCore
from tests.console.seats.hostile_seat import HOSTILE


async def main() -> int:
    core = FakeCore()
    session = Session(session_id="s", goal="wait", created_ms=core.now_ms)
    core.tell(SessionConfigured(session=session), "s")
    app = SwitchboardApp(core, title=HOSTILE)
    asked = 0

    def looked_away(has_focus: bool) -> None:
        nonlocal asked
        if has_focus:
            return
        asked += 1
        question = Question(
            question_id=f"q{asked}", session_id="s", text=HOSTILE, asked_ms=core.now_ms
        )
        core.tell(RequestUserInput(question=question), "s")
        notice = Notice(
            token=f"n{asked}", session_id="s", kind=NoticeKind.WAITING, title=f"9;4;{HOSTILE}"
        )
        core.tell(NoticePosted(notice=notice), "s")

    async def begin() -> None:
        app.watch(app, "app_focus", looked_away, init=False)

    app.call_later(begin)
    try:
        await app.run_async()
    finally:
        await app.close()
    return app.return_code or 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
