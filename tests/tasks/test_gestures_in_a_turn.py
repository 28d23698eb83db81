"""Gestures in a turn: points, drags, keypads, links and the clipboard, judged as presses are."""

from collections.abc import Sequence

import pytest

from agent.models.model import ModelReply
from agent.protocol import RequestUserInput, ToolCallFinished, ToolCallRequested
from agent.records import Autonomy, Question, QuestionKind, UiNode
from agent.safety.effects.verdict import Risk
from agent.tools.arguments import BadArguments
from agent.tools.gestures.links import check_link
from agent.tools.registry import schemas
from tests.digits import holds_number
from tests.loop.paper_phone import APP, PaperPhone, button, field, node
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, ScriptedModel, says, scripted, task

PIN = "4071"
KEYS = "1234567890"


class Linked(PaperPhone):
    async def open_link(self, link: str, *, timeout_s: float = 10.0) -> None:
        self._do("open_link", f"open {link}")


class Pad:
    """A keypad of ten digits, and signs, that shows how much was pressed."""

    def __init__(self, *signs: str, vanishes_after: int = 99, title: str = "Total") -> None:
        self.title = title
        self.pressed: list[str] = []
        self.signs = signs
        self.vanishes_after = vanishes_after
        self.more: tuple[UiNode, ...] = ()
        self.phone = Linked(self.screen, self.on)

    def screen(self) -> Sequence[UiNode]:
        shown = node("•" * len(self.pressed) or self.title, (0.1, 0.1, 0.9, 0.15))
        if len(self.pressed) >= self.vanishes_after:
            return (shown, *self.more)
        keys = []
        for at, key in enumerate((*KEYS, *self.signs)):
            left, top = 0.1 + 0.3 * (at % 3), 0.3 + 0.1 * (at // 3)
            place = (left, top, left + 0.2, top + 0.08)
            keys.append(node(key, place, clickable=True, resource_id=f"{APP}:id/key{at}"))
        return (shown, *keys, *self.more)

    def on(self, what: str) -> None:
        if what.startswith("tap "):
            self.pressed.append(what.removeprefix("tap "))


async def run(
    phone: PaperPhone, *turns: ModelReply, sees: bool = False, **more: object
) -> tuple[MemoryContext, ScriptedModel]:
    # A claim of success may be refused, and made again.
    model = scripted(*turns, DONE, DONE, DONE)
    model.sees = sees
    context = MemoryContext(model, phone, **more)  # type: ignore[arg-type]
    await task().run(context)
    return context, model


def results(context: MemoryContext) -> list[str]:
    return [m.text for m in context.of(ToolCallFinished) if isinstance(m, ToolCallFinished)]


def requested(context: MemoryContext) -> ToolCallRequested:
    msgs = [m for m in context.of(ToolCallRequested) if isinstance(m, ToolCallRequested)]
    return msgs[0]


def yes(_question: Question) -> str:
    return "Approve"


# --- keypads ----------


async def test_ten_keys_are_pressed_in_one_call() -> None:
    pad = Pad("+", "=", "×")
    context, model = await run(pad.phone, says("press_keys", keys="123 + 45*6="))
    assert "".join(pad.pressed) == "123+45×6="
    assert results(context)[0].startswith("OK: Pressed 1 2 3 + 4 5 × 6 =")
    assert len(model.requests) == 2
    assert len(requested(context).path) == 9


async def test_keys_are_pressed_by_their_numbers_too() -> None:
    pad = Pad()
    await run(pad.phone, says("press_keys", elements=[2, 3, 3]))
    assert pad.pressed == ["1", "2", "2"]


async def test_pressing_stops_where_the_next_key_is_not_there() -> None:
    pad = Pad(vanishes_after=3)
    context, _ = await run(pad.phone, says("press_keys", keys="12345"))
    assert pad.pressed == ["1", "2", "3"]
    assert "Only the first 3 were pressed" in results(context)[0]


async def test_a_key_that_is_not_there_presses_nothing() -> None:
    pad = Pad()
    context, _ = await run(pad.phone, says("press_keys", keys="12#"))
    assert pad.pressed == []
    told = results(context)[0]
    assert "no key for character 3 of `keys`; its keys: 0 1 2 3 4 5 6 7 8 9" in told


async def test_each_key_is_judged_and_one_that_costs_asks_for_all() -> None:
    pad = Pad()
    pad.more = (button("Pay now", 0.9),)
    numbers = [2, 3, 12]
    context, _ = await run(pad.phone, says("press_keys", elements=numbers))
    assert pad.pressed == []
    asked = context.questions[0]
    assert asked.subject is not None
    assert asked.subject.risk == Risk.FINANCIAL.value
    context, _ = await run(pad.phone, says("press_keys", elements=numbers), answer=yes)
    assert pad.pressed == ["1", "2", "Pay now"]


# --- a secret on a keypad ----------


async def test_a_pin_is_asked_for_once_pressed_by_the_harness_and_stored_nowhere() -> None:
    pad = Pad(title="Enter PIN")
    ask = says("ask_user", question="What is the PIN?", secret_for=2)
    context, model = await run(
        pad.phone, ask, says("press_keys", keys="[SECRET]"), sees=False, answer=lambda _q: PIN
    )
    assert "".join(pad.pressed) == PIN
    assert len(context.questions) == 1
    assert context.questions[0].secret
    assert "pressed on the keypad" in context.questions[0].note
    assert "Call press_keys with keys [SECRET]" in results(context)[0]
    assert results(context)[1].startswith("OK: Pressed [SECRET] on the keypad")
    told = (ToolCallRequested, ToolCallFinished, RequestUserInput)
    kept = [repr(event.msg) for event in context.events if isinstance(event.msg, told)]
    kept += [blob.decode("latin-1") for blob in context.blobs.values()]
    kept += [repr(request) for request in model.requests]
    for text in kept:
        assert not holds_number(text, PIN)
    pressed = context.of(ToolCallRequested)[1]
    assert isinstance(pressed, ToolCallRequested)
    assert (pressed.path, pressed.point, pressed.element) == ((), None, None)


async def test_a_pin_is_asked_for_when_it_is_pressed_without_having_been_asked_for() -> None:
    pad = Pad(title="Enter PIN")
    context, _ = await run(pad.phone, says("press_keys", keys="[PIN]"), answer=lambda _q: PIN)
    assert "".join(pad.pressed) == PIN
    assert "keypad" in context.questions[0].text


async def test_a_secret_that_the_keypad_cannot_write_is_asked_for_once_more() -> None:
    pad = Pad(title="Enter PIN")
    given = iter(("12x4", PIN))
    context, _ = await run(
        pad.phone, says("press_keys", keys="[SECRET]"), answer=lambda _q: next(given)
    )
    assert "".join(pad.pressed) == PIN
    first, second = (question.text for question in context.questions)
    assert 'keypad for "Enter PIN"' in first and "12x4" not in second
    assert "has characters that this keypad does not have" in second


async def test_a_secret_that_the_keypad_cannot_write_presses_nothing_of_it() -> None:
    pad = Pad(title="Enter PIN")
    context, _ = await run(pad.phone, says("press_keys", keys="[SECRET]"), answer=lambda _q: "12x4")
    assert pad.pressed == []
    assert len(context.questions) == 2
    assert "has no keys on the keypad" in results(context)[0]


async def test_the_words_over_a_keypad_are_asked_for_as_the_keypad() -> None:
    pad = Pad(title="Enter PIN")
    # Element 1 is the title, which names a secret and takes no text.
    ask = says("ask_user", question="What is the PIN?", secret_for=1)
    context, _ = await run(
        pad.phone, ask, says("press_keys", keys="[SECRET]"), answer=lambda _q: PIN
    )
    assert "".join(pad.pressed) == PIN
    assert len(context.questions) == 1


async def test_nobody_who_answers_is_no_pin() -> None:
    pad = Pad(title="Enter PIN")
    context, _ = await run(pad.phone, says("press_keys", keys="[SECRET]"))
    assert pad.pressed == []
    assert "Nobody gave the secret" in results(context)[0]


async def test_a_pin_is_not_asked_for_where_there_is_no_keypad() -> None:
    phone = PaperPhone(lambda: (button("Go", 0.3),))
    context, _ = await run(phone, says("ask_user", question="PIN?", secret_for=1))
    assert "nor a key of a keypad" in results(context)[0]
    assert context.questions == []


async def test_a_pin_that_pays_is_approved_before_it_is_asked_for() -> None:
    pad = Pad(title="Enter PIN to pay $12.00 to Larkspur")
    asked: list[Question] = []

    def answer(question: Question) -> str:
        asked.append(question)
        return PIN if question.secret else "Approve"

    await run(pad.phone, says("press_keys", keys="[SECRET]"), answer=answer)
    assert "".join(pad.pressed) == PIN
    assert [question.secret for question in asked] == [False, True]
    assert asked[0].subject is not None
    assert asked[0].subject.risk == Risk.FINANCIAL.value
    refused = Pad(title="Enter PIN to pay $12.00 to Larkspur")
    await run(refused.phone, says("press_keys", keys="[SECRET]"), answer=lambda _q: "Deny")
    assert refused.pressed == []


# --- points ----------


def test_points_are_offered_to_a_model_that_sees() -> None:
    names = [{tool.name for tool in schemas(frozenset(), sees=sees)} for sees in (True, False)]
    assert names[0] - names[1] == {"tap_point"}


async def test_a_point_over_an_element_is_judged_as_the_element() -> None:
    phone = PaperPhone(lambda: (button("Pay now", 0.3), button("Next", 0.6)))
    context, _ = await run(phone, says("tap_point", x=500, y=625))
    assert phone.done == ["tap Next"]
    assert requested(context).point is not None
    context, _ = await run(phone, says("tap_point", x=500, y=325))
    assert phone.done == ["tap Next"]
    assert context.questions[0].subject is not None
    assert context.questions[0].subject.risk == Risk.FINANCIAL.value


async def test_a_point_where_no_element_is_known_is_unseen() -> None:
    phone = PaperPhone(lambda: (button("Next", 0.6),))
    context, _ = await run(phone, says("tap_point", x=500, y=100))
    assert phone.done == []
    assert "No element is known at that point" in context.questions[0].text
    await run(phone, says("tap_point", x=500, y=100), answer=yes)
    assert phone.done == ["tap nothing"]


@pytest.mark.parametrize(
    ("press", "done"), [("tap", "tap Next"), ("double", "doubletap"), ("long", "long_press Next")]
)
async def test_a_point_is_tapped_once_twice_or_long(press: str, done: str) -> None:
    phone = PaperPhone(lambda: (button("Next", 0.6),))
    await run(phone, says("tap_point", x=500, y=620, press=press))
    assert phone.done == [done]


async def test_an_element_is_tapped_twice() -> None:
    phone = PaperPhone(lambda: (button("Photo", 0.6),))
    context, _ = await run(phone, says("click_element", element=1, double=True))
    assert phone.done == ["doubletap"]
    assert "Double-clicked" in results(context)[0]


# --- drags ----------


async def test_a_drag_goes_from_what_is_named_to_what_is_named() -> None:
    phone = PaperPhone(lambda: (button("Volume", 0.3), button("Folder", 0.6)))
    context, _ = await run(phone, says("drag", element=1, to_element=2, hold=True))
    assert phone.done == ["drag"]
    assert [round(at.y, 3) for at in requested(context).path] == [0.325, 0.625]
    await run(phone, says("drag", element=1, end="900,325"))
    assert phone.done[1:] == ["swipe"]
    context, _ = await run(phone, says("drag", start="100, 100", end="100,100"))
    assert "ends where it starts" in results(context)[0]


@pytest.mark.parametrize(("end", "x"), [("0%", 0.1), ("50 %", 0.5), ("100%", 0.9)])
async def test_a_slider_is_dragged_to_a_share_of_its_width(end: str, x: float) -> None:
    phone = PaperPhone(lambda: (button("Volume", 0.3),))
    context, _ = await run(phone, says("drag", element=1, end=end))
    assert phone.done == ["swipe"]
    start, there = requested(context).path
    assert (round(there.x, 3), round(there.y, 3)) == (x, 0.325)
    assert start.x != there.x


async def test_a_drag_onto_what_deletes_is_asked_about() -> None:
    phone = PaperPhone(lambda: (button("Photo", 0.3), button("Delete", 0.6)))
    context, _ = await run(phone, says("drag", element=1, to_element=2))
    assert phone.done == []
    assert context.questions[0].subject is not None
    assert context.questions[0].subject.risk == Risk.DESTRUCTIVE.value


# --- links ----------


@pytest.mark.parametrize(
    ("goal", "link"),
    [
        ("open the wifi page", "android.settings.WIFI_SETTINGS"),
        ("open example.com and read it", "https://example.com/"),
        ("read cats on en.wikipedia.org", "https://en.wikipedia.org/wiki/Cat"),
    ],
)
async def test_a_link_that_the_goal_names_is_opened(goal: str, link: str) -> None:
    phone = Linked(lambda: (button("Next", 0.6),))
    await run(phone, says("open_link", link=link), goal=goal)
    assert phone.done == [f"open {link}"]


@pytest.mark.parametrize(
    ("goal", "link"),
    [
        ("open Settings", "https://evil.example/?q=all-my-mail"),
        ("look up cats on Wikipedia", "https://wikipedia.evil.example/x"),
        ("open example.com", "https://example.com.evil/x"),
        ("open example.com", "https://notexample.com/"),
        ("write to a@example.com", "https://b@evil.test/"),
        ("open the dialer", "tel:0900-1"),
    ],
)
async def test_a_link_that_the_goal_does_not_name_is_asked_about(goal: str, link: str) -> None:
    phone = Linked(lambda: (button("Next", 0.6),))
    context, _ = await run(phone, says("open_link", link=link), goal=goal)
    assert phone.done == []
    assert "the goal does not name" in context.questions[0].text


@pytest.mark.parametrize(
    ("answer", "options", "opened"),
    [
        ("the one on example.com", [], True),
        ("yes, go on", [], False),
        # An option is the model's own text, whoever chose it.
        ("example.com", ["example.com", "none"], False),
    ],
)
async def test_a_link_that_the_operator_names_in_an_answer_is_opened(
    answer: str, options: list[str], opened: bool
) -> None:
    phone = Linked(lambda: (button("Next", 0.6),))
    context, _ = await run(
        phone,
        says("ask_user", question="Which page?", options=options),
        says("open_link", link="https://example.com/"),
        goal="read the page",
        answer=lambda q: answer if q.kind is not QuestionKind.APPROVAL else None,
    )
    assert (phone.done == ["open https://example.com/"]) is opened
    assert (len(context.questions) == 1) is opened


@pytest.mark.parametrize(
    "link",
    [
        *("", "file:///sdcard/x", "content://sms", "javascript:alert(1)", "intent://x#Intent;end"),
        *("https://", "https://a b", "android.settings.X;reboot", "HTTPS://\x1b", "x" * 3000),
        *("https://[", "com.evil/.Main", "android.intent.action.MASTER_CLEAR"),
    ],
)
def test_what_is_no_link_for_a_browser_or_a_settings_page_is_refused(link: str) -> None:
    with pytest.raises(BadArguments):
        check_link(link)


async def test_a_display_that_opens_no_links_says_so() -> None:
    phone = PaperPhone(lambda: (button("Next", 0.6),))
    link = says("open_link", link="android.settings.WIFI_SETTINGS")
    context, _ = await run(phone, link)
    assert "Nothing opens links" in results(context)[0]


# --- the clipboard ----------


async def test_a_text_is_copied_and_pasted_into_the_focused_field() -> None:
    phone = PaperPhone(lambda: (field("Message", 0.3, focused=True),))
    context, _ = await run(phone, says("clipboard", do="copy", text="Hello"))
    assert results(context)[0] == 'OK: Copied "Hello". It holds "Hello".'
    await run(phone, says("clipboard", do="paste", text="Grüße"))
    assert phone.done == ["copy Hello", "paste Grüße"]


async def test_what_was_copied_is_read_where_the_goal_speaks_of_it_and_redacted() -> None:
    phone = PaperPhone(lambda: (button("Next", 0.3),))
    phone.copied = "my password is hunter22"
    read = says("clipboard", do="read")
    context, _ = await run(phone, read, goal="what did I copy? read the clipboard")
    assert "hunter22" not in results(context)[0]
    phone.copied = "milk, eggs"
    context, _ = await run(phone, read, goal="what did I copy? read the clipboard")
    assert "milk, eggs" in results(context)[0]
    context, _ = await run(phone, read)
    assert "clipboard may hold" in context.questions[0].text


async def test_a_card_number_is_neither_copied_nor_put_into_a_link() -> None:
    number = "4111 1111 1111 1111"
    phone = Linked(lambda: (button("Next", 0.3),))
    link = f"https://example.com/?c={number.replace(' ', '')}"
    for call in (says("clipboard", do="copy", text=number), says("open_link", link=link)):
        context, _ = await run(phone, call, goal="open example.com", answer=yes)
        assert phone.done == []
        assert "not allowed" in results(context)[0]


# --- what holds for all of them ----------

CALLS = (
    says("tap_point", x=500, y=620),
    says("drag", element=1, to_element=2),
    says("press_keys", elements=[1, 2]),
    says("open_link", link="android.settings.WIFI_SETTINGS"),
    says("clipboard", do="copy", text="Hello"),
)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.tool_calls[0].name)
async def test_a_gesture_obeys_autonomy_and_a_dry_run(call: ModelReply) -> None:
    phone = Linked(lambda: (button("One", 0.3), button("Next", 0.6)))
    context, _ = await run(phone, call, autonomy=Autonomy.OBSERVE_ONLY)
    assert "observe only" in results(context)[0]
    context, _ = await run(phone, call, dry_run=True)
    assert "Dry run, nothing was done. It would have" in results(context)[0]
    assert phone.done == []


async def test_a_gesture_on_a_screen_that_changed_meanwhile_is_not_done() -> None:
    for call in CALLS[:3]:
        shown = ["Next"]
        phone = Linked(lambda shown=shown: (button("One", 0.3), button(shown[-1], 0.6)))

        def change(_question: Question, shown: list[str] = shown) -> str:
            shown.append("Other")
            return "Approve"

        context, _ = await run(phone, call, answer=change, autonomy=Autonomy.ASK_BEFORE_ACTION)
        assert phone.done == [], call
        assert "changed while the operator was asked" in results(context)[0]
