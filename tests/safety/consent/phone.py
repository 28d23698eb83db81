"""A paired phone without its browser: a key of P-256 that signs as WebCrypto does."""

import itertools
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from agent.consent.bound_answer import bound_to
from agent.records import Question

_numbers = itertools.count()


class Phone:
    """One phone, with the id that it got when it was paired."""

    def __init__(self, phone_id: str = "") -> None:
        self._key = generate_private_key(SECP256R1())
        self.phone_id = phone_id

    @property
    def public(self) -> bytes:
        return self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def sign(self, text: str, whose: str | None = None) -> bytes:
        words = f"switchboard phone 1\n{self.phone_id if whose is None else whose}\n{text}"
        r, s = decode_dss_signature(
            self._key.sign(words.encode("utf-8", "surrogateescape"), ECDSA(SHA256()))
        )
        return r.to_bytes(32) + s.to_bytes(32)


def statement(do: str, at_ms: int, **fields: Any) -> dict[str, Any]:
    return {"do": do, "id": f"statement-{next(_numbers):08}", "at_ms": at_ms, **fields}


def answering(question: Question, generation: int, at_ms: int, answer: str) -> dict[str, Any]:
    shown = bound_to(question, generation)
    return statement(
        "answer",
        at_ms,
        question_id=shown.question_id,
        generation=shown.generation,
        digest=shown.digest,
        answer=answer,
    )


def as_text(said: dict[str, Any]) -> str:
    return json.dumps(said, ensure_ascii=False)
