"""What the operator said to a session by now: its goals, hints and answers, folded from events.

Pure. Not the memory of a turn. Invariants: what was changed counts as it is now, what was taken
back does not; an approval says nothing, and of a secret answer nothing is known; an option is the
asker's own words, whoever chose it.
"""

from collections.abc import Iterable

from agent import protocol
from agent.loop.conversation.prompts import operator_text
from agent.records import Question, QuestionKind, Speaker
from agent.text import one_line

_QUESTION_CHARS = 200


class OperatorWords:
    """One session's words of its operator, oldest first.

    Args:
        msgs: the stored facts, oldest first; all others say nothing.
    """

    def __init__(self, goal: str = "", msgs: Iterable[protocol.EventMsg] = ()) -> None:
        self._said: dict[str, str] = {}
        self._written: dict[str, str] = {}
        self._asked: dict[str, Question] = {}
        self._say(goal, own=goal)
        for msg in msgs:
            self.fold(msg)

    @property
    def texts(self) -> tuple[str, ...]:
        """What was asked for, said and answered, each once; an answer with its question."""
        return tuple(dict.fromkeys(map(operator_text, self._said.values())))

    @property
    def written(self) -> tuple[str, ...]:
        """The words that are the operator's own: what a policy may go by."""
        return tuple(dict.fromkeys(self._written.values()))

    def fold(self, msg: protocol.EventMsg) -> None:
        """Take in one stored fact."""
        match msg:
            case protocol.SessionConfigured(session=session):
                self._say(session.goal, own=session.operators_goal)
            case protocol.UserMessage(message_id=message_id, speaker=Speaker.PRODUCT, said=said):
                self._say(said, message_id, own=said)
            case protocol.UserMessage(text=text, message_id=message_id, speaker=speaker, said=said):
                is_own = speaker is Speaker.OPERATOR
                self._say(text, message_id, own=(said or text) if is_own else "")
            case protocol.SteerEdited(message_id=message_id, text=text):
                if message_id in self._said:
                    self._say(text, message_id, own=text if message_id in self._written else "")
            case protocol.SteerWithdrawn(message_id=message_id):
                self._said.pop(message_id, None)
                self._written.pop(message_id, None)
            case protocol.RequestUserInput(question=question):
                self._asked[question.question_id] = question
            case protocol.QuestionAnswered(question_id=question_id):
                asked = self._asked.pop(question_id, None)
                if asked is not None:
                    self._answered(asked, msg)
            case _:
                pass

    def _say(self, text: str, key: str = "", *, own: str) -> None:
        if text.strip():
            key = key or f"#{len(self._said)}"
            self._said[key] = text
            if own:
                self._written[key] = own

    def _answered(self, question: Question, msg: protocol.QuestionAnswered) -> None:
        line = answer_line(question, msg.answer)
        if line:
            self._said[question.question_id] = line
            own = "\n".join(_own_words(question, msg))
            if own and msg.speaker is Speaker.OPERATOR:
                self._written[question.question_id] = own


def answer_line(question: Question, answer: str) -> str:
    """Write an answer of the operator down with its question; empty for an approval or a secret."""
    if question.kind is QuestionKind.APPROVAL or question.secret or not answer.strip():
        return ""
    return f'asked "{one_line(question.text, _QUESTION_CHARS)}": {answer}'


def _own_words(question: Question, msg: protocol.QuestionAnswered) -> Iterable[str]:
    """Return what of an answer is none of the options that the asker wrote."""
    offered = {option.label for option in question.options}
    offered |= {option.label for part in question.parts for option in part.options}
    given = [one for several in msg.answers.values() for one in several] or [msg.answer]
    return (one for one in given if one not in offered)
