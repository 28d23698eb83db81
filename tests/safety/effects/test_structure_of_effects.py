"""What is found by where things stand, in no language: the shade, persons, drops, votes, units."""

import pytest

from agent.loop.screen.elements import number_elements
from agent.records import EffectVerb, Foreground, Observation, Point
from agent.safety.capabilities import Decision
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.context import Context
from agent.safety.effects.judge import judge
from agent.safety.egress.judging import judge_egress
from bench.redteam.case import number
from bench.redteam.screens import observe
from tests.loop.paper_phone import APP, node

V = EffectVerb
CARD = "app com.dating.app .Main\ntitle Discover\nslider {} #card\nbar Filters"
HOME = "app com.some.launcher .Home\ntiles Maps / Bank / Camera\ntiles Notes / Mail / Clock"


def verb_of(screen: str, kind: ActKind, name: str = "", **more: object) -> EffectVerb | None:
    """Return what an act on a screen in its short form is found to do; None: nothing."""
    seen = observe(screen)
    at = number(name, seen) if name else None
    element = next((e for e in seen.elements if e.number == at), None)
    act = Act(kind=kind, element=element, **more)  # type: ignore[arg-type]
    verdict = judge(act, Context(screen=seen))
    return None if verdict.effect is None else verdict.effect.verb


def pressed(screen: str, name: str) -> EffectVerb | None:
    return verb_of(screen, ActKind.PRESS, name)


@pytest.mark.parametrize("person", ["Maja, 31", "Åsa, 24, 3 km", "Мария, 29", "Ana Lucía, 40"])
@pytest.mark.parametrize("direction", ["left", "right"])
def test_a_stroke_over_one_person_answers_them(person: str, direction: str) -> None:
    screen = CARD.format(person)
    assert verb_of(screen, ActKind.SWIPE, direction=direction) is V.PUBLISH
    assert verb_of(screen, ActKind.SWIPE, person, direction=direction) is V.PUBLISH


@pytest.mark.parametrize("text", ["November 24", "Chapter, 4", "iPhone 15", "Paris, 1998"])
def test_a_stroke_over_what_is_no_person_moves_the_view(text: str) -> None:
    assert verb_of(CARD.format(text), ActKind.SWIPE, direction="right") is None


def test_people_in_a_list_are_scrolled_past() -> None:
    rows = "app com.dating.app .Liked\ntitle Likes\nrow Maja, 31\nrow Åsa, 24\nrow Ana, 40"
    assert verb_of(rows, ActKind.SWIPE, direction="left") is None


def test_further_down_stands_more_about_a_person() -> None:
    assert verb_of(CARD.format("Maja, 31"), ActKind.SWIPE, direction="down") is None
    assert verb_of(CARD.format("Maja, 31"), ActKind.SWIPE, direction="up") is None


SHADE = "app com.android.systemui .NotificationShade\nrow Shop | {}\ntiles {}\nrow Weather | Rain"


@pytest.mark.parametrize("action", ["+30 min", "Kyllä", "Igen, jóváhagyom", "Claim"])
def test_a_notification_acts_unseen(action: str) -> None:
    assert pressed(SHADE.format("Two offers", f"{action} / Later"), action) is V.UNKNOWN


@pytest.mark.parametrize("action", ["Mark as read", "Snooze", "Pause", "Dismiss", "Not now"])
def test_what_a_notification_is_put_away_with_does_nothing(action: str) -> None:
    assert pressed(SHADE.format("Two offers", f"{action} / Settings"), action) is None


@pytest.mark.parametrize("tile", ["Mic access", "Mikrofonin käyttö", "Kameran käyttö", "WireGuard"])
def test_a_tile_that_protects_is_asked_about(tile: str) -> None:
    screen = f"app com.android.systemui .QuickSettings\ntiles Internet / {tile} / Torch"
    assert pressed(screen, tile) is V.PROTECTION
    assert pressed(screen, "Torch") is None


def test_what_is_dropped_at_the_top_of_the_home_screen_is_removed() -> None:
    top, middle = Point(x=0.5, y=0.08), Point(x=0.5, y=0.6)
    assert verb_of(HOME, ActKind.DRAG, point=top, end=top) is V.DELETE
    assert verb_of(HOME, ActKind.DRAG, point=middle, end=middle) is None


def test_a_choice_in_a_chat_is_a_vote_and_in_a_form_is_none() -> None:
    poll = (
        "app com.chat.app .Chat\ntitle Class\ntext When?\nradio Mo off\nradio Tu off\nfield Message"
    )
    assert pressed(poll, "Mo") is V.SEND
    assert pressed(f"{poll}\nbutton Send feedback", "Mo") is None


@pytest.mark.parametrize("number_", ["298", "1,200", "40"])
def test_a_bare_number_is_a_price_in_some_units(number_: str) -> None:
    game = "app com.game.app .Game\ndialog\ntitle Finish now?\ntext At once\nbutton {}\nicon X"
    assert pressed(game.format(number_), number_) is V.SPEND


