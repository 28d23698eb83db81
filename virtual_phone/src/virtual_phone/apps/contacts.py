"""Contacts: a list with search, a person's page, editing and deleting with a question.

Invariant: a contact has a name.
"""

from collections.abc import Callable

import msgspec

from virtual_phone.app import App, AppIcon, Page, Seed
from virtual_phone.ui import patterns
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import text


class Contact(msgspec.Struct):
    """A person."""

    id: int
    name: str
    phone: str = ""
    email: str = ""
    starred: bool = False


class Contacts(msgspec.Struct):
    """The app's state."""

    contacts: list[Contact] = []
    next_id: int = 1


def seed(s: Seed) -> Contacts:
    """Return the people whom Messages knows, and some more."""
    from virtual_phone.apps.messages_data import PEOPLE

    more = (
        ("Emil Novak", "+1 555 0111"),
        ("Fatima Haddad", "+1 555 0112"),
        ("Grace Okafor", "+1 555 0113"),
        ("Hiro Sato", "+81 90 5555 0114"),
        ("Mum", "+1 555 0115"),
        ("Oak Street Dentist", "+1 555 0116"),
        ("Priya Raman", "+1 555 0117"),
        ("Tom Becker", "+1 555 0118"),
    )
    people = [p for p in PEOPLE if len(p[1]) > 8] + list(more)
    made = [
        Contact(
            i + 1,
            name,
            number,
            f"{name.split()[0].lower()}@example.org" if name.isascii() else "",
            starred=name in ("Mum", "Dad"),
        )
        for i, (name, number) in enumerate(people)
    ]
    s.rng.shuffle(made)
    return Contacts(made, len(made) + 1)


contacts = App(
    package="com.android.contacts",
    label="Contacts",
    icon=AppIcon("person", "#3FA7D6", "#1F7FB3"),
    state=Contacts,
    seed=seed,
    version_name="1.7.33",
    version_code=10733,
)


def _find(page: Page[Contacts]) -> Contact | None:
    key = page.args.get("contact", "")
    return next((c for c in page.data.contacts if str(c.id) == key), None)


@contacts.page(".activities.PeopleActivity", launcher=True)
def people(page: Page[Contacts]) -> View:
    """Show everybody by name."""
    searching = page.local("search") == "1"
    wanted = page.field("query").strip().lower() if searching else ""
    shown = sorted(
        (c for c in page.data.contacts if wanted in f"{c.name} {c.phone} {c.email}".lower()),
        key=lambda c: c.name.lower(),
    )

    def back() -> bool:
        was = searching
        page.set("search", "")
        page.set_field("query", "")
        return was

    def search() -> None:
        page.set("search")
        page.focus("query")

    page.on_back = back
    rows: list[ui.Child] = []
    letter = ""
    for contact in shown:
        first = contact.name[:1].upper()
        if first != letter:
            letter = first
            rows.append(text(letter, ui.OVERLINE, pad=(22, 12, 0, 4), id="section_header"))
        rows.append(
            ui.row(
                patterns.avatar(contact.name, 44),
                text(
                    contact.name, TextStyle(17, 400, max_lines=1), weight=1, id="cliv_name_textview"
                ),
                ui.icon("star", 18, "warn") if contact.starred else None,
                on_click=page.opener(".quickcontact.QuickContactActivity", contact=str(contact.id)),
                width=MATCH,
                gap=18,
                pad=ui.edges(22, 9),
                key=f"contact {contact.id}",
            )
        )
    bar = (
        patterns.search_field("query", "Search contacts", back=lambda: _ignore(back()))
        if searching
        else patterns.title_bar("Contacts", actions=(ui.icon_button("search", "Search", search),))
    )
    listing: ui.Child = patterns.list_page("contacts_list", *rows)
    if not shown:
        listing = patterns.empty("contacts", "No contacts found")
    return patterns.screen(
        bar,
        ui.stack(
            ui.column(listing, height=MATCH),
            patterns.fab(
                "person_add",
                "Create contact",
                page.opener(".activities.EditActivity"),
                id="floating_action_button",
            ),
            width=MATCH,
            weight=1,
        ),
    )


def _ignore(_value: bool) -> None:
    """Throw a value away."""


