"""Buttons that spend, delete, send, call or install, in the languages that a phone may show."""

from collections.abc import Mapping

import pytest

from agent.records import Bounds, EffectVerb, Element
from agent.safety.effects.labels import find_named, is_send
from agent.safety.phrasebook import LANGUAGES, Act, phrases


def button(label: str, **more: object) -> Element:
    """Make a button that says something, and whose id says nothing."""
    fields: dict[str, object] = {
        "number": 1,
        "key": "k",
        "label": label,
        "kind": "btn",
        "class_name": "android.widget.Button",
        "resource_id": "com.x:id/b1",
        "bounds": Bounds(left=0.1, top=0.1, right=0.9, bottom=0.2),
        "clickable": True,
        **more,
    }
    return Element(**fields)  # type: ignore[arg-type]


def verb_of(label: str) -> EffectVerb | None:
    found = find_named(button(label))
    return None if found is None else found.verb


SPENDS = {
    "de": ("Jetzt kaufen", "Zahlungspflichtig bestellen", "Bezahlen • 12,99 €", "Bestellen"),
    "fr": ("Payer", "Acheter maintenant", "Passer la commande", "S’abonner", "Commander"),
    "es": ("Pagar 20 €", "Comprar ahora", "Realizar pedido", "Transferir"),
    "it": ("Acquista", "Paga ora", "Conferma ordine"),
    "pt": ("Comprar agora", "Finalizar compra", "Fazer Pix", "Transferir"),
    "nl": ("Nu betalen", "Bestelling plaatsen", "Koop nu"),
    "pl": ("Kup teraz", "Kupuję i płacę", "Zapłać"),
    "tr": ("Satın al", "Ödeme yap"),
    "ru": ("Оплатить", "Купить за 300 ₽", "Оформить заказ", "Перевести"),
    "uk": ("Сплатити", "Оформити замовлення"),
    "id": ("Bayar", "Beli sekarang"),
    "vi": ("Thanh toán", "Mua ngay", "Chuyển khoản"),
    "zh": ("立即购买", "确认支付 ¥12", "提交訂單", "转账"),
    "ja": ("購入手続きへ", "注文を確定する", "支払う", "送金"),
    "ko": ("결제하기", "구매하기", "송금"),
    "ar": ("ادفع الآن، الدفع", "شراء", "تأكيد الطلب"),
    "hi": ("अभी खरीदें", "भुगतान करें"),
    "th": ("ชำระเงิน", "สั่งซื้อสินค้า"),
    "he": ("לתשלום", "ביצוע הזמנה"),
}
DELETES = {
    "de": ("Löschen", "App deinstallieren"),
    "fr": ("Supprimer", "Désinstaller"),
    "es": ("Eliminar", "Borrar contacto", "Desinstalar"),
    "it": ("Elimina", "Disinstalla"),
    "pt": ("Excluir", "Desinstalar"),
    "nl": ("Verwijderen", "Deïnstalleren"),
    "pl": ("Usuń", "Odinstaluj"),
    "tr": ("Sil", "Kaldır"),
    "ru": ("Удалить", "Удалить приложение"),
    "uk": ("Видалити",),
    "id": ("Hapus",),
    "vi": ("Xóa", "Gỡ cài đặt"),
    "zh": ("删除", "卸载", "解除安裝"),
    "ja": ("削除", "アンインストール"),
    "ko": ("삭제", "제거"),
    "ar": ("حذف", "إلغاء تثبيت التطبيق"),
    "hi": ("हटाएं", "ऐप्लिकेशन अनइंस्टॉल करें"),
    "th": ("ลบ", "ถอนการติดตั้ง"),
    "he": ("מחיקה", "הסרת התקנה"),
}
SENDS = {
    "de": ("Senden", "Nachricht senden", "Teilen"),
    "fr": ("Envoyer", "Partager"),
    "es": ("Enviar", "Compartir"),
    "it": ("Invia",),
    "pt": ("Enviar", "Compartilhar"),
    "nl": ("Verzenden", "Delen"),
    "pl": ("Wyślij",),
    "tr": ("Gönder",),
    "ru": ("Отправить",),
    "uk": ("Надіслати",),
    "id": ("Kirim",),
    "vi": ("Gửi",),
    "zh": ("发送", "傳送"),
    "ja": ("送信",),
    "ko": ("보내기",),
    "ar": ("إرسال رسالة",),
    "hi": ("संदेश भेजें",),
    "th": ("ส่ง",),
    "he": ("שליחה",),
}
INSTALLS = {
    "de": ("Installieren",),
    "fr": ("Installer",),
    "es": ("Instalar",),
    "ru": ("Установить",),
    "zh": ("安装",),
    "ja": ("インストール",),
    "ko": ("설치",),
    "ar": ("تثبيت",),
    "hi": ("इंस्टॉल करें",),
}


