"""What no package says, by hand: which regions count, official and other names, figures of states and provinces.

Facts, checked by sums that are known (tests/systems/travel/geography/test_data.py): populations of states are those of
the United States census of 2020, of provinces those of the Canadian census of 2021; areas are total areas, land and
water, of the Census Bureau's and Statistics Canada's tables. Retired codes: ISO 3166-3 and ISO 3166-2's newsletters.
"""

# Present, and visited like any other, but not one of the 193 members and 2 observers of the United Nations.
_UNCOUNTED = """
    AI AQ AS AW AX BL BM BQ BV CC CK CW CX EH FK FO GF GG GI GL GP GS GU HK HM IM IO JE KY MF MO MP MQ MS NC NF NU PF
    PM PN PR RE SH SJ SX TC TF TK TW UM VG VI WF XK YT
"""
NOT_COUNTABLE = frozenset(_UNCOUNTED.split())

# Shown, where CLDR's English name is long, or hedges.
DISPLAY = {
    "CD": "DR Congo", "CG": "Congo", "HK": "Hong Kong", "MM": "Myanmar", "MO": "Macao", "PS": "Palestine",
    "CC": "Cocos Islands", "UM": "US Outlying Islands",
}  # fmt: skip

# Full names, where they differ from what is shown.
FULL = {
    "BN": "Brunei Darussalam", "BO": "Plurinational State of Bolivia", "BS": "The Bahamas",
    "CC": "Cocos (Keeling) Islands",
    "CD": "Democratic Republic of the Congo", "CG": "Republic of the Congo", "CV": "Republic of Cabo Verde",
    "CZ": "Czech Republic", "FM": "Federated States of Micronesia",
    "GB": "United Kingdom of Great Britain and Northern Ireland", "GM": "The Gambia", "HK": "Hong Kong SAR China",
    "IR": "Islamic Republic of Iran", "KP": "Democratic People's Republic of Korea", "KR": "Republic of Korea",
    "LA": "Lao People's Democratic Republic", "MD": "Republic of Moldova", "MO": "Macao SAR China",
    "NL": "Kingdom of the Netherlands", "PS": "State of Palestine", "RU": "Russian Federation",
    "SH": "Saint Helena, Ascension and Tristan da Cunha", "SY": "Syrian Arab Republic",
    "TZ": "United Republic of Tanzania", "UM": "United States Minor Outlying Islands", "US": "United States of America",
    "VA": "Holy See", "VE": "Bolivarian Republic of Venezuela", "VN": "Viet Nam",
}  # fmt: skip

ALIASES = {
    "AE": ["UAE", "Emirates"], "BA": ["Bosnia", "Herzegovina"], "BF": ["Upper Volta"], "BJ": ["Dahomey"],
    "BQ": ["Bonaire", "Saba", "Sint Eustatius", "Dutch Caribbean"], "BY": ["Byelorussia"], "BZ": ["British Honduras"],
    "CD": ["DRC", "Zaire", "Congo-Kinshasa"], "CF": ["CAR"], "CG": ["Congo-Brazzaville"], "CI": ["Ivory Coast"],
    "CN": ["PRC", "People's Republic of China", "Mainland China"], "CV": ["Cape Verde"], "CZ": ["Czechia"],
    "DE": ["Federal Republic of Germany"], "FK": ["Malvinas"], "FM": ["FSM"], "FO": ["Faeroe Islands"],
    "GB": ["UK", "Great Britain", "Britain", "England", "Scotland", "Wales", "Northern Ireland"], "GR": ["Hellas"],
    "IE": ["Republic of Ireland", "Eire"], "IO": ["Chagos"], "IR": ["Persia"], "JO": ["Transjordan"],
    "KH": ["Kampuchea"], "KN": ["Saint Christopher and Nevis"], "KP": ["DPRK"], "KR": ["South Korea", "Korea", "ROK"],
    "KZ": ["Kazakstan"], "LA": ["Lao"], "LK": ["Ceylon"], "MM": ["Burma"], "MK": ["Macedonia", "FYROM"],
    "MO": ["Macau"],
    "NC": ["Kanaky"], "NL": ["Holland"], "NZ": ["Aotearoa"], "PF": ["Tahiti"], "PS": ["West Bank", "Gaza"],
    "PT": ["Azores", "Madeira"], "PW": ["Belau"], "RE": ["Reunion Island"], "RU": ["Russia"],
    "SH": ["Ascension", "Tristan da Cunha"], "SJ": ["Spitsbergen"], "SO": ["Somaliland"], "ES": ["Canary Islands"],
    "SR": ["Dutch Guiana"], "SZ": ["Swaziland"], "TF": ["Kerguelen"], "TH": ["Siam"], "TL": ["East Timor"],
    "TR": ["Turkey"], "TW": ["Formosa", "Republic of China", "Chinese Taipei"], "TZ": ["Zanzibar", "Tanganyika"],
    "US": ["USA", "America", "U.S.A."], "VA": ["Vatican", "Holy See"], "VC": ["Grenadines"],
    "VI": ["US Virgin Islands"],
    "VU": ["New Hebrides"], "WS": ["Western Samoa"], "ZW": ["Rhodesia"], "EC": ["Galapagos"], "CL": ["Easter Island"],
    "TT": ["Tobago"], "AG": ["Barbuda"], "UM": ["Midway", "Wake Island", "Johnston Atoll"],
    "US-DC": ["Washington DC", "Washington, D.C.", "DC"], "US-NY": ["New York State"], "US-WA": ["Washington State"],
    "US-HI": ["Hawai'i"], "US-VI": ["US Virgin Islands"], "US-PR": ["Porto Rico"], "US-UM": ["Midway", "Wake Island"],
    "CA-NL": ["Newfoundland", "Labrador"], "CA-PE": ["PEI"], "CA-QC": ["Quebec"], "CA-BC": ["BC"],
    "CA-NT": ["NWT"], "CA-YT": ["Yukon Territory"],
}  # fmt: skip

