"""An approval for a session holds for one effect and one recipient."""

import pytest

from agent.records import Effect, EffectVerb, Source, Stated, Subject
from agent.safety.approval import FOR_SESSION
from agent.safety.granting import Grants, grantable


def subject(verb: EffectVerb, to: str = "", source: Source = Source.SCREEN, **more: str) -> Subject:
    recipient = Stated(text=to, source=source) if to or source is Source.UNREADABLE else None
    effect = Effect(verb=verb, recipient=recipient, app="com.chat", **more)  # type: ignore[arg-type]
    return Subject(action="click_element", effect=effect)


def test_a_message_to_one_person_is_granted_for_that_person_whatever_the_button() -> None:
    grants = Grants()
    grants.take(subject(EffectVerb.SEND, "Ana Silva", control="Send"), FOR_SESSION)
    assert grants.covers(subject(EffectVerb.SEND, "Ana Silva", control="➤"))
    assert not grants.covers(subject(EffectVerb.SEND, "Ben Carter", control="Send"))
    assert not grants.covers(subject(EffectVerb.CALL, "Ana Silva"))


@pytest.mark.parametrize(
    "verb",
    [
        *(EffectVerb.SPEND, EffectVerb.GRANT, EffectVerb.PROTECTION, EffectVerb.TYPE_SECRET),
        *(EffectVerb.INSTALL, EffectVerb.OVERWRITE, EffectVerb.UNKNOWN),
    ],
)
def test_what_weighs_most_is_approved_once_only(verb: EffectVerb) -> None:
    assert not grantable(subject(verb, "Ana Silva"))


@pytest.mark.parametrize("source", [Source.UNREADABLE, Source.MODEL])
def test_a_recipient_that_nobody_has_read_is_not_granted(source: Source) -> None:
    to = "" if source is Source.UNREADABLE else "Ana"
    assert not grantable(subject(EffectVerb.SEND, to, source))
