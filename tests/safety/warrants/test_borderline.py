"""Ten invented acts at a warrant's edges, their verdicts, and the operator's corrections."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.errors import UsageError
from agent.records import Clause, Correction, EffectVerb, ReviewVerdict, Warrant
from agent.safety.warrants.borderline import MOST_CASES, cases_of, corrected, look_alike
from agent.safety.warrants.words import check_clauses, gaps_of
from tests.safety.warrants.test_words import ANA, NOW_MS, SHOP, WORDS

ALLOW, ASK = ReviewVerdict.ALLOW, ReviewVerdict.ASK
PAID = replace(SHOP, items=())


def of(*clauses: Clause, words: str = WORDS) -> Warrant:
    expires = NOW_MS + 3_600_000
    return Warrant(
        warrant_id="w-1", words=words, clauses=clauses, expires_ms=expires, made_ms=NOW_MS
    )


def correct(warrant: Warrant, *corrections: Correction) -> Warrant:
    return corrected(warrant, corrections, lambda some: gaps_of(warrant.words, some, NOW_MS))


def verdicts(warrant: Warrant) -> dict[str, ReviewVerdict]:
    return {case.says.rpartition(", ")[2]: case.verdict for case in cases_of(warrant)}


def number(warrant: Warrant, part: str) -> int:
    return next(case.number for case in cases_of(warrant) if part in case.says)


def test_a_payment_has_a_case_for_each_of_its_edges() -> None:
    found = cases_of(of(PAID))
    assert len(found) == MOST_CASES and [case.number for case in found] == [*range(1, 11)]
    allowed = [case.says for case in found if case.verdict is ALLOW]
    assert [said.rpartition(", ")[2] for said in allowed] == [
        "exactly the limit",
        "together the limit",
    ]
    assert all(case.why for case in found if case.verdict is ASK)
    said = " ".join(case.says for case in found)
    for edge in (
        "a cent more",
        "than is left",
        "recipient",
        "looks alike",
        "another app",
        "another currency",
        "every month",
        "the day after",
    ):
        assert edge in said


@given(
    st.lists(
        st.sampled_from(
            [
                SHOP,
                PAID,
                ANA,
                replace(ANA, count=0),
                replace(ANA, count=1),
                Clause(verb=EffectVerb.CALL, recipients=("\u592a\u90ce",)),
                replace(PAID, each=500),
                replace(PAID, app="", recipients=("Tom",)),
            ]
        ),
        min_size=1,
        max_size=4,
    )
)
def test_every_warrant_has_ten_cases_of_all_its_clauses(clauses: list[Clause]) -> None:
    found = cases_of(of(*clauses))
    check_clauses(clauses)
    assert len(found) == MOST_CASES
    assert {case.clause for case in found} == set(range(1, len(clauses) + 1))
    assert len({(case.says, case.clause) for case in found}) == MOST_CASES


def test_a_no_to_the_edge_tightens_the_clause_by_a_cent() -> None:
    warrant = of(PAID, words=WORDS.replace(", 3 messages to Ana Silva", ""))
    after = correct(warrant, Correction(case=number(warrant, "exactly"), allows=False))
    assert after.clauses[0].limit == 3999
    assert verdicts(after) | {} and gaps_of(after.words, after.clauses, NOW_MS) == ()


def test_a_no_to_two_makes_it_one_and_a_yes_takes_that_back() -> None:
    warrant = of(replace(ANA, count=0), words="messages to Ana Silva")
    second = number(warrant, "a second one")
    once = correct(warrant, Correction(case=second, allows=False))
    assert once.clauses[0].count == 1
    again = correct(once, Correction(case=number(once, "a second one"), allows=True))
    assert again.clauses[0].count == 0


@pytest.mark.parametrize(
    "part",
    [
        "a cent more",
        "another recipient",
        "looks alike",
        "another currency",
        "every month",
        "the day after",
        "another app",
        "than is left",
    ],
)
def test_a_yes_beyond_the_words_is_refused(part: str) -> None:
    warrant = of(PAID)
    with pytest.raises(UsageError, match="Case") as caught:
        correct(warrant, Correction(case=number(warrant, part), allows=True))
    assert "words" in caught.value.remedy


def test_corrections_that_exclude_each_other_are_refused() -> None:
    warrant = of(PAID)
    with pytest.raises(UsageError):
        correct(
            warrant,
            Correction(case=number(warrant, "exactly"), allows=False),
            Correction(case=number(warrant, "exactly"), allows=True),
        )
    with pytest.raises(UsageError, match="no case 11"):
        correct(warrant, Correction(case=11, allows=True))


@given(
    st.sampled_from([(SHOP, ANA), (PAID, ANA), (PAID,), (ANA,), (replace(PAID, each=500), ANA)]),
    st.lists(st.tuples(st.integers(1, 10), st.booleans()), max_size=4),
)
def test_whatever_is_corrected_the_clauses_stay_within_the_words(
    clauses: tuple[Clause, ...], wanted: list[tuple[int, bool]]
) -> None:
    warrant = of(*clauses)
    before = set(gaps_of(WORDS, clauses, NOW_MS))
    try:
        after = correct(warrant, *(Correction(case=at, allows=yes) for at, yes in wanted))
    except UsageError:
        return
    assert set(gaps_of(WORDS, after.clauses, NOW_MS)) <= before
    by_number = {case.number: case.verdict for case in cases_of(warrant)}
    if all(by_number[at] is (ALLOW if yes else ASK) for at, yes in wanted):
        assert after == warrant


@pytest.mark.parametrize("name", ["Ana Silva", "com.example.shop", "\u592a\u90ce", "Zo\u00eb", "7"])
def test_a_look_alike_is_another_name(name: str) -> None:
    assert look_alike(name) != name