# GeoNames rounds very small countries, and is out by a slip in two (Oman, Macao). Square kilometres.
AREA = {
    "VA": 0.49,
    "MC": 2.08,
    "MO": 33.3,
    "OM": 309500,
    "UM": 34.2,
    "SG": 735.7,
    "MV": 298,
    "TK": 12,
    "GI": 6.8,
}
CAPITAL = {
    "BQ": "Kralendijk", "KI": "South Tarawa", "KZ": "Astana", "PS": "Ramallah", "US": "Washington, D.C.",
    "XK": "Pristina",
}  # fmt: skip
# Populated by staff only, or by nobody; GeoNames lists a base or a capital far away.
NO_CAPITAL = frozenset(("AQ", "BV", "HM", "TF", "UM", "IO", "TK"))

# code: name, capital, population, total area in square kilometres
US_STATES = {
    "AL": ("Alabama", "Montgomery", 5024279, 135767), "AK": ("Alaska", "Juneau", 733391, 1723337),
    "AZ": ("Arizona", "Phoenix", 7151502, 295234), "AR": ("Arkansas", "Little Rock", 3011524, 137732),
    "CA": ("California", "Sacramento", 39538223, 423967), "CO": ("Colorado", "Denver", 5773714, 269601),
    "CT": ("Connecticut", "Hartford", 3605944, 14357), "DE": ("Delaware", "Dover", 989948, 6446),
    "DC": ("District of Columbia", None, 689545, 177), "FL": ("Florida", "Tallahassee", 21538187, 170312),
    "GA": ("Georgia", "Atlanta", 10711908, 153910), "HI": ("Hawaii", "Honolulu", 1455271, 28313),
    "ID": ("Idaho", "Boise", 1839106, 216443), "IL": ("Illinois", "Springfield", 12812508, 149995),
    "IN": ("Indiana", "Indianapolis", 6785528, 94326), "IA": ("Iowa", "Des Moines", 3190369, 145746),
    "KS": ("Kansas", "Topeka", 2937880, 213100), "KY": ("Kentucky", "Frankfort", 4505836, 104656),
    "LA": ("Louisiana", "Baton Rouge", 4657757, 135659), "ME": ("Maine", "Augusta", 1362359, 91633),
    "MD": ("Maryland", "Annapolis", 6177224, 32131), "MA": ("Massachusetts", "Boston", 7029917, 27336),
    "MI": ("Michigan", "Lansing", 10077331, 250487), "MN": ("Minnesota", "Saint Paul", 5706494, 225163),
    "MS": ("Mississippi", "Jackson", 2961279, 125438), "MO": ("Missouri", "Jefferson City", 6154913, 180540),
    "MT": ("Montana", "Helena", 1084225, 380831), "NE": ("Nebraska", "Lincoln", 1961504, 200330),
    "NV": ("Nevada", "Carson City", 3104614, 286380), "NH": ("New Hampshire", "Concord", 1377529, 24214),
    "NJ": ("New Jersey", "Trenton", 9288994, 22591), "NM": ("New Mexico", "Santa Fe", 2117522, 314917),
    "NY": ("New York", "Albany", 20201249, 141297), "NC": ("North Carolina", "Raleigh", 10439388, 139391),
    "ND": ("North Dakota", "Bismarck", 779094, 183108), "OH": ("Ohio", "Columbus", 11799448, 116098),
    "OK": ("Oklahoma", "Oklahoma City", 3959353, 181037), "OR": ("Oregon", "Salem", 4237256, 254799),
    "PA": ("Pennsylvania", "Harrisburg", 13002700, 119280), "RI": ("Rhode Island", "Providence", 1097379, 4001),
    "SC": ("South Carolina", "Columbia", 5118425, 82933), "SD": ("South Dakota", "Pierre", 886667, 199729),
    "TN": ("Tennessee", "Nashville", 6910840, 109153), "TX": ("Texas", "Austin", 29145505, 695662),
    "UT": ("Utah", "Salt Lake City", 3271616, 219882), "VT": ("Vermont", "Montpelier", 643077, 24906),
    "VA": ("Virginia", "Richmond", 8631393, 110787), "WA": ("Washington", "Olympia", 7705281, 184661),
    "WV": ("West Virginia", "Charleston", 1793716, 62756), "WI": ("Wisconsin", "Madison", 5893718, 169635),
    "WY": ("Wyoming", "Cheyenne", 576851, 253335),
}  # fmt: skip
# Territories take area and capital from the country of the same code.
US_TERRITORIES = {"AS": 49710, "GU": 153836, "MP": 47329, "PR": 3285874, "UM": 0, "VI": 87146}
NOT_COUNTABLE_STATES = frozenset(("DC", *US_TERRITORIES))

