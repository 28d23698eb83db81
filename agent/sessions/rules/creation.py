"""Turn a request for work into session records: check it, name what is wrong, fill in the rest.

It stores nothing. Invariant: what passes can start; a request with a fault in it creates nothing.
"""

import math
import re
from collections.abc import Sequence
from hashlib import sha256
from secrets import token_hex

from msgspec.structs import replace

from agent import records
from agent.errors import UsageError
from agent.models.session_endpoint import check_asked_there, recorded_address
from agent.placement.needs import parse_needs
from agent.protocol import SessionCreate, Target
from agent.records.requirements import numbered
from agent.results.schema import checked_schema
from agent.safety.allowances.parsing import checked_allowances
from agent.safety.redacting.let_through import letting_through
from agent.safety.redacting.redaction import redact_secrets
from agent.sessions.registry.device_assignment import Assignment
from agent.sessions.rules.answers import checked_text
from agent.sessions.rules.operator_text import secrets_in
from agent.settings import Settings
from agent.tasks.targets import FORBIDDEN_PACKAGES
from agent.text import one_line

TARGETS_LIMIT = 64
STEPS_LIMIT = 10_000
REQUEST_ID_LIMIT = 200
MOST_REQUIREMENTS, REQUIREMENT_CHARS = 30, 500
TITLE_LIMIT_CHARS = 80
_ID_BYTES = 6
_ACCOUNT = re.compile(r"\w[\w.@+-]{0,79}")


def planned_sessions(
    op: SessionCreate,
    *,
    settings: Settings,
    assignment: Assignment,
    now_ms: int,
    job_id: int = 0,
    endpoint: str = "",
) -> tuple[records.Session, ...]:
    """Make the records that a request asks for: the session itself, then its children.

    Args:
        op: the request.
        settings: say what the request does not.
        assignment: knows the phones.
        now_ms: when it was made.
        job_id: the job that it is for; 0 when a person asks.
        endpoint: the recorded address of what it goes on from; empty: that of the settings.

    Raises:
        UsageError: an empty goal, an unknown serial, or another field that cannot be used.
    """
    said = (op.goal, op.title, *(target.objective for target in op.targets))
    let_through = secrets_in(said) if op.let_through else ()
    with letting_through(lambda: let_through):
        planned = _planned(op, settings, assignment, now_ms, job_id, endpoint)
    return tuple(replace(one, let_through=let_through) for one in planned)


