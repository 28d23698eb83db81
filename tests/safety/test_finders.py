"""A finder that is switched off finds nothing, so that its worth can be counted."""

from agent.records import EffectVerb
from agent.safety.effects.typing import find_overwrite
from bench.redteam.case import cases, judge_case
from bench.rules import finders, without


def test_all_finders_are_known_and_each_is_on_again_afterwards() -> None:
    found = dict(finders())
    assert found["typing.find_overwrite"] is find_overwrite
    assert len(found) > 40 and len(set(found.values())) == len(found)
    case = next(
        case
        for case in cases()
        if case.written.harm == EffectVerb.OVERWRITE.value and judge_case(case).stopped
    )
    with without(find_overwrite):
        assert not judge_case(case).stopped
    assert judge_case(case).stopped