CANADIAN_PROVINCES = {
    "AB": ("Alberta", "Edmonton", 4262635, 661848), "BC": ("British Columbia", "Victoria", 5000879, 944735),
    "MB": ("Manitoba", "Winnipeg", 1342153, 647797), "NB": ("New Brunswick", "Fredericton", 775610, 72908),
    "NL": ("Newfoundland and Labrador", "St. John's", 510550, 405212),
    "NS": ("Nova Scotia", "Halifax", 969383, 55284), "NT": ("Northwest Territories", "Yellowknife", 41070, 1346106),
    "NU": ("Nunavut", "Iqaluit", 36858, 2093190), "ON": ("Ontario", "Toronto", 14223942, 1076395),
    "PE": ("Prince Edward Island", "Charlottetown", 154331, 5660), "QC": ("Québec", "Québec City", 8501833, 1542056),
    "SK": ("Saskatchewan", "Regina", 1132505, 651036), "YT": ("Yukon", "Whitehorse", 40232, 482443),
}  # fmt: skip

# Codes that are no longer given out: name, year, what the place is now. A code that was given out anew (AI, BQ, GE, SK)
# is not here: it means its present owner. CS was Czechoslovakia's until 1993 and Serbia and Montenegro's from 2003 on;
# travellers of today's apps mean the latter, so the former is asked for as well.
RETIRED = {
    "country": {
        "AN": ("Netherlands Antilles", 2010, "BQ CW SX"), "BU": ("Burma", 1989, "MM"),
        "CS": ("Serbia and Montenegro, before that Czechoslovakia", 2006, "RS ME CZ SK"),
        "CT": ("Canton and Enderbury Islands", 1984, "KI"), "DD": ("German Democratic Republic", 1990, "DE"),
        "DY": ("Dahomey", 1977, "BJ"), "EL": ("Greece, as the European Union writes it", 1974, "GR"),
        "FQ": ("French Southern and Antarctic Territories", 1979, "TF AQ"), "FX": ("France, Metropolitan", 1997, "FR"),
        "HV": ("Upper Volta", 1984, "BF"), "JT": ("Johnston Island", 1986, "UM"), "MI": ("Midway Islands", 1986, "UM"),
        "NH": ("New Hebrides", 1980, "VU"), "NQ": ("Dronning Maud Land", 1983, "AQ"),
        "NT": ("Neutral Zone", 1993, "SA IQ"),
        "PC": ("Pacific Islands, Trust Territory", 1986, "FM MH MP PW"),
        "PU": ("US Miscellaneous Pacific Islands", 1986, "UM"),
        "PZ": ("Panama Canal Zone", 1980, "PA"), "RH": ("Southern Rhodesia", 1980, "ZW"),
        "SU": ("Soviet Union", 1992, "AM AZ BY EE GE KG KZ LT LV MD RU TJ TM UA UZ"), "TP": ("East Timor", 2002, "TL"),
        "UK": ("United Kingdom, as it is often written", 1974, "GB"),
        "VD": ("Viet-Nam, Democratic Republic of", 1977, "VN"),
        "WK": ("Wake Island", 1986, "UM"), "YD": ("Yemen, Democratic", 1990, "YE"),
        "YU": ("Yugoslavia", 2003, "RS ME BA HR MK SI XK"),
        "ZR": ("Zaire", 1997, "CD"),
    },
    "us_state": {},
    "canadian_province": {
        "CA-LB": ("Labrador, as it is sometimes written", 1949, "CA-NL"), "CA-NF": ("Newfoundland", 2002, "CA-NL"),
        "CA-PQ": ("Québec, as the post wrote it", 1992, "CA-QC"),
        "CA-YK": ("Yukon, as it is sometimes written", 1992, "CA-YT"),
    },
}  # fmt: skip
