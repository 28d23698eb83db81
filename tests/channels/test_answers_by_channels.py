"""Answers by ntfy, Telegram and webhooks: whose count, once, and what the others are told."""

import base64
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agent.channels import dispatch
from agent.loop.task_context import TaskContext
from agent.operators.changes import without
from agent.protocol import (
    ApprovalGiven,
    OperatorActed,
    QuestionAnswered,
    SessionCancel,
    SessionResume,
    UserInputAnswer,
)
from agent.records import EffectVerb, Frame, Right, SessionState, Subject
from tests.channels.scene import (
    ANOTHER_ACCOUNT,
    BENS_ACCOUNT,
    DANS_TOPIC,
    RIGHTS,
    TOPIC,
    Scene,
    heard,
    let,
    scene,
)

COUNTS = "Your answer counts"


async def by_ntfy(made: Scene, label: str) -> str:
    message = await made.on_ntfy()
    before = len(made.ntfy.of(TOPIC))
    await made.ntfy.press(message, label)
    return await made.said_on_ntfy(after=before)


async def by_telegram(made: Scene, label: str) -> str:
    return await made.telegram.press(await made.on_telegram(), label, user=BENS_ACCOUNT)


async def by_webhook(made: Scene, label: str) -> str:
    told = await made.on_webhook()
    (option,) = [one for one in told["options"] if one["label"] == label]
    return (await made.program.answer({"token": option["token"]}))[1]


WAYS: dict[str, Callable[[Scene, str], Awaitable[str]]] = {
    "ana": by_ntfy,
    "ben": by_telegram,
    "cleo": by_webhook,
}


async def test_a_press_answers_by_each_way_and_the_session_continues(tmp_path: Path) -> None:
    async with scene(tmp_path) as made:
        for name, press in WAYS.items():
            for label, goal in (("Approve", "approve"), ("Deny", "approve"), ("blue", "ask")):
                session_id, _ = await made.ask(goal)
                assert (await press(made, label)).startswith(COUNTS), (name, label)
                session = await made.stage.reach(session_id, SessionState.COMPLETED)
                assert session.latest_result == f"answered: {label}"
                msgs = await made.stage.msgs(session_id)
                assert [m.operator for m in msgs if isinstance(m, OperatorActed)] == [name]
                (by,) = [m.answered_by for m in msgs if isinstance(m, QuestionAnswered)]
                assert by.startswith(f"{name}: ")


async def test_words_answer_a_question_and_never_approve(tmp_path: Path) -> None:
    async with scene(tmp_path) as made:
        session_id, question = await made.ask("approve")
        message = await made.on_telegram()
        said = await made.telegram.write("yes", user=BENS_ACCOUNT, reply_to=message["message_id"])
        assert "Words approve nothing" in said and await made.is_open(question)
        await made.on_ntfy()
        before = len(made.ntfy.of(TOPIC))
        await made.ntfy.write(f"{TOPIC}-answers", "ok")
        assert "Words approve nothing" in await made.said_on_ntfy(after=before)
        assert await made.is_open(question), "the buttons still count"
        said = await made.telegram.write(
            "no: too dear", user=BENS_ACCOUNT, reply_to=message["message_id"]
        )
        assert said.startswith(COUNTS)
        session = await made.stage.reach(session_id, SessionState.COMPLETED)
        assert session.latest_result == "answered: no: too dear"
        session_id, _ = await made.ask("ask")
        told = await made.on_webhook()
        status, said = await made.program.answer(
            {"token": told["wordsToken"], "words": "the green one"}
        )
        assert (status, said) == (200, "Your answer counts: the green one.")
        session = await made.stage.reach(session_id, SessionState.COMPLETED)
        assert session.latest_result == "answered: the green one"


async def test_two_people_answer_by_two_ways_and_are_both_told_at_once(tmp_path: Path) -> None:
    async with scene(
        tmp_path, two_people=(EffectVerb.UNKNOWN,), people=("ana", "ben", "cleo")
    ) as made:
        session_id, question = await made.ask()
        assert "1 of 2" in await by_ntfy(made, "Approve")
        assert await made.is_open(question)
        assert (await by_telegram(made, "Approve")).startswith(COUNTS)
        await made.stage.reach(session_id, SessionState.COMPLETED)
        assert made.program.posted() == [], "two are asked, and the third is left alone"
        msgs = await made.stage.msgs(session_id)
        assert [m.yes_by for m in msgs if isinstance(m, ApprovalGiven)] == [("ana",)]


Tokens = dict[tuple[str, str], str]
"""What each person was sent, by their name and the label of the button."""