def listed(table: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [label for labels in table.values() for label in labels]


@pytest.mark.parametrize("label", listed(SPENDS))
def test_what_spends_is_asked_about_in_every_language(label: str) -> None:
    assert verb_of(label) is EffectVerb.SPEND


@pytest.mark.parametrize("label", listed(DELETES))
def test_what_deletes_is_asked_about_in_every_language(label: str) -> None:
    assert verb_of(label) is EffectVerb.DELETE


@pytest.mark.parametrize("label", listed(SENDS))
def test_what_sends_is_asked_about_in_every_language(label: str) -> None:
    assert verb_of(label) in {EffectVerb.SEND, EffectVerb.CARRY_OUT}


@pytest.mark.parametrize("label", listed(INSTALLS))
def test_what_installs_is_asked_about_in_every_language(label: str) -> None:
    assert verb_of(label) is EffectVerb.INSTALL


def test_every_language_has_words_for_money_deleting_and_sending() -> None:
    assert set(SPENDS) == set(DELETES) == set(SENDS) == LANGUAGES
    for act in Act:
        assert all(phrases(act)), "no phrase is empty, for an empty one would be everywhere"


@pytest.mark.parametrize(
    "label",
    [
        "支\u200b付",  # zero width
        "支 付",
        "支·付",
        "立即\u2060购买",
        "ｋａｕｆｅｎ",  # full width
        "Kаufen",  # Cyrillic а
        "k a u f e n",
        "B\u0435zahlen",  # Cyrillic е
        "\u202enelhazeb\u202c",  # right-to-left override
        "Асheter",  # Cyrillic А and с
        "ОПЛАТИТЬ",
        "𝐊𝐚𝐮𝐟𝐞𝐧",
        "결\u200d제",
        "دف\u0640\u0640ع",  # stretched
        "भुगतान\u200c करें",
    ],
)
def test_safety_a_look_alike_of_a_foreign_word_is_asked_about(label: str) -> None:
    assert verb_of(label) is not None


@pytest.mark.parametrize(
    "label",
    [
        *("Anzeige", "Auswählen", "Kontakte", "Verkaufte Artikel", "Zahlenreihe", "Mehr laden"),
        *("Ordenar por fecha", "Réglages", "Ligar o Bluetooth", "Ara", "Telepon", "Cài đặt"),
        *("Đăng nhập", "Настройки", "Показать", "Отмена", "支付宝", "已安装", "设置", "注文履歴"),
        *("設定", "キャンセル", "送信済み", "설정", "취소", "جهات الاتصال", "إلغاء", "الإعدادات"),
        *("रद्द करें", "सेटिंग", "โทรศัพท์", "ยกเลิก", "ביטול", "Abbrechen", "Annuler", "Cancelar"),
    ],
)
def test_what_only_resembles_such_words_is_not_asked_about(label: str) -> None:
    assert verb_of(label) is None


def test_a_row_that_quotes_such_a_word_is_no_button() -> None:
    row = button("Anna | Kannst du das Paket heute noch für mich senden? | 10:24")
    assert find_named(row) is None


def test_the_button_that_the_enter_key_presses_is_known_in_any_language() -> None:
    for label in ("Senden", "送信", "보내기", "إرسال"):
        assert is_send(button(label))
