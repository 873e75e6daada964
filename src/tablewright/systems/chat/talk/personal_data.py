"""What personal data looks like: patterns for scrub.py. The group `found` of each is what is taken out.

Lengths are limited everywhere, so that no text takes more than a moment. Letters are compared without case, except
those of CAPITAL. Elsewhere: names and places that a text introduces (introductions.py), first names (first_names.txt).
"""

from typing import Literal

Kind = Literal["name", "phone", "e-mail", "address", "number", "date of birth", "school", "link", "account"]
WORD = r"[^\W\d_][\w'’-]{0,30}"
CAPITAL = r"(?-i:[^\W\d_a-zà-öø-ÿ][\w'’-]{0,30})"
# Words that follow "call me" or "my name is" and are not a name.
_WORDS = """
a about afraid alone also always an angry and at back bored busy cold coming confused crazy curious done eating eight
eleven excited feeling fine five four from getting glad going good great happy having he her here his home hot hungry
hurt i if in inside is it its just late later learning leaving like looking lost mad maybe me my nine no not now of ok
okay on only outside playing pretty ready really reading right sad scared seven she sick silly six sleepy so sorry still
super sure talking ten that the their there they thinking this tired to today tomorrow too trying twelve up very
watching we when with wondering worried writing yes your
"""
NOT_NAMES = frozenset(_WORDS.split())
# An address has an @, or "at" as a word; then what ends it must be a domain: "good at maths. Do you" is not one.
_DOMAINS = (
    "com|org|net|edu|gov|info|io|biz|app|dev|de|uk|co|fr|es|nl|ch|eu|ca|au|nz|ie|pl|se|dk|fi|pt|br|mx|jp|cn|kr|ru|tv|xyz|"
    "school|kids|family|email|online|site"
)
_HOSTS = "gmail|googlemail|yahoo|hotmail|outlook|icloud|aol|gmx|libero|proton|protonmail|msn"
_SPELLED_DOT = r"\s?(?:\(dot\)|\[dot\]|\s+dot\s+)\s?"
_SIGN, _SPELLED_AT = r"\s?(?:@|\(at\)|\[at\])\s?", r"\s+at\s+"
_LABEL = r"[\w-]{1,63}"
_MAIL_HOST = (
    rf"{_LABEL}(?:(?:\.|{_SPELLED_DOT}){_LABEL}){{0,3}}(?:\.|{_SPELLED_DOT})(?:{_DOMAINS})\b|"
    rf"{_LABEL}{_SPELLED_DOT}(?:it|at|me|us|be)\b|(?:{_HOSTS})(?:\.|{_SPELLED_DOT})[a-z]{{2,6}}\b"
)
_MAIL = (
    rf"(?<![\w.+%-])(?P<found>[\w.+%-]{{1,64}}"
    rf"(?:{_SIGN}{_LABEL}(?:(?:\.|{_SPELLED_DOT})[\w-]{{2,63}}){{1,5}}|{_SPELLED_AT}(?:{_MAIL_HOST})))"
)
_LINK = r"(?P<found>\b(?:https?://|www\.)\S{1,2000})"
_HANDLE = r"(?<![\w@])(?P<found>@[A-Za-z0-9_.]{3,30})"
_PLATFORMS = r"instagram|snapchat|tiktok|discord|roblox|minecraft|gamertag|user ?name|snap|insta"
_ACCOUNT = rf"\b(?:{_PLATFORMS})\b(?: name| id)?\s*(?:is|:|=)\s*(?P<found>[\w.#-]{{3,30}})"

_BANK_ACCOUNT = r"(?P<found>\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b)"
_SOCIAL_SECURITY = r"(?P<found>\b\d{3}[- ]\d{2}[- ]\d{4}\b)"
_INTERNET = r"(?P<found>\b(?:\d{1,3}\.){3}\d{1,3}\b|\b(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}\b)"
_DOCUMENTS = r"passport|passnummer|ssn|social security|student id|id card|id number|license|licence"
_DOCUMENT = rf"\b(?:{_DOCUMENTS})\b\D{{0,12}}(?P<found>[A-Z]{{0,3}}\d[A-Z0-9-]{{3,19}})\b"
# Checked further by scrub.py.
PHONE = r"(?<![\w.])(?P<found>[+(]?\d[\d ()./-]{5,22}\d)(?![\w])"
LONG_NUMBER = r"(?<![\w.])(?P<found>\d[\d -]{5,28}\d)(?![\w])"

