"""What a model asked to remember stays: bounded, redacted, on every screen, through everything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.loop.conversation.facts import MAX_CHARS, MAX_FACTS, with_fact
from agent.loop.conversation.memory import Memory
from agent.models.model import MessageKind
from agent.protocol import FactsUpdate, HistoryCompacted, StepCompleted, ToolCallFinished
from agent.records import ActionOutcome, SessionState, UiNode
from agent.sessions.rules.rollup import summary
from agent.tools.arguments import BadArguments
from agent.tools.registry import schemas
from agent.tools.tool_groups import ToolGroup, groups_for
from tests.loop.paper_phone import PaperPhone, button
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, ScriptedModel, Turn, says, scripted, task


def page() -> tuple[UiNode, ...]:
    return (button("Save", 0.2), button("Back", 0.8))


def context_of(*turns: Turn, **more: object) -> tuple[MemoryContext, ScriptedModel]:
    model = scripted(*turns)
    return MemoryContext(model, PaperPhone(page), **more), model  # type: ignore[arg-type]


def newest_screen(model: ScriptedModel) -> str:
    messages = model.requests[-1].messages
    return next(m.text for m in reversed(messages) if m.kind is MessageKind.OBSERVATION)


async def test_a_fact_is_shown_with_every_screen_and_costs_no_step() -> None:
    fact = says("remember", text="Wi-Fi is on")
    context, model = context_of(fact, says("click_element", element=1), DONE)
    await task().run(context)
    assert "## Remembered\n1. Wi-Fi is on\n" in newest_screen(model)
    assert [m.facts for m in context.of(FactsUpdate) if isinstance(m, FactsUpdate)] == [
        ("Wi-Fi is on",)
    ]
    assert context.session.facts == ("Wi-Fi is on",)
    counted = [m.counted for m in context.of(StepCompleted) if isinstance(m, StepCompleted)]
    assert counted[:2] == [False, True]


async def test_a_fact_is_redacted_before_it_is_kept() -> None:
    secret = "the key is sk-abcdefghijklmnopqrstuvwxyz0123456789"
    context, model = context_of(says("remember", text=secret), DONE)
    await task().run(context)
    assert "sk-abcdef" not in newest_screen(model)
    assert "sk-abcdef" not in str(context.session.facts)


async def test_facts_are_remembered_when_a_session_is_taken_up_again() -> None:
    first, _ = context_of(says("remember", text="The code is 7 blue birds"), DONE)
    await task().run(first)
    again, model = context_of(DONE, past=tuple(first.events), turn_id="t-2")
    await task().run(again)
    assert "The code is 7 blue birds" in newest_screen(model)


def test_facts_outlive_the_compaction_of_what_was_said() -> None:
    memory = Memory("read ten pages")
    memory.fold(FactsUpdate(facts=("one", "two")))
    memory.fold(HistoryCompacted(text="It read pages."))
    assert memory.facts == ("one", "two")


async def test_a_model_may_correct_and_forget_a_fact_and_is_told_of_a_wrong_number() -> None:
    context, _ = context_of(
        says("remember", text="Wi-Fi is on"),
        says("remember", text="Bluetooth is on"),
        says("remember", text="Wi-Fi is off", replaces=1),
        says("remember", text="", replaces=2),
        says("remember", text="x", replaces=9),
        DONE,
    )
    await task().run(context)
    assert context.session.facts == ("Wi-Fi is off",)
    results = [m for m in context.of(ToolCallFinished) if isinstance(m, ToolCallFinished)]
    assert results[4].outcome is ActionOutcome.FAILED
    assert "no fact 9" in results[4].text


@given(st.lists(st.tuples(st.text(max_size=700), st.none() | st.integers(-2, 80)), max_size=90))
def test_the_list_keeps_its_bounds_whatever_is_asked(calls: list[tuple[str, int | None]]) -> None:
    facts: tuple[str, ...] = ()
    for text, replaces in calls:
        try:
            facts = with_fact(facts, text, replaces)
        except BadArguments:
            continue
        assert len(facts) <= MAX_FACTS
        assert sum(map(len, facts)) <= MAX_CHARS
        assert all(fact and "\n" not in fact for fact in facts)


def test_a_full_list_says_how_to_make_room() -> None:
    with pytest.raises(BadArguments, match="replaces"):
        with_fact([f"fact {n}" for n in range(MAX_FACTS)], "one more", None)


async def test_a_parent_reads_what_its_children_remembered() -> None:
    context, _ = context_of(says("remember", text="The battery is at 80 %"), DONE)
    await task().run(context)
    child = replace(context.session, state=SessionState.COMPLETED, latest_result="Done.")
    assert "It remembered: The battery is at 80 %" in summary([child])


# --- tools by need ----------


def offered(model: ScriptedModel, at: int = -1) -> set[str]:
    return {tool.name for tool in model.requests[at].tools}


async def test_jobs_watchers_and_commitments_are_offered_once_they_are_asked_for() -> None:
    context, model = context_of(says("more_tools", group="watchers"), DONE, goal="open Save")
    await task().run(context)
    assert "watcher_create" not in offered(model, 0)
    assert "more_tools" in offered(model, 0)
    assert "watcher_create" in offered(model, 1)
    assert "background_job_create" not in offered(model, 1)
    # The order stays, so that the request begins with the same words.
    first, second = (request.tools for request in model.requests)
    assert second[: len(first)] == first
    again, model = context_of(DONE, past=tuple(context.events), turn_id="t-2")
    await task().run(again)
    assert "watcher_create" in offered(model)


@pytest.mark.parametrize(
    ("goal", "group"),
    [
        ("Look at the price every day", ToolGroup.JOBS),
        ("Prüfe täglich den Akkustand", ToolGroup.JOBS),
        ("Vérifie la météo tous les jours", ToolGroup.JOBS),
        ("Проверяй почту каждый день", ToolGroup.JOBS),
        ("每天检查天气", ToolGroup.JOBS),
        ("毎日天気を確認して", ToolGroup.JOBS),
        ("تحقق من البريد كل يوم", ToolGroup.JOBS),
        ("हर दिन मौसम देखो", ToolGroup.JOBS),
        ("בדוק את הדואר כל יום", ToolGroup.JOBS),
        ("ตรวจสอบอากาศทุกวัน", ToolGroup.JOBS),
        ("Tell me when Ada writes", ToolGroup.WATCHERS),
        ("Sag Bescheid, sobald Ada schreibt", ToolGroup.WATCHERS),
        ("Avísame en cuanto llegue", ToolGroup.WATCHERS),
        ("Ada 메시지가 오면 알려줘", ToolGroup.WATCHERS),
        ("Daj mi znać, gdy napisze", ToolGroup.WATCHERS),
        ("Beri tahu saya segera setelah dia datang", ToolGroup.WATCHERS),
        ("Remind me to call Ada", ToolGroup.COMMITMENTS),
        ("Erinnere mich an Adas Geburtstag", ToolGroup.COMMITMENTS),
        ("Bana faturayı hatırlat", ToolGroup.COMMITMENTS),
        ("Нагадай мені про зустріч", ToolGroup.COMMITMENTS),
        ("Nhắc tôi trả tiền", ToolGroup.COMMITMENTS),
        ("Herinner me aan de afspraak", ToolGroup.COMMITMENTS),
        ("Ricordami di chiamare", ToolGroup.COMMITMENTS),
        ("Me lembre de pagar", ToolGroup.COMMITMENTS),
    ],
)
def test_the_words_of_a_goal_ask_for_tools(goal: str, group: ToolGroup) -> None:
    assert group in groups_for(goal)


@pytest.mark.parametrize(
    "goal", ["Turn on Bluetooth", "Schreibe Ada, dass ich komme", "打开蓝牙", "Set an alarm for 7"]
)
def test_a_goal_for_the_phone_asks_for_nothing_more(goal: str) -> None:
    assert groups_for(goal) == frozenset()


def test_every_group_of_tools_can_be_asked_for() -> None:
    [asks] = [tool for tool in schemas() if tool.name == "more_tools"]
    assert set(asks.parameters["properties"]["group"]["enum"]) == set(ToolGroup)


def test_every_tool_is_in_the_whole_list_once() -> None:
    names = [tool.name for tool in schemas()]
    assert len(names) == len(set(names))
    assert set(names) > {tool.name for tool in schemas(frozenset())}