class Attempt(NamedTuple):
    """One answer that must not count."""

    name: str
    act: Callable[[Scene, Tokens], Awaitable[str]]
    """Tries it; returns what whoever tried is told."""
    after: str = ""
    """What happened before, if anything: see `_happen`."""
    whose: str = ""


async def _sent(made: Scene) -> Tokens:
    """Wait for the messages of the newest question; returns their tokens."""
    found: Tokens = {}
    for one in (await made.on_ntfy())["actions"]:
        found["ana", one["label"]] = one["body"]
    for (key,) in (await made.on_telegram())["reply_markup"]["inline_keyboard"]:
        found["ben", key["text"]] = key["callback_data"]
    for one in (await made.on_webhook())["options"]:
        found["cleo", one["label"]] = one["token"]
    return found


async def _show(made: Scene, name: str, token: str) -> str:
    """Show a token at the channel of a person; returns what is said there."""
    match name:
        case "ana" | "dan":
            topic = TOPIC if name == "ana" else DANS_TOPIC
            before = len(made.ntfy.of(topic))
            await made.ntfy.write(f"{topic}-answers", token)
            return await made.said_on_ntfy(after=before, topic=topic)
        case "ben":
            return await made.telegram.press_data(token, user=BENS_ACCOUNT)
        case _:
            return (await made.program.answer({"token": token}))[1]


def _shows(
    name: str, owner: str, label: str, change: Callable[[str], str] = str
) -> Callable[[Scene, Tokens], Awaitable[str]]:
    """Show one person's token at the channel of a person."""

    async def act(made: Scene, sent: Tokens) -> str:
        return await _show(made, name, change(sent[owner, label]))

    return act


def _after_a_change() -> Iterator[Attempt]:
    """Presses of a person's own button, after something else happened."""
    for name in WAYS:
        for label in ("Approve", "Deny"):
            for after in ("answered", "used", "late", "removed", "demoted", "restarted"):
                yield Attempt(f"{name} {label} {after}", _shows(name, name, label), after, name)


def _stolen() -> Iterator[Attempt]:
    """Tokens of one person that another one shows."""
    for owner in WAYS:
        for thief in (*WAYS, "dan"):
            for label in ("Approve", "Deny"):
                if owner != thief:
                    yield Attempt(f"{thief} shows {label} of {owner}", _shows(thief, owner, label))


def _invented() -> Iterator[Attempt]:
    """Tokens that were never made, cut, or written otherwise."""
    changes: dict[str, Callable[[str], str]] = {
        "made up": lambda _: "A" * 24,
        "cut": lambda token: token[:-1],
        "of another case": str.swapcase,
        "empty": lambda _: "-",
    }
    for name in WAYS:
        for said, change in changes.items():
            yield Attempt(f"{name} {said}", _shows(name, name, "Approve", change))


def _foreign() -> Iterator[Attempt]:
    """Accounts and programs that are not the channel's."""

    async def another_account(made: Scene, sent: Tokens) -> str:
        return await made.telegram.press_data(sent["ben", "Approve"], user=ANOTHER_ACCOUNT)

    async def another_writer(made: Scene, _sent: Tokens) -> str:
        number = (await made.on_telegram())["message_id"]
        return await made.telegram.write("no", user=ANOTHER_ACCOUNT, reply_to=number)

    yield Attempt("another account presses", another_account)
    yield Attempt("another account writes", another_writer)
    ways: dict[str, dict[str, Any]] = {
        "another key": {"key": b"o" * 32},
        "an old signature": {"late_s": 301},
        "a signature of the future": {"late_s": -302},
        "another body": {"changed": b'{"words": "no"}'},
        "not posted": {"method": "PUT"},
        "an id that was used": {"message_id": "msg_same"},
    }
    for said, how in ways.items():

        async def post(made: Scene, sent: Tokens, how: dict[str, Any] = how) -> str:
            if "message_id" in how:
                await made.program.answer({"token": "A" * 24}, **how)
            status, told = await made.program.answer({"token": sent["cleo", "Approve"]}, **how)
            assert status >= 400
            return told

        yield Attempt(said, post)


async def _happen(made: Scene, attempt: Attempt, session_id: str, sent: Tokens) -> None:
    """Do what happens before an attempt."""
    whose = attempt.whose
    match attempt.after:
        case "answered":
            (question,) = await made.stage.store.open_questions()
            await made.stage.do(UserInputAnswer(question_id=question.question_id, answer="no"))
        case "used":
            await _show(made, whose, sent[whose, "Deny"])
        case "late":
            made.stage.now_ms = made.stage.clock() + 3_600_000
        case "removed":
            await made.register.change(whose, lambda _known: None)
        case "demoted":
            await made.register.change(
                whose, lambda known: without(known[whose], [Right.APPROVE], ())
            )
        case "restarted":
            # The session asks anew, in its next generation.
            await made.stage.do(SessionCancel(session_id=session_id))
            await made.stage.do(SessionResume(session_id=session_id))
        case _:
            pass


