"""How amounts of money are written: signs, codes and local short forms of currencies.

Patterns only. Sources: category Sc of Unicode, ISO 4217, CLDR's narrow symbols.
"""

import unicodedata

_SIGNS = "".join(
    chr(point) for point in range(0x24, 0x20D0) if unicodedata.category(chr(point)) == "Sc"
)
"""Every currency sign of Unicode below the combining marks."""
_CODES = (
    "USD EUR GBP JPY CNY INR KRW CHF CAD AUD BRL MXN PLN CZK HUF SEK NOK DKK UAH ILS AED NZD HKD "
    "SGD TWD THB IDR MYR PHP VND PKR BDT LKR NPR KES TZS UGX NGN GHS ZAR EGP DZD TND SAR QAR KWD "
    "BHD OMR JOD IQD IRR KZT UZS AZN RUB BYN MDL RSD BGN ARS CLP PYG UYU BOB DOP GTQ HNL CRC JMD "
    "ISK ETB XOF XAF BTC ETH USDT USDC SOL XRP BNB DOGE LTC TRX XMR"
)
"""ISO 4217 codes that are no English words, and those of coins; in capitals only."""
_LOCAL = (
    r"R\$|(?:US|CA|AU|NZ|HK|NT|[ACSJ])\$|[KTU]Sh|zł|kr\.?|元|円|원|圓|Rp|đ|Kč|Ft|Rs\.?|Fr\.|RM|lei"
    r"|лв\.?|ден\.?|руб\.?|грн\.?|сум|тг|din\.?|KM|GH₵|ر\.س|د\.إ|ج\.م|د\.ج|ريال|درهم|جنيه|تومان"
    r"|บาท|रु\.?|টাকা"
)
_UNITS = (
    "euros?|dollars?|pounds?|coins?|gems?|credits?|diamonds?|tokens?|Münzen|monedas|monete|moedas"
    "|монет|金币|钻石|コイン|코인"
)
"""Words that only follow a number: of currencies, and of what games sell."""
CURRENCY = rf"(?:{_LOCAL}|[{_SIGNS}]|(?-i:{'|'.join(_CODES.split())})|TRY)"
NUMBER = r"\d[\d.,'\u00a0\u202f ]{0,24}(?:[.,]-)?"
AFTER = rf"(?:{CURRENCY}|{_UNITS})"
"""What may follow a number and make it an amount."""
