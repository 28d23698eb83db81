"""Larkspur, a shop: products, cart and checkout, orders, returns, and help with a support chat.

The chat's agent follows a script over the orders. Invariant: an order's total is the sum of what
it held when it was placed.
"""

from collections.abc import Callable

import msgspec

from virtual_phone.app import App, AppIcon, Page, Seed
from virtual_phone.apps.shop.support import ChatLine
from virtual_phone.ui import patterns
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.views import MATCH, Align, TextStyle, View

LOAD_S = 0.4

PRODUCTS: dict[str, tuple[str, float, str, str, str]] = {
    "boots": ("Walking boots", 89.0, "#B07A4F", "touch", "Leather, waterproof, sizes 36 to 46."),
    "lamp": ("Desk lamp", 34.5, "#E0B040", "brightness", "Warm light with three levels."),
    "mug": ("Enamel mug", 12.0, "#4F86B0", "bag", "Half a litre, safe over a fire."),
    "tent": ("Two-person tent", 149.0, "#4F9A6B", "home", "Weighs 2.1 kg, stands in five minutes."),
    "book": ("Field guide to birds", 22.0, "#8A6DB0", "bookmark", "412 species with drawings."),
    "bottle": ("Steel bottle", 19.5, "#5B6B7E", "bag", "Keeps tea hot for twelve hours."),
    "jacket": ("Rain jacket", 74.0, "#C4584E", "cloud", "Light, packs into its own pocket."),
    "speaker": ("Small speaker", 45.0, "#3E4A66", "sound", "Ten hours of music, floats."),
}
"""Key to name, price in dollars, color, drawing and description."""


class Line(msgspec.Struct):
    """A product and how many of it, at the price of that day."""

    product: str
    count: int
    price: float


class Order(msgspec.Struct):
    """An order; `status` is processing, shipped, delivered, cancelled or returned."""

    id: int
    lines: list[Line]
    total: float
    when: float
    status: str
    address: str
    paid_with: str = "Card •••• 4242"


class Shop(msgspec.Struct):
    """The app's state."""

    cart: dict[str, int] = {}
    orders: list[Order] = []
    chat: list[ChatLine] = []
    address: str = "Casey Morgan, 12 Harbour Street, Port Ellis"
    next_order: int = 1043


def seed(s: Seed) -> Shop:
    """Return a customer with two orders."""
    return Shop(
        orders=[
            Order(
                1042,
                [Line("boots", 1, 89.0)],
                89.0,
                s.now - 200_000,
                "shipped",
                "12 Harbour Street, Port Ellis",
            ),
            Order(
                1037,
                [Line("mug", 2, 12.0), Line("lamp", 1, 34.5)],
                58.5,
                s.now - 1_400_000,
                "delivered",
                "12 Harbour Street, Port Ellis",
            ),
        ]
    )


shop = App(
    package="com.example.larkspur",
    label="Larkspur",
    icon=AppIcon("bag", "#7C5CE0", "#5B3CC4"),
    state=Shop,
    seed=seed,
    version_name="5.14.0",
    version_code=51400,
    system=False,
)


def money(amount: float) -> str:
    return f"${amount:,.2f}"


def total_of(shop_state: Shop) -> float:
    """Return what the cart costs."""
    return sum(PRODUCTS[p][1] * n for p, n in shop_state.cart.items())


def describe(order: Order) -> str:
    """Return the products of an order in a line."""
    return ", ".join(
        PRODUCTS[line.product][0] + (f" × {line.count}" if line.count > 1 else "")
        for line in order.lines
    )


@shop.page(".MainActivity", launcher=True)
def main(page: Page[Shop]) -> View:
    """Show the chosen section."""
    from virtual_phone.apps.shop.orders import account, orders

    tab = page.local("tab", "shop")
    body = {"shop": _products, "cart": _cart, "orders": orders, "account": account}[tab](page)
    count = sum(page.data.cart.values())

    def back() -> bool:
        if tab == "shop":
            return False
        page.set("tab", "")
        return True

    page.on_back = back
    return patterns.screen(
        body,
        patterns.bottom_nav(
            [
                ("shop", "Shop", "home"),
                ("cart", f"Cart ({count})" if count else "Cart", "cart"),
                ("orders", "Orders", "package"),
                ("account", "Account", "person"),
            ],
            tab,
            lambda v: page.set("tab", v),
        ),
    )


def _picture(product: str, height: float) -> View:
    _, _, color, drawing, _ = PRODUCTS[product]
    return ui.stack(
        ui.icon(drawing, height * 0.42, "#FFFFFF", halign=Align.CENTER, valign=Align.CENTER),
        width=MATCH,
        height=height,
        radius=18,
        fill=color,
    )


