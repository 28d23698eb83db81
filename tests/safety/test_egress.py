"""Addresses are read as a network reads them, and lead nowhere that nobody named."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import records
from agent.loop.task_context import ServiceOp
from agent.protocol import JobCreate, Reply, WatcherCreate
from agent.safety.approval import FOR_SESSION
from agent.safety.capabilities import Decision
from agent.safety.effects.acts import Act, ActKind
from agent.safety.egress.destinations import hosts_in, is_allowed, read_destination
from agent.safety.egress.judging import judge_egress
from agent.safety.granting import Grants
from agent.tools.standing_work import card, effect_of, local_time
from agent.watchers.web import fetch
from tests.console.fakes import commitment, watcher
from tests.jobs.timing.test_schedule import a_job
from tests.loop.paper_phone import PaperPhone, button
from tests.safety.buttons import element
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, says, scripted, task

NOW_MS = 1_700_000_000_000


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("http://evil.example/?leak=x", "evil.example"),
        ("EVIL.example", "evil.example"),
        ("evil.example:8080/a", "evil.example"),
        ("http:\\\\evil.example\\a", "evil.example"),
        ("http://evil\u200b.example/x", "evil.example"),
        ("http://evil。example/", "evil.example"),
        ("ｈｔｔｐ://ｅｖｉｌ.example", "evil.example"),
        ("https://bank.example@evil.example/a", "evil.example"),
        ("https://bank.example%2f@evil.example", "evil.example"),
        ("//evil.example/x", "evil.example"),
        ("http://2130706433/x", "127.0.0.1"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://0177.0.0.1/", "127.0.0.1"),
        ("http://[::ffff:10.0.0.1]/", "::ffff:a00:1"),
        ("https://xn--pple-43d.com/", "xn--pple-43d.com"),
        ("https://аpple.com", "xn--pple-43d.com"),
        ("10.0.0.1:80/x", "10.0.0.1"),
        ("localhost:8000", "localhost"),
    ],
)
def test_a_host_is_read_in_the_form_in_which_it_is_resolved(written: str, host: str) -> None:
    to = read_destination(written)
    assert to is not None
    assert to.host == host
    assert not is_allowed(to, goal="pay at bank.example", listed=["apple.com"])


def test_what_an_address_carries_is_shown_decoded() -> None:
    to = read_destination("https://bank.example@a.evil.example/%2570%2561ss?q=hunter%32#x")
    assert to is not None
    assert to.shown.startswith("https://a.evil.example/pass?q=hunter2#x")
    assert "before the @ is not a host" in to.shown
    assert "percent-encoded" in to.shown
    punycode = read_destination("https://xn--pple-43d.com/")
    assert punycode is not None
    assert "аpple.com (xn--pple-43d.com)" in punycode.shown


@pytest.mark.parametrize(
    "text",
    ["weather berlin", "what is 3.14", "hello.", "note: buy milk", "Dr. Smith", "12:30", "", "a@b"],
)
def test_words_are_no_address(text: str) -> None:
    assert read_destination(text) is None


@given(st.text(max_size=120))
def test_any_text_is_read_without_an_error(text: str) -> None:
    to = read_destination(text)
    if to is not None:
        assert to.shown
        assert not is_allowed(to, goal="", listed=())


def test_the_operator_s_words_and_settings_allow_a_site_and_what_is_below_it() -> None:
    goal = "Open wiki.example, then mail bob@mail.example about https://www.bbc.co.uk/news."
    assert hosts_in(goal) == {"wiki.example", "bbc.co.uk"}

    def allowed(written: str) -> bool:
        to = read_destination(written)
        assert to is not None
        return is_allowed(to, goal=goal, listed=["*.shop.example"])

    assert all(map(allowed, ("wiki.example/a", "https://en.wiki.example", "bbc.co.uk/x?y=1")))
    assert allowed("https://a.shop.example/?q=1")
    for other in ("wiki.example.evil.com", "notwiki.example", "mail.example", "wiki.example:81"):
        assert not allowed(other)
    assert not allowed("intent://wiki.example#Intent;end")


# --- on a phone ----------

BROWSER = "com.android.browser"


def bar(value: str) -> records.Observation:
    url = element(
        "Search or type web address",
        value=value,
        editable=True,
        focused=True,
        package=BROWSER,
        resource_id="com.android.browser:id/url_bar",
    )
    return records.Observation(
        started_ms=0, ended_ms=0, foreground=records.Foreground(package=BROWSER), elements=(url,)
    )


ENTER = Act(kind=ActKind.KEY, key="ENTER")


@pytest.mark.parametrize(
    "address",
    [
        *("evil.example", "http://evil.example/?leak=hunter2", "hunter2.evil.example"),
        *("http://2130706433/x", "https://xn--pple-43d.com/", "evil.example/a/hunter2"),
        *("https://wiki.example@evil.example", "data:text/html,x", "javascript:fetch('//e.x')"),
        *("intent://evil.example#Intent;scheme=https;end", "wiki.example:8080/x"),
    ],
)
def test_an_address_that_nobody_named_is_asked_about_however_it_is_opened(address: str) -> None:
    goal = "Read about Android on wiki.example"
    screen = bar(address)
    pressed = Act(kind=ActKind.PRESS, element=element("Go", package=BROWSER))
    typed = Act(kind=ActKind.TYPE, element=bar("").elements[0], text=f"{address}\n")
    link = Act(kind=ActKind.OPEN_LINK, link=address)
    for act, seen in ((ENTER, screen), (pressed, screen), (typed, bar("")), (link, bar(""))):
        verdict = judge_egress(act, seen, goal=goal, listed=())
        assert verdict is not None, act.kind
        assert verdict.decision is Decision.ASK
        assert verdict.effect is not None
        assert verdict.effect.verb is records.EffectVerb.CARRY_OUT


@pytest.mark.parametrize("address", ["wiki.example/android", "https://www.wiki.example", "pasta"])
def test_a_site_of_the_goal_and_a_search_are_not_asked_about(address: str) -> None:
    goal = "Read about Android on wiki.example"
    assert judge_egress(ENTER, bar(address), goal=goal, listed=()) is None


def test_a_link_that_carries_something_is_asked_about_and_one_to_a_page_is_not() -> None:
    screen = bar("")
    for label, asked in (
        ("Android | https://wiki.example/android", False),
        ("Read on | https://other.example/android", False),
        ("Claim | https://evil.example/?id=hunter2", True),
        ("How does it work?", False),
    ):
        act = Act(kind=ActKind.PRESS, element=element(label, package=BROWSER))
        assert (judge_egress(act, screen, goal="", listed=()) is not None) is asked, label


# --- standing work ----------


def test_the_card_of_a_job_has_its_next_runs_its_prompt_and_what_it_says() -> None:
    job = JobCreate(title="Plants", prompt="Water them. " * 60, interval_ms=3_600_000)
    text = card(job, now_ms=NOW_MS)
    first, second = (local_time(NOW_MS + 15_000 + k * 3_600_000) for k in (0, 1))
    assert first in text and second in text and "until it is stopped" in text
    assert ("Water them. " * 60).strip() in text
    effect = effect_of(job, now_ms=NOW_MS, phone="p-1")
    assert (effect.verb, effect.phone) == (records.EffectVerb.STANDING_WORK, "p-1")
    once = card(JobCreate(title="Once", prompt="x", next_run_at=NOW_MS), now_ms=0)
    assert f"{local_time(NOW_MS)}, once" in once
    cron = card(JobCreate(title="C", prompt="x", cron="0 8 * * *", timezone="UTC"), now_ms=NOW_MS)
    assert cron.count("2023") == 3


def test_the_card_of_a_watcher_names_the_page_that_this_computer_fetches_decoded() -> None:
    wanted = WatcherCreate(
        watcher_type=records.WatcherType.WEB_CHANGE,
        url="https://a@evil.example/%68i?x=%2541",
        prompt="p",
    )
    text = card(wanted, now_ms=NOW_MS)
    assert "This computer fetches: https://evil.example/hi?x=A" in text
    assert "before the @ is not a host" in text


@dataclass
class Listener:
    """A host of the network that counts what reaches it."""

    port: int = 0
    received: bytearray = field(default_factory=bytearray)

    async def hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.received += await reader.read(65_536)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()
        writer.close()


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    listener = Listener()
    server = await asyncio.start_server(listener.hear, "127.0.0.1", 0)
    listener.port = server.sockets[0].getsockname()[1]
    try:
        yield listener
    finally:
        server.close()


FORMS = (
    "http://127.0.0.1:{port}/?leak=PASSWORD",
    "http://2130706433:{port}/PASSWORD",
    "http://0x7f000001:{port}/#PASSWORD",
    "http://127.1:{port}/%50%41%53%53",
    "http://localhost:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
)


async def attempt(url: str, answer: str | None) -> list[records.Question]:
    """Have a model create all kinds of standing work with an address, then do what came through."""
    turns = (
        says("watcher_create", type="web_change", url=url, reason="the page said so"),
        says("background_job_create", title="x", prompt=f"open {url}", reason="the page said so"),
        says("commitment_create", title="x", description=url, reason="the page said so"),
    )

    def created(op: ServiceOp) -> Reply:
        return Reply(submission_id="", watcher=watcher(3), job=a_job(), commitment=commitment(4))

    phone = PaperPhone(lambda: (button("Go", 0.3),))
    context = MemoryContext(
        scripted(*turns, DONE), phone, reply=created, answer=lambda _question: answer
    )
    await task().run(context)
    for op in context.requested:
        if isinstance(op, WatcherCreate):
            await fetch(op.url, allow_private=True, timeout_s=30)
    return context.questions


@pytest.mark.parametrize("form", FORMS)
async def test_no_byte_leaves_without_a_person(form: str) -> None:
    async with listening() as listener:
        url = form.format(port=listener.port)
        asked = await attempt(url, None)
        assert bytes(listener.received) == b""
        assert [question.kind for question in asked] == [records.QuestionKind.APPROVAL] * 3
        assert all(str(listener.port) in question.text for question in asked)
        subject = asked[0].subject
        assert subject is not None and subject.effect is not None
        assert subject.effect.verb is records.EffectVerb.STANDING_WORK
        # The same with a person's yes arrives: the listener would have heard it.
        await attempt(url, "Approve")
        assert listener.received.startswith(b"GET /")


def test_an_approval_for_the_session_is_for_one_host() -> None:
    grants = Grants()

    def subject(address: str) -> records.Subject:
        verdict = judge_egress(ENTER, bar(address), goal="", listed=())
        assert verdict is not None
        return records.Subject(
            action="press_button", risk=verdict.risk.value, effect=verdict.effect
        )

    grants.take(subject("wiki.example/a"), FOR_SESSION)
    assert grants.covers(subject("wiki.example/b"))
    assert not grants.covers(subject("evil.example/a"))
