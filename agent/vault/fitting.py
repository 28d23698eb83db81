"""Decide whether a kept secret may go to what is on the screen now.

Pure: the phone is read by whoever asks. Invariants: what cannot be read is refused, never assumed;
no label decides, since any app can show any.
"""

from agent.records import UiNode
from agent.records.record import Record
from agent.safety.egress.destinations import read_destination
from agent.safety.redacting.secrets import is_secret_field
from agent.vault.entries import FieldKind, VaultEntry, same_name

_FIELD = ("EditText", "AutoComplete")


class Target(Record, frozen=True, kw_only=True):
    """What a secret would be given to, as the phone shows it now.

    Attributes:
        package: of the app in front.
        certificates: that it is signed with, SHA-256, sorted; empty: unknown.
        over: whose windows stand over the app.
        nodes: the whole tree.
        field: the node that has the focus; None: a keypad.
    """

    package: str
    certificates: tuple[str, ...]
    over: tuple[str, ...]
    nodes: tuple[UiNode, ...]
    field: UiNode | None


def why_unfit(entry: VaultEntry, target: Target) -> str:
    """Return why a secret is not given, as a sentence without its full stop; empty: it may be."""
    if target.package != entry.package:
        return (
            f"{target.package or 'no app'} is in front, and the vault's {entry.name!r} is for "
            f"{entry.package}"
        )
    if not target.certificates:
        return f"the certificate of {entry.package} cannot be read"
    if target.certificates != entry.certificates:
        return (
            f"{entry.package} is signed with another certificate than when {entry.name!r} was added"
        )
    if target.over:
        return f"{', '.join(target.over[:3])} shows a window over {entry.package}"
    if entry.field.kind is FieldKind.KEYPAD:
        return _misfit_keypad(entry, target)
    if target.field is None:
        return f"{entry.name!r} is for a field, not for a keypad"
    field = target.field
    if field.package != entry.package:
        return f"the field belongs to {field.package or 'no app'}"
    return misfit_field(entry, field) or _misfit_page(entry, field, target)


def misfit_field(entry: VaultEntry, field: UiNode) -> str:
    """Return why a secret is not for a field; empty: it is."""
    said = f"the field is not the one that {entry.name!r} is for ({entry.field.words})"
    match entry.field.kind:
        case FieldKind.PASSWORD:
            return "" if is_secret_field(field) else said
        case FieldKind.ID:
            return "" if field.resource_id == entry.field.named else said
        case FieldKind.HINT:
            names = (field.hint, field.description)
            return "" if any(same_name(entry.field.named, one) for one in names if one) else said
        case FieldKind.KEYPAD:
            return f"{entry.name!r} is for a keypad, not for a field"


def _misfit_keypad(entry: VaultEntry, target: Target) -> str:
    if target.field is not None:
        return f"{entry.name!r} is for a keypad, not for a field"
    digits = [node for node in target.nodes if node.clickable and _digit(node)]
    if any(node.package != entry.package for node in digits):
        return "the keypad belongs to another app"
    page = next((_misfit_page(entry, node, target) for node in digits), "")
    return page if digits else "the screen has no keypad"


def _digit(node: UiNode) -> bool:
    label = (node.text or node.description).strip()
    return len(label) == 1 and label.isdigit()


def _misfit_page(entry: VaultEntry, field: UiNode, target: Target) -> str:
    """Return why a secret is not for the page that a field is on: the app's own, or a site's."""
    if not _is_in_page(field, target.nodes):
        if entry.site:
            return f"{entry.name!r} is for pages of {entry.site}, and the field is on none"
        return ""
    if not entry.site:
        return f"the field is on a web page, and {entry.name!r} names no site"
    hosts = {
        (found.scheme, found.host)
        for node in target.nodes
        if node.package == entry.package
        and any(name in node.class_name for name in _FIELD)
        and not _is_in_page(node, target.nodes)
        and (found := read_destination(node.text)) is not None
    }
    if not hosts:
        return "no address of the page is shown"
    if hosts != {("https", entry.site)}:
        shown = ", ".join(sorted(f"{scheme}://{host}" for scheme, host in hosts))
        return f"the page is of {shown}, and {entry.name!r} is for https://{entry.site}"
    return ""


def _is_in_page(node: UiNode, nodes: tuple[UiNode, ...]) -> bool:
    at: UiNode | None = node
    for _ in range(len(nodes) + 1):
        if at is None:
            return False
        if at.class_name.endswith("WebView"):
            return True
        at = nodes[at.parent] if 0 <= at.parent < len(nodes) else None
    return True  # A circle: nobody knows where it lies.
