"""The script of the shop's support agent: from a customer's words and orders to an answer.

No model and no chance: the same words about the same orders give the same answer. Invariant: it
promises a refund only after it has changed the order.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from virtual_phone.apps.shop.app import Order, Shop


class ChatLine(msgspec.Struct):
    """A line of the chat; `when` in seconds since the epoch."""

    body: str
    when: float
    mine: bool = False


def answer(shop: Shop, words: str) -> str:
    """Return the agent's answer, carrying out a cancellation or return that was asked for."""
    said = words.lower()
    order = _order_meant(shop, said)
    if re.search(r"\b(human|person|manager)\b", said):
        return "I'm the person on duty today. Tell me what went wrong and I'll sort it out."
    if re.search(r"\bcancel", said):
        return _cancel(order)
    if re.search(r"\b(refund|return|money back|broken|damaged|wrong)\b", said):
        return _return(order)
    if re.search(r"\b(where|when|track|status|arriv|deliver|ship)", said):
        return _where(order)
    if re.search(r"\b(pay|card|charge|invoice|bill)", said):
        return "You can pay by card, with your Larkspur balance, or on delivery."
    if re.search(r"\b(thanks|thank you|great|perfect|bye)\b", said):
        return "You're welcome! Have a good day."
    if re.search(r"\b(hi|hello|hey)\b", said):
        return "Hello! Is it about one of your orders?"
    return (
        "I can tell you where an order is, cancel it, or start a return. "
        "Please give me the order number."
    )


def _order_meant(shop: Shop, said: str) -> Order | None:
    for number in re.findall(r"\d{4,}", said):
        for order in shop.orders:
            if str(order.id) == number:
                return order
    named = re.search(r"\d{4,}", said)
    return None if named or len(shop.orders) != 1 else shop.orders[0]


def _cancel(order: Order | None) -> str:
    if order is None:
        return "Which order should I cancel? Please give me its number."
    if order.status == "processing":
        order.status = "cancelled"
        return f"Order {order.id} is cancelled. ${order.total:,.2f} goes back to {order.paid_with}."
    if order.status == "shipped":
        return f"Order {order.id} has shipped already. You can return it once it arrives."
    return f"Order {order.id} is {order.status}; there is nothing left to cancel."


def _return(order: Order | None) -> str:
    if order is None:
        return "I'm sorry about that. Which order is it? Please give me its number."
    if order.status == "delivered":
        order.status = "returned"
        return (
            f"I have started a return for order {order.id} and refunded ${order.total:,.2f}. "
            "A label is on its way to your mail."
        )
    return f"Order {order.id} is {order.status}, so it cannot be returned yet."


def _where(order: Order | None) -> str:
    if order is None:
        return "Happy to look. What is the order number?"
    place = {
        "processing": "being packed in our warehouse",
        "shipped": "on its way and should reach you in two days",
        "delivered": "delivered",
    }.get(order.status, order.status)
    return f"Order {order.id} is {place}."
