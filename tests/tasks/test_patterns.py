"""Each pattern that is switched off is gone, and only for who asked for it."""

from pathlib import Path

from agent.config import load_settings
from agent.exercises.suite import EXERCISES
from agent.loop.conversation.masking import BLOCK, KEEP_TURNS
from agent.loop.task_context import TurnEnd
from agent.loop.verification.claims import BLOCKED
from agent.loop_features import Pattern
from agent.models.model import ModelReply
from agent.protocol import ToolCallFinished
from agent.tasks.regular import RegularTask
from bench.exercises.cases import CASES
from tests.tasks.context import MemoryContext
from tests.tasks.counter import Counter
from tests.tasks.scripted import DONE, Clock, ScriptedModel, says, scripted, texts

CLICK = says("click_element", element=1)
PLAN = says("update_plan", plan=[{"step": "Press it", "status": "pending"}])


async def run(
    model: ScriptedModel, *without: Pattern, still: bool = False
) -> tuple[TurnEnd, list[str]]:
    counter, clock = Counter(), Clock()
    if still:
        counter.phone.on = lambda _what: None
    context = MemoryContext(model, counter.phone)
    end = await RegularTask(
        sleep=clock.sleep, seconds=clock.seconds, without=frozenset(without)
    ).run(context)
    results = [m.text for m in context.of(ToolCallFinished) if isinstance(m, ToolCallFinished)]
    return end, results


async def test_a_claim_of_success_with_open_items_is_refused_once_with_their_names() -> None:
    end, results = await run(scripted(PLAN, DONE, CLICK, DONE, DONE))
    assert end.completed
    refused = f'{BLOCKED}. These items of your plan are not completed: "Press it".'
    assert [text.startswith(refused) for text in results] == [False, True, False, True, False]


async def test_giving_up_and_a_finished_plan_are_not_questioned() -> None:
    end, _ = await run(scripted(PLAN, says("finish", success=False, summary="No.")))
    assert end.message == "No."
    done = says("update_plan", plan=[{"step": "Press it", "status": "completed"}])
    assert (await run(scripted(done, DONE)))[0].completed


async def test_without_the_finish_check_the_first_claim_ends_the_turn() -> None:
    assert (await run(scripted(PLAN, DONE), Pattern.FINISH_CHECK))[0].completed


async def test_without_verification_what_was_sent_is_called_ok() -> None:
    _, checked = await run(scripted(CLICK, DONE), still=True)
    _, believed = await run(scripted(CLICK, DONE), Pattern.VERIFICATION, still=True)
    assert checked[0].startswith("WARNING")
    assert believed[0] == 'OK: Clicked [1] "Press".'


async def test_without_the_tracker_and_the_changes_a_screen_stands_alone() -> None:
    whole, bare = scripted(PLAN, CLICK, DONE, DONE), scripted(PLAN, CLICK, DONE, DONE)
    # Where results are judged they tell of it, and it is not told twice.
    await run(whole, Pattern.VERIFICATION)
    await run(bare, Pattern.TRACKER, Pattern.CHANGES, Pattern.VERIFICATION)
    assert any("## Plan" in text for text in texts(whole))
    assert any("\nChange: " in text for text in texts(whole) if text.startswith("Steps left"))
    assert not any("## Plan" in text for text in texts(bare))
    assert not any("Change: " in text for text in texts(bare))


async def test_without_the_conversation_nothing_is_known_of_what_was_done() -> None:
    model = scripted(CLICK, CLICK, DONE)
    await run(model, Pattern.CONVERSATION)
    assert len(model.requests[-1].messages) == len(model.requests[0].messages) == 3


async def test_without_masking_every_screen_stays_whole() -> None:
    clicks = [CLICK] * (BLOCK + KEEP_TURNS - 1)
    masked, whole = scripted(*clicks, DONE), scripted(*clicks, DONE)
    await run(masked)
    await run(whole, Pattern.MASKING)
    assert sum("## Screen State" in text for text in texts(masked)) == KEEP_TURNS
    assert sum("## Screen State" in text for text in texts(whole)) == BLOCK + KEEP_TURNS


async def test_without_its_recovery_a_model_that_only_talks_is_told_nothing() -> None:
    model = scripted(ModelReply(text="Hm."), DONE)
    await run(model, Pattern.NO_TOOL)
    assert not any("You did not call a tool" in text for text in texts(model))


async def test_a_model_that_only_talks_is_told_why_no_call_was_read() -> None:
    two = "click_element(element=1)\nclick_element(element=2)"
    model = scripted(ModelReply(text=two), ModelReply(text="press_it(element=1)"), DONE)
    await run(model)
    told = texts(model)
    assert any("You wrote several calls as text" in text for text in told)
    assert any('there is no tool "press_it"' in text for text in told)


async def test_without_its_refusal_and_warnings_the_same_is_done_on_and_on() -> None:
    stuck = Pattern.DUPLICATES, Pattern.STAGNATION, Pattern.OSCILLATION
    model = scripted(*[CLICK] * 6, DONE)
    _, results = await run(model, *stuck, still=True)
    assert all("but nothing on the screen changed" in text for text in results[:6])
    assert not any("changed nothing" in text or "back and forth" in text for text in texts(model))


def test_every_pattern_can_be_set_and_has_a_model_that_it_should_help(tmp_path: Path) -> None:
    settings = load_settings(
        overrides={"data_dir": str(tmp_path), "loop.without": [str(p) for p in Pattern]}
    )
    measured = {case.without[0] for case in CASES if len(case.without) == 1}
    assert set(settings.loop.without) == set(Pattern) == measured
    known = {exercise.name for exercise in EXERCISES}
    assert all(set(case.exercises) <= known and case.chosen(25) for case in CASES)
