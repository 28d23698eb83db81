"""The vault: what is kept, how it is sealed, what is checked before a secret is given."""

from pathlib import Path

import pytest
from keyring.errors import KeyringError
from msgspec.structs import replace

from agent.errors import ConfigError, NotAllowedError, UsageError
from agent.records import Bounds, UiNode
from agent.safety.redacting.redaction import redact_secrets
from agent.safety.redacting.secrets import SECRET, Secrets, mentions_vault, vault_name
from agent.vault.entries import SecretKind, VaultEntry, checked_site, read_field
from agent.vault.fitting import Target, why_unfit
from agent.vault.one_time_code import read_one_time_secret
from agent.vault.vault import FILE_NAME, Vault
from tests.vault.keyring_memory import MemoryKeyring, memory_keyring

__all__ = ["memory_keyring"]

APP = "com.example.bank"
CERTIFICATES = ("a" * 64,)
PASSWORD = "correct horse 9"
PASSPHRASE = "open sesame"
EVERYWHERE = Bounds(left=0, top=0, right=1, bottom=1)


def entry(name: str = "bank", field: str = "password", **more: object) -> VaultEntry:
    made = VaultEntry(name=name, package=APP, certificates=CERTIFICATES, field=read_field(field))
    return replace(made, **more)


@pytest.mark.parametrize("passphrase", ["", PASSPHRASE], ids=["keyring", "sealed"])
def test_a_kept_secret_comes_back_and_stands_in_no_file(
    tmp_path: Path, memory_keyring: MemoryKeyring, passphrase: str
) -> None:
    vault = Vault(tmp_path)
    made = vault.add(entry(), PASSWORD, passphrase)
    assert Vault(tmp_path).find("bank") == made
    assert vault.hand_out("bank", made, passphrase) == PASSWORD
    files = [path for path in tmp_path.iterdir() if path.is_file()]
    assert PASSWORD.encode() not in b"".join(path.read_bytes() for path in files)
    assert {path.stat().st_mode & 0o077 for path in files} == {0}
    assert bool(memory_keyring.kept) != bool(passphrase)
    with pytest.raises(UsageError, match="already"):
        vault.add(entry(), "another one", passphrase)
    vault.remove("bank")
    assert vault.entries() == () and memory_keyring.kept == {}


def test_a_wrong_passphrase_and_a_changed_entry_open_nothing(
    tmp_path: Path, memory_keyring: MemoryKeyring
) -> None:
    """Whoever writes the list of entries cannot send a secret to another app."""
    vault = Vault(tmp_path)
    vault.add(entry("sealed"), PASSWORD, PASSPHRASE)
    vault.add(entry("ringed"), PASSWORD)
    with pytest.raises(NotAllowedError):
        vault.hand_out("sealed", vault.entries()[1], "another passphrase")
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes().replace(APP.encode(), b"com.evil.phish12"[: len(APP)]))
    for one in vault.entries():
        assert one.package != APP
        with pytest.raises(NotAllowedError, match="changed"):
            vault.hand_out(one.name, one, PASSPHRASE)
    assert vault.handed_out == ()


def test_a_file_that_others_may_read_is_refused(
    tmp_path: Path, memory_keyring: MemoryKeyring
) -> None:
    vault = Vault(tmp_path)
    made = vault.add(entry(), PASSWORD)
    for mode in (0o640, 0o604, 0o660):
        (tmp_path / FILE_NAME).chmod(mode)
        with pytest.raises(ConfigError, match="Others may read"):
            vault.find("bank")
        with pytest.raises(ConfigError, match="Others may read"):
            vault.hand_out("bank", made)
    (tmp_path / FILE_NAME).chmod(0o600)
    assert vault.find("bank") == made


def test_without_a_keyring_nothing_is_kept_and_the_error_names_the_other_way(
    tmp_path: Path, memory_keyring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: str) -> None:
        raise KeyringError("locked")

    monkeypatch.setattr(memory_keyring, "set_password", closed)
    with pytest.raises(ConfigError) as refused:
        Vault(tmp_path).add(entry(), PASSWORD)
    assert "--sealed" in refused.value.remedy and Vault(tmp_path).entries() == ()


