"""Keep the pictures of a tree for ever, or let retention have them: what the keys for it do."""

from typing import TYPE_CHECKING

from agent.protocol import SessionKeep
from agent.records import Session
from agent.text import one_line
from widgets.base.formatting import quoted
from widgets.lists.session_rows import session_title

if TYPE_CHECKING:
    from console.base_app import ConsoleApp


def keep_pictures(app: "ConsoleApp", root: Session) -> None:
    """Keep a tree's pictures, or keep them no longer if that was asked for last.

    Args:
        app: whose console it is.
        root: the session on top of the tree.
    """
    one = root.session_id
    asked = app.pending.keeps(one)
    kept = not (root.kept if asked is None else asked)
    title = one_line(session_title(root), 40)
    done = f"The pictures of {quoted(title, 60)} are kept for ever."
    if kept and root.pruned:
        done = f"{quoted(title, 60)} is kept from now on; its pictures were dropped before."
    elif not kept:
        done = f"The pictures of {quoted(title, 60)} go with the others again."
    app.request(SessionKeep(session_id=one, kept=kept), done=done)
