"""Find the words of a model or a phone that ask the operator for a secret.

Not the asking (`agent.loop.turn.control_tools`) and not who speaks (`agent.records.speaker`).
Invariant: a secret is asked for only by naming the field that it is for.
"""

import re
from functools import cache

from agent.language.normal_form import normal_form
from agent.safety.redacting.context_words import cues_of_all

FLAGGED = "It asks for a secret. Switchboard asks for one only by the field that it is for."
_MORE_SECRETS = (
    "api key, api-key, apikey, access key, access token, secret key, private key, seed phrase, "
    "recovery phrase, recovery code, backup code, login details, credentials, card number, "
    "credit card, debit card, social security number, api-schlüssel, zugangsdaten, kreditkarte, "
    "clé api, clave api, chave api, ключ api, данные карты, номер карты, 银行卡号, 卡号, "
    "カード番号, 카드 번호, 助记词"
)
_VERBS = (
    "enter, type, provide, give, tell, send, share, paste, write, reply, confirm, need, supply, "
    "what is, what's, which is, geben, gib, eingeben, nenne, nennen, schreib, teile, sende, wie "
    "lautet, donne, donnez, entrez, saisissez, indiquez, envoyez, quel est, introduce, introduzca, "
    "escribe, escriba, dime, ingrese, envia, cual es, inserisci, scrivi, dimmi, qual e, digite, "
    "informe, envie, voer, geef, vul, podaj, wpisz, girin, yazin, введите, напишите, сообщите, "
    "укажите, введіть, напишіть, masukkan, nhập, 输入, 輸入, 告诉, 提供, 入力, 教えて, 입력, 알려, "
    "أدخل, اكتب, أرسل, दर्ज, बताएं, ใส่, กรอก, บอก, הזן, הקלד, שלח"
)
_SENTENCE = re.compile(r"[^.?!\n。？！]+")
_ABOUT_ACTS = re.compile(
    r"\W*(?:should i|shall i|may i|can i|do you want me|would you like me|soll ich|darf ich|dois-je"
    r"|puis-je|debo|puedo|devo|posso|moet ik|mag ik)\b"
)
_YOURS = re.compile(r"\W*(?:and )?(?:your|the|ihr|dein|votre|ton|tu|su|sua|il tuo|je|uw)\b")


_BY_HAND = re.compile(
    r"\b(?:yourself|by hand|selbst|von hand|vous-même|à la main|tú mismo|a mano)\b"
)
_INTO_ANSWER = re.compile(r"\b(?:here|below|reply|answer|send me|tell me|give me|share)\b")


def _either(listed: str) -> str:
    words = {normal_form(word.strip()).lower for word in listed.split(",")}
    ordered = sorted(words, key=len, reverse=True)
    # Words of languages without spaces stand inside others; those of the rest begin a word.
    return "|".join(
        re.escape(word) if ord(word[0]) >= 0x0590 else rf"(?<![^\W_]){re.escape(word)}"
        for word in ordered
    )


# Compiled when a text is first looked at: both take tens of milliseconds, and many a core that
# does one act for a line of a shell looks at none.
@cache
def _secret() -> re.Pattern[str]:
    return re.compile(f"{cues_of_all()}|{_either(_MORE_SECRETS)}")


@cache
def _asking() -> re.Pattern[str]:
    return re.compile(_either(_VERBS))


def asks_to_act(text: str) -> bool:
    """Return whether a question asks the operator to do something on the phone with own hands.

    Its answer is that it is done; words that want something in the answer itself speak against it.
    """
    lower = normal_form(text).lower
    return _BY_HAND.search(lower) is not None and _INTO_ANSWER.search(lower) is None


def asks_for_secret(text: str) -> bool:
    """Return whether a question asks the operator to write a secret into its answer."""
    lower = normal_form(text).lower
    sentences = [match[0] for match in _SENTENCE.finditer(lower)]
    is_asking = _asking().search(lower) is not None
    for sentence in sentences:
        if not _secret().search(sentence) or _ABOUT_ACTS.match(sentence):
            continue
        if _asking().search(sentence) or (is_asking and _YOURS.match(sentence)):
            return True
    return False