@pytest.mark.parametrize("secret", ["abc", "", "with\nline", "naïve password", "x" * 501])
def test_what_cannot_be_hidden_or_typed_on_keys_is_not_kept(tmp_path: Path, secret: str) -> None:
    with pytest.raises(UsageError) as refused:
        Vault(tmp_path).add(entry(), secret, PASSPHRASE)
    assert not secret or secret not in str(refused.value)


@pytest.mark.parametrize("name", ["", "Bank", "a b", "a/b", "-a", "x" * 41, "a}}", "é"])
def test_a_name_fits_into_a_reference(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        Vault(tmp_path).add(entry(name), PASSWORD, PASSPHRASE)
    assert vault_name(f"{{{{vault:{name}}}}}") == ""


def test_a_reference_stands_alone() -> None:
    assert vault_name(" {{ vault: bank-pin }} ") == "bank-pin"
    for text in ("x{{vault:bank}}", "{{vault:bank}}{{vault:bank}}", "{{VAULT :bank}}"):
        assert vault_name(text) == "" and mentions_vault(text)


# RFC 6238, appendix B: the seconds, and the codes of eight digits by SHA-1, -256 and -512.
CODES = [
    (59, "94287082", "46119246", "90693936"),
    (1111111109, "07081804", "68084774", "25091201"),
    (20000000000, "65353130", "77737706", "47863826"),
]
KEYS = {
    "SHA1": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
    "SHA256": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA",
    "SHA512": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    "GEZDGNBVGY3TQOJQGEZDGNA",
}


def test_codes_are_those_of_the_standard() -> None:
    for second, *codes in CODES:
        for (algorithm, key), code in zip(KEYS.items(), codes, strict=True):
            address = f"otpauth://totp/A:b?secret={key}&digits=8&algorithm={algorithm}"
            assert read_one_time_secret(address).code(second * 1000) == code
    # 80 bits, as services hand out, in groups and small letters.
    usual = read_one_time_secret("jbsw y3dp ehpk 3pxp")
    assert usual.code(1_795_860_000_000) == "213197"
    assert "jbsw" not in repr(usual).lower()


@pytest.mark.parametrize(
    "said", ["", "1", "not base32!", "otpauth://hotp/a?secret=JBSWY3DPEHPK3PXP", "otpauth://totp/a"]
)
def test_what_makes_no_codes_is_refused_without_being_repeated(tmp_path: Path, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        Vault(tmp_path).add(entry(kind=SecretKind.TOTP), said, PASSPHRASE)
    assert len(said) < 2 or said not in str(refused.value)


def test_a_code_is_hidden_also_in_groups() -> None:
    secrets = Secrets(["492817"])
    assert secrets.hide("your code 492 817, 492-817 or 492817") == (
        f"your code {SECRET}, {SECRET} or {SECRET}"
    )
    assert secrets.hide("4928 170") == f"{SECRET}0"


def test_the_name_of_a_kept_secret_may_stand_where_a_secret_is_taken_out() -> None:
    for said in ("Password", "password:", "Passwort:", "The password is", "PIN:", "mot de passe :"):
        for name in ("{{vault:bank}}", "{{vault:bank-2580}}"):
            for end in ("", ", then stop.", "."):
                text = f"{said} {name}{end}"
                assert redact_secrets(text) == text
    assert "hunter2" not in redact_secrets("password: hunter2x99{{vault:bank}}")
    assert "hunter2" not in redact_secrets("password: {{vault:bank}} password: hunter2x99")


# --- what is checked on the screen ----------


def node(**said: object) -> UiNode:
    return replace(UiNode(bounds=EVERYWHERE, package=APP), **said)


PAGE = node(class_name="android.webkit.WebView")
ADDRESS = node(class_name="android.widget.EditText", text="accounts.example.com/login")
WEB_FIELD = node(class_name="android.widget.EditText", password=True, parent=0)
FIELD = node(class_name="android.widget.EditText", password=True, resource_id=f"{APP}:id/pass")
DIGITS = tuple(node(clickable=True, text=digit) for digit in "0123456789")


def target(*nodes: UiNode, field: UiNode | None = FIELD, **other: object) -> Target:
    made = Target(
        package=APP, certificates=CERTIFICATES, over=(), nodes=nodes or (FIELD,), field=field
    )
    return replace(made, **other)


WEB = entry(site="accounts.example.com")
REFUSED = {
    "wrong app": (entry(), target(package="com.example.other"), "is in front"),
    "no app": (entry(), target(package=""), "no app is in front"),
    "other certificate": (entry(), target(certificates=("b" * 64,)), "another certificate"),
    "one more certificate": (entry(), target(certificates=("a" * 64, "b" * 64)), "another"),
    "unknown certificate": (entry(), target(certificates=()), "cannot be read"),
    "overlay": (entry(), target(over=("com.evil",)), "com.evil shows a window over"),
    "field of another app": (entry(), target(field=node(package="x.y", password=True)), "belongs"),
    "plain field": (entry(), target(field=node(class_name="EditText")), "not the one"),
    "other id": (entry(field="id:other"), target(), "not the one"),
    "other hint": (entry(field="hint:Code"), target(), "not the one"),
    "keypad for a field": (entry(), target(field=None), "not for a keypad"),
    "field for a keypad": (entry(field="keypad"), target(), "not for a field"),
    "no keypad": (entry(field="keypad"), target(field=None), "no keypad"),
    "keypad of another app": (
        entry(field="keypad"),
        target(*(replace(one, package="x.y") for one in DIGITS), field=None),
        "another app",
    ),
    "web page without a site": (entry(), target(PAGE, WEB_FIELD, field=WEB_FIELD), "no site"),
    "no address": (WEB, target(PAGE, WEB_FIELD, field=WEB_FIELD), "no address"),
    "site for an own field": (WEB, target(), "on none"),
    "other site": (
        WEB,
        target(PAGE, replace(ADDRESS, text="accounts.example.com.evil.net"), field=WEB_FIELD),
        "is of https://accounts.example.com.evil.net",
    ),
    "subdomain": (
        WEB,
        target(PAGE, replace(ADDRESS, text="x.accounts.example.com"), field=WEB_FIELD),
        "is of",
    ),
    "no encryption": (
        WEB,
        target(PAGE, replace(ADDRESS, text="http://accounts.example.com"), field=WEB_FIELD),
        "is of http://",
    ),
    "address that the page draws": (
        WEB,
        target(PAGE, replace(ADDRESS, parent=0), field=WEB_FIELD),
        "no address",
    ),
    "two addresses": (
        WEB,
        target(PAGE, ADDRESS, replace(ADDRESS, text="evil.net"), field=WEB_FIELD),
        "is of",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_secret_is_given_to_nothing_else(what: str) -> None:
    kept, seen, why = REFUSED[what]
    assert why in why_unfit(kept, seen)


def test_a_secret_is_given_where_it_belongs() -> None:
    assert why_unfit(entry(), target()) == ""
    assert why_unfit(entry(field=f"id:{APP}:id/pass"), target()) == ""
    assert why_unfit(entry(field="hint: code "), target(field=node(hint="Code"))) == ""
    assert why_unfit(entry(field="keypad"), target(*DIGITS, field=None)) == ""
    assert why_unfit(WEB, target(PAGE, WEB_FIELD, ADDRESS, field=WEB_FIELD)) == ""


def test_words_of_an_entry_that_mean_nothing_are_refused() -> None:
    for said in ("", "id", "id:", "password:x", "keypad:1", "nothing"):
        with pytest.raises(UsageError, match="--field"):
            read_field(said)
    for site in ("http://example.com", "two words", "ftp://x"):
        with pytest.raises(UsageError, match="--site"):
            checked_site(site)
    assert checked_site("https://Accounts.Example.com/login") == "accounts.example.com"
