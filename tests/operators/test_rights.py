"""Rights by hypothesis: nothing is theirs that was not given, and what is taken is gone."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.operators.changes import granted, without
from agent.operators.file_register import FileRegister
from agent.operators.operator import Grant, Operator, checked_name, held_in, made_token, token_of
from agent.operators.scope import OpScope, concern_of
from agent.protocol import JobCreate, Op, SessionCreate
from agent.records import Campaign, Right

RIGHTS = st.sampled_from(list(Right))
TAGS = st.sampled_from(["lab", "bank", "shop", "spare"])
TAG_SETS = st.frozensets(TAGS, max_size=4)
GRANTS = st.lists(
    st.builds(lambda right, tags: Grant(right=right, tags=tuple(sorted(tags))), RIGHTS, TAG_SETS),
    max_size=6,
)


@given(GRANTS, RIGHTS, TAG_SETS)
def test_a_right_is_held_where_a_grant_gives_it_and_nowhere_else(
    grants: list[Grant], right: Right, tags: frozenset[str]
) -> None:
    operator = Operator(name="ana", grants=tuple(grants))
    given_there = any(
        (one.right in {right, Right.ADMINISTER} or right is Right.WATCH)
        and (not one.tags or bool(set(one.tags) & tags))
        for one in grants
    )
    assert operator.may([right], tags) == given_there
    of_all = any(
        (one.right in {right, Right.ADMINISTER} or right is Right.WATCH) and not one.tags
        for one in grants
    )
    assert operator.may([right], None) == of_all


@given(GRANTS, RIGHTS, TAG_SETS, TAG_SETS)
def test_more_tags_on_a_phone_never_take_a_right_away(
    grants: list[Grant], right: Right, tags: frozenset[str], more: frozenset[str]
) -> None:
    operator = Operator(name="ana", grants=tuple(grants))
    assert not operator.may([right], tags) or operator.may([right], tags | more)
    assert not operator.may([right], None) or operator.may([right], tags)


@given(GRANTS, RIGHTS, TAG_SETS)
def test_what_was_granted_and_taken_is_as_if_it_had_never_been(
    grants: list[Grant], right: Right, tags: frozenset[str]
) -> None:
    before = Operator(
        name="ana", grants=tuple(dict.fromkeys(one for one in grants if one.right is not right))
    )
    after = without(granted(before, [right], tags), [right], tags)
    assert after == before


@given(GRANTS, RIGHTS, TAGS)
def test_what_is_taken_on_a_tag_is_gone_there(grants: list[Grant], right: Right, tag: str) -> None:
    before = Operator(name="ana", grants=tuple(one for one in grants if one.tags))
    try:
        after = without(before, [right], [tag])
    except UsageError:
        after = before
    assert not any(one.right is right and tag in one.tags for one in after.grants)
    for other in {"lab", "bank", "shop", "spare"} - {tag}:
        assert after.may([right], [other]) == before.may([right], [other])


def test_every_right_holds_watching() -> None:
    assert all(Right.WATCH in held_in(right) for right in Right)
    assert held_in(Right.ADMINISTER) == set(Right)


@given(st.text(max_size=60))
def test_a_token_is_known_whole_or_not_at_all(other: str) -> None:
    token, kept = made_token(1000, 1000)
    ana = Operator(name="ana", tokens=(kept,))
    assert token_of([ana], token, 1999) == (ana, kept.token_id)
    assert token_of([ana], token, 2000) is None
    assert token_of([ana], other, 1500) is None
    assert token_of([ana], token + other, 1500) == ((ana, kept.token_id) if not other else None)


@pytest.mark.parametrize("name", ["", "Ana", "a b", "ana:", "-a", "a" * 33, "ána", "a\n"])
def test_a_name_is_one_plain_word(name: str) -> None:
    with pytest.raises(UsageError):
        checked_name(name)


async def test_two_writers_keep_both(tmp_path: Path) -> None:
    one, two = FileRegister(tmp_path), FileRegister(tmp_path)
    await one.change("ana", lambda _: Operator(name="ana"))
    await two.change("ben", lambda _: Operator(name="ben"))
    assert [each.name for each in one.operators()] == ["ana", "ben"]
    left = await asyncio.to_thread(lambda: {each.name for each in tmp_path.iterdir()})
    assert left == {"operators.json", ".operators.json.lock"}


@pytest.mark.parametrize(
    ("op", "concern"),
    [
        (SessionCreate(goal="g", phone_needs="tag:lab,app:com.x"), OpScope(tags=("lab",))),
        (SessionCreate(goal="g", phone_needs="app:com.x"), OpScope(everything=True)),
        (SessionCreate(goal="g", phone_needs="same:3f2a"), OpScope(session_ids=("3f2a",))),
        (SessionCreate(goal="g", phone_needs="same:last"), OpScope(everything=True)),
        (JobCreate(title="t", tags=("lab",), phone_needs="same:3f2a"), OpScope(everything=True)),
        (
            JobCreate(title="t", tags=("lab",), payload={"needs": "same:3f2a"}),
            OpScope(everything=True),
        ),
        (JobCreate(title="t", campaign=Campaign(needs="tag:lab")), OpScope(tags=("lab",))),
        (JobCreate(title="t", campaign=Campaign()), OpScope(everything=True)),
        (
            JobCreate(title="t", campaign=Campaign(phones=("p1", "p2"))),
            OpScope(serials=("p1", "p2")),
        ),
        (
            JobCreate(title="t", campaign=Campaign(needs="tag:lab", phones=("p1", "p2"))),
            OpScope(everything=True),
        ),
    ],
)
def test_what_a_phone_has_to_be_is_what_the_right_is_asked_for(op: Op, concern: OpScope) -> None:
    assert concern_of(op) == concern
