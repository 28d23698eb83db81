"""What an approval states is what the screen holds: amounts, recipients and what undoes it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.records import Effect, EffectVerb, Source
from agent.safety.allowances.covering import covering
from agent.safety.allowances.parsing import parse_allowance
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.amounts import amounts, is_whole, values
from agent.safety.effects.context import Context
from agent.safety.effects.flow import Flow
from agent.safety.effects.judge import judge
from agent.safety.effects.wording import facts, headline
from agent.safety.egress.judging import judge_egress
from bench.redteam.screens import observe
from tests.safety.effects.test_phrasebook import DELETES

V = EffectVerb
FORM = "app com.pay.app .SendMoneyActivity\ntitle Send money\nfield To = Ana Silva #to\n"
SPEND = parse_allowance("spend:20 USD:Ana Silva")


def effect_of(screen: str, name: str, *, flow: Flow | None = None) -> Effect:
    """Return what an approval of a press would state."""
    seen = observe(screen)
    element = next(e for e in seen.elements if e.label.startswith(name) and e.clickable)
    act = Act(kind=ActKind.PRESS, element=element)
    verdict = judge(act, Context(screen=seen, flow=flow or Flow()))
    assert verdict.effect is not None, screen
    return verdict.effect


def amount_of(screen: str, name: str = "Pay", *, flow: Flow | None = None) -> str:
    effect = effect_of(screen, name, flow=flow)
    assert effect.verb is V.SPEND and effect.amount is not None
    return effect.amount.text


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ("15", "15"),
        ("$15.00", "$15.00"),
        ("15tickets", "15tickets"),
        ("15 tickets", "15 tickets"),
        ("$15K", "$15K"),
        ("$15 and $200", "$15 and $200"),
        ("-15", "-15"),
        ("1.5e9", "1.5e9"),
        ("١٥", "١٥"),
    ],
)
def test_an_amount_is_said_as_its_field_holds_it(held: str, said: str) -> None:
    form = f"{FORM}field Amount = {held} #amount\nbutton Pay"
    assert amount_of(form) == said
    # Also where it was another one a moment ago.
    before = Flow()
    before.saw(observe(f"{FORM}field Amount = 15 #amount\nbutton Pay"))
    assert amount_of(form, flow=before) == said


@given(st.text("0123456789.,'$€ KMx-", min_size=1, max_size=20), st.sampled_from(["", "tickets"]))
def test_whatever_a_field_holds_no_part_of_it_is_said_to_be_the_amount(
    number: str, more: str
) -> None:
    held = " ".join(f"{number}{more}".split())
    screen = observe(f"{FORM}field Amount = x #amount\nbutton Pay")
    field = next(e for e in screen.elements if "amount" in e.resource_id)
    elements = tuple(replace(e, value=held) if e is field else e for e in screen.elements)
    act = Act(kind=ActKind.PRESS, element=next(e for e in elements if e.label == "Pay"))
    effect = judge(act, Context(screen=replace(screen, elements=elements))).effect
    assert effect is not None and effect.amount is not None
    assert effect.amount.text in {held, ""}
    covered = covering(effect, [SPEND], [e.label for e in elements], app_currency="USD")
    assert covered is None or all(value <= 20 for value in values(held)), held


def test_an_amount_that_was_taken_out_of_its_field_is_no_longer_said() -> None:
    before = Flow()
    before.saw(observe(f"{FORM}field Amount = 15 #amount\nbutton Pay"))
    effect = effect_of(f"{FORM}field Amount =  #amount\nbutton Pay", "Pay", flow=before)
    assert effect.amount is not None and effect.amount.source is Source.UNREADABLE
    assert "Amount: unknown" in facts(effect)


def test_the_sign_of_an_amount_is_not_guessed_from_several() -> None:
    two = f"{FORM}text Balance: €100.00\ntext Limit: $500.00\nfield Amount = 15 #amount\nbutton Pay"
    assert amount_of(two) == "15"
    one = f"{FORM}text Balance: €100.00\nfield Amount = 15 #amount\nbutton Pay"
    assert amount_of(one) == "€15"


def test_a_tip_is_not_all_that_is_paid() -> None:
    screen = "app com.pay.app .Checkout\ntitle Checkout\nfield Tip = 2 #tip\ntext Total $42.00\n"
    assert amount_of(f"{screen}text Visa •• 1234\nbutton Pay") == "$42.00"


def test_of_several_amounts_none_is_chosen_by_chance() -> None:
    screen = "app com.x.app .Confirm\ntitle Confirm\ntext Adult $150.00\ntext Child $2.00\n"
    said = amount_of(f"{screen}text Visa •• 1234\nbutton Pay")
    assert said == "$150.00, $2.00"
    assert amount_of(f"{screen}text Visa •• 1234\nbutton Pay $150 + $2 fee") == "$150 + $2"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Pay $15K now", "$15K"),
        ("€2 million", "€2 million"),
        ("¥5万", "¥5万"),
        ("$15tickets", "$15tickets"),
        ("$15.00USD", "$15.00"),
        ("$15/month", "$15"),
        ("Pay $15 to Ana", "$15"),
        ("123456789012345678 €", "123456789012345678 €"),
        ("x" * 397 + " $1500", ""),
    ],
)
def test_no_amount_on_a_screen_is_cut(text: str, said: str) -> None:
    assert amounts(text) == ((said,) if said else ())


@pytest.mark.parametrize("text", ["$15K", "€2 million", "$15tickets", "15", "¥5万"])
def test_what_is_more_than_one_number_and_a_currency_is_no_whole_amount(text: str) -> None:
    assert not is_whole(text)


def test_everybody_who_gets_a_mail_is_named() -> None:
    mail = (
        "app com.mail.app .ComposeActivity\ntitle Compose\nfield To = ana@example.org #to\n"
        "field Cc = ben@example.org #cc\nfield Bcc = eve@example.org #bcc\n"
        "field Message = Hello #body\nbutton Send"
    )
    to = effect_of(mail, "Send").recipient
    assert to is not None and to.text == "ana@example.org, ben@example.org, eve@example.org"


@pytest.mark.parametrize(
    ("button", "to"),
    [("Call Ben", "Ben"), ("Call +49 30 12345", "+49 30 12345"), ("Anruf starten", "Ana Silva")],
)
def test_a_word_of_the_button_is_nobody_who_is_called(button: str, to: str) -> None:
    page = f"app com.phone.app .ContactActivity\ntitle Ana Silva\nbutton {button} #call"
    effect = effect_of(page, button)
    assert effect.verb is V.CALL and effect.recipient is not None
    assert effect.recipient.text == to


DIALOG = "app com.notes.app .NotesActivity\ndialog\ntitle {}\ntext {}\nbuttons {}"


@pytest.mark.parametrize(
    ("title", "text", "buttons", "quoted"),
    [
        ("Delete note?", "It will be deleted for good.", "Cancel / Delete", "for good"),
        (
            "Delete?",
            "It stays a day. This cannot be undone.",
            "Cancel / Delete",
            "cannot be undone",
        ),
        ("Delete forever?", "One note", "Cancel / Delete", "Delete forever?"),
        ("Löschen?", "Das lässt sich nicht rückgängig machen.", "Abbrechen / Löschen", "nicht"),
        ("Supprimer ?", "Elle sera supprimée définitivement.", "Annuler / Supprimer", "définitiv"),
        ("Удалить?", "Заметка исчезнет навсегда.", "Отмена / Удалить", "навсегда"),
        ("削除しますか?", "この操作は元に戻せません。", "キャンセル / 削除", "元に戻せません"),
        ("Empty trash?", "2 notes", "Cancel / Empty trash", "Empty trash"),
    ],
)
def test_what_a_screen_says_of_undoing_comes_before_the_usual_words(
    title: str, text: str, buttons: str, quoted: str
) -> None:
    effect = effect_of(DIALOG.format(title, text, buttons), buttons.split(" / ")[1])
    assert effect.verb is V.DELETE
    assert effect.undo.startswith("The screen says: ") and quoted in effect.undo
    assert "trash or undo" not in effect.undo


def test_a_dialog_that_says_nothing_of_undoing_has_the_usual_words() -> None:
    effect = effect_of(DIALOG.format("Delete note?", "One note", "Cancel / Delete"), "Delete")
    assert effect.undo.startswith("Unknown: at most the app's own trash")
    # A list may speak of anything.
    rows = "row A | kept forever\nrow B | x\nrow C | y\nicon Delete"
    assert "The screen" not in effect_of(f"app com.x.y .Z\ntitle Things\n{rows}", "Delete").undo


def test_what_replaces_something_unread_is_not_undone_by_typing_it_again() -> None:
    dialog = DIALOG.format("Replace file?", "a.txt is there already", "Cancel / Replace")
    effect = effect_of(dialog, "Replace")
    assert effect.verb is V.OVERWRITE
    assert "Typing the old text" not in effect.undo


NEW = {
    "de": "Neuer Termin",
    "fr": "Nouvel événement",
    "es": "Evento nuevo",
    "it": "Nuovo evento",
    "pt": "Novo evento",
    "nl": "Nieuwe afspraak",
    "pl": "Nowe wydarzenie",
    "tr": "Yeni etkinlik",
    "ru": "Новая встреча",
    "uk": "Нова зустріч",
    "id": "Acara baru",
    "vi": "Sự kiện mới",
    "zh": "新建活动",
    "ja": "新しい予定",
    "ko": "새 일정",
    "ar": "حدث جديد",
    "hi": "नया इवेंट",
    "th": "เพิ่มกิจกรรม",
    "he": "אירוע חדש",
}


def test_a_form_for_something_new_is_known_in_every_language() -> None:
    assert set(NEW) == set(DELETES)


@pytest.mark.parametrize("title", [*NEW.values(), "New message", "Create account"])
def test_what_a_form_for_something_new_proposes_is_not_stored(title: str) -> None:
    form = "app com.android.calendar .EditEventActivity\ntitle {}\nfield Title =  #title\n"
    for heading, is_stored in ((title, False), ("Edit event", True)):
        seen = observe(f"{form.format(heading)}field Date = 2026-11-27 #day")
        day = next(e for e in seen.elements if e.label.startswith("Date"))
        act = Act(kind=ActKind.TYPE, element=day, text="2026-12-01", clear=True)
        effect = judge(act, Context(screen=seen)).effect
        assert (effect is not None and effect.verb is V.OVERWRITE) is is_stored, heading


@pytest.mark.parametrize(
    ("lines", "amount"),
    [
        (("Subtotal | 10.00 €", "Shipping | 2.00 €", "Total | 12.00 €"), "12.00 €"),
        (("Total | 15.00 €", "Fee | 0.50 €"), "15.00 €, 0.50 €"),
        (("Price | 20.00 €", "Price off | 5.00 €", "Total | 15.00 €"), "15.00 €"),
        (("Total | 15.00 €",), "15.00 €"),
    ],
)
def test_of_several_amounts_the_one_they_come_to_is_stated_or_all(
    lines: tuple[str, ...], amount: str
) -> None:
    shown = "".join(f"text {line}\n" for line in lines)
    effect = effect_of(f"app com.pay.app .A\ntitle Send money\n{shown}button Pay", "Pay")
    assert effect.amount is not None and effect.amount.text == amount


@pytest.mark.parametrize(
    ("link", "to"),
    [
        ("sms:+15550100?body=I quit", "+15550100"),
        ("mailto:eve@example.org?subject=x", "eve@example.org"),
        ("tel:112", "112"),
        ("javascript:location='//evil.example'", "javascript"),
        ("data:text/html,<img src=//evil.example>", "data"),
    ],
)
def test_a_link_without_a_host_reaches_the_number_or_the_mailbox(link: str, to: str) -> None:
    act = Act(kind=ActKind.OPEN_LINK, link=link)
    verdict = judge_egress(act, observe("app com.a .B"), goal="", listed=())
    assert verdict is not None and verdict.effect is not None
    assert verdict.effect.recipient is not None and verdict.effect.recipient.text == to
    assert '""' not in headline(verdict.effect)


def test_the_name_of_a_page_is_not_what_is_deleted() -> None:
    effect = effect_of("app com.files.app .List\nrow Holiday.pdf\nbar Search / Delete", "Delete")
    assert "something unknown" in headline(effect) and "List" not in headline(effect)


def test_a_list_is_not_what_is_deleted_and_what_is_ticked_in_it_is_named() -> None:
    listed = "row Beach.jpg *\nrow Passport.jpg\nrow Receipt.jpg *\nicon Delete"
    effect = effect_of(f"app com.photo.app .A\ntitle Photos\n{listed}", "Delete")
    assert effect.content is not None and effect.content.source is Source.UNREADABLE
    assert "Chosen: Beach.jpg · Receipt.jpg" in facts(effect)
    note = effect_of("app com.note.app .A\ntitle Tent pegs\nicon Delete", "Delete")
    assert note.content is not None and note.content.text == "Tent pegs"