_BORN = r"born|birthday|birth date|date of birth|geboren|geburtstag|cumplea\w{1,5}|anniversaire"
_MONTHS = (
    "jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|f[eé]vrier|mar(?:ch|s|zo)?|m[aä]rz|apr(?:il)?|avril|abril|may|mai|mayo|"
    "june?|juni|juin|junio|july?|juli|juillet|julio|aug(?:ust)?|ao[uû]t|agosto|sept?(?:ember|embre)?|septiembre|"
    "o[ck]t(?:ober|obre|ubre)?|nov(?:ember|embre|iembre)?|dec(?:ember)?|dezember|d[eé]cembre|diciembre|enero|febrero"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th|\.)?(?!\d)"
_YEAR = r"(?:,? (?:de |of )?(?:\d{4}|'?\d{2})(?!\d))?"
_DATE = (
    rf"\d{{1,4}} ?[./-] ?\d{{1,2}} ?[./-] ?\d{{1,4}}|"
    rf"(?:{_DAY} ?(?:of |de )?)?(?:{_MONTHS})\b\.?(?: (?:the )?{_DAY})?{_YEAR}"
)
# A year alone counts only of a person.
_BIRTH_DATE = rf"\b(?:{_BORN})\b[^.\d]{{0,40}}?\b(?P<found>{_DATE})"
_BIRTH_YEAR = r"\b(?:i was|i am|i['’]?m|my [a-z]{2,12} was) born in (?P<found>\d{4}(?!\d))"

_STREETS = (
    r"(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|court|ct|boulevard|blvd|way|place|pl|square|sq|terrace|close|"
    r"crescent|highway|hwy|parkway|circle|alley)\b\.?"
)
_FLAT = r"(?:,? (?:apt|apartment|unit|flat|#) ?\w{1,8})?"
_STREET = rf"(?P<found>\b\d{{1,5}}[a-z]? (?:{WORD} ){{1,4}}{_STREETS}{_FLAT})"
_STRASSE = r"(?P<found>\b[^\W\d_][\w-]{0,30}(?:straße|strasse|str\.|gasse|weg|allee|platz) \d{1,4} ?[a-z]?\b)"
_NAMED = r"(?:\w{1,30} ?){1,4}"
_CALLE = rf"(?P<found>\b(?:calle|avenida|rue|via|piazza) {_NAMED}\d{{1,4}}\b|\b\d{{1,4}},? rue {_NAMED})"
_LIVE = rf"\b(?:I|we) live (?:at|on|in) (?:number )?(?P<found>\d{{1,5}}[a-z]? {WORD}(?: {WORD}){{0,3}})"
_POSTCODE = r"\b(?:zip(?: code)?|postcode|postal code|plz)\b\D{0,8}(?P<found>[A-Z]{0,2}\d[A-Z0-9 -]{2,8}\b)"
_CITY = rf"(?P<found>\b\d{{5}}(?:-\d{{4}})? {CAPITAL}\b|(?-i:\b[A-Z][a-z]{{1,30}},? [A-Z]{{2}} \d{{5}}\b))"

_LEVELS = "elementary|primary|middle|high|grammar"
_KINDS = "school|elementary|academy|kindergarten|grundschule|gymnasium"
_SCHOOL = rf"(?P<found>\b(?:{CAPITAL} ){{1,4}}(?:{_LEVELS})?(?: ?(?:{_KINDS}))\b)"
_ATTEND = rf"\b(?:go to|attend) (?P<found>(?:{WORD} ){{1,4}}(?:{_LEVELS})(?: school)?)\b"

PATTERNS: tuple[tuple[Kind, str], ...] = (
    ("e-mail", _MAIL),
    ("link", _LINK),
    ("account", _HANDLE),
    ("account", _ACCOUNT),
    ("number", _BANK_ACCOUNT),
    ("number", _SOCIAL_SECURITY),
    ("number", _INTERNET),
    ("number", _DOCUMENT),
    ("phone", PHONE),
    ("number", LONG_NUMBER),
    ("date of birth", _BIRTH_DATE),
    ("date of birth", _BIRTH_YEAR),
    ("address", _STREET),
    ("address", _STRASSE),
    ("address", _CALLE),
    ("address", _LIVE),
    ("address", _POSTCODE),
    ("address", _CITY),
    ("school", _SCHOOL),
    ("school", _ATTEND),
)
