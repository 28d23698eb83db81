"""Wallet: a balance, payments, sending money behind a PIN, and a card whose page is secure.

Secure pages are black in every picture of the screen, as FLAG_SECURE makes them; their tree can
still be read. Invariant: the balance is what it was at the seed plus every payment since.
"""

from collections.abc import Callable

import msgspec

from virtual_phone.app import App, AppIcon, Page, Seed
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.patterns import alert, avatar, empty, group, preference, screen, title_bar
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import text


class Payment(msgspec.Struct):
    """Money that came (positive) or went (negative), in dollars."""

    id: int
    who: str
    amount: float
    when: float
    note: str = ""


class Wallet(msgspec.Struct):
    """The app's state."""

    balance: float = 0.0
    payments: list[Payment] = []
    pin: str = "2580"
    card: str = "4242 4242 4242 4242"
    frozen: bool = False
    next_id: int = 1


def seed(s: Seed) -> Wallet:
    past = (
        ("Corner Cafe", -6.4, "Lunch"),
        ("Ana Silva", 25.0, "Concert tickets"),
        ("Linewire", -24.0, "Phone bill"),
        ("Salary", 1850.0, ""),
        ("Larkspur", -89.0, "Order 1042"),
    )
    made = [
        Payment(i + 1, who, amount, s.now - 40_000 * (i + 1) - s.rng.randrange(9_000), note)
        for i, (who, amount, note) in enumerate(past)
    ]
    return Wallet(1284.5, made, next_id=len(made) + 1)


wallet = App(
    package="com.example.wallet",
    label="Wallet",
    icon=AppIcon("wallet", "#27B38A", "#138061"),
    state=Wallet,
    seed=seed,
    version_name="2.8.0",
    version_code=2800,
    system=False,
)
PEOPLE = ("Ana Silva", "Ben Carter", "Chloe Dubois", "Dad", "Tom Becker")


def money(amount: float) -> str:
    """Return an amount in dollars with its sign in front."""
    return f"{'−' if amount < 0 else ''}${abs(amount):,.2f}"


@wallet.page(".MainActivity", launcher=True)
def main(page: Page[Wallet]) -> View:
    """Show the balance and the payments."""
    from virtual_phone.apps.messages_data import when_text

    data = page.data

    def item(p: Payment) -> View:
        return ui.row(
            avatar(p.who, 44),
            ui.column(
                text(p.who, TextStyle(16.5, 500, max_lines=1), id="payment_who"),
                text(" • ".join(t for t in (when_text(page.now, p.when), p.note) if t), ui.CAPTION),
                weight=1,
                gap=2,
            ),
            text(
                ("+" if p.amount > 0 else "") + money(p.amount),
                TextStyle(16.5, 500, "good" if p.amount > 0 else "text"),
                id="payment_amount",
            ),
            width=MATCH,
            gap=14,
            pad=ui.edges(22, 9),
            key=f"payment {p.id}",
        )

    def action(drawing: str, label: str, act: Callable[[], None]) -> View:
        return ui.column(
            ui.stack(
                ui.icon(drawing, 26, "on_accent_soft", halign=Align.CENTER, valign=Align.CENTER),
                width=60,
                height=60,
                radius=20,
                fill="accent_soft",
            ),
            text(label, TextStyle(13, 500)),
            on_click=act,
            desc=label,
            cross=Align.CENTER,
            gap=7,
            weight=1,
        )

    return screen(
        title_bar(
            "Wallet", actions=(ui.icon_button("help", "Help", lambda: page.toast("Ask your bank")),)
        ),
        ui.recycler(
            "wallet",
            ui.column(
                text("Balance", TextStyle(15, 400, "on_accent")),
                text(money(data.balance), TextStyle(40, 600, "on_accent"), id="balance"),
                text(
                    f"Card •••• {data.card[-4:]}" + (" (frozen)" if data.frozen else ""),
                    TextStyle(15, 400, "on_accent"),
                ),
                fill="accent",
                radius=28,
                pad=ui.edges(26, 26),
                margin=ui.edges(16, 4),
                gap=6,
                on_click=page.opener(".CardActivity"),
                id="balance_card",
                elevation=3,
            ),
            ui.row(
                action("send", "Send", page.opener(".SendActivity")),
                action("download", "Request", lambda: page.toast("Request sent to nobody")),
                action("card", "Card", page.opener(".CardActivity")),
                action("scan", "Scan", lambda: page.toast("No code in sight")),
                width=MATCH,
                pad=ui.edges(16, 18),
            ),
            text("Activity", TextStyle(15, 500, "accent"), pad=ui.edges(22, 8)),
            *(item(p) for p in sorted(data.payments, key=lambda p: -p.when)),
        ),
    )