def _products(page: Page[Shop]) -> View:
    wanted = page.field("search").strip().lower()
    found = [k for k, p in PRODUCTS.items() if wanted in f"{p[0]} {p[4]}".lower()]

    def card(product: str) -> View:
        name, price, *_ = PRODUCTS[product]
        return ui.column(
            _picture(product, 130),
            ui.text(name, TextStyle(15.5, 500, max_lines=1), id="product_name"),
            ui.text(money(price), TextStyle(15, 400, "text2"), id="product_price"),
            on_click=page.opener(".ProductActivity", product=product),
            fill="surface",
            radius=22,
            pad=(10, 10, 10, 14),
            gap=6,
            key=f"product {product}",
            id="product_card",
        )

    if fetching(page):
        listed = [
            patterns.progress(),
            ui.recycler(
                "products",
                ui.grid(2, *(_blank_card() for _ in range(4)), gap=12, pad=ui.edges(16, 8)),
            ),
        ]
    else:
        listed = [
            ui.recycler(
                "products",
                ui.grid(2, *(card(p) for p in found), gap=12, pad=ui.edges(16, 8))
                if found
                else ui.text("Nothing found", ui.BODY_LARGE, pad=ui.edges(24, 24)),
                id="product_list",
            )
        ]
    return ui.column(
        ui.text("Larkspur", TextStyle(28, 600, "accent"), pad=(22, 18, 22, 4)),
        patterns.search_field("search", "Search products", id="search_box"),
        *listed,
        weight=1,
    )


def fetching(page: Page[Shop]) -> bool:
    """Load what a page shows the first time it is seen; return whether it is still coming."""
    if not page.local("fetched"):
        page.set("fetched")
        page.load(LOAD_S)
    return page.loading


def _blank_card() -> View:
    """Return the gray shape of a product that has not come yet."""
    return ui.column(
        ui.row(width=MATCH, height=130, radius=18, fill="surface2"),
        ui.row(width=96, height=14, radius=7, fill="surface2"),
        ui.row(width=54, height=14, radius=7, fill="surface2"),
        fill="surface",
        radius=22,
        pad=(10, 10, 10, 14),
        gap=10,
    )


@shop.page(".ProductActivity")
def product_page(page: Page[Shop]) -> View:
    product = page.args.get("product", "")
    if product not in PRODUCTS:
        return patterns.screen(
            patterns.title_bar("", back=page.close), patterns.empty("bag", "Product not found")
        )
    if fetching(page):
        return patterns.screen(patterns.title_bar("", back=page.close), patterns.progress())
    name, price, _, _, about = PRODUCTS[product]

    def add() -> None:
        page.data.cart[product] = page.data.cart.get(product, 0) + 1
        page.toast(f"{name} added to cart")

    return patterns.screen(
        patterns.title_bar("", back=page.close),
        ui.scroll(
            "product",
            _picture(product, 300),
            ui.text(name, TextStyle(28, 500), id="product_name", pad=(0, 14, 0, 0)),
            ui.text(money(price), TextStyle(22, 400, "accent"), id="product_price"),
            ui.text(
                about, TextStyle(16.5, 400, "text2", line_height=1.5), id="product_description"
            ),
            ui.row(
                ui.icon("truck", 22, "text2"), ui.text("Free delivery in two days", ui.BODY), gap=12
            ),
            pad=ui.edges(20, 4),
            gap=10,
        ),
        ui.button(
            "Add to cart",
            add,
            id="add_to_cart",
            width=MATCH,
            height=56,
            radius=28,
            margin=ui.edges(20, 14),
        ),
    )


def _cart(page: Page[Shop]) -> View:
    data = page.data
    if not data.cart:
        return ui.column(
            patterns.title_bar("Cart"), patterns.empty("cart", "Your cart is empty"), weight=1
        )

    def change(product: str, step: int) -> Callable[[], None]:
        def act() -> None:
            count = data.cart.get(product, 0) + step
            if count > 0:
                data.cart[product] = min(count, 99)
            else:
                data.cart.pop(product, None)

        return act

    def line(product: str, count: int) -> View:
        name, price, color, drawing, _ = PRODUCTS[product]
        return ui.row(
            ui.stack(
                ui.icon(drawing, 28, "#FFFFFF", halign=Align.CENTER, valign=Align.CENTER),
                width=60,
                height=60,
                radius=16,
                fill=color,
            ),
            ui.column(
                ui.text(name, TextStyle(16, 500, max_lines=1), id="line_name"),
                ui.text(money(price * count), ui.CAPTION, id="line_price"),
                weight=1,
                gap=3,
            ),
            ui.icon_button(
                "stop",
                f"Remove one {name}",
                change(product, -1),
                size=14,
                width=40,
                height=40,
                fill="surface2",
            ),
            ui.text(str(count), TextStyle(17, 500), id="line_count"),
            ui.icon_button(
                "add",
                f"Add one {name}",
                change(product, 1),
                size=18,
                width=40,
                height=40,
                fill="surface2",
            ),
            width=MATCH,
            gap=12,
            pad=ui.edges(20, 9),
            key=f"line {product}",
        )

    return ui.column(
        patterns.title_bar("Cart"),
        patterns.list_page(
            "cart_lines", *(line(p, n) for p, n in data.cart.items()), pad_bottom=10
        ),
        ui.row(
            ui.text("Total", TextStyle(18, 500), weight=1),
            ui.text(money(total_of(data)), TextStyle(20, 600), id="cart_total"),
            width=MATCH,
            pad=ui.edges(22, 10),
        ),
        ui.button(
            "Check out",
            page.opener(".CheckoutActivity"),
            id="checkout",
            width=MATCH,
            height=56,
            radius=28,
            margin=(20, 4, 20, 14),
        ),
        weight=1,
    )


from virtual_phone.apps.shop import orders  # noqa: E402

__all__ = ["orders", "shop"]
