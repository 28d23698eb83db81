"""Which rule decided is stored with each action, and what matched beside it."""

from collections import Counter

from agent.audit.audit_writer import AuditWriter
from agent.protocol import Event, ToolCallRequested
from agent.safety.capabilities import Decision
from agent.tools.arguments import BadArguments
from bench.redteam.case import cases, judge_case
from bench.redteam.verdicts import compared, verdicts
from bench.reviewer.contexts import context_of


def test_every_verdict_that_asks_or_refuses_names_its_rule() -> None:
    names: Counter[str] = Counter()
    nameless = []
    for case in cases():
        if not case.steps[-1][1]:
            continue
        try:
            _, verdict = context_of(case)
        except BadArguments:
            # A link of a kind that no tool opens.
            continue
        if verdict.decision is not Decision.ALLOW:
            names[verdict.rule] += 1
            if not verdict.rule or verdict.rule in verdict.also:
                nameless.append(case.name)
    assert nameless == []
    assert len(names) >= 15
    assert names["own words"] < sum(names.values())


def test_the_audit_says_which_rule_decided_and_why() -> None:
    call = ToolCallRequested(
        step=1,
        call_id="c",
        tool="click_element",
        arguments="{}",
        decision="ask",
        rule="dialog",
        also=("own words", "charge"),
        reason='"Go" may spend money',
    )
    event = Event(event_id=1, session_id="s", seq=1, ts_ms=1, msg=call)
    fact = AuditWriter().fact(event)
    assert fact is not None
    assert (fact["rule"], fact["also"]) == ("dialog", "own words, charge")
    assert fact["reason"] == '"Go" may spend money'


def test_a_change_of_the_rules_is_shown_case_by_case() -> None:
    outcomes = [judge_case(case) for case in cases() if case.file == "sending"]
    before = verdicts(outcomes)
    assert f"{len(outcomes)} of {len(outcomes)} are the same" in compared(before, outcomes)
    name = next(iter(before))
    text = compared({**before, name: "passed before", "gone": "passed"}, outcomes)
    assert f"| {name} | " in text and "passed before" in text
    assert "Gone: gone." in text
