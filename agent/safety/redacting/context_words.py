"""Find secrets by what is said beside them: "Password is …", "PIN: 2580", "otp …", "Passwort: …".

Words only in the twenty languages of `agent.safety.phrasebook`; both they and the text are in the
normal form, in lower case. What follows a word counts by how plain it is said to be the secret:
after a colon anything, after "is" what no ordinary sentence says of a password, and beside the word
alone what looks like no word of a language. Every search is linear in the text's length.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from re import Match
from typing import NamedTuple

from agent.language.normal_form import normal_form


class Cue(StrEnum):
    """What kind of secret a word announces."""

    PASSWORD = "PASSWORD"
    PIN = "PIN"
    CODE = "CODE"  # Good once: sent by message or shown by an app.
    CVV = "CVV"


_PASSWORD = (
    "password, passwords, passwd, pwd, passphrase, pass phrase, passcode, pass code, "  # en
    "passwort, kennwort, mot de passe, mots de passe, contraseña, clave de acceso, "  # de fr es
    "password, parola d'ordine, senha, palavra-passe, palavra passe, wachtwoord, "  # it pt nl
    "hasło, haslo, şifre, пароль, пароля, паролем, kata sandi, sandi, mật khẩu, "  # pl tr ru uk id
    "密码, 密碼, 口令, パスワード, 비밀번호, 암호, كلمة المرور, كلمة السر, كلمه السر, "
    "पासवर्ड, รหัสผ่าน, סיסמה, סיסמא, הסיסמה"
)
_PIN = (
    "pin, pins, mpin, pin code, pincode, pin-code, pin number, geheimzahl, pin-nummer, "
    "code pin, code secret, code confidentiel, código pin, nip, codice pin, "
    "пин, пин-код, пинкод, пін, пін-код, mã pin, pin码, 暗証番号, 핀번호, "
    "رقم التعريف الشخصي, الرقم السري, पिन, รหัสพิน, קוד סודי, קוד אישי, פין"
)
_CODE = (
    "otp, one-time password, one-time passcode, one-time code, one time password, one time code, "
    "one time passcode, verification code, security code, authentication code, login code, "
    "confirmation code, 2fa code, two-factor code, sms code, tan, mtan, sms-tan, smstan, "
    "einmalpasswort, einmalcode, bestätigungscode, verifizierungscode, sicherheitscode, sms-code, "
    "freigabecode, anmeldecode, code de vérification, code à usage unique, code de sécurité, "
    "code de confirmation, código de verificación, código de seguridad, clave dinámica, "
    "código de confirmación, codice di verifica, codice di sicurezza, codice otp, "
    "código de verificação, código de segurança, verificatiecode, beveiligingscode, "
    "bevestigingscode, eenmalige code, kod weryfikacyjny, kod sms, kod bezpieczeństwa, "
    "doğrulama kodu, onay kodu, güvenlik kodu, код подтверждения, код проверки, "
    "проверочный код, код из смс, одноразовый код, одноразовый пароль, код підтвердження, "
    "код перевірки, одноразовий код, kode verifikasi, kode otp, kode keamanan, mã xác minh, "
    "mã xác nhận, mã xác thực, mã otp, 验证码, 驗證碼, 校验码, 动态码, 安全码, 認証コード, "
    "確認コード, ワンタイムパスワード, セキュリティコード, 인증번호, 인증코드, 보안코드, "
    "인증 번호, رمز التحقق, كود التحقق, رمز التأكيد, सत्यापन कोड, ओटीपी, รหัสยืนยัน, รหัส otp, "
    "โอทีพี, קוד אימות, קוד חד פעמי, קוד חד-פעמי"
)
_CVV = (
    "cvv, cvc, cvv2, cvc2, cvn, card verification value, card security code, prüfziffer, "
    "kartenprüfnummer, prüfnummer, cryptogramme, código cvv, codice cvv"
)
_LINKS = "is, was, are, ist, war, lautet, est, es, jest, on, to, as, auf, a, e, dir, adalah, là"
_SAID = frozenset({"is", "was", "are", "ist", "war", "lautet", "est", "es"})
"""Links after which also a plain word is the secret, unless sentences say it of secrets."""
_GLUED_LINKS = "是, 为, 為, は, が, 은, 는, 이, 가, คือ, :, ="
_OF_SENTENCES = (
    "a an the at in on for to of or and as by if it its not no now too very my your his her our "
    "their this that what which being been required needed wrong incorrect invalid correct valid "
    "empty missing weak strong expired optional same different set already protected hidden "
    "visible shown saved stored changed updated reset forgotten mandatory case short long unknown "
    "known default accepted ok okay safe secure important sensitive available enabled disabled "
    "written kept encrypted ready there here "
    "falsch ungültig richtig zu nicht leer erforderlich schwach stark abgelaufen notwendig nötig "
    "korrekt gespeichert geändert das dein ihr sicher bekannt "
    "incorrecte invalide requis obligatoire trop faux vide faible expiré le la votre pas modifié "
    "incorrecta obligatoria requerida inválida muy demasiado débil correcta necesaria su tu segura "
    "errata sbagliata obbligatoria richiesta troppo non valida debole corretta scaduta sicura "
    "incorreta obrigatória muito não fraca necessária onjuist vereist verplicht te niet ongeldig "
    "zwak juist het fout"
)
_GAP = r"[^\S\0]{0,8}"
_QUOTES = "\"'`“”„‘’«»「」『』‹›()[]<>"
_MASKED = re.compile(r"[\W_]*$")
_MARKER = re.compile(r"\[(?:[a-z]+ redacted|[a-z]+ \*\*\*|secret)\]", re.IGNORECASE)
_NUMBER = r"(?:[a-z]-)?[0-9](?:[^\w\0\n]{0,3}[0-9]){2,9}(?![^\W_])"
_MIXED = r"(?=[a-z]{0,11}[0-9])[a-z0-9]{4,12}(?![^\W_])"


def _folded(listed: str, sep: str = ", ") -> list[str]:
    words = {normal_form(word.strip()).lower for word in listed.split(sep) if word.strip()}
    return sorted(words, key=len, reverse=True)


def _either(words: list[str]) -> str:
    # A space of a phrase may be several, or a dash.
    return "|".join(re.escape(word).replace(r"\ ", r"[^\S\0]{1,3}") for word in words)


def _is_glued(word: str) -> bool:
    first = ord(word[0])
    return 0x0E00 <= first < 0x0E80 or 0x1100 <= first < 0x1200 or first >= 0x3000


def _cues(listed: str, *, in_compounds: bool) -> str:
    words = _folded(listed)
    spaced = _either([word for word in words if not _is_glued(word)])
    glued = _either([word for word in words if _is_glued(word)])
    # German and Dutch join words: "Bankpasswort", "E-Mail-Passwort".
    before = "" if in_compounds else r"(?<![^\W_])"
    parts = [rf"{before}(?:{spaced})(?![^\W_])"]
    if glued:
        parts.append(rf"(?:{glued})")
    return "(?:" + "|".join(parts) + ")"


_LINK_WORDS = _folded(_LINKS)
_LINK = (
    rf"(?:{_GAP}[:=]+>?|{_GAP}[-–—>→]{{1,2}}(?=[^\S\0])|"
    rf"[^\S\0]{{1,4}}(?:{_either(_LINK_WORDS)})(?![^\W_])(?:{_GAP}:)?|"
    rf"{_GAP}(?:{_either(_folded(_GLUED_LINKS))}))"
)
_BETWEEN = r"(?:[^\S\0]{1,3}[^\W\d_]{1,14}){0,4}?"
_AFTER_PASSWORD = re.compile(
    rf"(?P<cue>{_cues(_PASSWORD, in_compounds=True)})"
    rf"(?P<link>{_LINK}|[^\S\0]{{1,4}}|(?=[0-9]))[^\S\0]{{0,4}}(?P<value>[^\s\0]{{1,200}})"
)


def _number_after(listed: str, value: str) -> re.Pattern[str]:
    cue = _cues(listed, in_compounds=False)
    return re.compile(
        rf"(?P<cue>{cue})(?:(?:{_LINK}|[^\S\0]{{0,4}})[^\w\0]{{0,4}}"
        rf"|{_BETWEEN}{_LINK}[^\w\0]{{0,4}})(?P<value>{value})"
    )


_AFTER = {
    Cue.CVV: _number_after(_CVV, r"[0-9](?:[^\w\0\n]{0,2}[0-9]){2,3}(?![0-9])"),
    Cue.PIN: _number_after(_PIN, _NUMBER),
    Cue.CODE: _number_after(_CODE, rf"(?:{_NUMBER}|{_MIXED})"),
}
_NUMBER_OF_PASSWORD = _number_after(_PASSWORD, _NUMBER)
_BEFORE = re.compile(
    rf"(?<![^\W_])(?P<value>[0-9](?:[^\w\0\n]{{0,2}}[0-9]){{2,9}})[^\S\0]{{1,3}}"
    rf"(?:is|was|ist|est|es|e|=|:)(?:[^\S\0]{{1,3}}[^\W\d_]{{1,14}}){{0,3}}?[^\S\0]{{1,3}}"
    rf"(?:(?P<pin>{_cues(_PIN, in_compounds=False)})|(?P<code>{_cues(_CODE, in_compounds=False)})"
    rf"|{_cues(_PASSWORD, in_compounds=True)})"
)
_STEMS = re.compile(
    "|".join(
        re.escape(stem)
        for stem in {word.split(" ")[0] for word in _folded(", ".join((_PASSWORD, _PIN, _CVV)))}
        | {word.rsplit(" ", 1)[-1] for word in _folded(_CODE)}
    )
)
_FIELD = re.compile(
    _cues(
        ", ".join(
            word
            for word in ", ".join((_PASSWORD, _PIN, _CODE, _CVV)).split(", ")
            # As a field's label these are as often something else: what is searched for, a name.
            if word not in {"passwords", "pins", "pin", "tan", "nip", "sandi", "passwd", "pwd"}
        ),
        in_compounds=False,
    )
)
_FIELD_WORDS = 6
_PLAIN = frozenset(_folded(_OF_SENTENCES, " "))


def names_secret(label: str) -> bool:
    """Return whether a field's label asks for a secret, in any of the languages."""
    lower = normal_form(label).lower
    return len(lower.split()) <= _FIELD_WORDS and _FIELD.search(lower) is not None


