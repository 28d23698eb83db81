"""What a phone has to be, as one line: read, written, refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.placement.needs import AppNeed, Bound, Needs, parse_needs, version_of

VERSIONS = st.lists(st.integers(0, 99), min_size=1, max_size=4).map(
    lambda parts: ".".join(map(str, parts))
)
SIGNS = st.sampled_from([">=", "<=", ">", "<", "="])
BOUNDS = st.lists(st.builds(Bound, SIGNS, VERSIONS), max_size=2).map(tuple)
NUMBERS = st.lists(st.builds(Bound, SIGNS, st.integers(1, 99).map(str)), max_size=2).map(tuple)
SCREENS = st.lists(
    st.builds(
        Bound,
        st.sampled_from([">=", "<=", "="]),
        st.tuples(st.integers(1, 9999), st.integers(1, 9999)).map(lambda of: f"{of[0]}x{of[1]}"),
    ),
    max_size=2,
).map(tuple)
APPS = st.lists(
    st.builds(AppNeed, st.from_regex(r"[a-z]{1,9}(\.[a-z]{1,9}){1,3}", fullmatch=True), BOUNDS),
    unique_by=lambda one: one.name,
    max_size=3,
).map(tuple)
NEEDS = st.builds(
    Needs,
    tags=st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), unique=True, max_size=3).map(tuple),
    apps=APPS,
    locale=st.sampled_from(["", "de", "de-AT", "zh-Hans-CN"]),
    android=BOUNDS,
    sdk=NUMBERS,
    screen=SCREENS,
    same=st.sampled_from(["", "3f2a", "last"]),
    spread=st.booleans(),
)


@given(NEEDS)
def test_what_was_written_is_read_as_the_same(needs: Needs) -> None:
    assert parse_needs(str(needs)) == needs


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused_with_a_remedy(text: str) -> None:
    try:
        needs = parse_needs(text)
    except UsageError as error:
        assert error.message
        assert error.remedy
    else:
        assert parse_needs(str(needs)) == needs


@pytest.mark.parametrize(
    ("text", "said", "remedy"),
    [
        ("colour:red", "colour:red", "tag:NAME"),
        ("tag:", "tag has no value", "tag:VALUE"),
        ("app:com.x>=three", "app has the range", "app:com.example>=3.2"),
        ("app:com.x>=3.2,app:com.x", "app:com.x occurs twice", "Write it once"),
        ("sdk>=13.1", "sdk has the range", "sdk>=33"),
        ("screen>1080x1920", "screen has the range", "screen>=1080x1920"),
        ("android", "android has the range", "android>=13"),
        ("locale:german!", "locale is 'german!'", "de-AT"),
        ("locale:de,locale:en", "locale occurs twice", "once"),
        ("spread:most", "spread has a value", "by itself"),
        ("tag:two words", "cannot be a tag", "without spaces"),
        ("tag:" + "x" * 2000, "2004 characters", "at most"),
    ],
)
def test_what_cannot_be_is_refused_by_its_field(text: str, said: str, remedy: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_needs(text)
    assert said in refused.value.message
    assert remedy in refused.value.remedy


@pytest.mark.parametrize(
    ("bound", "version", "holds"),
    [
        (">=3.2", "3.2", True),
        (">=3.2", "3.10", True),
        (">=3.2", "3.1.9", False),
        ("=3", "3.7.1", True),
        ("=3", "30", False),
        ("<=3", "3.9", True),
        ("<4", "3.99", True),
        ("<4", "4.0", False),
        (">3", "3.9", False),
        (">3", "4", True),
        ("=3.0", "3", True),
        (">=2024.1", "2024.1.3-beta2 (77)", True),
    ],
)
def test_versions_are_compared_by_their_numbers(bound: str, version: str, holds: bool) -> None:
    [need] = parse_needs(f"app:com.x{bound}").apps
    assert need.bounds[0].holds(version_of(version)) is holds


def test_a_sentence_names_what_is_needed() -> None:
    needs = parse_needs("tag:wall,app:com.x>=3.2<4,locale:de,sdk>=33")
    assert needs.shown == "com.x >= 3.2 < 4 and the tag wall and the locale de and SDK >= 33"
