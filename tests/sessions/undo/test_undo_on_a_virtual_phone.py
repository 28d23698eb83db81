"""Taking back on a real virtual phone what a session did: each kind, twice, too late, elsewhere."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from agent import protocol
from agent.devices.adb.server import AdbServer
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.devices.protocols import Button
from agent.errors import WrongStateError
from agent.loop.screen.elements import number_elements
from agent.models.model import Model
from agent.records import ActionOutcome, EffectOf, Element, QuestionKind, Session, UndoHow
from agent.runtime.runtime import Runtime
from agent.settings import RecoverySettings, Settings
from agent.store.embedded.sqlite_store import SqliteStore
from agent.tasks.regular import RegularTask
from tests.stage import PATIENCE_S
from tests.tasks.phones.test_effects_on_a_virtual_phone import presses
from tests.tasks.scripted import ScriptedModel, Turn, says

T = TypeVar("T")
END = (says("finish", success=False, summary="I did as I was told."),) * 3
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


class PhoneStage:
    """A core over a real adb server and one virtual phone; its model does as it is told."""

    def __init__(self, folder: Path, fleet: AdbFleet, serial: str) -> None:
        self.folder, self.serial = folder, serial
        self.fleet = fleet
        self.turns: list[Turn] = []
        self.core: Runtime
        self.store: SqliteStore

    @asynccontextmanager
    async def core_up(self) -> AsyncIterator[None]:
        settings = Settings(
            data_dir=self.folder / "data",
            config_file=self.folder / "config.toml",
            recovery=RecoverySettings(auto_resume=False, retries=0),
        )
        (self.folder / "data").mkdir(exist_ok=True)
        async with SqliteStore.open(self.folder / "data") as self.store:
            self.core = await Runtime.spawn(
                settings,
                store=self.store,
                fleet=_Lent(self.fleet),
                models=self._model,
                task=RegularTask,
            )
            answering = asyncio.create_task(self._approve())
            try:
                yield
            finally:
                answering.cancel()
                await self.core.close()

    def _model(self, _session: Session) -> Model:
        return ScriptedModel([*self.turns, *END])

    async def _approve(self) -> None:
        async with self.core.events() as events:
            async for event in events:
                match event.msg:
                    case protocol.RequestUserInput(question=one) if (
                        one.kind is QuestionKind.APPROVAL
                    ):
                        op = protocol.UserInputAnswer(question_id=one.question_id, answer="Approve")
                        await self.core.request(op)
                    case _:
                        pass

    async def work(self, *turns: Turn) -> str:
        """Let a session do as it is told from the home screen, until its turn is over."""
        await self.press(Button.HOME)
        self.turns = list(turns)
        made = await self.core.request(
            protocol.SessionCreate(goal="do as told", serial=self.serial)
        )
        async with asyncio.timeout(4 * PATIENCE_S), self.core.events(after=0) as events:
            async for event in events:
                ended = isinstance(event.msg, protocol.TaskComplete | protocol.TurnAborted)
                if ended and event.session_id == made.session_id:
                    break
        async with asyncio.timeout(PATIENCE_S):
            while (await self.store.session(made.session_id)).turn_id:
                await asyncio.sleep(0)
        return made.session_id

    async def undo(
        self, session_id: str, step: int = 0, *, approved: bool = False
    ) -> protocol.UndoFinished:
        op = protocol.UndoEffect(session_id=session_id, step=step, approved=approved)
        async with asyncio.timeout(2 * PATIENCE_S):
            await self.core.request(op)
        return (await self.of(session_id, protocol.UndoFinished))[-1]

    async def of(self, session_id: str, kind: type[T]) -> list[T]:
        msgs = [event.msg for event in await self.store.session_events(session_id)]
        return [msg for msg in msgs if isinstance(msg, kind)]

    async def press(self, button: Button) -> None:
        await (await self.fleet.device(self.serial)).press(button)

    async def shown(self) -> tuple[Element, ...]:
        tree = await (await self.fleet.device(self.serial)).tree()
        return number_elements(tuple(tree.nodes), redact=str)

    async def element(self, label: str) -> Element:
        shown = await self.shown()
        found = next((e for e in shown if e.label.startswith(label)), None)
        assert found is not None, (label, [e.label for e in shown])
        return found


class _Lent(AdbFleet):
    """A fleet that outlives the core it is lent to."""

    def __init__(self, fleet: AdbFleet) -> None:
        self.__dict__ = fleet.__dict__

    async def start(self) -> None:
        return

    async def close(self) -> None:
        return


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[PhoneStage]:
    server = AdbServer(tmp_path / "adb")
    phones = VirtualPhones(tmp_path / "phones", server)
    try:
        [serial] = await phones.start()
        fleet = AdbFleet([server.address])
        await fleet.start()
        try:
            yield PhoneStage(tmp_path, fleet, serial)
        finally:
            await fleet.close()
    finally:
        await phones.stop()
        await server.stop()


def launch(app: str) -> Turn:
    return says("launch_app", app=app)


async def test_each_kind_of_effect_is_taken_back_and_seen_to_be(stage: PhoneStage) -> None:
    async with stage.core_up():
        # A switch.
        one = await stage.work(launch("Settings"), presses("Display"), presses("Dark theme"))
        switched = (await stage.element("Dark theme")).checked
        [offer] = await stage.core.look_up(protocol.ListUndoOffers(session_id=one))
        assert (offer.how, offer.step, offer.until_ms) == (UndoHow.PRESS, 3, 0)
        done = await stage.undo(one)
        assert (done.is_back, done.outcome) == (True, ActionOutcome.DONE)
        assert (await stage.element("Dark theme")).checked is not switched
        # Twice: nothing is left to take back, and the phone is not touched.
        with pytest.raises(WrongStateError, match="taken back already"):
            await stage.undo(one, 3)
        assert not await stage.core.look_up(protocol.ListUndoOffers(session_id=one))

        # A choice of several: the row is pressed, then its old choice.
        two = await stage.work(
            launch("Settings"), presses("Display"), presses("Font size"), presses("Largest")
        )
        offers = await stage.core.look_up(protocol.ListUndoOffers(session_id=two))
        assert [(one.how, one.text) for one in offers] == [(UndoHow.CHOOSE, "Default")]
        assert (await stage.undo(two)).is_back
        assert (await stage.element("Font size")).label.endswith("Default")

        # A star.
        three = await stage.work(
            launch("Contacts"), presses("Ben Carter"), presses("Add to favorites")
        )
        # The policy asks about it as about any act of that name: the operator approves it.
        with pytest.raises(WrongStateError, match="needs your approval"):
            await stage.undo(three)
        await stage.element("Remove from favorites")
        assert not await stage.of(three, protocol.UndoStarted)
        assert (await stage.undo(three, approved=True)).is_back
        await stage.element("Add to favorites")

        # A text, to the old one and to none.
        four = await stage.work(
            launch("Notes"),
            presses("Packing list"),
            presses("Title", "type_text", text="Trash list", clear=True),
        )
        back = await stage.undo(four, 3, approved=True)
        assert back.is_back, back
        assert (await stage.element("Title")).value == "Packing list"
        await stage.press(Button.BACK)

        # What an app offers for a while beside what it announced.
        five = await stage.work(launch("Mail"), presses("Grace Okafor"), presses("Archive"))
        assert not [e for e in await stage.shown() if e.label.startswith("Grace Okafor")]
        [offer] = await stage.core.look_up(protocol.ListUndoOffers(session_id=five))
        assert offer.how is UndoHow.APP_OFFER and offer.until_ms > offer.seen_ms
        assert '"Undo"' in offer.says and "Archived" in offer.says
        assert (await stage.undo(five, 3)).is_back
        await stage.element("Grace Okafor")


async def test_what_cannot_be_reached_any_more_is_refused_with_the_reason(
    stage: PhoneStage,
) -> None:
    async with stage.core_up():
        one = await stage.work(launch("Settings"), presses("Display"), presses("Dark theme"))
    # What is offered is derived from what is stored: another core offers the same.
    async with stage.core_up():
        [offer] = await stage.core.look_up(protocol.ListUndoOffers(session_id=one))
        assert offer.how is UndoHow.PRESS
        await stage.press(Button.BACK)
        with pytest.raises(WrongStateError, match='its page "Display" is not in front'):
            await stage.undo(one, 3)
        with pytest.raises(WrongStateError, match="changed nothing"):
            await stage.undo(one, 1)
        assert not await stage.of(one, protocol.UndoStarted)

        # The app takes its button away after a few seconds.
        two = await stage.work(launch("Mail"), presses("Grace Okafor"), presses("Archive"))
        async with asyncio.timeout(PATIENCE_S):
            while any(e.label == "Undo" for e in await stage.shown()):
                await asyncio.sleep(0)
        with pytest.raises(WrongStateError, match='no button beside "Archived"'):
            await stage.undo(two, 3)

        # Somebody switched it in the meantime.
        three = await stage.work(launch("Settings"), presses("Display"), presses("Dark theme"))
        switch = await stage.element("Dark theme")
        await (await stage.fleet.device(stage.serial)).tap(switch.bounds.center)
        with pytest.raises(WrongStateError, match="again already"):
            await stage.undo(three, 3)


async def test_a_session_that_asks_is_told_what_was_taken_back_and_goes_on(
    stage: PhoneStage,
) -> None:
    async with stage.core_up():
        await stage.press(Button.HOME)
        stage.turns = [
            launch("Settings"),
            presses("Display"),
            presses("Dark theme"),
            says("ask_user", question="Which of the two?"),
        ]
        goal = protocol.SessionCreate(goal="do as told", serial=stage.serial)
        made = (await stage.core.request(goal)).session_id
        async with asyncio.timeout(PATIENCE_S):
            while not (asked := await stage.of(made, protocol.RequestUserInput)):
                await asyncio.sleep(0)
        done = await stage.undo(made, 3)
        assert done.outcome is ActionOutcome.DONE and done.is_back
        session = await stage.store.session(made)
        assert not session.paused and session.turn_id
        await stage.core.request(
            protocol.UserInputAnswer(question_id=asked[0].question.question_id, answer="the first")
        )
        async with asyncio.timeout(2 * PATIENCE_S):
            while (await stage.store.session(made)).turn_id:
                await asyncio.sleep(0)
        # It saw the switch back itself, once, as the operator's act.
        seen = [
            one
            for msg in await stage.of(made, protocol.EffectsSeen)
            for one in msg.effects
            if one.object == "Dark theme"
        ]
        assert [one.by for one in seen] == [EffectOf.AGENT, EffectOf.OPERATOR]
        [told] = [m for m in await stage.of(made, protocol.UserMessage) if m.steer]
        assert "took back on the phone what step 3 did" in told.text
        assert [m.message_id for m in await stage.of(made, protocol.SteerApplied)] == [
            told.message_id
        ]
