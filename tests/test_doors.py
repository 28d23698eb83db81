"""The import doors of docs/architecture.md, read from the source and seen in a running process."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

# One worker reads the sources, and no other needs to.
pytestmark = pytest.mark.xdist_group("doors")

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "agent": ROOT,
    "widgets": ROOT,
    "console": ROOT,
    "virtual_phone": ROOT / "virtual_phone/src",
}
"""Each package and the folder that it is imported from."""

# A library has one module that wraps it; a folder means every module of that room may.
WRAPPERS: dict[str, tuple[str, ...]] = {
    "adbutils": ("agent/devices/",),
    "aiosqlite": ("agent/store/",),
    "psycopg": ("agent/store/postgres/",),
    "fsspec": ("agent/store/postgres/bucket.py",),
    "dbos": ("agent/store/postgres/dbos_engine.py",),
    "sqlalchemy": ("agent/store/postgres/dbos_engine.py",),
    "opentelemetry": ("console/monitoring/",),
    "prometheus_client": ("console/monitoring/",),
    "openai": ("agent/models/openai/",),
    "anthropic": ("agent/models/anthropic/",),
    "httpcore2": ("agent/watchers/web.py", "agent/channels/http_client.py"),
    "h11": ("agent/channels/http_listener.py",),
    "authlib": ("agent/models/login.py", "agent/oidc/device_flow.py"),
    "joserfc": ("agent/oidc/id_token.py",),
    "requests": ("agent/bounded_http.py", "agent/oidc/"),
    "keyring": ("agent/models/keys.py", "agent/mcp/servers.py"),
    "PIL": (
        "virtual_phone/",
        "agent/devices/",
        "agent/loop/images/set_of_marks.py",
        "agent/loop/images/scaling.py",
        "agent/loop/signals/picture_distance.py",
        "console/report/pictures.py",
        "console/report/captions.py",
    ),
    "tomlkit": ("agent/config.py", "console/keys/keymap.py", "console/mcp/config_files.py"),
    "click": ("console/", "virtual_phone/cli/"),
    "textual": ("console/", "widgets/"),
    "rich": ("console/", "widgets/"),
    "platformdirs": ("agent/config.py", "virtual_phone/cli/"),
    "av": (
        "virtual_phone/scrcpy/",
        "virtual_phone/commands/",
        "agent/devices/scrcpy/",
        "agent/loop/images/scaling.py",
        "agent/loop/signals/picture_distance.py",
        "console/report/pictures.py",
    ),
    "aiohttp": ("console/web/", "console/paired/"),
    "aiohttp_jinja2": ("console/web/",),
    "textual_serve": ("console/web/",),
    "cronsim": ("agent/schedules.py",),
    "segno": ("console/commands/devices/devices_link.py", "console/paired/qr_code.py"),
    "tzlocal": ("agent/schedules.py",),
    "cryptography": (
        *("virtual_phone/adbd/", "agent/operators/", "agent/tls/"),
        *("agent/consent/phone_keys.py", "console/paired/web_push.py"),
        *("console/paired/sealing.py", "agent/vault/"),
    ),
    "isal": ("virtual_phone/display/png.py",),
    "apkInspector": ("virtual_phone/packages/apk.py",),
    "brotli": ("virtual_phone/adbd/compression.py",),
    "lz4": ("virtual_phone/adbd/compression.py",),
    "zstandard": ("virtual_phone/adbd/compression.py",),
    "babel": (),  # scripts/cldr_tables.py and tests; the program has the tables
    "bpe_openai": (),  # bench/_tokens.py; no part of the program counts tokens by it
    "rapidocr": ("agent/loop/ocr/reader.py",),
    "regex": ("virtual_phone/", "agent/results/schema.py"),
    "jsonschema": ("agent/results/schema.py",),
    "mcp": ("console/mcp/", "agent/mcp/"),
    "mcp_types": ("console/mcp/", "agent/mcp/"),
    "gymnasium": ("console/gymnasium/",),
    "apprise": ("agent/channels/apprise_services.py",),
    "httpx2": ("agent/mcp/",),
    "anyio": ("agent/mcp/", "console/mcp/serving.py"),
    "starlette": (
        *("console/mcp/", "console/http_api/", "console/loopback/", "console/openenv/"),
        "console/monitoring/",
    ),
    "uvicorn": ("console/loopback/", "console/openenv/"),
    "sse_starlette": ("console/http_api/",),
    "inspect_ai": ("console/evaluation/inspect_log.py",),
    "openenv": ("console/openenv/",),
    "fastapi": ("console/openenv/app.py",),
    "fastmcp": ("console/openenv/environment.py",),
    "pydantic": ("console/openenv/",),
    "pydantic_core": ("console/openenv/environment.py",),
    "pyarrow": ("console/datasets/",),
    "google": ("console/evaluation/task_protos.py",),
    "referencing": ("agent/results/schema.py",),
}
SEEN_EVERYWHERE = frozenset({"msgspec", "numpy"})
"""The structs and arrays of the program itself: there is nothing to wrap."""
WIDGETS_MAY_SEE = (
    "agent.state.device_names",
    "agent.records",
    "agent.schedules",
    "agent.state.approval_card",
    "agent.state.effect_text",
    "agent.state.memoize",
    "agent.state.reducer",
    "agent.state.terms",
    "agent.state.transcript",
    "agent.text",
)
# The rooms whose imports are few enough to be listed whole; none of them may grow a hidden door.
ROOM_MAY_SEE: dict[str, tuple[str, ...]] = {
    "agent/errors.py": (),
    "agent/text.py": (),
    "agent/language/": ("agent.language",),
    "agent/records/": ("agent.records",),
    "agent/protocol/": ("agent.protocol", "agent.records", "agent.errors"),
    "agent/state/effect_text.py": ("agent.records", "agent.text"),
    "agent/state/event_text.py": (
        "agent.records",
        "agent.protocol",
        "agent.safety.attribution",
        "agent.safety.effects.wording",
        "agent.safety.redacting.notice",
        "agent.state.terms",
        "agent.text",
    ),
    "agent/state/terms.py": ("agent.records", "agent.protocol"),
    "agent/state/transcript.py": (
        "agent.records",
        "agent.protocol",
        "agent.state.event_text",
        "agent.text",
    ),
    "agent/state/commit.py": ("agent.records", "agent.protocol", "agent.state.session_fold"),
    "agent/state/session_fold.py": ("agent.records", "agent.protocol", "agent.text"),
    "agent/state/view_state.py": ("agent.records", "agent.state.transcript"),
    "agent/state/attention.py": (
        "agent.records",
        "agent.state.memoize",
        "agent.state.view_state",
        "agent.state.terms",
    ),
    "agent/state/reducer.py": (
        "agent.records",
        "agent.protocol",
        "agent.text",
        "agent.state.transcript",
        "agent.state.commit",
        "agent.state.session_fold",
        "agent.state.view_state",
        "agent.state.attention",
    ),
    "agent/extras.py": (),
    "agent/unix_sockets.py": (),
    "agent/models/": (
        "agent.bounded_http",
        "agent.child_process",
        "agent.config",
        "agent.errors",
        "agent.extras",
        "agent.language",
        "agent.models",
        "agent.records",
        "agent.settings",
        "agent.text",
    ),
}
KNOW_NO_DATABASE = ("agent/store/changes/", "agent/store/queries/", "agent/store/dispatch/")
"""What every store shares; which database it is, only those who open one know."""
DATABASES = (
    "sqlite3",
    "aiosqlite",
    "psycopg",
    "agent.store.database",
    "agent.store.embedded",
    "agent.store.postgres",
)
LOOP_NEVER_SEES = ("agent.devices.", "agent.models.", "agent.store", "agent.runtime")
LOOP_MAY_SEE = (
    "agent.devices.protocols",
    "agent.devices.no_displays",
    "agent.devices.gestures",
    "agent.models.model",
    "agent.models.retry",
    "agent.models.reviewers.reviewing",
    "agent.models.verifying",
)
EMBEDDED = "virtual_phone.embedded"  # The one door to a phone inside the process.
BUILDS_A_RUNTIME = "console/core/host.py"


@cache
def modules() -> dict[str, frozenset[str]]:
    """Read what every module of every package imports, by its path below the root.

    The trees themselves are not kept: they would weigh on every other test of the process.
    """
    found: dict[str, frozenset[str]] = {}
    for package, folder in PACKAGES.items():
        for path in sorted((folder / package).rglob("*.py")):
            name = path.relative_to(folder).as_posix()
            tree = ast.parse(path.read_text(encoding="utf-8"), filename=name)
            found[name] = frozenset(imports(tree))
    return found


@cache
def importers() -> dict[str, list[str]]:
    """Return the modules that import a library, by its name."""
    found: dict[str, list[str]] = {}
    for name, imported in modules().items():
        for library in {seen.partition(".")[0] for seen in imported} - {""}:
            found.setdefault(library, []).append(name)
    return found


def imports(tree: ast.Module) -> Iterator[str]:
    """Give every module name that a source imports; relative ones begin with their dots."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom) and node.level > 0:
            yield "." * node.level + (node.module or "")
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Give every statement, at any depth; expressions, the most of a tree, import nothing."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, block, ())
            if isinstance(inner, list):
                left.extend(inner)


