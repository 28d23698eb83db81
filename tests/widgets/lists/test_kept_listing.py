"""Whatever happens to sessions, a kept list is the one that listing everything again gives."""

import random

import pytest
from msgspec.structs import replace

from agent.protocol import (
    RequestUserInput,
    SessionDismissed,
    SessionFlagsChanged,
    SessionStateChanged,
    StepStarted,
)
from agent.records import Question, QuestionKind, SessionState
from tests.console.fakes import FakeCore
from tests.console.fleet_scene import play_fleet
from widgets.lists.kept_listing import Arrangement, KeptListing, Listing
from widgets.lists.session_list import Look, SessionRows, listed_sessions, session_rows
from widgets.lists.session_order import Group, Sort

_SESSIONS = 24
_EVENTS = 60


def happen(core: FakeCore, chance: random.Random, number: int) -> None:
    """Let anything happen to one session."""
    one = f"s{chance.randrange(_SESSIONS):05}"
    match chance.randrange(8):
        case 0:
            core.tell(SessionStateChanged(state=chance.choice(list(SessionState))), one)
        case 1:
            core.tell(SessionFlagsChanged(paused=chance.random() < 0.5), one)
        case 2:
            core.tell(SessionDismissed(dismissed=chance.random() < 0.5), one)
        case 3:
            question = Question(
                question_id=f"new{number}",
                session_id=one,
                text="Which?",
                kind=QuestionKind.QUESTION,
                asked_ms=core.now_ms,
            )
            core.tell(RequestUserInput(question=question), one)
        case 4:
            view = core.state.sessions[one]
            named = replace(view.session, title=chance.choice(["", "Same", f"Own {number}"]))
            sessions = {**core.state.sessions, one: replace(view, session=named)}
            core.state = replace(core.state, sessions=sessions)
        case 5:
            device = next(iter(core.state.devices.values()))
            devices = {**core.state.devices, device.serial: replace(device, name=f"n{number}")}
            core.state = replace(core.state, devices=devices)
        case 6:
            core.now_ms += chance.choice([100, 1_000, 61_000])
        case _:
            core.tell(StepStarted(step=number + 1), one)


@pytest.mark.parametrize("group", Group)
def test_a_kept_list_and_its_rows_are_those_of_listing_everything_again(group: Group) -> None:
    for at, sort in enumerate(Sort):
        chance = random.Random(f"{group} {sort}")
        core = FakeCore()
        play_fleet(core, hosts=3, phones=4, live=_SESSIONS - 6, settled=6, asking=2)
        kept, rows, reused = KeptListing(), SessionRows(), 0
        wanted = ("", "running", "@rack-1/", "dismissed")[at % 4]
        look = Look(sort=sort, group=group, wanted=wanted, width=90, height=20)
        for number in range(_EVENTS):
            happen(core, chance, number)
            state, now_ms = core.state, core.now_ms
            second = now_ms // 1000 if group is Group.AGE else 0
            arrangement = Arrangement(sort, group, look.folded, wanted, second)
            fresh = listed_sessions(state, look, now_ms=now_ms)
            known = kept.after(state, arrangement)
            reused += known is not None
            listing = known or kept.keep(state, arrangement, fresh)
            assert list(listing.entries) == fresh
            assert listing == Listing.of(fresh)
            asking = {question.session_id for question in state.questions.values()}
            shown = rows.show(listing, state, look, now_ms=now_ms, asking=asking)
            assert shown == session_rows(state, look, now_ms=now_ms, asking=asking)
        if group is not Group.AGE:
            assert reused > 0, (sort, group)
