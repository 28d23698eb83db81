"""The lifecycle of sessions as it is promised (docs/sessions.md), without I/O: what must be so.

Written from the promises alone: nothing of the core is called. Invariant: after each step every
session has come to rest where its words bring it, so where it stands is known exactly.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from agent.records import SessionState as State

QUEUED, RUNNING, WAITING = State.QUEUED, State.RUNNING, State.WAITING_FOR_USER
COMPLETED, FAILED, CANCELLED = State.COMPLETED, State.FAILED, State.CANCELLED
CREATED = State.CREATED
MOST_WITHHELD = 8


PRUNING = "pruning"  # Stands for a session's id where it is said how far things come.
REDACTED, WHOLE = "~", "!"
"""Behind a word: it was written with a secret, which was taken out, or let through."""


def word_of(text: str) -> str:
    """Return the word that a text asks for: the last one in it."""
    return re.findall("[a-z]+", text)[-1]


class Refused(Exception):
    """The core is to refuse this, and to change nothing."""


@dataclass(eq=False)
class One:
    """A session as it must be."""

    session_id: str
    goal: str
    """Texts are told apart by their words and by what became of a secret in them."""
    serial: str = ""
    hidden: bool = False
    parent: "One | None" = None
    children: "list[One]" = field(default_factory=list)
    state: State = CREATED
    generation: int = 0
    paused: bool = False
    parked: bool = False
    """It would go on, and waits because it is paused."""
    held: bool = False
    lost: bool = False
    deferred: State | None = None
    stopped: bool = False
    """A stop was the last that became of its work: it says so while it is idle."""
    has_turn: bool = False
    begun: bool = False
    """False while it only waits in line since a restart: its turn begins with its phone."""
    asks: bool = False
    """A question of it is open."""
    display: bool = False
    words: str = ""
    """What its model reads last."""
    told: str = ""
    """The newest prompt that its model was told; at first its goal."""
    moved_on: bool = False
    """Something else was said since that was, or its turn is over: the same again is new."""
    prompt: str = ""
    """What its next turn is asked to do."""
    met: bool = False
    """What it was asked for last was done."""
    once_more: bool = False
    """Its next turn does its goal anew, which was met."""
    answered: bool = False
    """Its question about these words has been asked."""
    unanswered: bool = False
    """The call that asked has no result: it is taken up again unless newer words are said."""
    hints: list[str] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)
    """The words whose texts lost a secret, as long as its core knows them."""
    allowed: bool = False
    """The secret was let through, so nothing is redacted any more."""
    due_h: float | None = None
    """When its open question closes by itself, in hours of the clock; None = never."""
    program: str = ""
    """The client that makes its calls; empty where a model does."""
    ended_h: float = 0.0
    """When it ended last, in hours of the clock."""
    pruned: bool = False
    """Its frames have been dropped."""
    asked: int = 0
    """How many questions it has asked."""
    pending: str = ""
    """What it was about to do when it was held up: "look", "ask", or "conclude" from words."""

    @property
    def is_over(self) -> bool:
        return self.state in {COMPLETED, FAILED, CANCELLED}

    @property
    def is_idle(self) -> bool:
        return not self.has_turn and self.state is WAITING

    @property
    def delegates(self) -> bool:
        return bool(self.children)


class Expected:
    """Every session, phone and client of one core."""

    def __init__(
        self,
        serials: Iterable[str],
        *,
        patience_h: float = 0.0,
        keep_trees: int = 10,
        keep_h: float = 14 * 24,
    ) -> None:
        self.patience_h = patience_h
        """How long a question waits for its answer; 0 = for ever."""
        self.clock_h = 0.0
        self.stopped = False
        """True while what is stored is not known to anybody yet: nothing follows from it."""
        self.pace: dict[str, str] = {}
        """How far these come by themselves while `stopped` is False: "stays" or "reads" (what is
        new, and follows it later), by id; all others to where they rest.
        """
        self.programs: set[str] = set()
        """Direct sessions whose program is connected, by id."""
        self.all: dict[str, One] = {}
        self.queues: dict[str, list[One]] = {serial: [] for serial in serials}
        self.drivers: dict[str, str] = {}
        """Which client drives a session, by id."""
        self.watchers: dict[str, set[str]] = {}
        """Which sessions a client is attached to."""
        self.drafts: dict[str, str] = {}
        """Which client holds a draft, by id."""
        self.retries = 3
        self.keep_trees = keep_trees
        self.keep_h = keep_h
        """How long frames stay after the end of their tree."""
        self.prunes = False
        """A session has ended, or a core begun, and frames have not been looked through since."""
        self.recoveries: dict[str, int] = {}

    # --- ops ----------

    def create(self, tree: list[One], *, start: bool, holder: str = "") -> None:
        top, *children = tree
        top.children = children
        for one in tree:
            one.prompt = one.told = one.goal
            one.words = word_of(one.goal)
            if one.goal.endswith(REDACTED):
                one.withheld = [one.words]
            one.parent = top if one is not top else None
            self.all[one.session_id] = one
        if not start:
            if holder:
                self.drafts[top.session_id] = holder
            return
        if children:
            top.state = RUNNING
        for one in children or [top]:
            self._queue(one)
        self._settle()

    def create_direct(self, one: One) -> None:
        """A session whose calls a client makes."""
        self.programs.add(one.session_id)
        self.create([one], start=True)

    def fork(self, one: One, copy_id: str) -> None:
        """Its past in a new session, which waits for somebody to go on with it."""
        state = CREATED if one.state is CREATED else WAITING
        copy = replace(one, session_id=copy_id, parent=None, children=[], state=state)
        copy.paused = copy.parked = copy.held = copy.lost = False
        copy.deferred, copy.asks, copy.display = None, False, False
        # A turn that had begun is cut off in the copy.
        copy.stopped = one.stopped or (one.has_turn and one.begun and one.state is not QUEUED)
        copy.hints, copy.withheld, copy.pruned = list(one.hints), [], False
        self.all[copy_id] = copy

    def fails(self, one: One) -> None:
        """Its program says that the goal cannot be met."""
        self._turn_ends(one, FAILED)
        self._settle()

    def start(self, top: One, client: str) -> None:
        self._check_driver(top, client)
        if top.state is not CREATED or parent_is_over(top):
            raise Refused
        self.drafts.pop(top.session_id, None)
        if top.delegates:
            top.state = RUNNING
        for one in top.children or [top]:
            if one.state is not CREATED:
                continue
            if one is not top and one.held:
                one.state, one.deferred = WAITING, QUEUED
            else:
                self._queue(one)
        self._settle()

    def tell(self, top: One, word: str, client: str, *, secret: bool = False) -> None:
        self._check_driver(top, client)
        if top.is_over or parent_is_over(top):
            raise Refused
        if secret and not top.allowed:
            top.withheld = [*top.withheld, word][-MOST_WITHHELD:]
        text = word + (WHOLE if top.allowed else REDACTED) if secret else word
        self._tell(top, text)

    def let_through(self, top: One, client: str) -> None:
        """The texts that lost a secret are said again, whole; a tree that ended goes on."""
        self._check_driver(top, client)
        if not top.withheld or top.state is CREATED:
            raise Refused
        text = "".join(word + WHOLE for word in top.withheld)
        if top.is_over and top.parent is None:
            top.generation += 1
            top.moved_on = True
            top.paused = top.lost = top.pruned = False
            top.allowed = True
            self._hear(top, text)
            self._settle()
        elif top.is_over or parent_is_over(top):
            raise Refused
        else:
            top.allowed = True
            self._tell(top, text, allows=True)
        top.withheld = []

    def _tell(self, top: One, text: str, *, allows: bool = False) -> None:
        hearers = [top]
        if top.delegates:
            unsettled = [one for one in top.children if not one.is_over]
            hearers = [one for one in unsettled if one.has_turn and one.begun] or unsettled
        for one in hearers:
            one.allowed = one.allowed or allows
            self._hear(one, text)
        self._settle()

    def answer(self, one: One, asked: int = 0) -> None:
        """Answer its question; of those that it asked, the one of a number if one is given."""
        if not one.asks or asked not in {0, one.asked}:
            raise Refused
        one.asks, one.unanswered = False, False
        if one.state is QUEUED:
            return
        if one.has_turn:
            one.state = RUNNING
            self._act(one)
        else:
            self._queue(one)
        self._settle()

    def stop(self, top: One) -> None:
        for one in (top, *top.children):
            if one.has_turn:
                self._end_turn(one)
                one.state, one.asks, one.paused = WAITING, False, False
                one.stopped = True
        self._settle()

    def cancel(self, top: One) -> None:
        for one in (top, *top.children):
            if not one.is_over:
                self._end_turn(one)
                self._over(one, CANCELLED)
        self._settle()

    def pause(self, top: One) -> None:
        at_work = [one for one in (top, *top.children) if one.has_turn and one.begun]
        if not at_work:
            raise Refused
        if top.delegates and not top.is_over:
            at_work.append(top)
        for one in at_work:
            one.paused = True

    def resume(self, top: One, client: str) -> None:
        self._check_driver(top, client)
        if not top.delegates:
            parent = top.parent
            if parent is not None and parent.is_over:
                generation = max(one.generation for one in (parent, *parent.children)) + 1
                parent.generation, parent.state, parent.pruned = generation, RUNNING, False
                self._again(top, generation)
            else:
                above = parent.generation if parent is not None else 0
                self._go_on(top, max(top.generation + 1, above))
        elif top.is_over:
            generation = max(one.generation for one in (top, *top.children)) + 1
            top.generation, top.state = generation, RUNNING
            top.paused = top.pruned = False
            unmet = [one for one in top.children if one.state is not COMPLETED]
            for one in unmet or top.children:
                self._again(one, generation)
        else:
            ready = [one for one in top.children if one.is_idle or (one.has_turn and one.paused)]
            if not ready:
                raise Refused
            top.paused = False
            for one in ready:
                self._go_on(one, one.generation)
        self._settle()

    def let_go(self, one: One) -> None:
        if one.has_turn and one.state is RUNNING and one.words == "hangs" and not one.program:
            # It says that it is done, and what it says is checked on the screen as it is then.
            one.display = one.hidden
            self._turn_ends(one, COMPLETED)
            self._settle()

    def move(self, one: One, serial: str, client: str) -> None:
        """Its work goes on on another phone; what it had on the old one is given back."""
        self._check_driver(one, client)
        if one.delegates or one.is_over:
            raise Refused
        if one.serial == serial:
            return
        waited = one.has_turn
        if waited:
            self._end_turn(one)
            one.state, one.asks, one.paused, one.lost = WAITING, False, False, False
        one.serial, one.display = serial, False
        if waited:
            self._queue(one)
        self._settle()

    def prune(self) -> None:
        """Only the newest settled trees keep their displays, and frames only so long."""
        for tree in self._settled():
            if max(one.ended_h for one in tree) <= self.clock_h - self.keep_h:
                for one in tree:
                    one.pruned, one.display = True, False
        self._prune_displays()

    def _prune_displays(self) -> None:
        for tree in self._settled()[self.keep_trees :]:
            for one in tree:
                one.display = False

    def _settled(self) -> list[tuple[One, ...]]:
        """List the trees that have ended and still have their frames, the newest first."""
        tops = [one for one in self.all.values() if one.parent is None and not one.pruned]
        trees = [(top, *top.children) for top in reversed(tops)]
        return [tree for tree in trees if all(one.is_over for one in tree)]

    def delete(self, top: One) -> None:
        members = (top, *top.children)
        if top.parent is not None or not all(one.is_over for one in members):
            raise Refused
        for one in members:
            del self.all[one.session_id]
            self._forget(one)

    def done(self, top: One) -> None:
        """The operator has taken note of how it ended."""
        for one in (top, *top.children):
            if top.is_over and one.is_over:
                one.display = False

    def _forget(self, one: One) -> None:
        self.drivers.pop(one.session_id, None)
        self.drafts.pop(one.session_id, None)
        for attached in self.watchers.values():
            attached.discard(one.session_id)

    # --- clients ----------

    def attach(self, top: One, client: str, *, drive: bool) -> None:
        if drive and (top.is_over or parent_is_over(top)):
            raise Refused
        was_driver = self.drivers.get(top.session_id) == client
        self.watchers.setdefault(client, set()).add(top.session_id)
        if not drive:
            if was_driver:
                del self.drivers[top.session_id]
                self._let_go(top)
            return
        self.drivers[top.session_id] = client
        self.drafts.pop(top.session_id, None)
        for one in (top, *top.children):
            if one.is_over or (one is not top and one.session_id in self.drivers):
                continue
            one.held = True
        if top.state is CREATED and not top.delegates:
            top.state = WAITING
        self._settle()

    def detach(self, top: One, client: str) -> None:
        if top.session_id not in self.watchers.get(client, ()):
            raise Refused
        self.watchers[client].discard(top.session_id)
        if self.drivers.get(top.session_id) == client:
            del self.drivers[top.session_id]
        self._let_go(top)

    def hang_up(self, client: str) -> None:
        held = [self.all[key] for key, holder in self.drafts.items() if holder == client]
        for session_id in tuple(self.watchers.get(client, ())):
            self.detach(self.all[session_id], client)
        self.watchers.pop(client, None)
        for draft in held:
            self.cancel(draft)
        for one in [one for one in self.all.values() if one.program == client]:
            if one.session_id in self.programs:
                self.programs.discard(one.session_id)
                self.cancel(one)

    def _let_go(self, top: One) -> None:
        for one in (top, *top.children):
            if one.held and not self._is_driven(one):
                one.held = False
                deferred = one.deferred
                if deferred is None or not one.is_idle:
                    continue
                if deferred is QUEUED:
                    self._queue(one)
                else:
                    self._over(one, deferred)
        self._settle()

    def _is_driven(self, one: One) -> bool:
        mine = one.session_id in self.drivers
        return mine or (one.parent is not None and one.parent.session_id in self.drivers)

    def driver_of(self, one: One) -> str:
        """Return who drives a session that is held: itself, or its planner."""
        above = self.drivers.get(one.parent.session_id, "") if one.parent is not None else ""
        return self.drivers.get(one.session_id, above) if one.held else ""

    def _check_driver(self, one: One, client: str) -> None:
        if self.drivers.get(one.session_id, client) != client:
            raise Refused

    # --- the world ----------

    def unplug(self, serial: str) -> None:
        for one in self.all.values():
            if one.serial == serial:
                one.display = False
                if one.has_turn and one.state is not QUEUED:
                    one.lost = True

    def plug(self, serial: str) -> None:
        for one in self.all.values():
            if one.serial == serial:
                one.lost = False
        self._settle()

    def jump(self, hours: int) -> None:
        self.clock_h += hours
        for one in self.all.values():
            if one.asks and one.due_h is not None and one.due_h <= self.clock_h:
                self._expire(one)
        self._settle()

    def die(self) -> None:
        """The core dies, and another takes its place; its clients are gone with it."""
        self.stopped = False
        self.prunes = True
        self.programs.clear()
        for one in self.all.values():
            one.withheld = []
        for queue in self.queues.values():
            queue.clear()
        go_on: list[One] = []
        for one in self.all.values():
            one.display = False
            if one.is_over or one.delegates:
                continue
            under_way = one.state in {QUEUED, RUNNING}
            was_paused = one.paused
            if under_way or one.has_turn:
                one.has_turn = one.paused = one.parked = one.lost = False
                one.pending = ""
                one.state = WAITING
                if under_way and not was_paused:
                    go_on.append(one)
        self.watchers.clear()
        self.drivers.clear()
        drafts, self.drafts = self.drafts, {}
        for top in [one for one in self.all.values() if one.parent is None]:
            self._let_go(top)
        for session_id in drafts:
            self.cancel(self.all[session_id])
        for one in go_on:
            if one.is_idle:
                attempt = self.recoveries.get(one.session_id, 0) + 1
                if attempt <= self.retries:
                    self.recoveries[one.session_id] = attempt
                    self._queue(one)
                    one.begun = False
        self._settle()

    # --- what follows ----------

    def _hear(self, one: One, text: str) -> None:
        if one.has_turn and one.begun:
            one.hints.append(text)
            return
        self._end_turn(one)
        self.drafts.pop(one.session_id, None)
        one.asks = one.unanswered = False
        if one.told != text or one.moved_on:
            one.words, one.answered, one.moved_on = word_of(text), False, False
        one.met = one.once_more = False
        one.prompt = one.told = text
        self._queue(one)

    def _read_prompt(self, one: One) -> None:
        """A prompt that is not what was written last is said to the model once more, and so is a
        goal that was met and is to be done anew.
        """
        if one.prompt != one.told or one.once_more:
            one.words, one.answered = word_of(one.prompt), False
        one.told, one.once_more = one.prompt, False

    def _go_on(self, one: One, generation: int) -> None:
        if one.has_turn and one.paused:
            self._unpause(one)
        elif one.is_over:
            self._again(one, generation)
        elif one.is_idle:
            self._queue(one)
        else:
            raise Refused

    def _again(self, one: One, generation: int) -> None:
        if one.is_over:
            one.prompt = one.goal
            one.unanswered = one.unanswered and one.told == one.goal
        if generation > one.generation:
            one.moved_on, one.once_more, one.met = True, one.met, False
        one.generation, one.pruned = generation, False
        self._unpause(one)
        if not one.has_turn:
            self._queue(one)

    def _unpause(self, one: One) -> None:
        one.paused, parked = False, one.parked
        if parked:
            self._act(one)

    def _queue(self, one: One) -> None:
        one.state, one.deferred, one.stopped = QUEUED, None, False
        one.has_turn = one.begun = True
        self.queues[one.serial].append(one)

    def come_to_rest(self) -> None:
        """Let follow what follows, after `stopped` and `pace` were taken back."""
        for one in [one for one in self.all.values() if one.pending]:
            pace = self._pace(one)
            if pace == "stays" or (pace and one.pending != "look"):
                continue
            pending, one.pending = one.pending, ""
            if pending == "look":
                self._act(one)
            elif pending == "ask":
                self._ask(one)
            else:
                self._conclude(one)
        self._settle()

    def _settle(self) -> None:
        moved = not self.stopped
        while moved:
            moved = False
            for queue in self.queues.values():
                if queue and queue[0].state is QUEUED and self._pace(queue[0]) != "stays":
                    self._begin(queue[0])
                    moved = True
            for top in self.all.values():
                if top.delegates and not self._pace(top):
                    self._roll_up(top)
        # Whenever a session has ended, and nothing else changes which trees are the newest.
        if self.prunes and not self.stopped and not self.pace.get(PRUNING):
            self.prunes = False
            self.prune()

    def _pace(self, one: One) -> str:
        return "stays" if self.stopped else self.pace.get(one.session_id, "")

    def _begin(self, one: One) -> None:
        one.state, one.begun, one.display = RUNNING, True, one.hidden
        if one.asks or one.unanswered:
            self._read_prompt(one)
            one.answered = True
            if self._pace(one):
                one.pending = "ask"
                return
            self._ask(one)
        else:
            self._read_prompt(one)
            self._act(one)

    def _act(self, one: One) -> None:
        """Look at the screen, and do what the newest words say, hints first."""
        one.parked = one.paused
        if one.parked:
            return
        if self._pace(one) == "stays":
            one.pending = "look"
            return
        one.display = one.hidden
        if one.hints:
            one.words, one.answered, one.moved_on = word_of(one.hints[-1]), False, True
            one.hints.clear()
        if one.program:
            one.state = RUNNING
            if one.session_id not in self.programs:
                self._turn_ends(one, FAILED)
            return
        if self._pace(one):
            one.pending = "conclude"
            return
        self._conclude(one)

    def _conclude(self, one: One) -> None:
        match one.words:
            case "fails":
                self._turn_ends(one, FAILED)
            case "asks" if not one.answered:
                one.answered = True
                self._ask(one)
            case "hangs":
                one.state = RUNNING
            case _:
                self._turn_ends(one, COMPLETED)

    def _ask(self, one: One) -> None:
        """Ask, or go on waiting for the answer to what was asked before."""
        if not one.asks:
            one.due_h = self.clock_h + self.patience_h if self.patience_h else None
            one.asked += 1
        one.asks, one.unanswered, one.state = True, True, WAITING

    def _expire(self, one: One) -> None:
        """Nobody answered in time: the call that asked goes on without an answer."""
        one.asks = False
        if one.has_turn and one.state is WAITING:
            one.unanswered, one.state = False, RUNNING
            self._act(one)

    def _turn_ends(self, one: One, state: State) -> None:
        self.recoveries.pop(one.session_id, None)
        one.prompt, one.moved_on = one.goal, True
        if one.hints and state is COMPLETED:
            # What came too late for the last step gets a turn of its own, on the same phone.
            self._read_prompt(one)
            self._act(one)
            return
        self._end_turn(one)
        one.paused = False
        if one.held:
            one.state, one.deferred = WAITING, state
        else:
            self._over(one, state)

    def _end_turn(self, one: One) -> None:
        one.has_turn = one.parked = False
        one.pending = ""
        if one.serial and one in self.queues[one.serial]:
            self.queues[one.serial].remove(one)

    def _over(self, one: One, state: State) -> None:
        one.state, one.asks, one.paused, one.held, one.lost = state, False, False, False, False
        one.deferred = None
        one.met = one.met or state is COMPLETED
        one.ended_h, self.prunes = self.clock_h, True
        self.drivers.pop(one.session_id, None)
        self.drafts.pop(one.session_id, None)
        if state is CANCELLED:
            one.display = False

    def _roll_up(self, top: One) -> None:
        if top.is_over:
            return
        states = {one.state for one in top.children if one.generation >= top.generation}
        if WAITING in states:
            rolled = WAITING
        elif states & {RUNNING, QUEUED}:
            rolled = RUNNING
        else:
            rolled = next(s for s in (FAILED, COMPLETED, CANCELLED, CREATED) if s in states)
        if rolled is CREATED and top.state in {RUNNING, WAITING}:
            return
        if rolled in {FAILED, COMPLETED, CANCELLED}:
            if not top.held:
                self._over(top, rolled)
        elif rolled is not top.state:
            top.state = rolled
            self.drafts.pop(top.session_id, None)


def parent_is_over(one: One) -> bool:
    return one.parent is not None and one.parent.is_over
