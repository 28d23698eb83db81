"""What can be set: sections, keys, their types, bounds, defaults and descriptions.

Not the reading of it (that is `agent.config`). Invariant: a key is declared once, here, and its
description is what help, errors and the documents show.
"""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from agent.loop_features import Pattern
from agent.records import EffectVerb
from agent.safety.app_rules import AppRule

PILOT = "pilot"
"""The model that needs no network."""

DEFAULT_MODEL = "gpt-5-mini"
"""The model that is asked for when an endpoint or a key is known and no name is."""

_ADDRESS = r"^((\[[0-9A-Fa-f:.]+\]|[^\s:,\[\]]+):[0-9]{1,5}|localfilesystem:/[^\0,]+)$"

QUIET = r"^(([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9])?$"
"""A span of every day, as 22:00-07:00; empty: none."""

Host = Annotated[str, Meta(pattern=_ADDRESS)]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Wait = Annotated[float, Meta(ge=0, le=31_536_000)]


class Wire(StrEnum):
    """Which protocol is spoken."""

    CHAT = "chat"  # OpenAI's chat completions.
    RESPONSES = "responses"  # OpenAI's responses.
    MESSAGES = "messages"  # Anthropic's messages.


class ConstrainedCalls(StrEnum):
    """Whether an endpoint is made to write calls by a schema."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every section of the settings file."""


class AdbSettings(_Section, frozen=True, kw_only=True):
    """`[adb]`: where the phones are."""

    server: Annotated[
        tuple[Host, ...],
        Meta(
            min_length=1,
            description="The adb servers to watch, each as host:port or localfilesystem:PATH. "
            "Default: from ADB_SERVER_SOCKET or ANDROID_ADB_SERVER_PORT, else 127.0.0.1:5037.",
        ),
    ] = ("127.0.0.1:5037",)
    path: Annotated[str, Meta(description="The adb program; empty: found on PATH or bundled.")] = ""


class ScrcpySection(_Section, frozen=True, kw_only=True):
    """`[scrcpy]`: video, warm touches and displays by a scrcpy server on the phone."""

    server: Annotated[
        str,
        Meta(
            description="A scrcpy-server file; empty: from an installed scrcpy, or from the "
            "package mysc-core."
        ),
    ] = ""
    video: Annotated[
        bool, Meta(description="Use video for live pictures on phones that offer it.")
    ] = True
    control: Annotated[
        bool, Meta(description="Send touches over scrcpy's control socket on phones that have one.")
    ] = True
    max_fps: Annotated[
        int, Meta(ge=1, le=60, description="Maximum pictures per second requested from a phone.")
    ] = 60


class ModelSettings(_Section, frozen=True, kw_only=True):
    """`[model]`: who thinks."""

    name: Annotated[
        str,
        Meta(
            description=f"The model. Default: {PILOT} (offline) while neither an endpoint nor a "
            f"key is set, else {DEFAULT_MODEL}."
        ),
    ] = ""
    base_url: Annotated[
        str,
        Meta(
            pattern=r"^(https?://\S+)?$",
            description="The endpoint. Default: OPENAI_BASE_URL, else the endpoint of the "
            "provider in the model's name, as in groq/NAME, else OpenAI's.",
        ),
    ] = ""
    api_key_env: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
            description="The environment variable that holds the key. Without it: the provider's "
            "own variable, then keys.toml beside the settings file (mode 0600), then the keyring.",
        ),
    ] = "OPENAI_API_KEY"
    keyring: Annotated[bool, Meta(description="Look for the key in the system's keyring.")] = True
    wire: Annotated[
        str,
        Meta(
            pattern=f"^(auto|{'|'.join(Wire)})$",
            description=f"The protocol: {', '.join(Wire)}; or auto, which chooses "
            "by the provider and the model.",
        ),
    ] = "auto"
    max_output_tokens: Annotated[
        int,
        Meta(ge=0, le=200_000, description="Maximum tokens of one answer; 0: the model's default."),
    ] = 0
    context_window: Annotated[
        int,
        Meta(
            ge=0,
            le=100_000_000,
            description="Maximum tokens of the model's conversation and answer together; 0: as "
            "known for the model. Near the limit, what the model remembers is compacted.",
        ),
    ] = 0
    image_detail: Annotated[
        Literal["auto", "low", "high"],
        Meta(description="Image detail that is requested, if the protocol supports it."),
    ] = "auto"
    reasoning_effort: Annotated[
        Literal["", "none", "minimal", "low", "medium", "high", "xhigh"],
        Meta(description="Reasoning effort of the model; empty: its default."),
    ] = ""
    constrained_calls: Annotated[
        ConstrainedCalls,
        Meta(
            description="Whether the chat protocol makes the model write each call by a JSON "
            "schema: auto, where the endpoint reads no calls; on, or off."
        ),
    ] = ConstrainedCalls.AUTO
    login_issuer: Annotated[
        str,
        Meta(
            pattern=r"^(https?://\S+)?$",
            description="The OAuth or OpenID issuer that `switchboard login` uses.",
        ),
    ] = ""
    login_client_id: Annotated[
        str, Meta(description="The client id of this console at the issuer.")
    ] = ""
    login_scope: Annotated[
        str, Meta(description="The OAuth scope that `switchboard login` requests.")
    ] = "openid offline_access"
    login_port: Annotated[
        int,
        Meta(
            ge=0,
            le=65_535,
            description="The local port for the browser's redirect; 0: any free port.",
        ),
    ] = 0
    verifier: Annotated[
        str,
        Meta(
            max_length=200,
            description="What checks a claim of success: same (the session's model, in a separate "
            "conversation), a model's name, pilot (rules, offline), or off.",
        ),
    ] = "same"
    timeout_s: Annotated[Seconds, Meta(description="Maximum duration of a model call.")] = 45.0
    vision: Annotated[bool, Meta(description="Whether the model gets pictures.")] = True


