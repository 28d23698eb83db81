"""Which tools a goal needs beyond those for the phone: by its words, else by asking for them.

The words are hints only: a tool that was not offered can be asked for (`more_tools`), and a call of
it by name is carried out all the same. The languages are those of `agent.safety.phrasebook`.
Invariant: once offered, a tool is offered to the end of the session.
"""

from enum import StrEnum
from functools import lru_cache

from agent.language.fold import skeleton
from agent.language.tokens import has_phrase
from agent.safety.words import words


class ToolGroup(StrEnum):
    """Tools for what goes on when the session is over."""

    JOBS = "jobs"
    WATCHERS = "watchers"
    COMMITMENTS = "commitments"


ALL = frozenset(ToolGroup)
_DAYS = ("weekday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SPACED = {
    # What is to be done later, or again and again.
    ToolGroup.JOBS: (
        *("every day", "every morning", "every evening", "every night", "every week", "every hour"),
        *("every minute", "every month", "daily", "hourly", "weekly", "monthly", "schedule"),
        *("scheduled", "regularly", "from now on", "later today", "background job", "jobs"),
        *("each day", "each week", "each morning", "tomorrow at", "weekdays"),
        *(f"{each} {day}" for each in ("every", "each") for day in _DAYS),
        *("every few", "repeatedly", "in the background"),
        *("jeden tag", "täglich", "stündlich", "wöchentlich", "jede stunde", "jede woche"),
        *("jeden morgen", "jeden abend", "regelmäßig", "im hintergrund", "ab jetzt immer"),
        *("chaque jour", "tous les jours", "toutes les heures", "chaque semaine", "chaque matin"),
        *("régulièrement", "en arrière plan", "quotidiennement", "toutes les semaines"),
        *("cada día", "todos los días", "cada hora", "cada semana", "diariamente"),
        *("regularmente", "en segundo plano", "cada mañana"),
        *("ogni giorno", "ogni ora", "ogni settimana", "ogni mattina", "regolarmente"),
        *("todo dia", "todos os dias", "a cada hora", "toda semana", "cada dia", "cada semana"),
        *("diariamente", "em segundo plano"),
        *("elke dag", "elk uur", "elke week", "dagelijks", "elke ochtend", "regelmatig"),
        *("codziennie", "co godzinę", "co tydzień", "każdego dnia", "regularnie", "w tle"),
        *("her gün", "her saat", "her hafta", "her sabah", "düzenli olarak", "arka planda"),
        *("каждый день", "ежедневно", "каждый час", "каждую неделю", "каждое утро", "регулярно"),
        *("щодня", "кожен день", "щогодини", "щотижня", "кожного дня", "регулярно"),
        *("setiap hari", "setiap jam", "setiap minggu", "setiap pagi", "secara berkala"),
        *("mỗi ngày", "hàng ngày", "mỗi giờ", "hàng tuần", "mỗi tuần", "mỗi sáng"),
        *("كل يوم", "يوميا", "كل ساعة", "كل أسبوع", "بانتظام"),
        *("כל יום", "כל שעה", "כל שבוע", "באופן קבוע"),
    ),
    # What is to be looked out for.
    ToolGroup.WATCHERS: (
        *("notify me", "let me know when", "let me know if", "tell me when", "tell me if"),
        *("alert me", "watch for", "watch out", "keep an eye", "as soon as", "whenever", "watcher"),
        *("watchers", "monitor", "look out for", "wait for a message", "when i get", "warn me"),
        *("sag mir wenn", "sag bescheid", "benachrichtige mich", "sobald", "jedes mal wenn"),
        *("melde dich wenn", "überwache", "beobachte", "achte auf", "behalte im auge"),
        *("préviens moi", "avertis moi", "dis moi quand", "dès que", "surveille", "notifie moi"),
        *("avísame", "avisame", "notifícame", "dime cuando", "en cuanto", "vigila", "cada vez que"),
        *("avvisami", "avvertimi", "dimmi quando", "appena", "tieni d occhio", "ogni volta che"),
        *("me avise", "avisa me", "me notifique", "assim que", "sempre que", "fique de olho"),
        *("laat me weten", "waarschuw me", "zodra", "houd in de gaten", "telkens als"),
        *("powiadom mnie", "daj mi znać", "daj znać", "gdy tylko", "obserwuj", "za każdym razem"),
        *("haber ver", "bana bildir", "ne zaman", "takip et", "her seferinde"),
        *("сообщи когда", "уведоми", "дай знать", "как только", "следи за", "каждый раз когда"),
        *("повідом", "дай знати", "як тільки", "щойно", "стеж за", "щоразу"),
        *("beri tahu saya", "kabari saya", "segera setelah", "pantau", "setiap kali"),
        *("báo cho tôi", "thông báo cho tôi", "ngay khi", "theo dõi", "mỗi khi"),
        *("أخبرني عندما", "أعلمني", "نبهني", "بمجرد", "راقب", "كلما"),
        *("תודיע לי", "הודע לי", "ברגע ש", "עקוב אחרי", "בכל פעם"),
    ),
    # What was promised, and what is to be remembered by the operator.
    ToolGroup.COMMITMENTS: (
        *("remind me", "reminder", "promised", "promise", "commitment", "commitments", "owe"),
        *("follow up", "to do list", "don t let me forget", "due by"),
        *("erinnere mich", "erinnerung", "versprochen", "zugesagt", "nicht vergessen"),
        *("rappelle moi", "rappel", "promis", "promesse", "engagement"),
        *("recuérdame", "recuerdame", "recordatorio", "prometí", "prometido", "compromiso"),
        *("ricordami", "promemoria", "promesso", "impegno"),
        *("me lembre", "lembra me", "lembrete", "prometi", "prometido", "compromisso"),
        *("herinner me", "herinnering", "beloofd", "toezegging"),
        *("przypomnij mi", "przypomnienie", "obiecałem", "obiecałam", "obietnica"),
        *("bana hatırlat", "hatırlatma", "hatırlat", "söz verdim"),
        *("напомни", "напоминание", "обещал", "обещала", "обещание"),
        *("нагадай", "нагадування", "обіцяв", "обіцяла", "обіцянка"),
        *("ingatkan saya", "pengingat", "janji"),
        *("nhắc tôi", "lời nhắc", "đã hứa", "lời hứa"),
        *("ذكرني", "تذكير", "وعدت", "وعد"),
        *("תזכיר לי", "תזכורת", "הבטחתי"),
    ),
}
# Without spaces between words, or with letters that words are not told apart by: found anywhere.
_GLUED = {
    ToolGroup.JOBS: (
        *("हर दिन", "रोज", "हर घंटे", "हर हफ्ते", "प्रतिदिन", "रोज़"),
        *("每天", "每小时", "每周", "每星期", "定期", "每日", "后台", "每隔"),
        *("毎日", "毎時", "毎週", "毎朝", "定期的", "バックグラウンド"),
        *("매일", "매시간", "매주", "정기적", "백그라운드"),
        *("ทุกวัน", "ทุกชั่วโมง", "ทุกสัปดาห์", "ทุกเช้า", "เป็นประจำ"),
    ),
    ToolGroup.WATCHERS: (
        *("मुझे बताना", "मुझे सूचित", "जब भी", "जैसे ही", "नज़र रख", "नजर रख"),
        *("通知我", "告诉我当", "一旦", "留意", "监控", "每当"),
        *("知らせて", "通知して", "見張", "監視", "たびに", "次第"),
        *("알려줘", "알려 줘", "알림을", "감시", "지켜봐", "때마다"),
        *("แจ้งฉัน", "แจ้งเตือน", "บอกฉันเมื่อ", "เฝ้าดู", "ทันทีที่", "ทุกครั้งที่"),
    ),
    ToolGroup.COMMITMENTS: (
        *("याद दिला", "रिमाइंडर", "वादा"),
        *("提醒我", "提醒", "答应", "承诺"),
        *("思い出させ", "リマインド", "リマインダー", "約束"),
        *("상기시켜", "리마인더", "약속", "잊지 않게"),
        *("เตือนฉัน", "การเตือน", "สัญญา"),
    ),
}


@lru_cache(maxsize=256)
def groups_for(text: str) -> frozenset[ToolGroup]:
    """Return the groups that an operator's words ask for, in any of twenty languages."""
    said, packed = words(text), "".join(skeleton(text).split())
    return frozenset(
        group
        for group in ToolGroup
        if any(has_phrase(said, phrase) for phrase in _phrases(group))
        or any(glued in packed for glued in _unspaced(group))
    )


@lru_cache
def _phrases(group: ToolGroup) -> tuple[tuple[str, ...], ...]:
    return tuple(words(phrase) for phrase in _SPACED[group])


@lru_cache
def _unspaced(group: ToolGroup) -> tuple[str, ...]:
    return tuple("".join(skeleton(phrase).split()) for phrase in _GLUED[group])