def within(name: str, allowed: tuple[str, ...]) -> bool:
    """Return whether a dotted name is one of the allowed modules or inside one."""
    return any(name == module or name.startswith(module + ".") for module in allowed)


def test_the_virtual_phone_knows_nothing_of_switchboard() -> None:
    guilty = [
        (name, seen)
        for name, imported in modules().items()
        if name.startswith("virtual_phone/")
        for seen in imported
        if within(seen, ("agent", "console", "widgets", "tests", "bench", "textual", "rich"))
    ]
    assert guilty == []


def test_switchboard_reaches_the_virtual_phone_as_a_program_but_for_episodes() -> None:
    guilty = [
        (name, seen)
        for name, imported in modules().items()
        if not name.startswith("virtual_phone/")
        for seen in imported
        if within(seen, ("virtual_phone",))
        and not (name == "agent/episodes/in_process.py" and within(seen, (EMBEDDED,)))
    ]
    assert guilty == []


@pytest.mark.parametrize("package", ["textual", "rich", "widgets", "console"])
def test_the_core_never_imports_what_draws(package: str) -> None:
    guilty = [
        name
        for name, imported in modules().items()
        if name.startswith("agent/") and any(within(i, (package,)) for i in imported)
    ]
    assert guilty == []


def test_widgets_see_only_records_state_and_text() -> None:
    guilty = [
        (name, seen)
        for name, imported in modules().items()
        if name.startswith("widgets/")
        for seen in imported
        if (within(seen, ("agent",)) and seen != "agent" and not within(seen, WIDGETS_MAY_SEE))
        or within(seen, ("console",))
    ]
    assert guilty == []