class RunSettings(_Section, frozen=True, kw_only=True):
    """`[run]`: bounds on a session."""

    max_steps: Annotated[
        int, Meta(ge=1, le=10_000, description="Maximum steps of a session that act or look.")
    ] = 30
    max_total_steps: Annotated[
        int, Meta(ge=1, le=100_000, description="Maximum steps of a session, counted or not.")
    ] = 100
    max_seconds: Annotated[
        Wait,
        Meta(description="Maximum seconds of work of a session, without waiting; 0 = no limit."),
    ] = 0.0
    max_tokens: Annotated[
        int, Meta(ge=0, description="Maximum tokens of a session, input plus output; 0 = no limit.")
    ] = 0
    max_cost_usd: Annotated[
        float, Meta(ge=0, description="Maximum cost of a session's model calls; 0 = no limit.")
    ] = 0.0
    at_limit: Annotated[
        Literal["ask", "stop"],
        Meta(description="What a session does at a limit: ask whether to continue, or stop."),
    ] = "ask"
    max_at_once: Annotated[
        int, Meta(ge=0, description="Maximum phones in use by one account at once; 0 = no limit.")
    ] = 0
    answer_timeout_s: Annotated[
        Wait,
        Meta(description="How long a question waits; no answer is a no. 0: until it is answered."),
    ] = 600.0


class SafetySettings(_Section, frozen=True, kw_only=True):
    """`[safety]`: what a session may do without asking."""

    autonomy: Annotated[
        Literal["observe_only", "ask_before_action", "trusted_actions"],
        Meta(
            description="observe_only never acts; ask_before_action asks before every action that "
            "may change something; trusted_actions asks only before what cannot be undone."
        ),
    ] = "trusted_actions"
    dry_run: Annotated[
        bool, Meta(description="Show what would be done, and do nothing on any phone.")
    ] = False
    pause_on_touch: Annotated[
        bool, Meta(description="Pause a session when someone touches its phone.")
    ] = True
    apps: Annotated[
        tuple[AppRule, ...],
        Meta(description="Rules for single apps, each a table [[safety.apps]]."),
    ] = ()
    destinations: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^[^\s/:@]{1,253}$")], ...],
        Meta(
            description="Hosts, with their subdomains, that a session may open and a watcher may "
            "be redirected to without a question. Hosts that the goal names need not be listed."
        ),
    ] = ()
    reviewer: Annotated[
        str,
        Meta(
            max_length=200,
            description="What reads each act before it is done and may ask, refuse, or let pass "
            "what rules only guess: model (the session's endpoint, by its provider's small model "
            "if one is known), same (the session's model), a model's name, program, or off.",
        ),
    ] = "model"
    reviewer_command: Annotated[
        tuple[str, ...],
        Meta(
            description="With reviewer = program: the program and its arguments. It gets "
            "instructions, question and schema as JSON on stdin, and writes JSON of the schema."
        ),
    ] = ()
    reviewer_timeout_s: Annotated[
        Seconds,
        Meta(description="How long the reviewer is waited for; then the operator is asked."),
    ] = 2.0
    reviewer_may_approve: Annotated[
        bool,
        Meta(
            description="Let the reviewer answer an approval that is inside a signed warrant, if "
            "it reads the act as the card and the clause do. The answer is shown first, and can "
            "be taken back until the act."
        ),
    ] = False
    reviewer_approval_delay_s: Annotated[
        Annotated[float, Meta(ge=2.0, le=120.0)],
        Meta(description="How long such an answer is shown before it counts."),
    ] = 8.0
    warrant_most_days: Annotated[
        Annotated[int, Meta(ge=1, le=31)],
        Meta(description="How many days a warrant may hold at most."),
    ] = 7
    two_people: Annotated[
        tuple[EffectVerb, ...],
        Meta(
            description="Effects that two operators must approve: spend, send, publish, call, "
            "delete and any other that an approval names; unknown: effects that cannot be "
            "determined."
        ),
    ] = ()


