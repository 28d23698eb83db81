"""The shop after the cart: checkout, orders, returns, the account, help and the support chat.

Pages only; products and state are in `shop`. Invariant: an order is placed or changed only after a
question that names the amount.
"""

from virtual_phone.app import Page
from virtual_phone.apps.shop.app import PRODUCTS, Line, Order, Shop, describe, money, shop, total_of
from virtual_phone.apps.shop.support import ChatLine, answer
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.patterns import alert, empty, group, list_page, preference, screen, title_bar
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import text

TONES = {
    "processing": "warn",
    "shipped": "accent",
    "delivered": "good",
    "cancelled": "text2",
    "returned": "text2",
}


@shop.page(".CheckoutActivity")
def checkout(page: Page[Shop]) -> View:
    """Ask for the address and the way to pay, then place the order after one more question."""
    data = page.data
    method = page.local("method", "Card •••• 4242")
    total = total_of(data)
    address = page.field("address", data.address).strip()

    def place() -> None:
        lines = [Line(p, n, PRODUCTS[p][1]) for p, n in data.cart.items()]
        order = Order(data.next_order, lines, total, page.now, "processing", address, method)
        data.next_order += 1
        data.orders.insert(0, order)
        data.cart.clear()
        data.address = address
        page.close()
        page.open(".OrderActivity", order=str(order.id), placed="1")

    def ask() -> None:
        if not data.cart or not address:
            page.toast("Fill in an address first" if data.cart else "The cart is empty")
            return
        page.set("sure")

    if page.local("sure"):
        message = f"{money(total)} will be charged to {method}."
        page.confirm("Place this order?", message, "Place order", place, local="sure")

    def way(name: str, drawing: str) -> View:
        made = preference(
            name,
            icon_name=drawing,
            on_click=page.setter("method", name),
            trailing=ui.radio(method == name, clickable=False),
            key=f"pay {name}",
        )
        made.checkable, made.checked = True, method == name
        return made

    return screen(
        title_bar("Checkout", back=page.close),
        ui.scroll(
            "checkout",
            text("Deliver to", TextStyle(15, 500, "accent"), pad=ui.edges(22, 8)),
            ui.field(
                "address",
                value=data.address,
                style=ui.BODY_LARGE,
                fill="surface",
                radius=18,
                min_height=64,
                multiline=True,
                pad=ui.edges(18, 16),
                margin=ui.edges(16, 0),
                id="address",
                hint="Address",
            ),
            ui.space(14),
            group(
                way("Card •••• 4242", "card"),
                way("Larkspur balance", "wallet"),
                way("Pay on delivery", "pay"),
                title="Pay with",
            ),
            group(
                preference("Items", summary=money(total)),
                preference("Delivery", summary="Free"),
                preference("Total", summary=money(total)),
                title="Summary",
            ),
        ),
        ui.button(
            f"Place order • {money(total)}",
            ask,
            id="place_order",
            width=MATCH,
            height=56,
            radius=28,
            margin=ui.edges(20, 14),
        ),
    )


def orders(page: Page[Shop]) -> View:
    """Draw the list of orders, each with its status and sum."""
    from virtual_phone.apps.messages_data import when_text

    def item(order: Order) -> View:
        return ui.column(
            ui.row(
                text(f"Order {order.id}", TextStyle(17, 500), weight=1, id="order_number"),
                text(
                    order.status.capitalize(),
                    TextStyle(14, 600, TONES[order.status]),
                    id="order_status",
                ),
                width=MATCH,
            ),
            text(describe(order), ui.styled(ui.BODY, color="text2", max_lines=1), id="order_items"),
            text(f"{money(order.total)} • {when_text(page.now, order.when)}", ui.CAPTION),
            on_click=page.opener(".OrderActivity", order=str(order.id)),
            fill="surface",
            radius=22,
            pad=ui.edges(20, 16),
            margin=(16, 5, 16, 5),
            gap=4,
            key=f"order {order.id}",
        )

    return ui.column(
        title_bar("Orders"), list_page("orders", *(item(o) for o in page.data.orders)), weight=1
    )


