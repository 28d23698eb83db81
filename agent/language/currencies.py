"""How amounts of money are written: signs, codes and local short forms of currencies.

Patterns only. Sources: category Sc of Unicode, ISO 4217, CLDR's narrow symbols.
"""

import unicodedata

SIGNS = "".join(
    chr(point)
    for point in (*range(0x24, 0x20D0), *range(0xFE69, 0xFFE7))
    if unicodedata.category(chr(point)) == "Sc"
)
"""Every currency sign of Unicode, with the wide and the small ones."""
_WRITTEN_CODES = (
    "USD EUR GBP JPY CNY INR KRW CHF CAD AUD BRL MXN PLN CZK HUF SEK NOK DKK UAH ILS AED NZD HKD "
    "SGD TWD THB IDR MYR PHP VND PKR BDT LKR NPR KES TZS UGX NGN GHS ZAR EGP DZD TND SAR QAR KWD "
    "BHD OMR JOD IQD IRR KZT UZS AZN RUB BYN MDL RSD BGN ARS CLP PYG UYU BOB DOP GTQ HNL CRC JMD "
    "ISK ETB XOF XAF BTC ETH USDT USDC SOL XRP BNB DOGE LTC TRX XMR"
)
"""ISO 4217 codes that are no English words, and those of coins; in capitals only."""
CODES = frozenset({*_WRITTEN_CODES.split(), "TRY"})
_CASED = r"(?-i:Ft|KM)"
"""Short forms of forint and mark that are units of length in small letters: 6 ft, 5 km."""
_LOCAL = (
    rf"{_CASED}|R\$|(?:US|CA|AU|NZ|HK|NT|[ACSJ])\$|[KTU]Sh|zł|kr\.?|元|円|원|圓|Rp|đ|Kč|Rs\.?|Fr\.|RM|lei"
    r"|лв\.?|ден\.?|руб\.?|грн\.?|сум|тг|din\.?|GH₵|ر\.س|د\.إ|ج\.م|د\.ج|ريال|درهم|جنيه|تومان"
    r"|บาท|रु\.?|টাকা"
)
WORDS = (
    "euros?|dollars?|pounds?|coins?|gems?|credits?|diamonds?|tokens?|Münzen|monedas|monete|moedas"
    "|монет|金币|钻石|コイン|코인"
)
"""Words that only follow a number: of currencies, and of what games sell."""
CURRENCY = rf"(?:{_LOCAL}|[{SIGNS}]|(?-i:{'|'.join(_WRITTEN_CODES.split())})|TRY)"
NUMBER = r"\d[\d.,'\u00a0\u202f ]{0,24}(?:[.,]-)?"
AFTER = rf"(?:{CURRENCY}|{WORDS})"
"""What may follow a number and make it an amount."""
WORD_CODES = {
    **dict.fromkeys(("円", "yen"), frozenset({"JPY"})),
    **dict.fromkeys(("元", "圓"), frozenset({"CNY", "TWD", "HKD"})),
    **dict.fromkeys(("원",), frozenset({"KRW"})),
    **dict.fromkeys(("đ",), frozenset({"VND"})),
    **dict.fromkeys(("euro", "euros"), frozenset({"EUR"})),
}
"""Codes of words and signs for which CLDR has another sign."""