class RecoverySettings(_Section, frozen=True, kw_only=True):
    """`[recovery]`: what happens after a loss."""

    device_grace_s: Annotated[
        Wait, Meta(description="How long a session waits for its phone to come back.")
    ] = 120.0
    auto_resume: Annotated[
        bool, Meta(description="Resume sessions automatically after a restart of the core.")
    ] = True
    retries: Annotated[
        int,
        Meta(
            ge=0,
            le=100,
            description="How often a session that is not driven resumes automatically after a "
            "loss, including restarts of the core, before it waits for the operator.",
        ),
    ] = 3


class JobSettings(_Section, frozen=True, kw_only=True):
    """`[jobs]`: work that runs while nobody looks."""

    limit: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000_000,
            description="Maximum stored jobs. One more replaces the oldest that has ended, and is "
            "refused if none has.",
        ),
    ] = 200
    review_timeout_s: Annotated[
        Seconds,
        Meta(description="How long an action of a job waits for a review; no answer is a no."),
    ] = 900.0
    max_tokens: Annotated[
        int, Meta(ge=0, description="Maximum tokens of one run; 0: the limit in [run].")
    ] = 0
    max_cost_usd: Annotated[
        float, Meta(ge=0, description="Maximum cost of one run; 0: the limit in [run].")
    ] = 0.0


class RetentionSettings(_Section, frozen=True, kw_only=True):
    """`[retention]`: what is kept of sessions that have ended; their transcripts always are."""

    keep_trees: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="How many of the newest ended trees keep their displays and notices, "
            "counted separately for each job.",
        ),
    ] = 10
    keep_days: Annotated[
        int, Meta(ge=0, le=36_500, description="How many days ended trees keep their pictures.")
    ] = 14
    keep_gb: Annotated[
        float,
        Meta(
            ge=0,
            le=1_000_000,
            description="Maximum gigabytes of pictures of all sessions; beyond that, the oldest "
            "ended trees lose theirs first.",
        ),
    ] = 10.0


class LoopSettings(_Section, frozen=True, kw_only=True):
    """`[loop]`: how a step is done; only for measuring."""

    without: Annotated[
        tuple[Pattern, ...],
        Meta(
            description="Patterns of the loop to turn off, to measure their effect: "
            + ", ".join(Pattern)
            + "."
        ),
    ] = ()


class ChannelKind(StrEnum):
    """The service that a channel speaks to."""

    NTFY = "ntfy"
    TELEGRAM = "telegram"
    WEBHOOK = "webhook"
    APPRISE = "apprise"
    BELL = "bell"


