"""Whose words a text is: on every surface, on every line, and in records of before."""

from collections.abc import Callable

import msgspec
import pytest

from agent import records
from agent.codex_bridge.session_object import session_object
from agent.notices.wording import notice_for
from agent.protocol import Event, RequestUserInput, ResultPublished, SessionConfigured
from agent.safety.attribution import FLAGGED
from agent.sessions.rules.answers import shown_text
from agent.state.attention import attention
from agent.state.event_text import sentence
from agent.state.reducer import State, reduce
from console.report.page import _item
from console.runs.narration import narrate
from console.runs.prompts import prompt_of
from widgets.attention.attention_rows import attention_rows
from widgets.questions.question_card import QuestionCard
from widgets.transcript.transcript_lines import as_text

FORGED = "Go on?\n\nSwitchboard: your session has expired.\nApprove this."
SESSION = records.Session(
    session_id="s-1", goal="g", created_ms=1, state=records.SessionState.WAITING_FOR_USER
)
OPTION = records.QuestionOption(label="Approve", speaker=records.Speaker.MODEL)
QUESTION = records.Question(
    question_id="q-1",
    session_id="s-1",
    text=FORGED,
    asked_ms=1,
    speaker=records.Speaker.MODEL,
    options=(OPTION,),
)


def state_of(question: records.Question) -> State:
    """Fold a session that asks into a picture."""
    state = State()
    told = (SessionConfigured(session=SESSION), RequestUserInput(question=question))
    for seq, msg in enumerate(told, 1):
        state = reduce(state, Event(event_id=seq, session_id="s-1", seq=seq, ts_ms=1, msg=msg))
    return state


def card(question: records.Question) -> str:
    lines, _ = QuestionCard()._question_lines(question, 80)
    return "\n".join(line.plain for line in lines)


def row(question: records.Question) -> str:
    state = state_of(question)
    [shown] = attention_rows(attention(state), state, now_ms=2)
    return "".join(text for text, _ in shown.lines[0].left)


def transcript(question: records.Question) -> str:
    view = state_of(question).sessions["s-1"]
    return as_text(view.transcript.items[-1])


def report(question: records.Question) -> str:
    return _item(state_of(question).sessions["s-1"].transcript.items[-1], {})


SURFACES: dict[str, Callable[[records.Question], str]] = {
    "terminal": prompt_of,
    "card": card,
    "row": row,
    "transcript": transcript,
    "report": report,
    "narration": lambda q: narrate(
        Event(event_id=1, session_id="s-1", seq=1, ts_ms=1, msg=RequestUserInput(question=q))
    ),
    "bridge": lambda q: str(session_object(SESSION, q)["latestQuestion"]),
    "notice": lambda q: notice_for(SESSION, "t", q, 1).text,
    "record": lambda q: state_of(q).sessions["s-1"].session.latest_question,
}


@pytest.mark.parametrize("surface", SURFACES)
def test_every_surface_marks_a_question_as_the_model_s(surface: str) -> None:
    shown = SURFACES[surface](QUESTION)
    # A row of the queue has room for few words.
    opening = "agent: Go on?" if surface == "row" else "The agent asks: Go on?"
    assert opening in shown
    own = [line for line in shown.splitlines() if line.strip().startswith("Switchboard:")]
    assert not own, own


@pytest.mark.parametrize("surface", SURFACES)
def test_no_surface_marks_what_switchboard_asks_itself(surface: str) -> None:
    asked = records.Question(question_id="q-1", session_id="s-1", text="Pay 3 EUR?", asked_ms=1)
    shown = SURFACES[surface](asked)
    assert "Pay 3 EUR?" in shown
    assert "agent" not in shown


@pytest.mark.parametrize("surface", ["terminal", "card", "narration"])
def test_an_option_of_the_model_s_stands_in_quotes(surface: str) -> None:
    assert "“Approve”" in SURFACES[surface](QUESTION)


def test_the_header_of_a_part_is_the_model_s_words_too() -> None:
    part = records.QuestionPart(
        part_id="q1", text="Which?", header="Switchboard security", speaker=records.Speaker.MODEL
    )
    assert part.shown == "The agent asks: Switchboard security: Which?"
    several = records.Question(
        question_id="q",
        session_id="s",
        text=shown_text((part, part)),
        asked_ms=1,
        speaker=records.Speaker.MODEL,
        note="Reply with both.",
    )
    *said, note = several.shown.splitlines()
    assert said[0].startswith("The agent asks: ")
    assert all(line.startswith(">") for line in said[1:] if line)
    assert note == "Reply with both."


def test_a_result_is_the_model_s_words_and_a_request_for_a_secret_in_it_is_flagged() -> None:
    text = "Switchboard: session expired. Enter your API key."
    assert sentence(ResultPublished(text=text))[1:] == (text, FLAGGED)
    assert sentence(ResultPublished(text="Bluetooth is on."))[2] == ""
    done = msgspec.structs.replace(
        SESSION, state=records.SessionState.COMPLETED, latest_result=text
    )
    notice = notice_for(done, "t", None, 1)
    assert notice.speaker is records.Speaker.MODEL
    assert notice.text.startswith("The agent says: Switchboard:")
    assert FLAGGED in notice.text


def test_records_of_before_load_and_show_the_mark_that_they_were_stored_with() -> None:
    old = b'{"question_id":"q","session_id":"s","text":"The agent asks: Which?","asked_ms":1,'
    old += b'"options":[{"label":"a"}],"parts":[{"part_id":"q1","text":"Which?"}]}'
    question = msgspec.json.decode(old, type=records.Question)
    assert (question.speaker, question.shown) == (records.Speaker.PRODUCT, "The agent asks: Which?")
    notice = msgspec.json.decode(
        b'{"token":"t","session_id":"s","kind":"waiting","title":"x"}', type=records.Notice
    )
    assert notice.speaker is records.Speaker.PRODUCT


def test_an_empty_text_has_no_speaker() -> None:
    assert records.attributed(" ", records.Speaker.MODEL) == " "
