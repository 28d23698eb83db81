"""Write docs/cli.md from the commands themselves: what each takes, and how each may end.

Not the help, which every command has. Invariant: every command is on the page because it is in the
tree; `switchboard protocol cli > docs/cli.md` makes it anew.
"""

from collections.abc import Iterator

import click

from agent.errors import RpcCode
from console.cli import cli
from console.cli_support.exits import ExitCode

MEANINGS = {
    ExitCode.DONE: "done; for a session: COMPLETED and verified, or with --trust-model",
    ExitCode.FAILED: "failed; for a session: FAILED, CANCELLED or timed out",
    ExitCode.USAGE: "invalid arguments or settings, or they name something that does not exist",
    ExitCode.NEEDS_ANSWER: "a question was not answered; if its session waits, answer it",
    ExitCode.WRONG_STATE: "wrong state: already answered, settled, running, driven elsewhere",
    ExitCode.UNVERIFIED: "COMPLETED, but only the model says so; nothing on the screen shows it",
    ExitCode.HANGUP: "SIGHUP: the terminal closed",
    ExitCode.INTERRUPTED: "ctrl+c; a session was stopped and can be resumed",
    ExitCode.BROKEN_PIPE: "the reader of the output closed the pipe",
    ExitCode.TERMINATED: "SIGTERM; a session was stopped and can be resumed",
}
RPC_EXITS = {
    RpcCode.PARSE: ExitCode.USAGE,
    RpcCode.UNKNOWN_METHOD: ExitCode.USAGE,
    RpcCode.INVALID_ARGUMENT: ExitCode.USAGE,
    RpcCode.WRONG_STATE: ExitCode.WRONG_STATE,
    RpcCode.INTERNAL: ExitCode.FAILED,
}
FOLLOWING = frozenset(
    {"run", *(f"sessions {name}" for name in ("start", "resume", "answer", "replay"))}
)
"""Commands that follow a session to its end, and end as it does."""
LOOKING = frozenset(
    {
        *("sessions list", "sessions show", "sessions search", "sessions export"),
        *(
            "jobs list",
            "devices",
            "devices list",
            "devices in-use",
            "completion",
            "doctor",
            "bench",
        ),
        *("protocol schema", "protocol openapi", "protocol page", "protocol settings"),
        "protocol cli",
    }
)
"""Commands that change nothing, so that no state is wrong for them."""
ALWAYS = (ExitCode.DONE, ExitCode.FAILED, ExitCode.USAGE)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Walk every command by its words, groups left out."""
    context = click.Context(cli, info_name="switchboard")
    yield from _walk("", cli, context)


def exits_of(words: str) -> tuple[ExitCode, ...]:
    """Return the codes with which a command may end, signals and broken pipes apart."""
    if words in LOOKING:
        return ALWAYS
    if words in FOLLOWING:
        return (*ALWAYS, ExitCode.NEEDS_ANSWER, ExitCode.WRONG_STATE, ExitCode.UNVERIFIED)
    return (*ALWAYS, ExitCode.WRONG_STATE)


def as_markdown() -> str:
    """Write the page."""
    meanings = [f"| {int(code)} | {meaning} |" for code, meaning in MEANINGS.items()]
    codes = [f"| {int(code)} | {int(end)} |" for code, end in RPC_EXITS.items()]
    rows = [
        f"| `{words}` | {_usage(command)} | {_summary(command)} | {_exits(words)} |"
        for words, command in commands()
    ]
    return "\n".join(
        (
            _HEAD,
            "## Exit codes\n",
            "| exit | when |\n|---|---|",
            *meanings,
            "\nThe core's JSON-RPC errors ([protocol.md](protocol.md#errors)) map to exit codes:\n",
            "| error code | exit |\n|---|---|",
            *codes,
            "\n## Commands\n",
            "Every command can also exit with 129, 130, 141 and 143.\n",
            "| command | arguments | does | exits with |\n|---|---|---|---|",
            *rows,
            _OBJECT,
        )
    )


def _walk(
    words: str, command: click.Command, context: click.Context
) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield words, command
        return
    if words and command.invoke_without_command:
        yield words, command
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        if child is not None and not child.hidden:
            below = click.Context(child, info_name=name, parent=context)
            yield from _walk(f"{words} {name}".strip(), child, below)


def _usage(command: click.Command) -> str:
    context = click.Context(command)
    taken = [
        parameter.make_metavar(context)
        for parameter in command.params
        if isinstance(parameter, click.Argument)
    ]
    options = [
        parameter.opts[0]
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
    ]
    return " ".join(f"`{word}`" for word in (*taken, *options)).replace("|", "\\|") or "–"


def _summary(command: click.Command) -> str:
    return command.get_short_help_str(200).replace("|", "\\|")


def _exits(words: str) -> str:
    return ", ".join(str(int(code)) for code in exits_of(words))


_HEAD = """# The command line

