"""What buttons say in other languages than English when they spend, delete, send, call or install.

Words only; what follows from them: `agent.safety.effects`. Sources: install and uninstall are
strings of AOSP's PackageInstaller (`install`, `uninstall_application_title`), send and delete of
its Messaging (`action_send`, `action_delete`), in `res/values-<language>`; spending has no string
of the system, so its words are those of shops' and banks' buttons, in Germany's case of the law
(BGB § 312j: "zahlungspflichtig bestellen"). Left out is what a phone says more often for something
harmless (Turkish "ara" is search as well as call). Invariant: everything here goes through the same
folding as the labels that it is compared with (`agent.safety.words`).
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache

from agent.language.fold import skeleton
from agent.safety.words import words


class Act(StrEnum):
    """What a button does."""

    SPEND = "spend"  # Said by these words wherever they stand in a label.
    ORDER = "order"  # Spends too, but its words are also ordinary speech: only on a button.
    DELETE = "delete"
    SEND = "send"
    CALL = "call"
    INSTALL = "install"


# Languages that part words by spaces; the phrases of each act stand between commas.
_SPACED: Mapping[str, Mapping[Act, str]] = {
    "de": {
        Act.SPEND: "bezahlen, jetzt zahlen, kaufen, jetzt kaufen, zur kasse, überweisen, spenden, "
        "zahlungspflichtig bestellen, kostenpflichtig bestellen, kostenpflichtig abonnieren, "
        "geld senden, in den warenkorb, bestellung aufgeben, bestellung bestätigen, jetzt buchen",
        Act.ORDER: "zahlen, bestellen, abonnieren, buchen, zahlung bestätigen",
        Act.DELETE: "löschen, deinstallieren, zurücksetzen, papierkorb leeren, konto schließen",
        Act.SEND: "senden, absenden, abschicken, verschicken, posten, teilen, weiterleiten",
        Act.CALL: "anrufen",
        Act.INSTALL: "installieren",
    },
    "fr": {
        Act.SPEND: "payer, acheter, passer la commande, passer commande, valider la commande, "
        "confirmer la commande, confirmer le paiement, s abonner, ajouter au panier, faire un don, "
        "envoyer de l argent, faire un virement",
        Act.ORDER: "commander, virer, transférer, réserver",
        Act.DELETE: "supprimer, effacer, désinstaller, réinitialiser, vider la corbeille",
        Act.SEND: "envoyer, publier, partager, transférer",
        Act.CALL: "appeler",
        Act.INSTALL: "installer",
    },
    "es": {
        Act.SPEND: "pagar, comprar, suscribirse, suscribirme, realizar pedido, realizar el pedido, "
        "confirmar pedido, confirmar el pedido, confirmar pago, finalizar compra, tramitar pedido, "
        "añadir al carrito, agregar al carrito, añadir a la cesta, enviar dinero, donar",
        Act.ORDER: "pedir, transferir, reservar",
        Act.DELETE: "eliminar, borrar, suprimir, desinstalar, restablecer, vaciar papelera",
        Act.SEND: "enviar, publicar, compartir, reenviar",
        Act.CALL: "llamar",
        Act.INSTALL: "instalar",
    },
    "it": {
        Act.SPEND: "paga, pagare, paga ora, acquista, acquistare, compra, comprare, abbonati, "
        "conferma ordine, conferma l ordine, effettua ordine, invia ordine, conferma pagamento, "
        "aggiungi al carrello, invia denaro",
        Act.ORDER: "ordina, trasferisci, prenota, bonifico",
        Act.DELETE: "elimina, eliminare, cancella, disinstalla, ripristina, svuota cestino",
        Act.SEND: "invia, inviare, pubblica, condividi, inoltra",
        Act.CALL: "chiama",
        Act.INSTALL: "installa",
    },
    "pt": {
        Act.SPEND: "pagar, comprar, assinar agora, finalizar compra, finalizar pedido, "
        "fazer pedido, confirmar pedido, confirmar pagamento, adicionar ao carrinho, "
        "enviar dinheiro, doar, fazer pix, pagar com pix",
        Act.ORDER: "pedir, encomendar, transferir, assinar, subscrever, reservar",
        Act.DELETE: "excluir, eliminar, apagar, desinstalar, redefinir, esvaziar lixeira",
        Act.SEND: "enviar, publicar, postar, compartilhar, partilhar, encaminhar",
        Act.CALL: "ligar para, chamar",
        Act.INSTALL: "instalar",
    },
    "nl": {
        Act.SPEND: "betalen, betaal, nu betalen, kopen, koop nu, afrekenen, bestelling plaatsen, "
        "bestelling bevestigen, bestelling met betalingsverplichting, in winkelwagen, geld sturen, "
        "doneren",
        Act.ORDER: "bestel, bestellen, overboeken, overmaken, abonneren, boeken",
        Act.DELETE: "verwijderen, wissen, deïnstalleren, prullenbak leegmaken, resetten",
        Act.SEND: "verzenden, versturen, stuur, sturen, plaatsen, delen, doorsturen",
        Act.CALL: "bellen",
        Act.INSTALL: "installeren",
    },
    "pl": {
        Act.SPEND: "zapłać, kup, kup teraz, kupuję i płacę, zamawiam i płacę, wyślij pieniądze, "
        "złóż zamówienie, potwierdź zamówienie, dodaj do koszyka, subskrybuj",
        Act.ORDER: "płacę, zamów, przelej",
        Act.DELETE: "usuń, skasuj, odinstaluj",
        Act.SEND: "wyślij, opublikuj, udostępnij",
        Act.CALL: "zadzwoń",
        Act.INSTALL: "zainstaluj, instaluj",
    },
    "tr": {
        Act.SPEND: "öde, ödeme yap, satın al, siparişi onayla, siparişi tamamla, sepete ekle, "
        "para gönder, abone ol, bağış yap",
        Act.ORDER: "sipariş ver, havale",
        Act.DELETE: "sil, kaldır, yüklemeyi kaldır, sıfırla",
        Act.SEND: "gönder, paylaş, yayınla",
        Act.CALL: "çağrı yap",
        Act.INSTALL: "yükle, kur",
    },
    "ru": {
        Act.SPEND: "оплатить, заплатить, купить, оформить заказ, подтвердить заказ, "
        "подтвердить оплату, подтвердить платёж, отправить деньги, перевести деньги, "
        "добавить в корзину, в корзину, пожертвовать",
        Act.ORDER: "перевести, заказать, подписаться, забронировать, оплата",
        Act.DELETE: "удалить, стереть, очистить корзину, сбросить, деинсталлировать",
        Act.SEND: "отправить, опубликовать, поделиться, переслать",
        Act.CALL: "позвонить, вызвать",
        Act.INSTALL: "установить",
    },
    "uk": {
        Act.SPEND: "сплатити, оплатити, купити, оформити замовлення, підтвердити замовлення, "
        "надіслати гроші",
        Act.ORDER: "замовити, переказати",
        Act.DELETE: "видалити, стерти",
        Act.SEND: "надіслати, опублікувати, поділитися",
        Act.CALL: "зателефонувати, подзвонити",
        Act.INSTALL: "встановити, установити",
    },
    "id": {
        Act.SPEND: "bayar, beli, beli sekarang, buat pesanan, konfirmasi pesanan, kirim uang, "
        "tambahkan ke keranjang",
        Act.ORDER: "pesan sekarang, berlangganan, transfer",
        Act.DELETE: "hapus, uninstal, copot pemasangan",
        Act.SEND: "kirim, bagikan",
        Act.CALL: "panggil",
        Act.INSTALL: "instal, pasang",
    },
    "vi": {
        Act.SPEND: "thanh toán, mua ngay, đặt hàng, chuyển tiền, chuyển khoản",
        Act.ORDER: "mua",
        Act.DELETE: "xóa, xoá, gỡ cài đặt",
        Act.SEND: "gửi, đăng bài, chia sẻ",
        Act.CALL: "gọi",
        Act.INSTALL: "cài đặt ứng dụng",
    },
}
# Languages that do not, or that glue endings to their words: what a short label has in it.
_GLUED: Mapping[str, Mapping[Act, str]] = {
    "zh": {
        Act.SPEND: "支付, 付款, 买单, 買單, 结账, 结帳, 結帳, 結賬, 购买, 購買, 立即买, 抢购, "
        "下单, 下單, 提交订单, 提交訂單, 确认订单, 確認訂單, 转账, 轉帳, 轉賬, 汇款, 匯款, 充值, "
        "打赏, 加入购物车, 加入購物車, 订阅, 訂閱",
        Act.DELETE: "删除, 刪除, 卸载, 解除安裝, 移除应用, 清空, 恢复出厂, 注销账号, 註銷",
        Act.SEND: "发送, 傳送, 發送, 发布, 發佈, 分享, 转发, 轉發",
        Act.CALL: "拨打, 撥打, 呼叫, 打电话",
        Act.INSTALL: "安装, 安裝",
    },
    "ja": {
        Act.SPEND: "支払, 決済, 購入, 注文, 買う, お買い上げ, 送金, 振込, 振り込, 課金, 寄付, "
        "カートに入れる, カートに追加",
        Act.DELETE: "削除, 消去, アンインストール, 初期化, ゴミ箱を空に, 退会",
        Act.SEND: "送信, 投稿, 共有, 転送",
        Act.CALL: "発信, 電話をかける",
        Act.INSTALL: "インストール",
    },
    "ko": {
        Act.SPEND: "결제, 구매, 주문하기, 주문 확인, 송금, 이체, 구독하기, 장바구니에 담기, "
        "기부하기, 충전하기",
        Act.DELETE: "삭제, 제거, 초기화, 탈퇴, 휴지통 비우기",
        Act.SEND: "보내기, 전송, 게시하기, 공유하기, 전달하기",
        Act.CALL: "전화 걸기, 통화하기",
        Act.INSTALL: "설치",
    },
    "ar": {
        Act.SPEND: "دفع, شراء, اشتر, سداد, تأكيد الطلب, إتمام الطلب, إرسال الطلب, تحويل الأموال, "
        "تحويل المال, إرسال الأموال, أضف إلى السلة, إضافة إلى السلة, تبرع",
        Act.DELETE: "حذف, إزالة, إلغاء تثبيت, إلغاء التثبيت, محو, إعادة الضبط",
        Act.SEND: "إرسال, أرسل, نشر, مشاركة",
        Act.CALL: "إجراء مكالمة, اتصل",
        Act.INSTALL: "تثبيت",
    },
    "hi": {
        Act.SPEND: "भुगतान, पेमेंट करें, खरीदें, अभी खरीदें, ऑर्डर करें, ऑर्डर की पुष्टि, पैसे भेजें, "
        "कार्ट में जोड़ें, सदस्यता लें, ट्रांसफ़र करें",
        Act.DELETE: "हटाएं, मिटाएं, अनइंस्टॉल, डिलीट, रीसेट करें",
        Act.SEND: "भेजें, पोस्ट करें, साझा करें, शेयर करें",
        Act.CALL: "कॉल करें",
        Act.INSTALL: "इंस्टॉल करें",
    },
    "th": {
        Act.SPEND: "ชำระเงิน, จ่ายเงิน, ซื้อ, สั่งซื้อ, โอนเงิน, เพิ่มลงตะกร้า, สมัครสมาชิกแบบ",
        Act.DELETE: "ลบ, ถอนการติดตั้ง",
        Act.SEND: "ส่ง, โพสต์, แชร์",
        Act.CALL: "โทรออก",
        Act.INSTALL: "ติดตั้ง",
    },
    "he": {
        Act.SPEND: "לתשלום, שלם, תשלום, קנה עכשיו, לקנייה, רכישה, העברת כסף, ביצוע הזמנה, הוסף לסל",
        Act.DELETE: "מחיקה, מחק, הסרת התקנה, הסר התקנה",
        Act.SEND: "שליחה, שלח, שיתוף, פרסם",
        Act.CALL: "התקשר, חייג",
        Act.INSTALL: "התקנה, התקן",
    },
}
_HARMLESS = (
    *(
        "支付宝",
        "支付寶",
        "已安装",
        "已安裝",
        "已发送",
        "已傳送",
        "注文履歴",
        "購入履歴",
        "購入済み",
    ),
    *("発信履歴", "送信済み", "インストール済み", "구매 내역", "결제 내역", "주문 내역", "설치됨"),
)
"""What has such a word in it and does nothing: a name, a list of what was done."""
SHORT_CHARS = 24
"""A folded label of a language without spaces is a button's up to this long; a Hangul syllable is
folded into two or three letters."""
LANGUAGES = frozenset(_SPACED) | frozenset(_GLUED)


def phrases(act: Act) -> tuple[tuple[str, ...], ...]:
    """List the phrases of the languages that part words, as words."""
    return tuple(dict.fromkeys(words(text) for text in _listed(_SPACED.values(), act)))


@lru_cache(maxsize=4096)
def says_unspaced(act: Act, title: str) -> bool:
    """Return whether a short title says it in a language whose words stand without spaces."""
    if title.isascii():
        return False
    shown = _packed(title)
    if len(shown) > SHORT_CHARS:
        return False
    for name in map(_packed, _HARMLESS):
        shown = shown.replace(name, "")
    return any(stem in shown for stem in _stems(act))


@lru_cache(maxsize=len(Act))
def _stems(act: Act) -> tuple[str, ...]:
    return tuple(_packed(text) for text in _listed(_GLUED.values(), act))


def _listed(languages: Iterable[Mapping[Act, str]], act: Act) -> list[str]:
    return [
        text.strip()
        for language in languages
        for text in language.get(act, "").split(",")
        if text.strip()
    ]


def _packed(text: str) -> str:
    """Fold a text and leave out what stands between its letters."""
    return "".join(c for c in skeleton(text) if not c.isspace() and c not in _BETWEEN)


_BETWEEN = frozenset("-_.·・•|/\u0640")
"""Stands between letters and leaves the word what it is; the last is Arabic's stretched line."""