class NoticeChannel(_Section, frozen=True, kw_only=True):
    """`[notices.channels.NAME]`: a person's own service, which shows notices and brings answers."""

    kind: ChannelKind
    operator: Annotated[str, Meta(pattern=r"^([a-z][a-z0-9._-]{0,31})?$")] = ""
    """Whose it is: what comes back is that operator's answer. Empty: nothing is taken from it."""
    url: Annotated[str, Meta(pattern=r"^(https?://\S+)?$")] = ""
    """The server; empty: the service's public one. A webhook has no other."""
    secret_file: str = ""
    """A file of mode 600: the topic of ntfy, the bot's token of Telegram, the key of a webhook, the
    addresses of Apprise; a bell has none."""
    phone: str = ""
    """A bell: the serial of the phone. No agent sees it."""
    token_file: str = ""
    """ntfy: a file of mode 600 with the access token for the server, if it wants one."""
    user: Annotated[int, Meta(ge=0, lt=2**52)] = 0
    """Telegram: the number of the person's account; every other account is refused."""
    pictures: bool = False
    """Whether the screen that a question is about may be sent along."""
    quiet: Annotated[str, Meta(pattern=QUIET)] = ""
    """The person's own quiet hours, in place of notices.quiet."""

    def __post_init__(self) -> None:
        is_bell = self.kind is ChannelKind.BELL
        if is_bell and not (self.phone and self.operator):
            raise ValueError("a bell names its phone and its operator")
        if not is_bell and not self.secret_file:
            raise ValueError("a channel names its secret_file")
        if self.kind is ChannelKind.TELEGRAM and not self.user:
            raise ValueError("a Telegram channel names its user")
        if self.kind is ChannelKind.WEBHOOK and not self.url:
            raise ValueError("a webhook has a url")


class NoticeLevel(StrEnum):
    """Kinds of notices that may wake a person."""

    APPROVAL = "approval"
    QUESTION = "question"
    FAILED = "failed"


class NoticeSettings(_Section, frozen=True, kw_only=True):
    """`[notices]`: where it is told that a session waits or has ended, beside the console."""

    command: Annotated[
        tuple[str, ...],
        Meta(
            description="A program, with its arguments, that shows a notice. It gets JSON on "
            "stdin, and its output is the reply. No shell is involved."
        ),
    ] = ()
    command_timeout_s: Annotated[
        Seconds, Meta(description="How long that program may show a notice.")
    ] = 300.0
    terminal: Annotated[
        bool, Meta(description="Show notices in the console's terminal while it is not focused.")
    ] = True
    phone: Annotated[bool, Meta(description="Also show notices on the session's phone.")] = False
    channels: Annotated[
        dict[Annotated[str, Meta(pattern=r"^[a-z][a-z0-9-]{0,19}$")], NoticeChannel],
        Meta(
            description="People's own services by name, each a table [notices.channels.NAME] with "
            "kind (ntfy, telegram, webhook, apprise, bell), operator, url, secret_file, "
            "token_file, user, phone, pictures, quiet.",
            extra={"secret": True},
        ),
    ] = {}
    people: Annotated[
        tuple[str, ...],
        Meta(
            description="The operators in the order in which they are told what waits for an "
            "answer. Who is not listed comes last. Empty: everybody at once."
        ),
    ] = ()
    escalate_after_s: Annotated[
        Wait,
        Meta(
            description="After how long without an answer the next of notices.people is told; 0: "
            "never."
        ),
    ] = 300.0
    quiet: Annotated[
        str,
        Meta(
            pattern=QUIET,
            description="Quiet hours of all channels, as 22:00-07:00 in the computer's time zone: "
            "what is not in notices.urgent waits for their end. Empty: none.",
        ),
    ] = ""
    urgent: Annotated[
        tuple[NoticeLevel, ...],
        Meta(description="What is sent in quiet hours too: approval, question, failed."),
    ] = (NoticeLevel.APPROVAL,)
    digest_every_s: Annotated[
        Wait,
        Meta(
            description="How long notices that ask nothing and tell of no failure are gathered "
            "into one message; 0: each is sent at once."
        ),
    ] = 3600.0
    listen: Annotated[
        str,
        Meta(
            pattern=r"^((\[[0-9A-Fa-f:.]+\]|[^\s:,\[\]]+):[0-9]{1,5})?$",
            description="The address of this computer, as HOST:PORT, where webhooks bring answers; "
            "they are signed. Empty: none are taken.",
        ),
    ] = ""


class WatcherSettings(_Section, frozen=True, kw_only=True):
    """`[watchers]`: what the core looks out for."""

    most: Annotated[int, Meta(ge=1, le=5_000, description="Maximum active watchers.")] = 200
    allow_private: Annotated[
        bool,
        Meta(
            description="Allow watching pages on this machine and its network, in addition to the "
            "internet."
        ),
    ] = False


