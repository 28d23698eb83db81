"""Define the ops on session records: fork, roll back, keep, delete."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import CreatingOp, OpBase
from agent.records import Allows, Right


class SessionFork(CreatingOp, frozen=True, kw_only=True, tag="session_fork"):
    """Copy a session's past into a new, idle session; the reply names it.

    The operator's messages count from 0, which is the goal; what was rolled back does not count.
    """

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.NOTHING
    brief: ClassVar[str] = "Copy a session's past into a new one that waits for its next prompt."
    returns: ClassVar[str] = "the id of the copy"

    session_id: str
    before_message: int = -1
    """Copy what came before this message; −1, or more than there are: everything that was finished.
    """
    after_step: int = 0
    """Instead: copy up to the end of this step, in whatever turn it was; 0 = by message."""


class SessionRollback(OpBase, frozen=True, kw_only=True, tag="session_rollback"):
    """Hide the newest turns of an idle or settled session from its model and its transcript.

    Nothing is deleted, and nothing is undone on a phone.
    """

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the id of the session"

    session_id: str
    turns: int = 1


class SessionKeep(OpBase, frozen=True, kw_only=True, tag="session_keep"):
    """Keep a tree's frames and caches for ever, or return them to retention."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the id of the tree's top session"

    session_id: str
    kept: bool = True


class SessionTag(OpBase, frozen=True, kw_only=True, tag="session_tag"):
    """Replace the tags of a session."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ANSWER,)
    allows: ClassVar[Allows] = Allows.NOTHING

    session_id: str
    tags: tuple[str, ...] = ()


class SessionRename(OpBase, frozen=True, kw_only=True, tag="session_rename"):
    """Set a session's title; the goal stays as it is."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ANSWER,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the id of the session"

    session_id: str
    title: str = ""  # 80 characters at most are kept; empty: the goal is its title again.


class SessionDismiss(OpBase, frozen=True, kw_only=True, tag="session_dismiss"):
    """Dismiss an ended session and its children from every Deck, or undo that.

    Its notice is done with as by notice_done. The session stays in the history.
    """

    needs: ClassVar[tuple[Right, ...]] = (Right.ANSWER,)
    allows: ClassVar[Allows] = Allows.NOTHING

    session_id: str
    dismissed: bool = True


class SessionDelete(OpBase, frozen=True, kw_only=True, tag="session_delete"):
    """Delete a settled tree, named by its top-level session, and its data."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ADMINISTER,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the ids that were deleted"

    session_id: str


class SessionClear(OpBase, frozen=True, kw_only=True, tag="session_clear"):
    """Cancel and delete every tree that is not kept; needs `all`.

    The reply lists what was cleared, what failed and why, and what remains.
    """

    needs: ClassVar[tuple[Right, ...]] = (Right.ADMINISTER,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "what was cleared, what failed and why, and what remains"

    all: bool = False


class SessionPrune(OpBase, frozen=True, kw_only=True, tag="session_prune"):
    """Apply retention now; the reply lists the trees that lost frames and caches."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ADMINISTER,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the ids of the trees that lost their frames"


class SessionImport(OpBase, frozen=True, kw_only=True, tag="session_import"):
    """Read a rollout, a file of JSON lines on the core's machine; the reply names the session."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ADMINISTER,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the id of the session, and how many lines were left out"

    path: str
    as_new: bool = False  # Give it a new id, so that the same rollout may be read twice.


AnyRecordOp: TypeAlias = (
    SessionFork
    | SessionRollback
    | SessionKeep
    | SessionTag
    | SessionRename
    | SessionDismiss
    | SessionDelete
    | SessionClear
    | SessionPrune
    | SessionImport
)