@wallet.page(".SendActivity")
def send(page: Page[Wallet]) -> View:
    """Choose whom to pay and how much, then confirm with the PIN."""
    who = page.local("who") or page.args.get("to", "")

    def check() -> None:
        amount = _amount(page)
        if not who:
            page.toast("Choose who gets the money")
        elif amount is None:
            page.toast("Enter an amount such as 12.50")
        elif page.data.frozen:
            page.toast("The card is frozen")
        elif amount > page.data.balance:
            page.set("poor")
        else:
            page.open(
                ".PinActivity",
                who=who,
                amount=f"{amount:.2f}",
                note=page.field("note").strip()[:80],
            )

    if page.local("poor"):
        close = page.setter("poor", "")
        page.show_dialog(
            alert(
                "Not enough money",
                f"Your balance is {money(page.data.balance)}.",
                ui.button("OK", close, look="text"),
            ),
            close,
        )

    def person(name: str) -> View:
        made = preference(
            name,
            on_click=page.setter("who", name),
            key=f"to {name}",
            trailing=ui.icon("check", 22, "accent") if name == who else None,
        )
        made.children.insert(0, avatar(name, 38))
        made.selected = name == who
        return made

    return screen(
        title_bar("Send money", back=page.close),
        ui.scroll(
            "send",
            ui.field(
                "amount",
                hint="0.00",
                style=TextStyle(46, 500, align=Align.CENTER),
                height=84,
                pad=ui.edges(24, 0),
                id="amount",
            ),
            ui.field(
                "note",
                hint="What is it for?",
                style=ui.BODY_LARGE,
                height=54,
                fill="surface",
                radius=18,
                pad=ui.edges(18, 0),
                margin=ui.edges(16, 8),
                id="note",
            ),
            group(*(person(n) for n in PEOPLE), title="To"),
        ),
        ui.button(
            "Continue",
            check,
            id="continue",
            width=MATCH,
            height=56,
            radius=28,
            margin=ui.edges(20, 14),
        ),
    )


def _amount(page: Page[Wallet]) -> float | None:
    try:
        amount = round(float(page.field("amount").replace("$", "").replace(",", ".")), 2)
    except ValueError:
        return None
    return amount if 0 < amount < 1_000_000 else None


