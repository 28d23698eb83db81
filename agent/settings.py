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

Host = Annotated[str, Meta(pattern=_ADDRESS)]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Wait = Annotated[float, Meta(ge=0, le=31_536_000)]


class Wire(StrEnum):
    """Which protocol is spoken."""

    CHAT = "chat"  # OpenAI's chat completions.
    RESPONSES = "responses"  # OpenAI's responses.
    MESSAGES = "messages"  # Anthropic's messages.


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every section of the settings file."""


class AdbSettings(_Section, frozen=True, kw_only=True):
    """`[adb]`: where the phones are."""

    server: Annotated[
        tuple[Host, ...],
        Meta(
            min_length=1,
            description="The adb servers to watch, each as host:port or localfilesystem:PATH. "
            "Default: what ADB_SERVER_SOCKET or ANDROID_ADB_SERVER_PORT say, else 127.0.0.1:5037.",
        ),
    ] = ("127.0.0.1:5037",)
    path: Annotated[str, Meta(description="The adb program; empty: found on PATH or bundled.")] = ""


class ScrcpySection(_Section, frozen=True, kw_only=True):
    """`[scrcpy]`: video, warm touches and displays by a scrcpy server on the phone."""

    server: Annotated[
        str,
        Meta(
            description="A scrcpy-server file; empty: that of an installed scrcpy, or of the "
            "package mysc-core."
        ),
    ] = ""
    video: Annotated[
        bool, Meta(description="Whether live pictures come by video where a phone gives it.")
    ] = True
    control: Annotated[
        bool, Meta(description="Whether touches go over a control socket where a phone has one.")
    ] = True
    max_fps: Annotated[
        int, Meta(ge=1, le=60, description="Maximum pictures per second asked of a phone.")
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
            description="The endpoint. Default: OPENAI_BASE_URL, else that of the provider that "
            "the model's name tells, as in groq/NAME, else OpenAI's.",
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
    keyring: Annotated[
        bool, Meta(description="Whether the system's keyring is asked for the key.")
    ] = True
    wire: Annotated[
        str,
        Meta(
            pattern=f"^(auto|{'|'.join(Wire)})$",
            description=f"The protocol that is spoken: {', '.join(Wire)}; or auto, which chooses "
            "by the provider and the model.",
        ),
    ] = "auto"
    max_output_tokens: Annotated[
        int,
        Meta(ge=0, le=200_000, description="Maximum tokens of one answer; 0: as suits the model."),
    ] = 0
    context_window: Annotated[
        int,
        Meta(
            ge=0,
            le=100_000_000,
            description="How many tokens the model's conversation and answer may have together; "
            "0: what is known of the model. Near it, what the model remembers is compacted.",
        ),
    ] = 0
    image_detail: Annotated[
        Literal["auto", "low", "high"],
        Meta(
            description="How finely an endpoint looks at a frame, where its wire lets it be said."
        ),
    ] = "auto"
    reasoning_effort: Annotated[
        Literal["", "none", "minimal", "low", "medium", "high", "xhigh"],
        Meta(description="How long a model that reasons may do so; empty: as it does by default."),
    ] = ""
    login_issuer: Annotated[
        str,
        Meta(
            pattern=r"^(https?://\S+)?$",
            description="Who `switchboard login` signs in with: an OAuth or OpenID issuer.",
        ),
    ] = ""
    login_client_id: Annotated[
        str, Meta(description="The client id that the issuer knows this console by.")
    ] = ""
    login_scope: Annotated[str, Meta(description="What `switchboard login` asks for.")] = (
        "openid offline_access"
    )
    login_port: Annotated[
        int, Meta(ge=0, le=65_535, description="Where the browser comes back to; 0: any free port.")
    ] = 0
    verifier: Annotated[
        str,
        Meta(
            max_length=200,
            description="Who checks a claim of success: same (the session's model, in a "
            "conversation of its own), the name of a model, pilot (rules, offline), or off.",
        ),
    ] = "same"
    timeout_s: Annotated[Seconds, Meta(description="How long one model call may take.")] = 45.0
    vision: Annotated[bool, Meta(description="Whether the model is shown frames.")] = True


class RunSettings(_Section, frozen=True, kw_only=True):
    """`[run]`: bounds on a session."""

    max_steps: Annotated[
        int, Meta(ge=1, le=10_000, description="Steps of a session that act or look.")
    ] = 30
    max_total_steps: Annotated[
        int, Meta(ge=1, le=100_000, description="Steps of a session, counted or not.")
    ] = 100
    max_seconds: Annotated[
        Wait,
        Meta(description="Seconds that a session may work, not counting waiting; 0 = no limit."),
    ] = 0.0
    max_tokens: Annotated[
        int, Meta(ge=0, description="Tokens, in and out, that a session may use; 0 = no limit.")
    ] = 0
    max_cost_usd: Annotated[
        float, Meta(ge=0, description="What a session's model calls may cost; 0 = no limit.")
    ] = 0.0
    at_limit: Annotated[
        Literal["ask", "stop"],
        Meta(description="What a session does whose budget is spent: ask to go on, or stop."),
    ] = "ask"
    max_at_once: Annotated[
        int,
        Meta(
            ge=0,
            description="Phones that the sessions of one account may have at once; 0 = no limit.",
        ),
    ] = 0
    answer_timeout_s: Annotated[
        Wait,
        Meta(
            description="How long a question waits for an answer; silence is no. 0: until answered."
        ),
    ] = 600.0


class SafetySettings(_Section, frozen=True, kw_only=True):
    """`[safety]`: what a session may do without asking."""

    autonomy: Annotated[
        Literal["observe_only", "ask_before_action", "trusted_actions"],
        Meta(
            description="observe_only never acts; ask_before_action has every action approved that "
            "may change something; trusted_actions only what cannot be undone."
        ),
    ] = "trusted_actions"
    dry_run: Annotated[
        bool, Meta(description="Draw what would be done, and do nothing to any phone.")
    ] = False
    pause_on_touch: Annotated[
        bool, Meta(description="Whether a session pauses when somebody touches its phone.")
    ] = True
    apps: Annotated[
        tuple[AppRule, ...],
        Meta(description="Rules for single apps, each a table [[safety.apps]]."),
    ] = ()
    destinations: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^[^\s/:@]{1,253}$")], ...],
        Meta(
            description="Hosts, with what is below them, that a session may open and a watcher may "
            "be redirected to without a question. Hosts that the goal names need none."
        ),
    ] = ()
    two_people: Annotated[
        tuple[EffectVerb, ...],
        Meta(
            description="The effects that two operators have to approve: spend, send, publish, "
            "call, delete and the others that an approval names; unknown for what cannot be read."
        ),
    ] = ()


class RecoverySettings(_Section, frozen=True, kw_only=True):
    """`[recovery]`: what happens after a loss."""

    device_grace_s: Annotated[
        Wait, Meta(description="How long a session waits for its phone to come back.")
    ] = 120.0
    auto_resume: Annotated[
        bool, Meta(description="Whether sessions go on by themselves after the core was restarted.")
    ] = True
    retries: Annotated[
        int,
        Meta(
            ge=0,
            le=100,
            description="How often a session that nobody drives goes on by itself after a loss, "
            "restarts of the core included, before it waits for the operator.",
        ),
    ] = 3


class JobSettings(_Section, frozen=True, kw_only=True):
    """`[jobs]`: work that runs while nobody looks."""

    limit: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000_000,
            description="How many jobs are stored; one more takes the place of the oldest that "
            "has ended, and is refused when none has.",
        ),
    ] = 200
    review_timeout_s: Annotated[
        Seconds, Meta(description="How long an action of a job waits for a review; silence is no.")
    ] = 900.0
    max_tokens: Annotated[
        int, Meta(ge=0, description="Maximum tokens of one run; 0: as [run] says.")
    ] = 0
    max_cost_usd: Annotated[
        float, Meta(ge=0, description="Maximum cost of one run; 0: as [run] says.")
    ] = 0.0


class RetentionSettings(_Section, frozen=True, kw_only=True):
    """`[retention]`: what is kept of sessions that have ended; their transcripts always are."""

    keep_trees: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="How many of the newest ended trees keep their displays and notices; those "
            "that a job opened count for each job by itself.",
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
            description="How many gigabytes the pictures of all sessions may take; beyond that the "
            "oldest ended trees lose theirs first.",
        ),
    ] = 10.0


class LoopSettings(_Section, frozen=True, kw_only=True):
    """`[loop]`: how a step is done; only for measuring."""

    without: Annotated[
        tuple[Pattern, ...],
        Meta(
            description="Patterns of the loop that are switched off, to measure what they do: "
            + ", ".join(Pattern)
            + "."
        ),
    ] = ()


class NoticeSettings(_Section, frozen=True, kw_only=True):
    """`[notices]`: where it is told that a session waits or has ended, beside the console."""

    command: Annotated[
        tuple[str, ...],
        Meta(
            description="A program and its arguments that show a notice: it gets JSON on stdin, "
            "and what it writes is the reply. No shell is involved."
        ),
    ] = ()
    command_timeout_s: Annotated[
        Seconds, Meta(description="How long that program may show one notice.")
    ] = 300.0
    terminal: Annotated[
        bool, Meta(description="Whether the console's terminal shows them while it has no focus.")
    ] = True
    phone: Annotated[
        bool, Meta(description="Whether the phone of a session shows its notices too.")
    ] = False


class WatcherSettings(_Section, frozen=True, kw_only=True):
    """`[watchers]`: what the core looks out for."""

    most: Annotated[
        int, Meta(ge=1, le=5_000, description="How many watchers may be active at once.")
    ] = 200
    allow_private: Annotated[
        bool,
        Meta(
            description="Whether pages of this machine and its network may be watched, as those of "
            "the internet are."
        ),
    ] = False


class PoolSettings(_Section, frozen=True, kw_only=True):
    """`[pool]`: phones that are kept ready for environments and benchmarks."""

    virtual: Annotated[
        int, Meta(ge=0, le=256, description="How many virtual phones the pool has.")
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
        Meta(description="The packages whose data is cleared when a phone is put back."),
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
            description="A PostgreSQL database to keep everything in, as postgresql://ROLE@HOST/"
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
            description="The name of this computer among those that use the database; empty: its "
            "name in the network.",
        ),
    ] = ""
    dispatcher: Annotated[
        DispatcherKind,
        Meta(
            description="What hands sessions their phones on a database: local, the core by "
            "itself, or dbos, queues in the database that DBOS runs."
        ),
    ] = DispatcherKind.LOCAL


class OperatorSettings(_Section, frozen=True, kw_only=True):
    """`[operator]`: who you are, for a core that has operators."""

    key: Annotated[
        str,
        Meta(
            description="The file of the Ed25519 key that you sign in with at a core that has "
            "operators. Empty: operator.key beside the settings file, where there is one."
        ),
    ] = ""
    token_file: Annotated[
        str, Meta(description="A file with your token, instead of a key; its mode is 600.")
    ] = ""


class OidcSettings(_Section, frozen=True, kw_only=True):
    """`[oidc]`: an OpenID issuer whose accounts operators sign in with."""

    issuer: Annotated[
        str,
        Meta(
            description="Its address, as https://login.example.com/realms/lab. Core and program "
            "both have to name it. Empty: no operator signs in by an account."
        ),
    ] = ""
    client_id: Annotated[
        str,
        Meta(
            description="How the issuer knows Switchboard: a client of its own there, with the "
            "device flow allowed."
        ),
    ] = ""
    client_secret_file: Annotated[
        str,
        Meta(
            description="The file of the client's secret, where the issuer gave one; its mode is "
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
            description="How long a sign-in counts at this core, in seconds.",
        ),
    ] = 28_800


class CoreSettings(_Section, frozen=True, kw_only=True):
    """`[core]`: a core on another computer to work with, instead of one here."""

    address: Annotated[
        str,
        Meta(
            description="A core that listens on another computer, as tls://HOST:PORT; --core says "
            "it for one command. Empty: that of the data directory."
        ),
    ] = ""
    ca: Annotated[
        str,
        Meta(
            description="The file of the authority that signed its certificate. Empty: "
            "authority.pem beside the settings file, where there is one, else those that the "
            "system trusts."
        ),
    ] = ""
    cert: Annotated[
        str, Meta(description="The file of your own certificate, where that core asks for one.")
    ] = ""
    key: Annotated[
        str, Meta(description="The file of the private key of core.cert; its mode is 600.")
    ] = ""


class ListenSettings(_Section, frozen=True, kw_only=True):
    """`[listen]`: where `daemon run` and `host serve` listen for other computers, by TLS."""

    address: Annotated[
        str,
        Meta(
            description="An address of this computer, as HOST:PORT. Whoever comes there has to "
            "sign in as an operator. Empty: no other computer is listened to."
        ),
    ] = ""
    cert: Annotated[
        str, Meta(description="The file of the certificate that is shown there, in PEM.")
    ] = ""
    key: Annotated[
        str, Meta(description="The file of the private key of listen.cert; its mode is 600.")
    ] = ""
    ca: Annotated[
        str,
        Meta(
            description="The file of an authority: callers have to show a certificate that it "
            "signed, before they may sign in. Empty: they need none."
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
        LogForm,
        Meta(description="How its lines are written: text for people, json for collectors."),
    ] = LogForm.TEXT


class UiSettings(_Section, frozen=True, kw_only=True):
    """`[ui]`: the console."""

    frame_hz: Annotated[
        float, Meta(gt=0, le=60, description="Maximum frames per second that the console draws.")
    ] = 10.0
    bell: Annotated[
        bool, Meta(description="Whether the bell rings when something new waits for you.")
    ] = True
    title: Annotated[
        bool, Meta(description="Whether the title of the terminal counts what waits for you.")
    ] = True
    theme: Annotated[str, Meta(description="The colours; empty: the default ones.")] = ""
    blocks: Annotated[
        Literal["auto", "half", "sextant", "whole"],
        Meta(
            description="What pictures of phones are made of: half blocks, which every terminal "
            "with Unicode draws; sextants, three times the pixels; whole cells of one colour; "
            "auto: sextants where they are known to be drawn. Always whole cells without Unicode."
        ),
    ] = "auto"
    pictures: Annotated[
        Literal["auto", "cells", "kitty", "sixel"],
        Meta(
            description="What a picture of a phone is drawn as while it rests: cells; an image by "
            "kitty's protocol or by sixel, where the terminal answers that it draws them; auto: "
            "kitty's, where the terminal reads this machine's memory. Read when the console starts."
        ),
    ] = "auto"
    sort: Annotated[
        Literal["live", "newest", "state", "phone", "tag", "title", "host"],
        Meta(
            description="What the Deck sorts sessions by; live: who works first, then the newest; "
            "host: as live where only one is known."
        ),
    ] = "live"
    group: Annotated[
        Literal["tree", "state", "phone", "tag", "age", "host"],
        Meta(
            description="What the Deck groups sessions by; tree: subtasks under their session; "
            "host: as tree where only one is known."
        ),
    ] = "tree"
    by_host: Annotated[
        bool,
        Meta(
            description="Whether the Wall, the jobs and the History are grouped by host; "
            "without effect where only one is known."
        ),
    ] = False
    left_columns: Annotated[
        int, Meta(ge=0, le=1000, description="Columns of the Deck's left pane; 0: by the width.")
    ] = 0
    right_columns: Annotated[
        int, Meta(ge=0, le=1000, description="Columns of the Deck's right pane; 0: by the width.")
    ] = 0
    full_pane: Annotated[
        Literal["none", "left", "middle", "right"],
        Meta(description="The pane of the Deck that takes the whole width."),
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
