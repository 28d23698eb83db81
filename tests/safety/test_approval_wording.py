"""An approval's words: the recipient first, nothing said twice."""

from msgspec.structs import replace

from agent.knowledge.app_names import known_name
from agent.knowledge.library import load
from agent.records import Effect, EffectVerb, Stated
from agent.safety.approval import approval_text
from agent.safety.effects.wording import approval_question, headline

EFFECT = Effect(
    verb=EffectVerb.SEND,
    control="Send SMS",
    recipient=Stated(text="Ana Silva"),
    content=Stated(text="I am home"),
)


def test_the_recipient_stands_within_the_first_words_of_a_row() -> None:
    assert "Ana Silva" in headline(EFFECT)[:20]


def test_a_reason_that_only_restates_the_headline_is_left_out() -> None:
    own = '"Send SMS" may send something to other people'
    assert (
        approval_question(EFFECT, 'Press "Send SMS".', own).splitlines()[1] == 'Press "Send SMS".'
    )
    more = approval_question(EFFECT, 'Press "Send SMS".', f"{own}; 1 of 3 messages left")
    assert more.splitlines()[1] == 'Press "Send SMS". 1 of 3 messages left.'
    other = approval_question(EFFECT, 'Press "Send SMS".', "the session is set to ask")
    assert other.splitlines()[1] == 'Press "Send SMS". The session is set to ask.'


def test_why_it_is_asked_is_a_sentence_of_its_own_and_stands_apart_from_what_others_wrote() -> None:
    why = "nobody is watching this job"
    said = approval_text("Call send of the program mail with {}", why)
    assert said == (
        "May I do this? Call send of the program mail with {}. Nobody is watching this job."
    )
    card = approval_text('Create the job "x".\nIt says: look, then stop', why)
    assert card.splitlines()[1:] == ["It says: look, then stop.", "Nobody is watching this job."]
    assert approval_text('Press "Send".', "") == 'May I do this? Press "Send".'


def test_an_app_is_called_what_people_call_it_and_its_package_stands_below() -> None:
    effect = replace(EFFECT, app="com.example.chat")
    assert headline(effect).endswith(" in com.example.chat")
    named = replace(effect, app_name="Chat")
    assert headline(named).endswith(" in Chat")
    lines = approval_question(named, 'Press "Send SMS".', "").splitlines()
    assert "Where: app Chat (com.example.chat)" in lines


def test_an_app_is_named_by_its_card_or_its_package_and_by_nothing_else() -> None:
    library = load()
    assert known_name("com.example.wallet", library) == "Wallet"
    assert known_name("org.telegram.messenger", library) == "Telegram"
    assert known_name("com.evil.wallet", library) == ""


def test_an_act_whose_effect_is_not_known_is_stated_as_the_press_that_it_is() -> None:
    effect = Effect(verb=EffectVerb.UNKNOWN, control="Redeem", app="com.air.miles")
    why = '"Redeem" is the last button here, and its effect is not known'
    lines = approval_question(effect, 'Press "Redeem".', why).splitlines()
    assert lines[:2] == ['Press "Redeem" in com.air.miles?', f'Press "Redeem". {why}.']
    silent = headline(replace(effect, control="unlabeled"))
    assert silent.startswith("Do something that cannot be read")
