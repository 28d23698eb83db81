"""`content`: query, change and read content providers from the shell.

Its answers follow frameworks/base/cmds/content (Content.java, Android 14): what is wrong with the
words goes to stdout below the usage, what a provider throws to stderr, and the status is 0 always.
"""

from urllib.parse import parse_qsl, unquote, urlsplit

from virtual_phone.commands.content.providers import ProviderTable, provider_of
from virtual_phone.commands.content.rows import Value, select
from virtual_phone.shell.call import Call, CommandError, command

USAGE = """usage: adb shell content [subcommand] [options]

usage: adb shell content insert --uri <URI> [--user <USER_ID>] --bind <BINDING> [--bind <BINDING>...] [--extra <BINDING>...]

usage: adb shell content update --uri <URI> [--user <USER_ID>] [--where <WHERE>] [--extra <BINDING>...]

usage: adb shell content delete --uri <URI> [--user <USER_ID>] --bind <BINDING> [--bind <BINDING>...] [--where <WHERE>] [--extra <BINDING>...]

usage: adb shell content query --uri <URI> [--user <USER_ID>] [--projection <PROJECTION>] [--where <WHERE>] [--sort <SORT_ORDER>] [--extra <BINDING>...]

usage: adb shell content read --uri <URI> [--user <USER_ID>]
"""  # noqa: E501 - as the phone prints it
_OPTIONS = {
    "insert": ("--uri", "--user", "--bind", "--extra"),
    "update": ("--uri", "--user", "--where", "--bind", "--extra"),
    "delete": ("--uri", "--user", "--where", "--extra"),
    "query": ("--uri", "--user", "--projection", "--where", "--sort", "--extra"),
    "read": ("--uri", "--user"),
}
_BOUND = ("insert", "update")


@command("content", java=True)
async def content(call: Call) -> int:
    """Query, change and read the providers: settings, messages, contacts and others."""
    try:
        verb, values = _parsed(list(call.args))
        bound = dict(_binding(text) for text in values.get("--bind", []))
        if verb in _BOUND and not bound:
            raise CommandError("Bindings not specified. Did you specify --bind argument(s)?")
    except CommandError as error:
        await call.line(f"{USAGE}\n[ERROR] {error.message}")
        return 0
    parts = urlsplit(values["--uri"][0])
    try:
        path = unquote(parts.path)
        found = provider_of(call.phone, parts.netloc, path, dict(parse_qsl(parts.query)))
        if found is None:
            raise CommandError(
                f"java.lang.IllegalStateException: Could not find provider: {parts.netloc}"
            )
        await _act(call, verb, found, values, bound)
    except CommandError as error:
        await call.err(f"Error while accessing provider:{parts.netloc}\n{error.message}")
    return 0


def _parsed(words: list[str]) -> tuple[str, dict[str, list[str]]]:
    """Return the verb and each option's values; raise CommandError, in Android's words."""
    verb = words.pop(0) if words else "null"
    if verb not in _OPTIONS:
        raise CommandError(f"Unsupported operation: {verb}")
    values: dict[str, list[str]] = {}
    while words:
        option = words.pop(0)
        if option not in _OPTIONS[verb]:
            raise CommandError(f"Unsupported argument: {option}")
        value = words.pop(0) if words else ""
        if not value or value.startswith("--"):
            raise CommandError(f"No value for argument: {option}")
        values.setdefault(option, []).append(value)
    if "--uri" not in values:
        raise CommandError("Content provider URI not specified. Did you specify --uri argument?")
    return verb, values


async def _act(
    call: Call,
    verb: str,
    found: ProviderTable,
    values: dict[str, list[str]],
    bound: dict[str, Value],
) -> None:
    table = found.table
    conditions = [f"({text})" for text in values.get("--where", [])[:1]]
    if found.number:
        conditions.append(f"_id = {int(found.number[:18])}")
    where = " AND ".join(conditions)
    if verb == "insert":
        table.insert(bound)
        call.phone.invalidate()
        return
    if verb == "query":
        shown = [name for name in values.get("--projection", [""])[0].split(":") if name]
        order = values.get("--sort", [""])[0] if found.heeds_order else ""
        rows = table.rows()
        chosen = select(rows, table.columns, shown=shown, where=where, order=order)
        if not chosen:
            await call.line("No result found.")
        for at, row in enumerate(chosen):
            said = ", ".join(f"{name}={_value_text(value)}" for name, value in row.items())
            await call.line(f"Row: {at} {said}")
        return
    chosen = select(table.rows(), table.columns, shown=(), where=where, order="")
    if verb == "read":
        await _read(call, str(chosen[0].get("_data") or "") if found.number and chosen else "")
        return
    for row in chosen:
        if verb == "update":
            table.update(row, bound)
        else:
            table.delete(row)
    call.phone.invalidate()


async def _read(call: Call, path: str) -> None:
    """Write the file behind a row to stdout; raise CommandError where it has none."""
    if not path:
        raise CommandError("java.io.FileNotFoundException: No files supported by provider")
    source = call.open_source(path)
    while data := await source.read():
        await call.stdout.write(data)


def _value_text(value: Value) -> str:
    return "NULL" if value is None else str(value)


def _binding(text: str) -> tuple[str, Value]:
    """Return the name and value of NAME:TYPE:VALUE; raise CommandError."""
    name, first, rest = text.partition(":")
    kind, second, value = rest.partition(":")
    if not name or not first or not second:
        raise CommandError(f"Binding not well formed: {text}")
    try:
        match kind:
            case "s":
                return name, value
            case "i" | "l":
                return name, int(value)
            case "f" | "d":
                return name, float(value)
            case "b":
                return name, int(value.lower() == "true")
            case "n":
                return name, None
            case _:
                raise CommandError(f"Unsupported type: {kind}")
    except ValueError as error:
        raise CommandError(f'For input string: "{value}"') from error
