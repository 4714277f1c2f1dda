"""A translation that says something else: one number changed or, where there is none, one clause negated.

The validity test's third probe. Numbers keep the form that the words beside them ask for (case, gender of the number word, class of its
government). A negation goes where the language puts it: on the first indefinite article (German) or at the end of the first clause (German,
Icelandic), before or at the first verb that shows gender (Arabic, Czech, Russian, Ukrainian), before the first verb with a usual past
ending (Greek), around the first auxiliary (French). It is made by rule: some negated sentences read less smoothly than a person's would.
"""
from __future__ import annotations

import re

# word → another number in the same form
NUMBERS = {
    "ar": "ثلاثة خمسة ثلاث خمس أربعة سبعة أربع سبع خمسة تسعة خمس تسع ستة ثمانية ست ثماني سبعة أربعة سبع أربع ثمانية ستة تسعة خمسة تسع خمس "
          "عشرين ثلاثين عشرون ثلاثون ثلاثين خمسين أربعين ستين مئتي ثلاثمئة",
    "cs": "dva tři dvě tři dvou tří dvěma třemi tři čtyři tří čtyř třem čtyřem čtyři tři pět devět pěti devíti šest osm šesti osmi sedm "
          "devět sedmi devíti osm šest osmi šesti devět pět devíti pěti deset dvacet deseti dvaceti dvanáct patnáct dvacet třicet",
    "de": "zwei fünf drei sieben vier neun fünf acht sechs elf sieben drei acht vier neun sechs zehn zwanzig elf sechs zwölf vierzig "
          "zwanzig dreißig dreißig fünfzig vierzig achtzig fünfzig dreißig hundert tausend zweihundert fünfhundert dreihundert neunhundert",
    "el": "δύο πέντε τρεις τέσσερις τρία τέσσερα τριών τεσσάρων τέσσερις τρεις τέσσερα τρία πέντε εννέα έξι οκτώ επτά δέκα οκτώ έξι "
          "εννέα πέντε δέκα είκοσι έντεκα έξι δώδεκα σαράντα είκοσι τριάντα τριάντα πενήντα σαράντα ογδόντα πενήντα τριάντα διακόσια "
          "πεντακόσια διακόσιες πεντακόσιες διακόσιους πεντακόσιους",
    "fr": "deux cinq trois sept quatre neuf cinq huit six onze sept trois huit quatre neuf six dix vingt onze six douze quarante vingt "
          "trente trente cinquante quarante soixante cinquante trente cent mille",
    "is": "tveir þrír tvær þrjár tvö þrjú tvo þrjá tveggja þriggja tveimur þremur þrír fjórir þrjár fjórar þrjú fjögur þrjá fjóra þriggja "
          "fjögurra þremur fjórum fjórir þrír fjórar þrjár fjögur þrjú fjóra þrjá fjögurra þriggja fjórum þremur fimm níu sex ellefu sjö "
          "tólf átta tíu níu fimm tíu tuttugu ellefu sex tólf fjörutíu tuttugu þrjátíu þrjátíu fimmtíu",
    "ru": "два четыре две четыре двух четырёх двум четырём двумя четырьмя три четыре трёх четырёх трём четырём тремя четырьмя четыре три "
          "четырёх трёх четырём трём пять девять пяти девяти шесть восемь шести восьми семь девять семи девяти восемь шесть восьми шести "
          "девять пять девяти пяти десять двадцать десяти двадцати двенадцать пятнадцать двадцать тридцать тридцать пятьдесят сорок "
          "восемьдесят",
    "uk": "два чотири дві чотири двох чотирьох двом чотирьом двома чотирма три чотири трьох чотирьох трьом чотирьом трьома чотирма чотири "
          "три чотирьох трьох чотирьом трьом п’ять дев’ять п’яти дев’яти шість вісім шести восьми сім дев’ять семи дев’яти вісім шість "
          "восьми шести дев’ять п’ять дев’яти п’яти десять двадцять десяти двадцяти дванадцять п’ятнадцять двадцять тридцять тридцять "
          "п’ятдесят сорок вісімдесят",
}
CHANGED = {language: dict(zip(words.split()[::2], words.split()[1::2], strict=True)) for language, words in NUMBERS.items()}
WORD = re.compile(r"\w+(?:’\w+)*")
CLAUSE_END = re.compile(r"(?:\w+ ){4}\w+?(?=[,;:.?!…])")                                    # of five words at least
GERMAN_ARTICLE = re.compile(r"(?<!\w)ein(?=(?:e|en|em|er|es)?\s)")
GERMAN_PARTICIPLE = re.compile(r" (?=\w{0,4}ge\w+(?:t|en)$)")
GREEK_VERB = re.compile(r"(?<!\w)(?=\w{2,}(?:σε|ξε|ψε|ηκε|ησε|ούσε|ήταν|είχε|έχει|είναι)(?!\w))", re.I)
FRENCH_AUXILIARY = re.compile(r"(?<![\w’'-])(a|avait|est|était)(?![\w’'-])")


