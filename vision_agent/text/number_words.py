"""Words after a number that make it larger, in the languages of pages: `million`, `Mrd`, `млн`, `万`, `lakh`.

It knows neither numbers nor amounts of money.
"""

from __future__ import annotations

SCALES = {
    word: power
    for power, words in {
        3: "thousand thousands tsd tausend duizend tys тыс тысяча тысячи тысяч тис тисяч tisíc tuhat tuhatta tusen",
        5: "lakh lakhs",
        6: (
            "million millions millionen mio mn mln millón millones milhão milhões milione milioni miljoen miljon "
            "miljoner millioner milion miliony milionów milionů млн миллион миллиона миллионов мільйон мільйони "
            "мільйонів milyon miljoona miljoonaa milj millió milioane juta triệu"
        ),
        7: "crore crores",
        9: (
            "bn bln mrd mld milliard milliards milliarde milliarden milliarder miliardo miliardi miljard miljarden "
            "miljarder miliard miliardy miliardów miliarda млрд миллиард миллиарда миллиардов мільярд мільярди "
            "мільярдів milyar miljardi miljardia milliárd miliarde miliar bilhão bilhões"
        ),
        12: "trn трлн триллион триллиона триллионов trilyon triliun billionen",
        18: "trillionen",
    }.items()
    for word in words.split()
}
"""Words in small letters, by the power of ten that each means."""

ENGLISH_SCALES = {"billion": 9, "billions": 9, "trillion": 12, "trillions": 12}
"""Only as English writes them: with a capital, a German page may mean a thousand or a million times as much."""

# A power of ten or something else, such as a unit; or a power that depends on the language.
_DOUBTFUL = """
billion billions trillion trillions billón billones bilión bilión biliões biljoen bilion biliony bilionů
biljoner biljon trillón trillones trilhão trilhões hundred hundreds hundert cien honderd hundra dozen
dozens dutzend dz douzaine mil mill mils mille mila mia md mds mrds mlrd mld mlr mkr mdkr mnkr tkr bio tr
tri tn bi mi bin rb ribu jt ezer mii tis lac lacs cr dr myriad quadrillion quadrillions zillion εκατ
εκατομμύρια εκατομμύριο δισ δισεκατομμύρια χιλιάδες хил хиляди nghìn ngàn tỷ tỉ אלף אלפים מיליון מיליארד
ألف آلاف مليون ملايين مليار مليارات
"""
DOUBTFUL = frozenset(_DOUBTFUL.split()) - {*SCALES}
"""Words in small letters after which a number may be more than it says."""

DOUBTFUL_PARTS = ("लाख", "करोड", "हज़ार", "हजार", "अरब", "ล้าน", "แสน", "หมื่น", "พัน", "লাখ", "কোটি", "হাজার")
"""The same where words are not letters only, or are not parted by spaces."""

CJK_SCALES = {"百": 2, "千": 3, "万": 4, "萬": 4, "億": 8, "亿": 8, "백": 2, "천": 3, "만": 4, "억": 8}
"""One after another they multiply: `5千万`."""

LARGEST = {
    **SCALES,
    **ENGLISH_SCALES,
    **dict.fromkeys(("k", "mille", "mila", "mii", "rb", "ribu"), 3),
    **dict.fromkeys(("lac", "lacs"), 5),
    **dict.fromkeys(("m", "mm", "mil", "mill", "mi", "mkr", "jt"), 6),
    "cr": 7,
    **dict.fromkeys(("b", "md", "mds", "mrds", "mlrd", "mlr", "mia", "mdkr"), 9),
    **dict.fromkeys(("thousand million", "mil millones", "mil milhões", "mille millions"), 9),
    **dict.fromkeys(("t", "tn", "tr", "bio", "billón", "billones", "bilión", "biliões", "biljoen", "bilion"), 12),
}
"""The largest power that each may mean beside money, where that is not absurd."""

CJK_DOUBTFUL = "十兆京조拾"

CJK_MONEY = "円元圓圆원块塊"
"""They may follow a scale; after 百 and 千 anything else may make a unit of it, as in 千克."""
