"""Shorten what a conversation remembers: old screens become one line (CONTRACTS 5.2).

By message kind, never by counting messages: hints in between change nothing. In blocks, so that the
beginning of the conversation stays word for word the same for several calls and an endpoint finds
it in its cache. A screen that was looked at again, after a plan or a fact, is one screen.
Invariants: only observations are shortened; the last four screens stay word for word unless they do
not fit; masking twice changes nothing.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from agent.loop.conversation.brief import START
from agent.models.model import Message, MessageKind

KEEP_TURNS = 4  # How many screens always stay whole.
BLOCK = 8  # How many screens are shortened at once: the prefix breaks in one call of so many.
TIGHT_KEEP = 2  # How many stay whole where the window is too small for more.
AGAIN = f"{START} the same as before]"
"""What stands for a screen that was looked at again, once there is a newer one."""
_BYTES_A_TOKEN = 4


def mask(messages: Sequence[Message], *, keep: int = KEEP_TURNS, block: int = 1) -> list[Message]:
    """Return the conversation with old observations in one line each.

    Pictures stay with the newest observation only.

    Args:
        keep: how many observations stay whole at least.
        block: old ones are shortened only by so many at once.
    """
    masked = list(messages)
    observed = [at for at, m in enumerate(masked) if m.kind is MessageKind.OBSERVATION]
    screens = []
    shown = ""
    for at in observed:
        text = masked[at].text
        before, shown = shown, _screen(text) or shown
        is_again = text == AGAIN or (bool(shown) and shown == before and not _says_change(text))
        if not is_again:
            screens.append(at)
        elif at != observed[-1]:
            masked[at] = replace(masked[at], text=AGAIN)
    old = max(len(screens) - keep, 0) // block * block
    for at in screens[:old]:
        if not is_masked(masked[at]):
            masked[at] = replace(masked[at], text=masked[at].brief or f"{START} ?]", image=None)
    for at in observed[:-1]:
        if masked[at].image is not None:
            masked[at] = replace(masked[at], image=None)
    return masked


def fit(messages: Sequence[Message], budget: int = 0) -> list[Message]:
    """Mask in blocks, and mask harder where the conversation is still beyond its budget.

    Args:
        budget: tokens that the conversation may have; 0: as many as it needs.
    """
    masked = mask(messages, block=BLOCK)
    if budget and estimate_tokens(masked) > budget:
        return mask(masked, keep=TIGHT_KEEP, block=TIGHT_KEEP)
    return masked


def _screen(text: str) -> str:
    """Return what an observation says of the screen, without what was new on it; empty: nothing."""
    return text.partition("## Screen State\n")[2].replace(" <-- NEW", "").strip()


def _says_change(text: str) -> bool:
    """Return whether an observation says that something changed, such as the picture alone."""
    return "\nChange: " in text.partition("## Screen State\n")[0]


def is_masked(message: Message) -> bool:
    """Return whether an observation was shortened already."""
    return message.text.startswith(START)


def newest_only(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return what stands for itself: all but calls, their results and earlier screens."""
    screens = [at for at, m in enumerate(messages) if m.kind is MessageKind.OBSERVATION]
    left = {MessageKind.REPLY, MessageKind.RESULT}
    return tuple(
        m for at, m in enumerate(messages) if m.kind not in left and at not in screens[:-1]
    )


def estimate_tokens(messages: Sequence[Message]) -> int:
    """Estimate tokens as a quarter of the bytes: a letter of other scripts has two or three."""
    texts = [message.text for message in messages]
    for message in messages:
        for call in message.tool_calls:
            texts += (call.name, call.arguments)
    # Most texts are ASCII, which is known without looking.
    sizes = [len(text) if text.isascii() else len(text.encode()) for text in texts]
    return sum(sizes) // _BYTES_A_TOKEN
