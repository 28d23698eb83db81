"""Define an act's effect as an approval states it, and what a reviewer says of the act.

`agent.safety.effects` judges acts. Invariant: every stated fact names its source, so that a person
can tell what is visible from what is only claimed.
"""

from enum import StrEnum

from agent.records.record import Record


class EffectVerb(StrEnum):
    """What an act would do."""

    SPEND = "spend"
    SEND = "send"
    PUBLISH = "publish"
    CALL = "call"
    DELETE = "delete"
    OVERWRITE = "overwrite"
    CANCEL = "cancel"
    """Cancel or return an order, a booking or a subscription."""
    INSTALL = "install"
    GRANT = "grant"
    PROTECTION = "protection"
    """Turn a protection of the phone off, or a risk on: screen lock, USB debugging, unknown
    sources."""
    SIGN_IN = "sign_in"
    SIGN_OUT = "sign_out"
    TYPE_SECRET = "type_secret"
    CUT_CONNECTION = "cut_connection"
    CARRY_OUT = "carry_out"
    """Carry data out of the app, the phone or the machine: share, forward, copy, open a link."""
    STANDING_WORK = "standing_work"
    """Create work that goes on by itself: a job, a watcher, a forwarding rule."""
    UNKNOWN = "unknown"
    """Nothing says what it would do: the screen cannot be read, or a label is disguised."""
    SWITCH = "switch"
    """Change an ordinary setting."""
    LEAVE_APP = "leave_app"
    PRESS = "press"
    TYPE = "type"
    NAVIGATE = "navigate"


class Source(StrEnum):
    """Where a fact of an effect was read."""

    SCREEN = "screen"
    TYPED = "typed"  # This session typed or chose it.
    MODEL = "model"  # Only the model says so.
    REVIEWER = "reviewer"  # Only the reviewer says so.
    UNREADABLE = "unreadable"  # It is not shown anywhere that can be read.


class Stated(Record, frozen=True, kw_only=True):
    """One fact of an effect and where it was read; the text is empty when it is unreadable."""

    text: str = ""
    source: Source = Source.SCREEN


class Effect(Record, frozen=True, kw_only=True):
    """What one act would do. Facts that do not belong to the verb are None."""

    verb: EffectVerb
    control: str = ""
    """What would be pressed, swiped or typed into."""
    recipient: Stated | None = None
    content: Stated | None = None
    """What would be sent, published, deleted, overwritten or installed, in full."""
    before: Stated | None = None
    """What the content replaces."""
    amount: Stated | None = None
    currency: str = ""
    """ISO 4217 code where the amount shows it, otherwise its sign; empty: not shown."""
    account: Stated | None = None
    """What pays, or who is signed in."""
    app: str = ""
    """The package."""
    app_name: str = ""
    """What people call the app, by its card or its package; never by what the phone says of it."""
    screen: str = ""
    """The title of the dialog or page."""
    phone: str = ""
    """The serial."""
    undo: str = ""
    """What can take it back, as a sentence."""
    beside_goal: str = ""
    """What of it the operator's words do not say, as a sentence; empty: nothing that is known."""
    reviewer: str = ""
    """What the reviewer says of it, as a sentence of its own; empty where rules ask."""
    shown: tuple[str, ...] = ()
    """What the screen shows around the control, and what the session typed: a line each."""
    digest: str = ""
    """sha256, in hex, of what an approval is bound to: verb, app, recipient, content, amount."""


class ReviewVerdict(StrEnum):
    """What a reviewer says of an act."""

    ALLOW = "allow"
    ASK = "ask"
    STOP = "stop"
    """The operator's words forbid it, or only the screen asks for it: it is refused."""


class ActReview(Record, frozen=True, kw_only=True):
    """One review. Texts are the reviewer's, of one line each."""

    verdict: ReviewVerdict
    effect: EffectVerb | None = None
    """What it would do; None: nothing beyond the phone's own view."""
    affects: str = ""
    """What it is done to: the message, the order, the door."""
    reaches: str = ""
    """The people or the service that it reaches."""
    amount: str = ""
    reversible: bool = False
    """Whether the operator can take it back on this phone."""
    asked_by: str = ""
    """The operator's words that ask for this effect, as they were written."""
    sentence: str = ""
    """Why, for the operator."""
    reviewer: str = ""
    """Who says it: the model or the program."""
    fault: str = ""
    """Why the reviewer's own verdict does not count, so that the operator is asked: it was late, it
    failed, or it said nothing usable."""