def cues_of_all() -> str:
    """Return a pattern of every word that names a secret, for normal forms in lower case."""
    listed = ", ".join((_PASSWORD, _PIN, _CODE, _CVV))
    # "tan" and "nip" are ordinary words where no number stands beside them.
    words = [word for word in listed.split(", ") if word not in {"tan", "nip", "pins"}]
    return _cues(", ".join(words), in_compounds=False)


def may_announce(lower: str) -> bool:
    """Return whether a normal form in lower case has any word that announces a secret."""
    return _STEMS.search(lower) is not None


class Announced(NamedTuple):
    """A secret with the words that announce it, by places in a normal form."""

    start: int
    end: int
    cue: Cue
    value: tuple[int, int]  # Where the secret itself stands.


def announced(text: str, lower: str) -> Iterator[Announced]:
    """Return where secrets stand with the words that announce them, in a normal form.

    Args:
        text: with its letters' case.
        lower: the same in lower case.
    """
    for cue, pattern in _AFTER.items():
        for found in pattern.finditer(lower):
            yield Announced(found.start(), found.end(), cue, found.span("value"))
    for found in _BEFORE.finditer(lower):
        kind = Cue.PIN if found["pin"] else Cue.CODE if found["code"] else Cue.PASSWORD
        yield Announced(found.start(), found.end(), kind, found.span("value"))
    for found in _NUMBER_OF_PASSWORD.finditer(lower):
        yield Announced(found.start(), found.end(), Cue.PASSWORD, found.span("value"))
    at = 0
    while (said := _AFTER_PASSWORD.search(lower, at)) is not None:
        value = text[said.start("value") : said.end("value")]
        if _is_password(said, value):
            first = said.start("value")
            last = first + len(value.rstrip(_QUOTES + ".,;!?"))
            first += len(value) - len(value.lstrip(_QUOTES))
            yield Announced(said.start(), last, Cue.PASSWORD, (min(first, last), last))
            at = said.end()
        else:
            # What follows may be the word itself: "your password: password is …".
            at = said.end("cue")


def _is_password(said: Match[str], value: str) -> bool:
    plain = value.strip(_QUOTES + ".,;:!?")
    low = plain.lower()
    if not plain or _MASKED.match(plain) or _MARKER.match(value):
        return False
    link = said["link"].strip()
    if link in {"=", ":"} or link.endswith((":", "=")):
        return low not in _PLAIN
    if value[0] in _QUOTES and link and len(plain) > 2:
        return True
    if len(plain) < 4:
        return False
    if looks_made_up(plain):
        return True
    return link in _SAID and normal_form(low).lower not in _PLAIN


def looks_made_up(word: str) -> bool:
    """Return whether a word is none of a language: digits, signs or capitals stand inside it."""
    has_letter = any(c.isalpha() for c in word)
    if any(c.isdigit() for c in word):
        return has_letter or len(word) >= 4
    if any(not c.isalnum() and c not in "-'’/.,…" for c in word):
        return has_letter
    return any(c.isupper() for c in word[1:]) and not word.isupper()
