"""The upper rungs: the own app brought back, the operator asked, and when neither happens."""

from agent.protocol import WarningEvent
from agent.records import AtLimit, Autonomy, Foreground, Question, UiNode
from tests.loop.paper_phone import APP, PaperPhone, button
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, ScriptedModel, says, scripted, task, texts

OTHER = "com.other"


def dead() -> PaperPhone:
    return PaperPhone(lambda: [button(f"B{n}", n / 10) for n in range(2, 9)])


def stubborn(count: int = 9) -> ScriptedModel:
    presses = [says("click_element", element=1 + at % 7) for at in range(count)]
    return scripted(*presses, DONE)


async def test_a_session_that_gets_nowhere_asks_and_is_told() -> None:
    asked: list[Question] = []

    def answer(question: Question) -> str:
        asked.append(question)
        return "scroll to the end"

    model = stubborn()
    context = MemoryContext(model, dead(), answer=answer)
    end = await task().run(context)
    assert end.completed
    assert len(asked) == 1
    assert "getting nowhere" in asked[0].text
    assert any("The operator says: scroll to the end" in text for text in texts(model))


async def test_a_stuck_session_that_nobody_helps_ends_instead_of_spending_steps() -> None:
    context = MemoryContext(stubborn(30), dead())
    end = await task().run(context)
    assert not end.completed
    assert "stuck" in end.message
    assert context.session.steps < 10


async def test_actions_that_are_refused_again_and_again_are_no_way_on_either() -> None:
    gone = [says("click_element", element=99) for _ in range(30)]
    context = MemoryContext(scripted(*gone, DONE), dead())
    end = await task().run(context)
    assert not end.completed
    assert "stuck" in end.message
    assert context.session.steps < 10


async def test_a_stuck_session_that_may_not_ask_ends_with_the_reason() -> None:
    context = MemoryContext(stubborn(30), dead(), at_limit=AtLimit.STOP)
    end = await task().run(context)
    assert not end.completed
    assert "changed nothing" in end.message
    assert context.questions == []
    assert context.session.steps < 10


async def test_a_stuck_turn_of_a_job_ends_with_the_reason_too() -> None:
    waits = [says("click_element", element=99) for _ in range(30)]
    context = MemoryContext(scripted(*waits, DONE), dead(), background=True)
    end = await task().run(context)
    assert not end.completed
    assert "changed nothing" in end.message
    assert context.session.steps < 10


async def test_scrolling_without_end_is_getting_nowhere_though_each_screen_is_new() -> None:
    shown = 0

    def longer() -> list[UiNode]:
        nonlocal shown
        shown += 1
        return [button(f"Row {shown}-{n}", n / 10) for n in range(2, 9)]

    scrolls = [says("scroll", direction="down") for _ in range(30)]
    context = MemoryContext(scripted(*scrolls, DONE), PaperPhone(longer), at_limit=AtLimit.STOP)
    end = await task().run(context)
    assert not end.completed
    assert "only scrolled" in end.message
    assert context.session.steps < 14


def phone_on_other_app() -> PaperPhone:
    phone = PaperPhone(lambda: [button("Go", 0.3), button("Back", 0.5)], apps=(APP, OTHER))
    phone.front = Foreground(package=OTHER, activity=".Main")
    return phone


async def test_the_sessions_own_app_is_brought_back_when_another_stays_in_front() -> None:
    phone = phone_on_other_app()
    waits = [says("wait", seconds=0) for _ in range(2)]
    context = MemoryContext(scripted(*waits, DONE), phone, target=APP)
    await task().run(context)
    assert phone.done == [f"launch {APP}"]
    said = [m.message for m in context.of(WarningEvent) if isinstance(m, WarningEvent)]
    assert f"{APP} is brought back" in said[0]


async def test_nothing_is_brought_back_where_the_session_may_not_act() -> None:
    for more in ({"background": True}, {"autonomy": Autonomy.OBSERVE_ONLY}, {"dry_run": True}):
        phone = phone_on_other_app()
        waits = [says("wait", seconds=0) for _ in range(3)]
        context = MemoryContext(scripted(*waits, DONE), phone, target=APP, **more)  # type: ignore[arg-type]
        await task().run(context)
        assert phone.done == []


async def test_an_operator_who_says_no_is_not_told_that_the_work_got_stuck() -> None:
    # Each asks for another approval, and each is denied: the operator is there and knows.
    shown = [button(f"Delete {name}", n / 10) for n, name in enumerate("ABCDEFGH", start=1)]
    presses = [says("click_element", element=n) for n in range(1, 9)]
    model = scripted(*presses, DONE, DONE)
    context = MemoryContext(model, PaperPhone(lambda: shown), answer=lambda _question: "Deny")
    await task().run(context)
    assert len(context.questions) >= 8
    assert not any("getting nowhere" in question.text for question in context.questions)
    assert not any("the work stops here" in text for text in texts(model))
