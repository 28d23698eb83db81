"""Random operators, clients, phones and crashes, played by the model and by a real core at once.

After each step both have to say the same of every session, phone, client, task, file and socket.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import permutations, product
from pathlib import Path
from typing import TypeAlias
from unittest.mock import patch

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from agent.errors import SwitchboardError, UsageError, WrongStateError
from agent.protocol import (
    Interrupt,
    NoticeDone,
    Op,
    SessionAttach,
    SessionCancel,
    SessionCreate,
    SessionDelete,
    SessionDetach,
    SessionFork,
    SessionLetThrough,
    SessionMove,
    SessionPause,
    SessionPrune,
    SessionResume,
    SessionStart,
    Target,
    UserInput,
    UserInputAnswer,
)
from agent.records import SessionState, TargetPresentation
from tests.sessions.lifecycle.expected import (
    PRUNING,
    REDACTED,
    Expected,
    One,
    Refused,
    parent_is_over,
)
from tests.sessions.lifecycle.explain import Difference, Log, explained
from tests.sessions.lifecycle.words import WORDS, said
from tests.sessions.lifecycle.world import CLIENTS, PHONES, World

LOOKS = 5_000
"""How often it is looked whether the core has come to where the model is; only a difference takes
so many. Looks and not seconds: a machine that stands still meanwhile is no difference.
"""
LOOK_EVERY_S = 0.002
PLAIN_LOOKS = 100  # So many looks before finer courses of ops at once are thought of.
LATELY = 4
KEPT_TREES = 2  # How many settled trees keep their displays; few, so that trees go beyond it.
KEPT_DAYS = 1  # How long frames stay; a clock that jumps goes beyond it.
APP = "org.example.app"

word = st.sampled_from(WORDS)
phone = st.sampled_from(PHONES)
client = st.sampled_from(CLIENTS)
pick = st.integers(0, 99)
secrets = st.sampled_from([False, False, True])


Expect: TypeAlias = Callable[[Expected], None]
Call: TypeAlias = tuple[str, Op, Expect]
Pace: TypeAlias = dict[str, str]
AT_ONCE = (
    "answer",
    "attach",
    "cancel",
    "delete",
    "move",
    "pause",
    "prune",
    "resume",
    "start",
    "stop",
    "tell",
)
MOST_FINE = 600  # So many courses of ops at once are told apart at most.


@dataclass(frozen=True)
class AtOnce:
    """One of the ops that are sent at once, as it is drawn."""

    kind: str
    number: int
    by: str
    text: str
    serial: str

    def on(self, one: One, question_id: str) -> tuple[Op, Expect]:
        """Return the op, on a session, and what the model makes of it."""
        key, asked, by = one.session_id, one.asked, self.by
        match self.kind:
            case "answer":
                op = UserInputAnswer(question_id=question_id, answer="this")
                return op, lambda m: m.answer(m.all[key], asked)
            case "attach":
                attach = SessionAttach(session_id=key, drive=True)
                return attach, lambda m: m.attach(m.all[key], by, drive=True)
            case "cancel":
                return SessionCancel(session_id=key), lambda m: m.cancel(m.all[key])
            case "delete":
                return SessionDelete(session_id=key), lambda m: m.delete(m.all[key])
            case "move":
                move = SessionMove(session_id=key, serial=self.serial)
                return move, lambda m: m.move(m.all[key], self.serial, by)
            case "pause":
                return SessionPause(session_id=key), lambda m: m.pause(m.all[key])
            case "resume":
                return SessionResume(session_id=key), lambda m: m.resume(m.all[key], by)
            case "start":
                return SessionStart(session_id=key), lambda m: m.start(m.all[key], by)
            case "stop":
                return Interrupt(session_id=key), lambda m: m.stop(m.all[key])
            case "tell":
                tell = UserInput(session_id=key, text=said(self.text))
                return tell, lambda m: m.tell(m.all[key], self.text, by)
            case _:
                return SessionPrune(), lambda m: m.prune()


ops_at_once = st.lists(
    st.builds(AtOnce, st.sampled_from(AT_ONCE), pick, client, word, phone), min_size=2, max_size=3
)


class Lifecycle(RuleBasedStateMachine):
    """Any op at any time, two clients, phones that come and go, and cores that die."""

    steps = 0  # How many steps all of them took, for whoever counts.
    looks = LOOKS

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.directory = tempfile.TemporaryDirectory()
        self.expected = Expected(PHONES, keep_trees=KEPT_TREES, keep_h=KEPT_DAYS * 24)
        self.patches = [
            patch("agent.sessions.turns.turns.HARD_ABORT_S", 0.02),
            patch("agent.wake_timer.LONGEST_SLEEP_S", 0.02),
            patch("agent.runtime.runtime.STORE_LOOK_S", 0.05),
        ]
        for one in self.patches:
            one.start()
        self.log = Log()
        self.world: World

    @initialize(patience_h=st.sampled_from([0.0, 9.5]))
    def begin(self, patience_h: float) -> None:
        async def build() -> None:
            directory = Path(self.directory.name)
            self.world = World(directory, answer_timeout_s=patience_h * 3600)
            self.world.keep_trees(KEPT_TREES, days=KEPT_DAYS)
            await self.world.begin()

        self.expected.patience_h = patience_h
        self.runner.run(build())

    # --- which ----------

    def one(self, number: int, fits: Callable[[One], bool] = lambda _: True) -> One | None:
        """Pick one of the newest trees' sessions that fits."""
        tops = [one for one in self.expected.all.values() if one.parent is None]
        lately = [one for top in tops[-LATELY:] for one in (top, *top.children)]
        found = [one for one in lately if fits(one)]
        return found[number % len(found)] if found else None

    # --- rules ----------

    @rule(
        goal=word,
        serial=phone,
        by=client,
        start=st.sampled_from([True, True, False]),
        secret=secrets,
    )
    def create(self, goal: str, serial: str, by: str, start: bool, secret: bool) -> None:
        written = said(goal, secret=secret)
        op = SessionCreate(goal=written, serial=serial, start=start, hold=not start)

        def expect(ids: tuple[str, ...]) -> None:
            top = One(ids[0], goal + REDACTED if secret else goal, serial)
            self.expected.create([top], start=start, holder=by)

        self.play_new(by, op, expect)

    @rule(
        goals=st.lists(st.tuples(word, phone), min_size=1, max_size=3, unique_by=lambda g: g[1]),
        hidden=st.booleans(),
        by=client,
        start=st.sampled_from([True, True, False]),
    )
    def create_tree(self, goals: list[tuple[str, str]], hidden: bool, by: str, start: bool) -> None:
        where = TargetPresentation.DETACHED_HIDDEN if hidden else TargetPresentation.AGENT_CHOICE
        app = APP if hidden else ""
        targets = tuple(
            Target(objective=said(goal), serial=serial, package=app, presentation=where)
            for goal, serial in goals
        )
        op = SessionCreate(goal=said("quick"), targets=targets, start=start, hold=not start)

        def expect(ids: tuple[str, ...]) -> None:
            children = [
                One(child_id, goal, serial, hidden)
                for child_id, (goal, serial) in zip(ids[1:], goals, strict=True)
            ]
            self.expected.create([One(ids[0], "quick"), *children], start=start, holder=by)

        self.play_new(by, op, expect)

    @rule(serial=phone, by=client)
    def create_what_ends_hidden(self, serial: str, by: str) -> None:
        self.create_tree(goals=[("quick", serial)], hidden=True, by=by, start=True)

    @rule(serial=phone, by=client)
    def create_direct(self, serial: str, by: str) -> None:
        op = SessionCreate(goal="Look around.", serial=serial, direct=True)

        def expect(ids: tuple[str, ...]) -> None:
            self.expected.create_direct(One(ids[0], "look", serial, program=by))

        self.play_new(by, op, expect)

    @rule(number=pick)
    def a_program_gives_up(self, number: int) -> None:
        one = self.one(number, lambda one: bool(one.program) and _hangs(one))
        if one is not None:
            self.runner.run(self.world.fail_directly(one.program, one.session_id))
            self.expected.fails(one)
            self.compare(f"the program of {one.session_id} gives up")

    @rule(number=pick, by=client)
    def fork(self, number: int, by: str) -> None:
        one = self.one(number, lambda one: not (one.delegates or one.has_turn or one.program))
        if one is not None:
            reply = self.runner.run(self.world.ask(by, SessionFork(session_id=one.session_id)))
            self.expected.fork(one, reply.session_id)
            # A copied past may hold an end, which has the core prune; so it is done in any case.
            self.play(by, SessionPrune(), self.expected.prune)

    @rule(number=pick, by=client)
    def start(self, number: int, by: str) -> None:
        one = self.one(number)
        if one is not None:
            op = SessionStart(session_id=one.session_id)
            self.play(by, op, lambda: self.expected.start(one, by))

    @rule(number=pick, text=word, by=client, secret=secrets)
    def tell(self, number: int, text: str, by: str, secret: bool) -> None:
        one = self.one(number)
        if one is not None:
            op = UserInput(session_id=one.session_id, text=said(text, secret=secret))
            self.play(by, op, lambda: self.expected.tell(one, text, by, secret=secret))

    @rule(number=pick, text=word, by=client)
    def tell_what_was_stopped_as_it_asked(self, number: int, text: str, by: str) -> None:
        one = self.one(number, lambda one: one.is_idle and one.unanswered)
        if one is not None:
            op = UserInput(session_id=one.session_id, text=said(text))
            self.play(by, op, lambda: self.expected.tell(one, text, by))

    @rule(number=pick, by=client)
    def let_through(self, number: int, by: str) -> None:
        # A settled parent plans anew with it, and nobody plans here.
        one = self.one(
            number, lambda one: bool(one.withheld) and not (one.delegates and one.is_over)
        )
        if one is not None:
            op = SessionLetThrough(session_id=one.session_id)
            self.play(by, op, lambda: self.expected.let_through(one, by))

    @rule(number=pick, by=client)
    def answer(self, number: int, by: str) -> None:
        one = self.one(number, lambda one: one.asks)
        if one is None:
            return
        open_now = self.runner.run(self.world.store.open_questions())
        (asked,) = [q for q in open_now if q.session_id == one.session_id]
        op = UserInputAnswer(question_id=asked.question_id, answer="this")
        self.play(by, op, lambda: self.expected.answer(one))

    @rule(number=pick, by=client)
    def stop(self, number: int, by: str) -> None:
        one = self.one(number)
        if one is not None:
            self.play(by, Interrupt(session_id=one.session_id), lambda: self.expected.stop(one))

    @rule(number=pick, by=client)
    def stop_what_asks(self, number: int, by: str) -> None:
        one = self.one(number, lambda one: one.asks)
        if one is not None:
            self.play(by, Interrupt(session_id=one.session_id), lambda: self.expected.stop(one))

    @rule(number=pick, by=client)
    def cancel(self, number: int, by: str) -> None:
        one = self.one(number)
        if one is not None:
            self.play(
                by, SessionCancel(session_id=one.session_id), lambda: self.expected.cancel(one)
            )

    @rule(number=pick, by=client)
    def pause(self, number: int, by: str) -> None:
        one = self.one(number)
        if one is not None:
            self.play(by, SessionPause(session_id=one.session_id), lambda: self.expected.pause(one))

    @rule(number=pick, by=client)
    def resume(self, number: int, by: str) -> None:
        one = self.one(number)
        if one is not None:
            op = SessionResume(session_id=one.session_id)
            self.play(by, op, lambda: self.expected.resume(one, by))

    @rule(number=pick)
    def what_hangs_goes_on(self, number: int) -> None:
        one = self.one(number, lambda one: _hangs(one) and not one.program)
        if one is None:
            return
        self.world.gates.let_go(one.session_id)
        self.expected.let_go(one)
        self.compare(f"{one.session_id} is let go")

    @rule(number=pick, by=client, serial=phone)
    def move(self, number: int, by: str, serial: str) -> None:
        one = self.one(number)
        if one is not None:
            op = SessionMove(session_id=one.session_id, serial=serial)
            self.play(by, op, lambda: self.expected.move(one, serial, by))

    @rule(by=client)
    def prune(self, by: str) -> None:
        self.play(by, SessionPrune(), self.expected.prune)

    @rule(number=pick, by=client)
    def delete(self, number: int, by: str) -> None:
        one = self.one(number)
        if one is not None:
            self.play(
                by, SessionDelete(session_id=one.session_id), lambda: self.expected.delete(one)
            )

    @rule(number=pick, by=client)
    def delete_what_ended(self, number: int, by: str) -> None:
        one = self.one(number, lambda one: one.is_over and one.parent is None)
        if one is not None:
            self.play(
                by, SessionDelete(session_id=one.session_id), lambda: self.expected.delete(one)
            )

    @rule(number=pick, by=client)
    def take_as_read(self, number: int, by: str) -> None:
        one = self.one(number, lambda one: one.parent is None)
        if one is not None:
            self.play(by, NoticeDone(session_id=one.session_id), lambda: self.expected.done(one))

    @rule(drawn=ops_at_once, on_one=st.booleans())
    def several_at_once(self, drawn: list[AtOnce], on_one: bool) -> None:
        """Ops that are in flight together come out as in one of their orders."""
        calls: list[Call] = []
        open_now = self.runner.run(self.world.store.open_questions())
        asked = {question.session_id: question.question_id for question in open_now}
        for one_op in drawn:
            number = drawn[0].number if on_one else one_op.number
            one = self.one(number, lambda one: not one.program)
            if one is None or (one_op.kind == "answer" and not one.asks):
                continue
            question_id = asked.get(one.session_id, "")
            calls.append((one_op.by, *one_op.on(one, question_id)))
        if len(calls) < 2:
            return
        refused = self.runner.run(self.world.ask_at_once([(by, op) for by, op, _ in calls]))
        after = f"at once: {[(by, op) for by, op, _ in calls]}, refused: {refused}"
        self.runner.run(self._compare_any(after, self._courses(calls, refused)))

    def _courses(self, calls: list[Call], refused: list[bool]) -> Iterator[list[Expected]]:
        """Return what the model makes of the calls: the plain courses first, then all."""
        orders = list(permutations(range(len(calls))))
        paces: tuple[Pace | None, ...] = (None, {})
        plain = [
            self._in_order(calls, order, [pace] * (len(calls) - 1))
            for order in orders
            for pace in paces
        ]
        yield [model for model, said in plain if said == refused]
        fine = []
        for order in orders:
            ways = [self._paces(calls, order[: at + 1]) for at in range(len(order) - 1)]
            fine += [(order, chosen) for chosen in product(*ways)]
        played = (self._in_order(calls, *one) for one in fine[:MOST_FINE])
        yield [model for model, said in played if said == refused]

    def _paces(self, calls: list[Call], begun: tuple[int, ...]) -> list[Pace]:
        """Return how far everything may come by itself after some of the calls."""
        model, _ = self._in_order(calls, begun, [None] * len(begun))
        moving = [one for one in model.all.values() if one.pending or _is_queued(one)]
        ways: dict[str, tuple[str, ...]] = {
            one.session_id: ("", "stays", "reads") for one in moving
        }
        ways |= {one.parent.session_id: ("", "stays") for one in moving if one.parent}
        if model.prunes and any(one.is_over and not one.pruned for one in model.all.values()):
            ways[PRUNING] = ("", "stays")
        return [dict(zip(ways, chosen, strict=True)) for chosen in product(*ways.values())]

    def _in_order(
        self, calls: list[Call], order: tuple[int, ...], paces: Sequence[Pace | None]
    ) -> tuple[Expected, list[bool]]:
        """Play calls one after the other in a copy of the model.

        Args:
            paces: how far all comes by itself after each of them but the last; None = not at all.
                With as many as there are calls nothing follows from the last one, either.
        """
        model, refused = deepcopy(self.expected), [False] * len(calls)
        for at, pace in zip(order, [*paces, {}], strict=False):
            model.stopped = True
            try:
                calls[at][2](model)
            except (Refused, KeyError):
                refused[at] = True
            if pace is not None:
                model.stopped, model.pace = False, pace
                model.come_to_rest()
        return model, refused

    async def _compare_any(self, after: str, courses: Iterator[list[Expected]]) -> None:
        type(self).steps += 1
        before, wrong = self.expected, ["no order of these ops refuses what the core refuses"]
        possible = next(courses)
        for looks in range(self.looks):
            if looks == PLAIN_LOOKS:
                possible = next(courses)
            for model in possible:
                self.expected = model
                wrong = await self._differences()
                if not wrong:
                    await _a_moment()
                    wrong = await self._differences()
                if not wrong:
                    self.log.note(f"{after}, alike after {looks} looks")
                    return
            await asyncio.sleep(LOOK_EVERY_S)
        self.expected = before
        self.log.note(after)
        told = await explained(self.world, self.log, wrong, looks=self.looks)
        raise Difference(f"After {after}:\n{told}")

    # --- clients ----------

    @rule(number=pick, by=client, drive=st.sampled_from([True, True, False]))
    def attach(self, number: int, by: str, drive: bool) -> None:
        one = self.one(number)
        if one is not None:
            op = SessionAttach(session_id=one.session_id, drive=drive)
            self.play(by, op, lambda: self.expected.attach(one, by, drive=drive))

    @rule(number=pick, by=client)
    def detach(self, number: int, by: str) -> None:
        one = self.one(number, lambda one: one.session_id in self.expected.watchers.get(by, ()))
        if one is not None:
            op = SessionDetach(session_id=one.session_id)
            self.play(by, op, lambda: self.expected.detach(one, by))

    @rule(by=client)
    def hang_up(self, by: str) -> None:
        self.runner.run(self.world.hang_up(by))
        self.expected.hang_up(by)
        self.compare(f"{by} hangs up")

    @rule(number=pick, by=client)
    def hang_up_after_deleting(self, number: int, by: str) -> None:
        one = self.one(number, lambda one: one.is_over and one.parent is None)
        if one is not None and all(part.is_over for part in one.children):
            key = one.session_id
            watch = SessionAttach(session_id=key, drive=False)
            self.play(by, watch, lambda: self.expected.attach(one, by, drive=False))
            self.play(by, SessionDelete(session_id=key), lambda: self.expected.delete(one))
            self.hang_up(by=by)

    # --- the world ----------

    @rule(serial=phone)
    def a_phone_comes_and_goes(self, serial: str) -> None:
        async def pull() -> None:
            self.world.fleet.unplug(serial)
            await _a_moment()
            self.world.fleet.plug(serial)

        self.expected.unplug(serial)
        self.expected.plug(serial)
        self.runner.run(pull())
        self.compare(f"{serial} goes and comes back")

    # One rule for all deaths: each makes most of what was before it plain.
    @rule(
        how=st.sampled_from(["at rest", "overtaken", "creating", "told", "answered"]),
        number=pick,
        text=word,
        serial=phone,
        by=client,
    )
    def the_core_dies(self, how: str, number: int, text: str, serial: str, by: str) -> None:
        match how:
            case "at rest":
                self.dies()
            case "overtaken":
                self.runner.run(self.world.lose_the_store())
                self.expected.die()
                self.compare("the store is taken over")
            case "creating":
                self.dies_while_it_creates(text, serial, by)
            case "told":
                self.dies_while_it_is_told(number, text, by)
            case _:
                self.dies_while_it_is_answered(number, by)

    def dies(self) -> None:
        async def die() -> None:
            await self.world.end()
            assert not any(self.world.fleet.open_displays().values()), "a display outlives its core"
            await self.world.begin()

        self.runner.run(die())
        self.expected.die()
        self.compare("the core dies")

    def dies_while_it_creates(self, goal: str, serial: str, by: str) -> None:
        request_id = f"request-{len(self.expected.all)}-{self.steps}"
        op = SessionCreate(goal=said(goal), serial=serial, request_id=request_id)
        self.runner.run(self.world.ask_and_die(by, op))
        # What the request created is found by the same request.
        reply = self.runner.run(self.world.ask(by, op))
        self.expected.stopped = True
        self.expected.create([One(reply.session_id, goal, serial)], start=True)
        self.expected.die()
        self.compare(f"the core dies while it creates {reply.session_id}")

    def dies_while_it_is_told(self, number: int, text: str, by: str) -> None:
        one = self.one(number, lambda one: one.is_idle and not one.delegates)
        if one is None or parent_is_over(one) or one.program:
            return
        op = UserInput(session_id=one.session_id, text=said(text))
        self.die_at(by, op, lambda: self.expected.tell(one, text, by))

    def dies_while_it_is_answered(self, number: int, by: str) -> None:
        one = self.one(number, lambda one: one.asks and one.state is not SessionState.QUEUED)
        if one is None:
            return
        open_now = self.runner.run(self.world.store.open_questions())
        (asked,) = [q for q in open_now if q.session_id == one.session_id]
        op = UserInputAnswer(question_id=asked.question_id, answer="this")
        self.die_at(by, op, lambda: self.expected.answer(one))

    def die_at(self, by: str, op: Op, expect: Callable[[], None]) -> None:
        """Let the core die when the op's facts are stored and nobody has been told of them."""
        self.expected.stopped = True
        try:
            expect()
        except Refused:
            self.expected.stopped = False
            return
        self.runner.run(self.world.ask_and_die(by, op))
        self.expected.die()
        self.compare(f"the core dies at {op}")

    @rule(hours=st.sampled_from([-30, -1, 1, 30]))
    def the_clock_jumps(self, hours: int) -> None:
        self.world.skew_ms += hours * 3_600_000
        self.expected.jump(hours)
        self.compare(f"the clock jumps by {hours} h")

    # --- both ----------

    def play_new(self, by: str, op: Op, expect: Callable[[tuple[str, ...]], None]) -> None:
        reply = self.runner.run(self.world.ask(by, op))
        expect((reply.session_id, *reply.child_ids))
        self.compare(type(op).__name__)

    def play(self, by: str, op: Op, expect: Callable[[], None]) -> None:
        refusal: SwitchboardError | None = None
        try:
            self.runner.run(self.world.ask(by, op))
        except (WrongStateError, UsageError) as error:
            refusal = error
        refused = False
        try:
            expect()
        except Refused:
            refused = True
        if refused is not (refusal is not None):
            wrong = [f"{op}: the model refuses: {refused}; the core: {refusal}"]
            told = self.runner.run(explained(self.world, self.log, wrong, looks=0))
            raise Difference(told)
        self.compare(f"{by}: {op}")

    def compare(self, after: str) -> None:
        type(self).steps += 1
        self.runner.run(self._compare(after))

    async def _compare(self, after: str) -> None:
        wrong: list[str] = []
        for looks in range(self.looks):
            wrong = await self._differences()
            if not wrong:
                await _a_moment()
                wrong = await self._differences()
            if not wrong:
                self.log.note(f"{after}, alike after {looks} looks")
                return
            await asyncio.sleep(LOOK_EVERY_S)
        self.log.note(after)
        told = await explained(self.world, self.log, wrong, looks=self.looks)
        raise Difference(f"After {after}:\n{told}")

    async def _differences(self) -> list[str]:
        world, expected = self.world, self.expected
        wrong: list[str] = []

        def same(what: str, core: object, model: object) -> None:
            if core != model:
                wrong.append(f"{what}: the core says {core}, the model {model}")

        found = await world.sessions()
        same("sessions", sorted(found), sorted(expected.all))
        asking = Counter(q.session_id for q in await world.store.open_questions())
        for session_id, one in expected.all.items():
            record = found.get(session_id)
            if record is None:
                continue
            name = f"{session_id} ({one.goal}, {'part' if one.parent else 'top'})"
            same(f"{name} state", record.state, one.state)
            same(f"{name} generation", record.generation, one.generation)
            same(f"{name} paused", record.paused, one.paused)
            same(f"{name} held", record.held, one.held)
            same(f"{name} driver", _name(record.driver), expected.driver_of(one))
            same(f"{name} lost", record.lost, one.lost)
            same(f"{name} deferred", record.deferred, one.deferred)
            if one.is_idle and not one.delegates:
                same(f"{name} stopped", record.stopped, one.stopped)
            same(f"{name} pruned", record.pruned, one.pruned)
            same(f"{name} questions", asking[session_id], int(one.asks))
            if _hangs(one) and not one.program:
                same(f"{name} words", world.gates.shown.get(session_id), one.words)
        if wrong:
            return wrong
        turns = {key for key, one in expected.all.items() if one.has_turn and one.begun}
        same("tasks", sorted(world.turns()), sorted(turns))
        heads = {s: queue[0].session_id if queue else "" for s, queue in expected.queues.items()}
        same("who drives the phones", world.fleet.driven_by(), heads)
        displays = Counter(one.serial for one in expected.all.values() if one.display)
        same("displays", world.fleet.open_displays(), {s: displays[s] for s in PHONES})
        same("clients", world.daemon.clients, len(CLIENTS))
        status = await world.daemon.status()
        same("listed clients", sorted(_name(c.name) for c in status.clients), sorted(CLIENTS))
        notices = {n.session_id for n in (await world.core.overview()).notices}
        stale = sorted(notices - expected.all.keys())
        same("notices of what is not there", stale, [])
        return wrong

    def teardown(self) -> None:
        try:
            if hasattr(self, "world"):
                self.runner.run(self._end())
        finally:
            for one in self.patches:
                one.stop()
            self.runner.close()
            self.directory.cleanup()

    async def _end(self) -> None:
        await self.world.end()
        await self.world.sweep()
        assert self.world.blob_files() == self.world.blob_rows(), "files and rows differ"
        assert not any(self.world.fleet.open_displays().values()), "a display outlives its core"
        assert not any(self.world.fleet.driven_by().values()), "a phone is still driven"
        assert not self.world.daemon.path.exists(), "the socket outlives its core"


def _is_queued(one: One) -> bool:
    return one.has_turn and one.state is SessionState.QUEUED


def _hangs(one: One) -> bool:
    return one.has_turn and one.state is SessionState.RUNNING and not one.paused


def _name(said_name: str) -> str:
    return said_name.split(" (")[0]


async def _a_moment() -> None:
    for _ in range(20):
        await asyncio.sleep(0)
