"""`switchboard sessions show`: what an operator learns of a tree from its parent alone."""

import asyncio
import json
from pathlib import Path

import pytest

from agent.protocol import RequestUserInput, SessionConfigured
from agent.records import Question, QuestionOption, Session
from agent.store.embedded.sqlite_store import EventDraft, SqliteStore
from tests.console.commands.test_cli import call


@pytest.fixture
def tree(tmp_path: Path) -> dict[str, str]:
    """Store a parent of which one child asks; returns the environment that points there."""

    async def fill() -> None:
        async with SqliteStore.open(tmp_path) as store:
            for name, parent in (("parent", ""), ("first", "parent"), ("second", "parent")):
                session = Session(
                    session_id=name, parent_id=parent, goal=f"goal of {name}", created_ms=1
                )
                await store.append(EventDraft(name, SessionConfigured(session=session)))
            question = Question(
                question_id="q-1",
                session_id="second",
                text="Which Ben?",
                asked_ms=1,
                options=(QuestionOption(label="Ben Carter"),),
            )
            await store.append(EventDraft("second", RequestUserInput(question=question)))

    asyncio.run(fill())
    return {"SWITCHBOARD_DATA_DIR": str(tmp_path)}


def test_a_parent_is_shown_with_its_children_and_with_what_they_ask(tree: dict[str, str]) -> None:
    shown = call("sessions", "show", "par", **tree).stdout
    assert "goal of first" in shown
    assert "second asks:" in shown
    assert "Which Ben?" in shown
    assert "Ben Carter" in shown


def test_a_parent_as_json_has_its_children_and_their_questions(tree: dict[str, str]) -> None:
    shown = json.loads(call("sessions", "show", "parent", "--json", **tree).stdout)
    assert shown["children"] == ["first", "second"]
    assert [question["session_id"] for question in shown["questions"]] == ["second"]


def test_a_child_is_shown_without_what_its_sibling_asks(tree: dict[str, str]) -> None:
    shown = json.loads(call("sessions", "show", "first", "--json", **tree).stdout)
    assert shown["children"] == []
    assert shown["questions"] == []


def test_who_asks_is_listed_and_shown_as_asking(tree: dict[str, str]) -> None:
    listed = {
        line.split()[0]: line for line in call("sessions", "list", **tree).stdout.splitlines()
    }
    assert "asks you" in listed["second"]
    assert "asks you" not in listed["first"] + listed["parent"]
    assert call("sessions", "show", "second", **tree).stdout.startswith("second  asks you")
    children = [
        line
        for line in call("sessions", "show", "parent", **tree).stdout.splitlines()
        if line.startswith("child")
    ]
    assert ["asks you" in line for line in children] == [False, True]
