"""Words by which a sentence shows what it is, in the languages that homes are spoken to in most.

Only hints: a sentence without any is kept by what it tells. A new language is a line in each list.
"""

import re
from typing import Final

from .transcript import LineKind

_PREFERENCE: Final = (
    "prefer|prefers|favourite|favorite|i like|likes|i love|we love|loves|i hate|hates"
    "|can't stand|allergic|always want|never want|i'd rather|don't like|doesn't like"
    "|mag|mögen|lieber|liebe|liebt|liebling\\w*|bevorzug\\w*|hasse|hasst|allergisch|am liebsten"
    "|préfère|j'aime|adore|déteste|préféré\\w*|allergique"
    "|prefiero|prefiere|me gusta|le gusta|odio|odia|favorit[oa]|alérgic[oa]"
    "|preferisco|preferisce|mi piace|gli piace|le piace|odio|preferit[oa]|allergic[oa]"
    "|hou van|houdt van|liever|lievelings\\w*|haat|allergisch voor"
    "|prefiro|prefere|gosto de|gosta de|detesto|wolę|lubię|nie lubię"
    "|люблю|любит|предпочитаю|ненавижу"
)
_NAME: Final = (
    "my name is|is called|are called|we call|call it|call me|named|nickname"
    "|heiße|heißt|heissen|nennen wir|nennt sich|nenn\\w* mich|mein name"
    "|je m'appelle|s'appelle|on l'appelle|me llamo|se llama|mi chiamo|si chiama|ik heet|heet|noemen"
    "|me chamo|se chama|nazywa się|mam na imię|меня зовут|называется"
)
_CORRECTION: Final = (
    "i meant|i mean|actually|not that|that's wrong|no, not|instead of|correction"
    "|ich meinte|ich meine|eigentlich|falsch|nein, nicht|sondern|stattdessen"
    "|je voulais dire|en fait|plutôt que|quise decir|en realidad|en vez de"
    "|volevo dire|in realtà|invece di|ik bedoelde|eigenlijk|in plaats van|na verdade|właściwie"
    "|на самом деле"
)
_REQUEST: Final = (
    "please|can you|could you|would you|remind me|add|buy|order|don't forget|need to|have to"
    "|bitte|kannst du|könntest du|erinner\\w* mich|vergiss nicht|muss|müssen|besorg\\w*|kauf\\w*"
    "|s'il te plaît|peux-tu|pourrais-tu|rappelle-moi|il faut"
    "|por favor|puedes|podrías|recuérdame|hay que|per favore|puoi|potresti|ricordami"
    "|alsjeblieft|kun je|herinner me|moet|proszę|пожалуйста|напомни"
)
_PROMISE: Final = (
    "i will|i'll|i am going to|i'm going to|i've set|i have set|promise"
    "|ich werde|ich erinnere|mache ich|ich habe .* gestellt|verspreche"
    "|je vais|je te rappellerai|voy a|te recordaré|ti ricorderò|ik zal|ik ga|vou|я буду|я напомню"
)

# Scripts without spaces have no word boundary.
_UNSPACED: Final = {
    LineKind.PREFERENCE: "好き|嫌い|苦手|の方がいい|喜欢|讨厌|좋아|싫어|أحب|أفضل|أكره|पसंद|ชอบ",
    LineKind.NAME: "という名前|と呼|って言い|名前は|叫做|名字是|이름은|라고 불|اسمي|اسمه|नाम|ชื่อ",
    LineKind.CORRECTION: "じゃなくて|ではなく|間違|不是|应该是|아니라|أقصد|ليس|मतलब|ไม่ใช่",
    LineKind.REQUEST: "ください|お願い|してくれ|请|帮我|提醒|주세요|해줘|من فضلك|ذكرني|कृपया|กรุณา",
    LineKind.PROMISE: "しておきます|お知らせします|我会|알려 드리|할게|سوف|سأ",
}


def _pattern(words: str, kind: LineKind) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)|(?:{_UNSPACED[kind]})", re.IGNORECASE)


USER_CUES: Final = (
    (LineKind.CORRECTION, _pattern(_CORRECTION, LineKind.CORRECTION)),
    (LineKind.NAME, _pattern(_NAME, LineKind.NAME)),
    (LineKind.PREFERENCE, _pattern(_PREFERENCE, LineKind.PREFERENCE)),
    (LineKind.REQUEST, _pattern(_REQUEST, LineKind.REQUEST)),
)
"""What a sentence of the user shows; the first that fits."""

REPLY_CUES: Final = ((LineKind.PROMISE, _pattern(_PROMISE, LineKind.PROMISE)),)

DATE: Final = re.compile(
    r"\d|(?<!\w)(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|tomorrow|yesterday|today|tonight|birthday"
    r"|january|february|april|june|july|august|september|october|november|december"
    r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|morgen|gestern|heute|geburtstag"
    r"|januar|februar|märz|juni|juli|oktober|dezember"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|demain|hier|anniversaire"
    r"|lunes|martes|miércoles|jueves|viernes|sábado|domingo|mañana|ayer|cumpleaños"
    r"|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|domani|ieri|compleanno)(?!\w)"
    r"|月曜|火曜|水曜|木曜|金曜|土曜|日曜|明日|昨日|今日|誕生日|明天|昨天|今天|生日"
    r"|غدا|أمس|اليوم|عيد ميلاد",
    re.IGNORECASE,
)
"""A number, a day, a date."""