@pytest.mark.parametrize("room", list(ROOM_MAY_SEE))
def test_a_room_sees_only_what_it_may(room: str) -> None:
    allowed = ROOM_MAY_SEE[room]
    guilty = [
        (name, seen)
        for name, imported in modules().items()
        if (name == room or (room.endswith("/") and name.startswith(room)))
        for seen in imported
        if within(seen, ("agent",)) and seen != "agent" and not within(seen, allowed)
    ]
    assert guilty == []


def test_the_loop_knows_protocols_and_never_adb_or_a_client() -> None:
    guilty = [
        (name, seen)
        for name, imported in modules().items()
        if name.startswith(("agent/loop/", "agent/tasks/", "agent/tools/"))
        for seen in imported
        if seen.startswith(LOOP_NEVER_SEES) and not within(seen, LOOP_MAY_SEE)
    ]
    assert guilty == []


@pytest.mark.parametrize("library", list(WRAPPERS))
def test_a_library_is_imported_only_where_it_is_wrapped(library: str) -> None:
    names = importers().get(library, [])
    assert [name for name in names if not name.startswith(WRAPPERS[library])] == []


def test_what_every_store_shares_knows_no_database() -> None:
    shared = {name: seen for name, seen in modules().items() if name.startswith(KNOW_NO_DATABASE)}
    assert len(shared) > 15
    assert [name for name, seen in shared.items() if any(within(i, DATABASES) for i in seen)] == []


def test_every_library_has_a_door() -> None:
    own = {*PACKAGES, *sys.stdlib_module_names, *SEEN_EVERYWHERE, *WRAPPERS}
    assert {library: at for library, at in importers().items() if library not in own} == {}


def test_what_is_imported_from_a_vendor_is_not_left_out_by_the_type_checker() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    left_out = tuple(
        name.removesuffix(".*")
        for rules in project["tool"]["mypy"]["overrides"]
        for name in rules["module"]
        if rules.get("follow_imports") == "skip" and name.startswith(("anthropic.", "openai."))
    )
    assert left_out
    guilty = [name for name, seen in modules().items() if any(within(i, left_out) for i in seen)]
    assert guilty == []


def test_only_the_host_builds_a_runtime() -> None:
    guilty = [
        name
        for name, imported in modules().items()
        if any(within(i, ("agent.runtime.runtime",)) for i in imported)
        and name not in (BUILDS_A_RUNTIME, "agent/runtime/runtime.py")
    ]
    assert guilty == []


def test_sibling_modules_are_named_in_full() -> None:
    guilty = [
        name
        for name, imported in modules().items()
        if any(seen.startswith(".") for seen in imported)
    ]
    assert guilty == []


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        (
            "agent.runtime.runtime",
            ("textual", "rich", "console", "widgets", "adbutils", "openai", "PIL", "psycopg"),
        ),
        ("agent.rpc.rpc_server", ("textual", "rich", "console", "widgets")),
        (
            "virtual_phone.phone",
            ("textual", "rich", "console", "widgets", "agent.runtime.runtime", "openai"),
        ),
        (
            "console.cli",
            ("textual", "rich", "openai", "PIL", "numpy", "aiosqlite", "adbutils", "psycopg"),
        ),
        # Who has no fleet pays nothing for one.
        (
            "console.core.host, console.core.store_choice",
            ("psycopg", "dbos", "sqlalchemy", "agent.store.postgres"),
        ),
        # A command that names sessions and jobs draws no list of them.
        (
            "widgets.lists.session_rows, widgets.lists.job_words, widgets.base.status",
            ("textual", "rich"),
        ),
        # A client gives its server a few seconds to start.
        ("console.mcp.serving", ("textual", "rich", "openai", "PIL")),
    ],
)
def test_importing_a_module_loads_nothing_it_may_not(module: str, absent: tuple[str, ...]) -> None:
    probe = f"import sys, {module}; print(chr(10).join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, cwd=ROOT, check=True
    )
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint(absent)