@wallet.page(".PinActivity")
def pin(page: Page[Wallet]) -> View:
    """Ask for the PIN; a secure page. Three wrong ones end it."""
    page.secure = True
    data = page.data
    typed = page.local("pin")
    who, amount = page.args.get("who", ""), float(page.args.get("amount", "0"))

    def press(digit: str) -> Callable[[], None]:
        def act() -> None:
            entered = (typed + digit)[:4]
            page.set("pin", entered)
            if len(entered) == 4:
                check(entered)

        return act

    def check(entered: str) -> None:
        page.set("pin", "")
        if entered == data.pin:
            data.balance = round(data.balance - amount, 2)
            data.payments.append(
                Payment(data.next_id, who, -amount, page.now, page.args.get("note", ""))
            )
            data.next_id += 1
            page.close()
            page.open(".DoneActivity", who=who, amount=f"{amount:.2f}")
            return
        wrong = int(page.local("wrong", "0")) + 1
        page.set("wrong", str(wrong))
        if wrong >= 3:
            page.toast("Too many wrong PINs")
            page.close()

    def key(digit: str) -> View:
        return ui.stack(
            text(digit, TextStyle(28, 400), halign=Align.CENTER, valign=Align.CENTER),
            on_click=press(digit),
            desc=digit,
            weight=1,
            height=76,
            radius=38,
            fill="surface",
            key=f"pin {digit}",
            cls="android.widget.Button",
        )

    rows: list[ui.Child] = [
        ui.row(*(key(d) for d in line), width=MATCH, gap=16) for line in ("123", "456", "789")
    ]
    return screen(
        title_bar("Confirm payment", back=page.close),
        ui.column(
            ui.space(weight=1),
            text(f"{money(amount)} to {who}", TextStyle(24, 500), id="pin_summary"),
            text(
                "Wrong PIN, try again" if page.local("wrong") else "Enter your PIN",
                TextStyle(16, 400, "error" if page.local("wrong") else "text2"),
                id="pin_hint",
            ),
            ui.row(
                *(
                    ui.row(
                        width=16,
                        height=16,
                        radius=8,
                        fill="accent" if i < len(typed) else "surface3",
                    )
                    for i in range(4)
                ),
                gap=18,
                pad=ui.edges(0, 20),
            ),
            ui.space(weight=1),
            *rows,
            ui.row(
                ui.space(weight=1),
                key("0"),
                ui.stack(
                    ui.icon_button(
                        "backspace",
                        "Delete",
                        lambda: page.set("pin", typed[:-1]),
                        halign=Align.CENTER,
                        valign=Align.CENTER,
                    ),
                    weight=1,
                    height=76,
                ),
                width=MATCH,
                gap=16,
            ),
            ui.space(24),
            cross=Align.CENTER,
            gap=14,
            weight=1,
            pad=ui.edges(36, 0),
        ),
    )


@wallet.page(".DoneActivity")
def done(page: Page[Wallet]) -> View:
    """Show that the money is on its way."""
    return screen(
        ui.column(
            ui.space(weight=1),
            ui.icon("check_circle", 96, "good"),
            text(
                f"{money(float(page.args.get('amount', '0')))} sent",
                TextStyle(30, 500),
                id="done_title",
            ),
            text(f"to {page.args.get('who', '')}", TextStyle(18, 400, "text2")),
            ui.space(weight=1),
            ui.button("Done", lambda: _leave(page), id="done", width=MATCH, height=56, radius=28),
            ui.space(16),
            cross=Align.CENTER,
            gap=14,
            pad=ui.edges(24, 0),
            weight=1,
        )
    )


def _leave(page: Page[Wallet]) -> None:
    """Go back to the first page, past the form that was sent."""
    host = page.host
    host.activities.close_to_root(page.state)


@wallet.page(".CardActivity")
def card(page: Page[Wallet]) -> View:
    """Show the card's number; a secure page."""
    page.secure = True
    data = page.data

    def freeze() -> None:
        data.frozen = not data.frozen
        page.toast("Card frozen" if data.frozen else "Card can be used again")

    if not data.card:
        return screen(title_bar("Card", back=page.close), empty("card", "No card"))
    return screen(
        title_bar("Card", back=page.close),
        ui.scroll(
            "card",
            ui.column(
                text("Linewire Bank", TextStyle(17, 600, "#FFFFFF")),
                ui.space(46),
                text(data.card, TextStyle(25, 500, "#FFFFFF"), id="card_number"),
                ui.row(
                    text("CASEY MORGAN", TextStyle(14, 500, "#FFFFFF"), weight=1),
                    text("09/29", TextStyle(14, 500, "#FFFFFF")),
                    width=MATCH,
                    pad=(0, 18, 0, 0),
                ),
                fill="#22314F",
                radius=26,
                pad=ui.edges(26, 26),
                margin=ui.edges(16, 8),
                elevation=4,
            ),
            group(
                preference(
                    "Freeze card",
                    summary="Stops every payment for now",
                    on=data.frozen,
                    on_click=freeze,
                    icon_name="lock",
                    key="freeze",
                ),
                preference(
                    "Copy number",
                    icon_name="copy",
                    on_click=lambda: page.host.clipboard.set(data.card),
                ),
            ),
        ),
    )