@contacts.page(".quickcontact.QuickContactActivity", actions=["android.intent.action.VIEW content"])
def person(page: Page[Contacts]) -> View:
    """Show one person: call, write, edit, delete."""
    contact = _find(page)
    if contact is None:
        return patterns.screen(
            patterns.title_bar("", back=page.close), patterns.empty("contacts", "Contact not found")
        )

    def star() -> None:
        contact.starred = not contact.starred

    def delete() -> None:
        page.data.contacts.remove(contact)
        page.toast(f"{contact.name} deleted")
        page.close()

    if page.local("delete"):
        message = f"{contact.name} will be deleted from this phone."
        page.confirm("Delete contact?", message, "Delete", delete, local="delete")

    def action(drawing: str, label: str, act: Callable[[], None]) -> View:
        return ui.column(
            ui.stack(
                ui.icon(drawing, 24, "on_accent_soft", halign=Align.CENTER, valign=Align.CENTER),
                width=56,
                height=56,
                radius=28,
                fill="accent_soft",
            ),
            text(label, TextStyle(13, 500, "accent")),
            on_click=act,
            desc=label,
            cross=Align.CENTER,
            gap=6,
            weight=1,
        )

    call = page.opener(
        "com.android.dialer.DialtactsActivity", "com.android.dialer", data=f"tel:{contact.phone}"
    )
    write = page.opener(
        "com.android.messaging.ui.conversation.ConversationActivity",
        "com.android.messaging",
        data=f"sms:{contact.phone}",
    )
    mail = page.opener(
        "com.android.email.activity.ComposeActivity",
        "com.android.email",
        data=f"mailto:{contact.email}",
    )
    return patterns.screen(
        patterns.title_bar(
            "",
            back=page.close,
            actions=(
                ui.icon_button(
                    "star" if contact.starred else "star_border",
                    "Remove from favorites" if contact.starred else "Add to favorites",
                    star,
                    tint="warn" if contact.starred else "text",
                ),
                ui.icon_button(
                    "edit",
                    "Edit contact",
                    page.opener(".activities.EditActivity", contact=str(contact.id)),
                    id="menu_edit",
                ),
                ui.icon_button("delete", "Delete", page.setter("delete"), id="menu_delete"),
            ),
        ),
        ui.scroll(
            "person",
            ui.column(
                patterns.avatar(contact.name, 120),
                text(contact.name, TextStyle(28, 400, align=Align.CENTER), id="large_title"),
                cross=Align.CENTER,
                gap=14,
                pad=ui.edges(24, 8),
            ),
            ui.row(
                action("call", "Call", call),
                action("chat", "Text", write),
                action("mail", "Email", mail) if contact.email else None,
                width=MATCH,
                pad=ui.edges(24, 18),
            ),
            patterns.group(
                patterns.preference(
                    contact.phone, summary="Mobile", icon_name="call", on_click=call
                )
                if contact.phone
                else None,
                patterns.preference(contact.email, summary="Email", icon_name="mail", on_click=mail)
                if contact.email
                else None,
                title="Contact info",
            ),
        ),
    )


INSERT = "android.intent.action.INSERT vnd.android.cursor.dir"


@contacts.page(".activities.EditActivity", actions=[f"{INSERT}/contact", f"{INSERT}/raw_contact"])
def edit(page: Page[Contacts]) -> View:
    """Edit a person, or make a new one."""
    contact = _find(page)
    old = contact or Contact(0, page.args.get("name", ""), page.args.get("phone", ""))

    def save() -> None:
        name = page.field("name", old.name).strip()
        if not name:
            page.toast("A contact needs a name")
            return
        target = contact
        if target is None:
            target = Contact(page.data.next_id, name)
            page.data.next_id += 1
            page.data.contacts.append(target)
        target.name = name
        target.phone = page.field("phone", old.phone).strip()
        target.email = page.field("email", old.email).strip()
        page.toast("Contact saved")
        page.close()

    def entry(key: str, hint: str, value: str, drawing: str) -> View:
        return ui.row(
            ui.icon(drawing, 24, "text2"),
            patterns.text_box(key, value=value, hint=hint, height=56, weight=1),
            width=MATCH,
            gap=16,
            pad=ui.edges(18, 7),
        )

    return patterns.screen(
        patterns.title_bar(
            "Edit contact" if contact else "Create contact",
            back=page.close,
            actions=(ui.button("Save", save, look="text", id="editor_menu_save_button"),),
        ),
        ui.scroll(
            "edit",
            entry("name", "Name", old.name, "person"),
            entry("phone", "Phone", old.phone, "call"),
            entry("email", "Email", old.email, "mail"),
        ),
        text("Saved on this phone", ui.CAPTION, pad=ui.edges(22, 10)),
    )