def _planned(
    op: SessionCreate,
    settings: Settings,
    assignment: Assignment,
    now_ms: int,
    job_id: int,
    endpoint: str,
) -> tuple[records.Session, ...]:
    # A draft may be started with its goal later (CONTRACTS 1.1).
    is_blank_draft = not op.start and not op.goal.strip() and not op.targets
    goal = "" if is_blank_draft else checked_text(op.goal, "The goal")
    if not 0 <= op.max_steps <= STEPS_LIMIT:
        raise UsageError(f"max_steps is {op.max_steps}.", f"Use 1 to {STEPS_LIMIT}, or 0.")
    if op.targets and (op.serial or op.target_package):
        raise UsageError(
            "A session with targets has no device or app of its own.",
            "Name the device and the app in each target.",
        )
    needs = parse_needs(op.phone_needs)
    if op.phone_needs and (op.serial or op.targets):
        raise UsageError(
            "needs and a device are both named."
            if op.serial
            else "A session with targets has no phone of its own, and names needs.",
            "Leave one of them out.",
        )
    if needs.same:
        raise UsageError(
            "needs: same cannot be combined.", "Write same:SESSION without other fields."
        )
    for package in (op.target_package, *(target.package for target in op.targets)):
        if package in FORBIDDEN_PACKAGES:
            raise UsageError(
                f"{package} is part of the system, and not an app to work in.",
                "Name an app, or leave it out: every session can use the system's own screens.",
            )
    for serial in (op.serial, *(target.serial for target in op.targets)):
        if serial:
            assignment.check_known(serial)
    autonomy = _autonomy(op, settings)
    _check_allowances_fit(op, autonomy)
    _check_two_people(op, settings)
    model = op.model or settings.model.name
    if model.startswith(records.DIRECT) and not op.direct:
        raise UsageError(
            f"{model} is not a model: a program makes the calls of such a session.",
            "Name a model, or start the program and have it take a phone.",
        )
    check_asked_there(op.endpoint, settings, model)
    if op.one_act and not op.direct:
        raise UsageError("one_act needs a direct session.", "Set direct, or leave one_act out.")
    _check_tool_servers(op, settings)
    max_steps = op.max_steps or settings.run.max_steps
    top = records.Session(
        session_id=requested_id(op.request_id) or new_session_id(),
        goal=goal,
        goal_speaker=records.Speaker.MODEL if op.direct else op.speaker,
        goal_said=checked_text(op.said, "What was said") if op.said else "",
        created_ms=now_ms,
        kind=records.SessionKind.HOME if op.target_package else records.SessionKind.AGENT,
        title=one_line(redact_secrets(op.title) or goal, TITLE_LIMIT_CHARS),
        serial=op.serial,
        needs=str(needs),
        account=checked_account(op.account),
        target_package=op.target_package,
        model=model,
        endpoint=endpoint or recorded_address(settings, model),
        reasoning_effort=op.reasoning_effort or _effort(settings),
        max_steps=max_steps,
        budget=_budget(op, settings),
        at_limit=op.at_limit or records.AtLimit(settings.run.at_limit),
        autonomy=autonomy,
        one_act=op.one_act,
        tool_servers=tuple(dict.fromkeys(op.tool_servers)),
        allowances=checked_allowances(op.allowances),
        dry_run=op.dry_run or settings.safety.dry_run,
        job_id=job_id,
        for_job=job_id,
        provisional=op.hold and not op.start,
        output_schema=checked_schema(op.output_schema),
        requirements=numbered(checked_requirements(op.requires), records.RequirementOrigin.OPTION),
    )
    children = (
        child_session(top, target, speaker=op.speaker, now_ms=now_ms)
        for target in _checked_targets(op.targets)
    )
    return (top, *children)


def _check_two_people(op: SessionCreate, settings: Settings) -> None:
    for allowance in op.allowances:
        if allowance.verb in settings.safety.two_people:
            raise UsageError(
                f"Two operators must approve each action that would {allowance.verb} here.",
                "Leave the allowance out.",
            )


def _check_allowances_fit(op: SessionCreate, autonomy: records.Autonomy) -> None:
    if not op.allowances:
        return
    if autonomy is not records.Autonomy.TRUSTED_ACTIONS:
        raise UsageError(
            f"The session has allowances, and its autonomy is {autonomy.value}.",
            "Use trusted_actions, or leave the allowances out.",
        )
    if op.targets:
        raise UsageError(
            "A session with targets cannot have allowances: only its children act.",
            "Leave the allowances out: each child asks.",
        )


def _check_tool_servers(op: SessionCreate, settings: Settings) -> None:
    known = settings.mcp.servers
    for name in op.tool_servers:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise UsageError(
                f"There is no MCP server {one_line(name, 40)!r}.",
                f"Add [mcp.servers.{one_line(name, 40)}] to the settings; there are: {listed}.",
            )
    if op.direct and op.tool_servers:
        raise UsageError(
            "A direct session has no MCP servers: its program has its own.", "Leave them out."
        )


def child_session(
    parent: records.Session, target: Target, *, speaker: records.Speaker, now_ms: int
) -> records.Session:
    """Make the record of a genie child: its target, and for the rest what its parent has.

    Args:
        speaker: who wrote the target's objective.
    """
    return records.Session(
        session_id=new_session_id(),
        goal=target.objective,
        goal_speaker=speaker,
        created_ms=now_ms,
        kind=records.SessionKind.GENIE,
        parent_id=parent.session_id,
        title=one_line(target.objective, TITLE_LIMIT_CHARS),
        serial=target.serial,
        target_package=target.package,
        required_presentation=target.presentation,
        account=parent.account,
        model=parent.model,
        endpoint=parent.endpoint,
        reasoning_effort=parent.reasoning_effort,
        max_steps=parent.max_steps,
        budget=parent.budget,
        at_limit=parent.at_limit,
        autonomy=parent.autonomy,
        tool_servers=parent.tool_servers,
        let_through=parent.let_through,
        dry_run=parent.dry_run,
        job_id=parent.job_id,
        output_schema=parent.output_schema,
        generation=parent.generation,
        requirements=numbered(target.requires, records.RequirementOrigin.PLAN),
    )