def contradiction(text: str, feminine: str, language: str) -> str | None:
    """Return the masculine text `text` with a number changed or a negation added, or None where no rule applies.

    Parameters
    ----------
    text, feminine : str
        The two variants; where they differ in a past tense, that is where the negation goes.
    language : str
        Target language code; in one without rules of its own only digits are changed.
    """
    return _other_number(text, language) or _negated(text, feminine, language)


def _other_number(text: str, language: str) -> str | None:
    digits = re.search(r"\d+", text)
    if digits:
        last = digits.end() - 1
        return f"{text[:last]}{(int(text[last]) + 3) % 10}{text[last + 1:]}"
    for match in WORD.finditer(text):
        if other := CHANGED.get(language, {}).get(match.group().lower()):
            other = other[0].upper() + other[1:] if match.group()[0].isupper() else other
            return text[:match.start()] + other + text[match.end():]
    return None


def _negated(text: str, feminine: str, language: str) -> str | None:
    if language in ("de", "is"):
        if language == "de" and GERMAN_ARTICLE.search(text):
            return GERMAN_ARTICLE.sub("kein", text, count=1)
        clause = CLAUSE_END.search(text)
        if not clause:
            return None
        end = clause.end()
        if language == "de" and (participle := GERMAN_PARTICIPLE.search(text[:end])):
            end = participle.start()
        return f"{text[:end]} {'nicht' if language == 'de' else 'ekki'}{text[end:]}"
    if language == "el":
        negated = GREEK_VERB.sub("δεν ", text, count=1)
    elif language == "fr":
        negated = FRENCH_AUXILIARY.sub(r"n’\1 pas", text, count=1)
    elif language in ("ar", "cs", "ru", "uk"):
        negated = _negated_at_past(text, feminine, language)
    else:
        return None
    return negated if negated != text else None


def _negated_at_past(text: str, feminine: str, language: str) -> str:
    before = ""
    for match, other in zip(WORD.finditer(text), WORD.finditer(feminine)):
        word, start = match.group(), match.start()
        if _is_past(word, other.group(), language) and before.lower() not in ("не", "ما", "لم"):
            if language == "cs":
                return text[:start] + ("Ne" if word[0].isupper() else "ne") + word[0].lower() + text[start + 1:]
            return text[:start] + {"ar": "ما ", "ru": "не ", "uk": "не "}[language] + text[start:]
        before = word
    return text


def _is_past(masculine: str, feminine: str, language: str) -> bool:
    """Whether two words are the masculine and feminine of one past tense."""
    if language == "ar":
        return len(masculine) > 2 and feminine == masculine + "ت"
    ending, feminine_ending = {"cs": ("l", "la"), "ru": ("л", "ла"), "uk": ("в", "ла")}[language]
    return masculine.endswith(ending) and feminine.endswith(feminine_ending)