async def test_whatever_is_not_the_persons_own_answer_to_what_stands_is_refused_and_said(
    tmp_path: Path,
) -> None:
    """Late, used, stolen, invented, by the wrong account, without the right, after a change."""
    attempts = (*_after_a_change(), *_stolen(), *_invented(), *_foreign())
    assert len(attempts) >= 60
    counted = []
    async with scene(tmp_path) as made:
        for attempt in attempts:
            session_id, _ = await made.ask()
            sent = await _sent(made)
            await _happen(made, attempt, session_id, sent)
            before = await _answers(made, session_id)
            said = await attempt.act(made, sent)
            if await _answers(made, session_id) != before or not said or COUNTS in said:
                counted.append((attempt.name, said))
            await made.end(session_id)
            if attempt.after in ("removed", "demoted"):
                await let(made.register, attempt.whose, RIGHTS[attempt.whose])
    assert counted == []


async def _answers(made: Scene, session_id: str) -> list[str]:
    msgs = await made.stage.msgs(session_id)
    return [one.answer for one in msgs if isinstance(one, QuestionAnswered)]


async def test_after_a_restart_an_older_message_still_answers_the_same_question(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as made:
        session_id, question = await made.ask()
        sent = await _sent(made)
    async with scene(tmp_path) as again:
        # What was sent to one person is no other's, after a restart either.
        assert "another person" in await _show(again, "ben", sent["ana", "Approve"])
        assert await again.is_open(question)
        assert COUNTS in await _show(again, "ben", sent["ben", "Approve"])
        await again.stage.reach(session_id, SessionState.COMPLETED)
        assert await _answers(again, session_id) == ["Approve"]


async def test_the_screen_is_sent_only_to_whom_the_settings_allow_it(tmp_path: Path) -> None:
    picture = b"\x89PNG of a screen"

    async def asks(context: TaskContext) -> str:
        frame = Frame(digest=digest, width_px=1, height_px=1, captured_ms=1)
        subject = Subject(action="tap", frame=frame)
        said = await context.ask("Pay?", call_id="c", step=1, approval=True, subject=subject)
        return f"answered: {said}"

    async with scene(tmp_path, pictures=("ben", "cleo")) as made:
        digest = await made.stage.store.blobs.put(picture, "image/png")
        made.stage.parts["approve"] = asks
        session_id, _ = await made.ask()
        await _sent(made)
        posted = await heard(made.telegram.news, lambda: made.telegram.photos or None)
        assert posted == [picture]
        (sent,) = await heard(
            made.program.news,
            lambda: [one for one in made.program.got if one["type"] == "notice.picture"] or None,
        )
        assert base64.b64decode(sent["data"]["png"]) == picture
        assert COUNTS in await by_webhook(made, "Deny")
        await made.stage.reach(session_id, SessionState.COMPLETED)
        assert made.ntfy.pictures == []


async def test_an_answer_that_came_while_the_service_was_away_is_read_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "RELISTEN_S", (0.01,))
    async with scene(tmp_path) as made:
        session_id, question = await made.ask()
        sent = await _sent(made)
        for _ in range(2):
            # Once before anything was read, once after.
            async with made.ntfy.news:
                made.ntfy.is_down = True
                made.ntfy.news.notify_all()
            await made.ntfy.write(f"{TOPIC}-answers", "maybe")
            before = len(made.ntfy.of(TOPIC))
            made.ntfy.is_down = False
            assert "Words approve nothing" in await made.said_on_ntfy(after=before)
        assert await made.is_open(question)
        assert COUNTS in await _show(made, "ana", sent["ana", "Deny"])
        await made.stage.reach(session_id, SessionState.COMPLETED)


async def test_an_update_that_cannot_be_read_does_not_come_again_for_ever(tmp_path: Path) -> None:
    async with scene(tmp_path) as made:
        session_id, _ = await made.ask()
        message = await made.on_telegram()
        updates: list[dict[str, Any]] = [
            {"callback_query": {"id": 5, "from": "nobody"}},
            {"message": {"text": "no chat"}},
            {"edited_message": {}},
        ]
        for strange in updates:
            await made.telegram._update(strange)
        said = await made.telegram.press(message, "Deny", user=BENS_ACCOUNT)
        assert COUNTS in said
        await made.stage.reach(session_id, SessionState.COMPLETED)