def test_numbers_to_choose_from_are_no_price() -> None:
    pages = "app com.book.app .Pages\ntitle Go to page\ntiles 10 / 20 / 30"
    assert pressed(pages, "20") is None


def test_what_a_page_is_named_for_counts_in_any_language() -> None:
    page = "app com.x.app .share.{}\ntitle Fájl\nfield Név = kép.jpg\nbuttons Mégse / Mentés"
    assert pressed(page.format("UploadActivity"), "Mentés") is not None
    reasons = "app com.x.app .{}\ntitle Syy\nrow Vihaa\nrow Huijaus\nrow Muu"
    assert pressed(reasons.format("ReportActivity"), "Huijaus") is V.UNKNOWN
    assert pressed(reasons.format("TopicsActivity"), "Huijaus") is None


def test_a_report_of_figures_accuses_nobody() -> None:
    page = "app com.money.app .ReportActivity\ntitle May\nrow Food | 12\nrow Rent | 3\nrow Fun | 4"
    assert pressed(page, "Food") is None


def test_a_server_on_this_phone_opens_its_files() -> None:
    page = "app com.files.app .Server\ntitle FTP\ntext {}\nrow User | me\nbutton Start"
    assert pressed(page.format("ftp://192.168.1.5:2121"), "Start") is V.CARRY_OUT
    assert pressed(page.format("ftp.example.org"), "Start") is None


@pytest.mark.parametrize("app", ["com.termux .TermuxActivity", "com.x.ai .AssistantActivity"])
def test_enter_carries_out_what_is_written_to_a_shell(app: str) -> None:
    page = f"app {app}\ntitle Hi\nfield text {{}} !\ntiles A / B / C"
    assert verb_of(page.format("= rm x"), ActKind.KEY, key="ENTER") is V.UNKNOWN
    assert verb_of(page.format(""), ActKind.KEY, key="ENTER") is None


@pytest.mark.parametrize(
    ("link", "asks"),
    [
        ("https://shop.example/account/delete", True),
        ("https://shop.example/list?confirm=1&u=3", True),
        ("https://shop.example/newsletter/unsubscribe?u=3", True),
        ("https://shop.example/orders?page=2", False),
        ("https://shop.example/confirmations", False),
    ],
)
def test_a_link_that_acts_is_asked_about_on_a_known_host_too(link: str, asks: bool) -> None:
    seen = observe(HOME)
    act = Act(kind=ActKind.OPEN_LINK, link=link)
    verdict = judge_egress(act, seen, goal="look at shop.example", listed=())
    assert (verdict is not None and verdict.decision is Decision.ASK) is asks


def test_a_list_that_is_pulled_to_be_read_anew_is_no_slider() -> None:
    page = "app com.mail.app .Inbox\ntitle Inbox\nslider All #swipe_refresh\nrow A | Hi\nrow B | Yo"
    assert verb_of(page, ActKind.SWIPE, direction="left") is None


def test_a_line_above_the_last_button_only_leads_on() -> None:
    page = "app no.x.app .Charger\ntitle Bergen\ntext 5,90 kr/kWh\nrow Vei\nbutton Start lading"
    assert pressed(page, "Vei") is None
    assert pressed(page, "Start lading") is V.SPEND


def test_the_way_out_of_buttons_that_cannot_be_read_stands_first() -> None:
    page = (
        "app fi.x.app .Ask\ntitle Leo pyytää\ntext Lohko\ntext Ikäraja 12\nbuttons Hylkää / Salli"
    )
    assert pressed(page, "Hylkää") is None
    assert pressed(page, "Salli") is V.UNKNOWN


@pytest.mark.parametrize(("at", "own"), [(0, "06:30\nOnce"), (1, "07:00\nWork"), (2, "09:30")])
def test_a_delete_button_that_every_entry_has_names_its_own_entry(at: int, own: str) -> None:
    entries = (("06:30", "Once"), ("07:00", "Work"), ("09:30",))
    nodes = [node("Alarms", (0.1, 0.05, 0.9, 0.09))]
    for line, texts in enumerate(entries):
        top = 0.2 + 0.15 * line
        nodes += [
            node(text, (0.1, top + 0.04 * n, 0.4, top + 0.04 * n + 0.03))
            for n, text in enumerate(texts)
        ]
        nodes.append(
            node(
                "",
                (0.6, top, 0.7, top + 0.06),
                class_name="android.widget.ImageButton",
                description="Delete alarm",
                resource_id="org.example.app:id/delete",
                clickable=True,
            )
        )
    seen = Observation(
        started_ms=1,
        ended_ms=2,
        foreground=Foreground(package=APP, activity=".Main"),
        elements=number_elements(nodes, redact=str),
    )
    buttons = [e for e in seen.elements if e.clickable]
    effect = judge(Act(kind=ActKind.PRESS, element=buttons[at]), Context(screen=seen)).effect
    assert effect is not None and effect.verb is V.DELETE
    assert effect.content is not None
    assert effect.content.text == own