def checked_requirements(texts: Sequence[str]) -> tuple[str, ...]:
    """Return what the operator requires, one by one, fit to be stored.

    Raises:
        UsageError: there are too many, or one is empty or too long.
    """
    if len(texts) > MOST_REQUIREMENTS:
        raise UsageError(
            f"requires has {len(texts)} entries; at most {MOST_REQUIREMENTS} are allowed.",
            "Put some into one.",
        )
    cleaned = (checked_text(text, "A requirement", limit=REQUIREMENT_CHARS) for text in texts)
    return tuple(one_line(text, REQUIREMENT_CHARS).strip() for text in cleaned)


def checked_account(name: str) -> str:
    """Return whom a session is counted to. Raises UsageError."""
    if name and not _ACCOUNT.fullmatch(name):
        raise UsageError(
            f"account is {one_line(name, 60)!r}.",
            "Use letters, digits and . _ @ + - without spaces; at most 80.",
        )
    return name


def _effort(settings: Settings) -> records.ReasoningEffort | None:
    wanted = settings.model.reasoning_effort
    return records.ReasoningEffort(wanted) if wanted else None


def _autonomy(op: SessionCreate, settings: Settings) -> records.Autonomy:
    """Return how much it may do unasked; a program can only ask for less than is set."""
    known = records.Autonomy(settings.safety.autonomy)
    if op.autonomy is None:
        return known
    if op.speaker is records.Speaker.OPERATOR:
        return op.autonomy
    order = list(records.Autonomy)
    return order[min(order.index(op.autonomy), order.index(known))]


def _budget(op: SessionCreate, settings: Settings) -> records.Budget:
    """Return its limits; a program can only ask for tighter ones than are set.

    Raises UsageError for less than none, and for what is not a number.
    """
    asked, run = op.budget or records.Budget(), settings.run
    for name in asked.__struct_fields__:
        value = getattr(asked, name)
        if not (math.isfinite(value) and value >= 0):
            raise UsageError(
                f"budget.{name} is {value}.", "Use a number above 0, or 0 for the setting."
            )
    return records.Budget(
        seconds=_chosen(asked.seconds, run.max_seconds, op.speaker),
        tokens=int(_chosen(asked.tokens, run.max_tokens, op.speaker)),
        cost_usd=_chosen(asked.cost_usd, run.max_cost_usd, op.speaker),
    )


def _chosen(asked: float, known: float, speaker: records.Speaker) -> float:
    """Return a limit: what was asked, else the setting; the tighter one where a program asks."""
    if asked and known and speaker is not records.Speaker.OPERATOR:
        return min(asked, known)
    return asked or known


def new_session_id() -> str:
    """Make an id that is unique, and easy to name by its first letters."""
    return token_hex(_ID_BYTES)


def requested_id(request_id: str) -> str:
    """Return the session id that belongs to a client's request id; empty for none.

    Raises UsageError: it is longer than any id.
    """
    if not request_id:
        return ""
    if len(request_id) > REQUEST_ID_LIMIT:
        raise UsageError(
            f"request_id has {len(request_id)} characters.", f"Use at most {REQUEST_ID_LIMIT}."
        )
    return sha256(request_id.encode("utf-8", "surrogatepass")).hexdigest()[: 2 * _ID_BYTES]


def _checked_targets(targets: tuple[Target, ...]) -> tuple[Target, ...]:
    """Check each target's objective, and drop those that say the same as one before."""
    if len(targets) > TARGETS_LIMIT:
        raise UsageError(f"There are {len(targets)} targets.", f"Use at most {TARGETS_LIMIT}.")
    checked = [
        replace(
            target,
            objective=checked_text(target.objective, f"The objective of target {at}"),
            requires=checked_requirements(target.requires),
        )
        for at, target in enumerate(targets, start=1)
    ]
    return tuple(dict.fromkeys(checked))
