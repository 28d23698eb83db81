"""The locales that tests write numbers, dates and times in."""

from babel.localedata import locale_identifiers
from hypothesis import strategies as st

from agent.language.cldr import languages

_LEFT_OUT = (
    *("en_Dsrt", "en_Shaw", "zh_Latn"),  # The tables have nothing of them.
    *("az_Arab", "ms_Arab", "mn_Mong", "pa_Arab", "uz_Arab"),  # babel lacks words of theirs.
    "fr_CM",  # Its hours of twelve do not say which half of the day.
)
LOCALES = st.sampled_from(
    [
        name
        for name in sorted(locale_identifiers())
        if name.split("_")[0] in languages() and not name.startswith(_LEFT_OUT)
    ]
)
"""Every language of Android in every region and script that CLDR has for it."""