Made by `switchboard protocol cli`. Every command has `--help` with examples; `switchboard
completion SHELL` prints the completion script. Messages go to stderr. Stdout carries the
result, with `--json` as one JSON document (for `run` and `sessions resume`, one event per line).
SESSION is an id or a unique prefix of one.
"""
_OBJECT = """
## The session object

`sessions list`, `show`, `create`, `start`, `fork` and `import` print it with `--json`, and the socket's
`androidSession/…` calls return it. The fields of Codex Android's bridge come first, with its names:

| field | what it is |
|---|---|
| `sessionId`, `parentSessionId` | the parent is null at the top level |
| `kind` | `agent_parent`, `genie_child` or `home_session` |
| `anchor` | `AGENT` or `HOME` |
| `state`, `stateLabel` | 1 CREATED, 2 RUNNING, 3 WAITING_FOR_USER, 4 COMPLETED, 5 CANCELLED, 6 FAILED, 7 QUEUED |
| `targetPackage` | the app it is bound to, or null |
| `targetPresentation` | `ATTACHED`, `DETACHED_HIDDEN` or `DETACHED_SHOWN`, as last seen |
| `targetRuntime` | `NONE`, `ATTACHED`, `DETACHED_LAUNCHING`, `DETACHED_HIDDEN`, `DETACHED_SHOWN`, `MISSING` |
| `latestQuestion`, `latestResult`, `latestError`, `latestTrace` | the last text of each kind; a question only while it is open |
| `model`, `reasoningEffort` | its model and effort; null is the model's default |
| `threadId`, `attachable` | a running session can be attached to |
| `timeline` | `show` only: the last twelve events, each "Type: message" |

Switchboard adds `goal`, `title`, `serial`, `questionId`, `questionSpeaker` (`product`, `model`, `operator` or `phone`), `requiredPresentation`, `generation`, `paused`,
`held`, `lost`, `driver`, `kept`, `steps`, `maxSteps`, `maxSeconds`,
`maxTokens`, `maxCostUsd`, `autonomy`, `allowances` (limits and uses in messages, or hundredths of the
currency), `letThrough` (texts that look like secrets but are not redacted), `redacted` (kinds of secrets
removed from the operator's texts), `dryRun`, `inputTokens`, `outputTokens`, `jobId`,
`forkedFrom`, `createdMs`, `updatedMs`; `list` and `show` also `interrupted` (its process died),
`show` also `children` (their ids), `plan` and `questions` (its own and its children's, with their parts and
options). `start` adds `geniePackage`,
`plannedTargets` and `childSessionIds`; `clear` returns `ok`, `clearedSessionIds`, `failedSessionIds` and
`remainingSessionIds`; other calls return `{"ok": true}`.

## Notices by your own program

`notices.command` in the settings names a program and its arguments; no shell is involved. It runs once
per notice, gets one JSON object on stdin (`token`, `sessionId`, `kind`, `title`, `text`, `speaker`, `options`,
`mayReply`), and its output is the answer to the question if it exits with 0. An approval cannot be answered so
(`mayReply` is false): who wrote a program's output is not known. It gets SIGTERM if the question is answered
elsewhere. A desktop notice with inline reply:

```toml
[notices]
command = ["python3", "/home/me/notice.py"]   # e.g. wraps zenity --entry, or osascript
phone = true                                  # and on the phone of the session, without reply
```
"""  # noqa: E501