@shop.page(".OrderActivity")
def order_page(page: Page[Shop]) -> View:
    """Show one order and what can still be done with it."""
    order = next((o for o in page.data.orders if str(o.id) == page.args.get("order")), None)
    if order is None:
        return screen(title_bar("", back=page.close), empty("package", "Order not found"))
    what = {"processing": "cancelled", "delivered": "returned"}.get(order.status, "")
    verb = {"cancelled": "Cancel order", "returned": "Return items"}.get(what, "")

    def change() -> None:
        order.status = what
        page.set("sure", "")
        page.toast(f"Order {order.id} {what}")

    if page.local("sure") and what:
        close = page.setter("sure", "")
        page.show_dialog(
            alert(
                f"{verb}?",
                f"{money(order.total)} will be refunded to {order.paid_with}.",
                ui.button("Keep", close, look="text"),
                ui.button(verb, change, look="text"),
            ),
            close,
        )
    steps = ("processing", "shipped", "delivered")
    reached = steps.index(order.status) if order.status in steps else -1
    return screen(
        title_bar(f"Order {order.id}", back=page.close),
        ui.scroll(
            "order",
            ui.row(
                ui.icon("check_circle", 28, "good"),
                text(
                    "Thank you! Your order is placed.",
                    TextStyle(17, 500),
                    weight=1,
                    id="order_placed",
                ),
                width=MATCH,
                gap=14,
                pad=ui.edges(22, 8),
            )
            if page.args.get("placed")
            else None,
            text(
                order.status.capitalize(),
                TextStyle(30, 500, TONES[order.status]),
                pad=ui.edges(22, 6),
                id="order_status",
            ),
            *(
                ui.row(
                    ui.icon(
                        "check_circle" if i <= reached else "radio_off",
                        22,
                        "good" if i <= reached else "text3",
                    ),
                    text(s.capitalize(), TextStyle(16, 400)),
                    gap=14,
                    pad=ui.edges(24, 7),
                )
                for i, s in enumerate(steps)
                if reached >= 0
            ),
            ui.space(12),
            group(
                *(
                    preference(
                        PRODUCTS[n.product][0],
                        summary=f"{n.count} × {money(n.price)}",
                        icon_name=PRODUCTS[n.product][3],
                    )
                    for n in order.lines
                ),
                preference("Total", summary=money(order.total)),
                title="Items",
            ),
            group(
                preference("Delivered to", summary=order.address, icon_name="location"),
                preference("Paid with", summary=order.paid_with, icon_name="card"),
            ),
        ),
        ui.row(
            ui.button(
                "Get help",
                page.opener(".SupportActivity", order=str(order.id)),
                look="tonal",
                weight=1,
                height=52,
                radius=26,
            ),
            ui.button(verb, page.setter("sure"), look="outlined", weight=1, height=52, radius=26)
            if verb
            else None,
            width=MATCH,
            gap=12,
            pad=ui.edges(20, 12),
        ),
    )


def account(page: Page[Shop]) -> View:
    """Draw the account: whose it is, where it delivers, and the ways to help."""
    return ui.column(
        title_bar("Account"),
        ui.recycler(
            "account",
            group(
                preference("Casey Morgan", summary="casey@example.org", icon_name="person"),
                preference("Address", summary=page.data.address, icon_name="location"),
            ),
            group(
                preference(
                    "Help centre",
                    summary="Delivery, returns, payments",
                    icon_name="help",
                    on_click=page.opener(".HelpActivity"),
                ),
                preference(
                    "Chat with support",
                    summary="Usually answers at once",
                    icon_name="support",
                    on_click=page.opener(".SupportActivity"),
                ),
            ),
        ),
        weight=1,
    )


HELP = (
    (
        "When does my order arrive?",
        "Two days after it has shipped. The order's page shows where it is.",
    ),
    ("How do I return something?", "Open the order and choose Return items within 30 days."),
    ("Can I cancel an order?", "Yes, as long as its status is Processing."),
    ("Which payments do you take?", "Cards, your Larkspur balance, and cash on delivery."),
)


@shop.page(".HelpActivity")
def help_page(page: Page[Shop]) -> View:
    """Show questions; a tap opens the answer."""
    return screen(
        title_bar("Help centre", back=page.close),
        ui.recycler(
            "help",
            group(
                *(
                    preference(
                        q,
                        summary=a if page.local(f"q{i}") else "",
                        icon_name="help",
                        on_click=page.setter(f"q{i}", "" if page.local(f"q{i}") else "1"),
                        key=f"question {i}",
                    )
                    for i, (q, a) in enumerate(HELP)
                )
            ),
            ui.button(
                "Chat with support",
                page.opener(".SupportActivity"),
                look="tonal",
                margin=ui.edges(20, 10),
                height=52,
                radius=26,
            ),
        ),
    )


ANSWER_S = 0.8


@shop.page(".SupportActivity")
def support(page: Page[Shop]) -> View:
    """Chat with the shop's support."""
    data, host = page.data, page.host
    if not data.chat:
        data.chat.append(
            ChatLine("Hello Casey, I'm Robin from Larkspur. How can I help?", page.now)
        )

    def send() -> None:
        words = page.field("message").strip()
        if not words:
            return
        data.chat.append(ChatLine(words, page.now, mine=True))
        page.set_field("message", "")
        page.state.scroll.pop("chat", None)

        def reply() -> None:
            if host.app_data.of_package(shop.package) is data:
                data.chat.append(ChatLine(answer(data, words), host.now()))

        host.after(ANSWER_S, reply)

    def bubble(line: ChatLine) -> View:
        made = text(
            line.body,
            TextStyle(16.5, 400, "on_bubble_out" if line.mine else "text"),
            fill="bubble_out" if line.mine else "bubble_in",
            radius=20,
            pad=ui.edges(16, 10),
            id="chat_message",
        )
        made.halign = Align.END if line.mine else Align.START
        return ui.stack(made, width=MATCH, pad=(56, 0, 0, 0) if line.mine else (0, 0, 56, 0))

    return screen(
        title_bar("Support", back=page.close, subtitle="Robin, Larkspur"),
        ui.recycler(
            "chat", *(bubble(c) for c in data.chat), reverse=True, gap=8, pad=ui.edges(16, 10)
        ),
        ui.row(
            ui.field(
                "message",
                hint="Write a message",
                weight=1,
                height=50,
                fill="surface2",
                radius=25,
                pad=ui.edges(18, 0),
                id="chat_input",
                on_submit=lambda _t: send(),
            ),
            ui.icon_button("send", "Send", send, tint="accent", id="chat_send"),
            width=MATCH,
            pad=(14, 8, 8, 10),
            gap=4,
        ),
        fill="surface",
    )