class PoolSettings(_Section, frozen=True, kw_only=True):
    """`[pool]`: phones that are kept ready for environments and benchmarks."""

    virtual: Annotated[
        int, Meta(ge=0, le=256, description="Number of virtual phones in the pool.")
    ] = 0
    avds: Annotated[
        tuple[str, ...],
        Meta(description="The Android virtual devices to start, one read-only emulator for each."),
    ] = ()
    serials: Annotated[
        tuple[str, ...], Meta(description="The real phones of the pool, by their serials.")
    ] = ()
    apps: Annotated[
        tuple[str, ...],
        Meta(description="The packages whose data is cleared when a phone is returned."),
    ] = ()


class McpServer(_Section, frozen=True, kw_only=True):
    """`[mcp.servers.NAME]`: a program whose tools sessions may be given."""

    command: tuple[str, ...] = ()
    """The program and its arguments; it is started for a turn that uses it."""
    url: Annotated[str, Meta(pattern=r"^(https?://\S+)?$")] = ""
    """Where it answers instead, over streamable HTTP."""
    headers: tuple[Annotated[str, Meta(pattern=r"^[A-Za-z0-9-]{1,100}$")], ...] = ()
    """Names of headers that it wants; their values are in the keyring."""
    env: tuple[Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")], ...] = ()
    """Names of environment variables that it is given; keys of Switchboard's own are not."""
    tools: tuple[str, ...] = ()
    """The tools that are offered; empty: all, up to 24."""
    read_only: tuple[str, ...] = ()
    """Tools that change nothing: they are called without asking."""
    trusted: tuple[str, ...] = ()
    """Tools that may act without asking where a session's actions may."""
    apps: tuple[str, ...] = ()
    """Packages: sessions about one of these apps are given its tools."""
    timeout_s: Seconds = 60.0
    """How long one call may take."""
    startup_timeout_s: Seconds = 20.0
    """How long it may take to start, to connect and to list its tools."""

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise ValueError("a server has a command or a url")


class DispatcherKind(StrEnum):
    """What hands sessions their phones on a database."""

    LOCAL = "local"  # The core by itself: a turn begins within milliseconds.
    DBOS = "dbos"  # Queues in the database, run by DBOS: a turn begins within a third of a second.


class StoreSettings(_Section, frozen=True, kw_only=True):
    """`[store]`: where everything is kept that must not be forgotten."""

    dsn: Annotated[
        str,
        Meta(
            description="A PostgreSQL database for everything, as postgresql://ROLE@HOST/"
            "DATABASE, or @FILE that holds its address. Empty: a file in the data directory.",
            extra={"secret": True},
        ),
    ] = ""
    blobs: Annotated[
        str,
        Meta(
            description="A bucket for the pictures of a database, as s3://BUCKET/PREFIX or another "
            "URL of fsspec's, or @FILE that holds its URL. Empty: the database.",
            extra={"secret": True},
        ),
    ] = ""
    host: Annotated[
        str,
        Meta(
            max_length=100,
            description="The name of this host among those that use the database; empty: its host "
            "name.",
        ),
    ] = ""
    dispatcher: Annotated[
        DispatcherKind,
        Meta(
            description="What assigns phones to sessions on a database: local (the core itself) or "
            "dbos (queues in the database, run by DBOS)."
        ),
    ] = DispatcherKind.LOCAL


class OperatorSettings(_Section, frozen=True, kw_only=True):
    """`[operator]`: who you are, for a core that has operators."""

    key: Annotated[
        str,
        Meta(
            description="The file of the Ed25519 key with which you sign in to a core that has "
            "operators. Empty: operator.key beside the settings file, if it exists."
        ),
    ] = ""
    token_file: Annotated[
        str, Meta(description="A file with your token, instead of a key; its mode must be 600.")
    ] = ""
    script_token_file: Annotated[
        str,
        Meta(
            description="A file with a token that 'switchboard tokens create' made: what a script "
            "may approve; its mode must be 600."
        ),
    ] = ""


class OidcSettings(_Section, frozen=True, kw_only=True):
    """`[oidc]`: an OpenID issuer whose accounts operators sign in with."""

    issuer: Annotated[
        str,
        Meta(
            description="The address of your OpenID issuer, as "
            "https://login.example.com/realms/lab. It must be set for the core and for the program "
            "that signs in. Empty: no sign-in with accounts."
        ),
    ] = ""
    client_id: Annotated[
        str,
        Meta(
            description="The id of Switchboard's own client at the issuer, which must allow the "
            "device flow."
        ),
    ] = ""
    client_secret_file: Annotated[
        str,
        Meta(
            description="The file of the client's secret, if the issuer gave one; its mode must be "
            "600."
        ),
    ] = ""
    ca: Annotated[
        str,
        Meta(
            description="The file of the authority that signed the issuer's certificate. Empty: "
            "the system's authorities."
        ),
    ] = ""
    life_s: Annotated[
        int,
        Meta(
            # Longer than an ID token may be old: the sign-in keeps its hash, so it counts once.
            ge=900,
            le=604_800,
            description="How long a sign-in to this core is valid, in seconds.",
        ),
    ] = 28_800


class CoreSettings(_Section, frozen=True, kw_only=True):
    """`[core]`: a core on another computer to work with, instead of one here."""

    address: Annotated[
        str,
        Meta(
            description="A core that listens on another computer, as tls://HOST:PORT; --core sets "
            "it for one command. Empty: the core of the data directory."
        ),
    ] = ""
    ca: Annotated[
        str,
        Meta(
            description="The file of the authority that signed its certificate. Empty: "
            "authority.pem beside the settings file, if it exists, else the authorities that the "
            "system trusts."
        ),
    ] = ""
    cert: Annotated[
        str, Meta(description="The file of your own certificate, if that core requires one.")
    ] = ""
    key: Annotated[
        str, Meta(description="The file of core.cert's private key; its mode must be 600.")
    ] = ""


class ListenSettings(_Section, frozen=True, kw_only=True):
    """`[listen]`: where `daemon run` and `host serve` listen for other computers, by TLS."""

    address: Annotated[
        str,
        Meta(
            description="An address of this computer, as HOST:PORT. Its clients must sign in "
            "as operators. Empty: accept no other computers."
        ),
    ] = ""
    cert: Annotated[str, Meta(description="The file of the core's certificate, in PEM.")] = ""
    key: Annotated[
        str, Meta(description="The file of listen.cert's private key; its mode must be 600.")
    ] = ""
    ca: Annotated[
        str,
        Meta(
            description="The file of an authority. Clients need a certificate signed by it before "
            "they may sign in. Empty: they need none."
        ),
    ] = ""


class McpSettings(_Section, frozen=True, kw_only=True):
    """`[mcp]`: other programs' tools for sessions."""

    servers: Annotated[
        dict[Annotated[str, Meta(pattern=r"^[a-z][a-z0-9-]{0,19}$")], McpServer],
        Meta(
            description="MCP servers by name, each a table [mcp.servers.NAME] with command (a "
            "list) or url, and headers and env (names, never values), tools, read_only, trusted, "
            "apps, timeout_s, startup_timeout_s.",
            extra={"secret": True},
        ),
    ] = {}


class LogForm(StrEnum):
    """How a line of the log is written."""

    TEXT = "text"
    JSON = "json"  # One object a line: time, level, logger, message and traceback.


class LogSettings(_Section, frozen=True, kw_only=True):
    """`[log]`: the log file of the core, `logs/switchboard.log` in the data directory."""

    form: Annotated[
        LogForm, Meta(description="Format of the log: text for people, json for collectors.")
    ] = LogForm.TEXT


class UiSettings(_Section, frozen=True, kw_only=True):
    """`[ui]`: the console."""

    frame_hz: Annotated[
        float, Meta(gt=0, le=60, description="Maximum frames per second that the console draws.")
    ] = 10.0
    bell: Annotated[bool, Meta(description="Ring the bell when something new waits for you.")] = (
        True
    )
    title: Annotated[
        bool, Meta(description="Show in the terminal's title how much waits for you.")
    ] = True
    theme: Annotated[str, Meta(description="The colour theme; empty: the default.")] = ""
    blocks: Annotated[
        Literal["auto", "half", "sextant", "whole"],
        Meta(
            description="How pictures of phones are drawn: half blocks, which every terminal with "
            "Unicode draws; sextants, with three times the pixels; whole cells of one colour; "
            "auto: sextants if the terminal is known to draw them. Without Unicode: always whole "
            "cells."
        ),
    ] = "auto"
    pictures: Annotated[
        Literal["auto", "cells", "kitty", "sixel"],
        Meta(
            description="How a still picture of a phone is drawn: in cells, or as an image by "
            "kitty's protocol or sixel, if the terminal reports support; auto: kitty's, if the "
            "terminal reads this machine's memory. Read when the console starts."
        ),
    ] = "auto"
    sort: Annotated[
        Literal["asking", "live", "newest", "state", "phone", "tag", "title", "host"],
        Meta(
            description="How the Deck sorts sessions; asking: those that wait for you first, then "
            "as live; live: running first, then newest; host: like asking if only one is known."
        ),
    ] = "asking"
    group: Annotated[
        Literal["tree", "state", "phone", "tag", "age", "host"],
        Meta(
            description="How the Deck groups sessions; tree: subtasks under their session; host: "
            "like tree if only one is known."
        ),
    ] = "tree"
    by_host: Annotated[
        bool,
        Meta(
            description="Group the Wall, the jobs and the History by host, if more than one is "
            "known."
        ),
    ] = False
    left_columns: Annotated[
        int, Meta(ge=0, le=1000, description="Columns of the Deck's left pane; 0: automatic.")
    ] = 0
    right_columns: Annotated[
        int, Meta(ge=0, le=1000, description="Columns of the Deck's right pane; 0: automatic.")
    ] = 0
    full_pane: Annotated[
        Literal["none", "left", "middle", "right"],
        Meta(description="The pane of the Deck that takes the full width."),
    ] = "none"


class Settings(_Section, frozen=True, kw_only=True):
    """Everything that can be set, checked."""

    data_dir: Annotated[
        Path,
        Meta(
            description="The directory of everything that Switchboard stores. Default: the "
            "platform's data directory."
        ),
    ]
    config_file: Path  # The settings file, whether it exists or not; no key of its own.
    adb: AdbSettings = AdbSettings()
    scrcpy: ScrcpySection = ScrcpySection()
    model: ModelSettings = ModelSettings()
    run: RunSettings = RunSettings()
    safety: SafetySettings = SafetySettings()
    recovery: RecoverySettings = RecoverySettings()
    jobs: JobSettings = JobSettings()
    store: StoreSettings = StoreSettings()
    retention: RetentionSettings = RetentionSettings()
    loop: LoopSettings = LoopSettings()
    notices: NoticeSettings = NoticeSettings()
    watchers: WatcherSettings = WatcherSettings()
    pool: PoolSettings = PoolSettings()
    operator: OperatorSettings = OperatorSettings()
    oidc: OidcSettings = OidcSettings()
    core: CoreSettings = CoreSettings()
    listen: ListenSettings = ListenSettings()
    mcp: McpSettings = McpSettings()
    log: LogSettings = LogSettings()
    ui: UiSettings = UiSettings()


class Key(msgspec.Struct, frozen=True):
    """One key of the settings file."""

    name: str
    type: Any
    default: object
    description: str
    is_secret: bool = False  # Whether its value may hold a password: it is never shown.

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "SWITCHBOARD_" + self.name.replace(".", "_").upper()


def _keys() -> Iterator[Key]:
    for section in msgspec.structs.fields(Settings):
        if section.name == "data_dir":
            yield Key("data_dir", str, None, _description(section.type))
        if not isinstance(section.default, _Section):
            continue
        for field in msgspec.structs.fields(section.default):
            name = f"{section.name}.{field.name}"
            is_secret = any((meta.extra or {}).get("secret") for meta in _metas(field.type))
            yield Key(name, field.type, field.default, _description(field.type), is_secret)


def _description(hint: object) -> str:
    return next((meta.description for meta in _metas(hint) if meta.description), "")


def _metas(hint: object) -> list[Meta]:
    return [meta for meta in get_args(hint)[1:] if isinstance(meta, Meta)]


KEYS: dict[str, Key] = {key.name: key for key in _keys()}
"""Every key by its dotted name, with its type, default and description."""

SECTIONS = frozenset(name.partition(".")[0] for name in KEYS if "." in name)
"""The sections of the settings file."""
