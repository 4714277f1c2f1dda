"""Translators: one text per English text. `TRANSLATORS` names them; the constructor takes the language.

Protocol, runs and card as in the other producers: `translate_language` writes `<system>/<language>.tsv` (segment_id, text) and its line in
`<system>/card.yaml`. A text without a translation, or with a line break in it, stops the run: nothing is filled in, nothing is written.
"""
from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol

import pandas as pd
import yaml

from mtgender.producers import judge
from mtgender.producers.command import split_command, written_lines
from mtgender.producers.evaluators import lazy
from mtgender.producers.run import SETTINGS, Run, alone, check_card, create, differing, produce, read_card, to_pairs, write_atomically
from mtgender.study import LANGUAGES, InputError

ALL_AT_ONCE = 1_000_000
COMPARED = ("name", "version", *SETTINGS)       # card entries that are the same for all languages; a detector's packages are not
# steps from English, Debian packages that hold them, language between
APERTIUM_STEPS = {"es": ("eng-spa",), "fr": ("eng-cat", "cat-fra")}
APERTIUM_PACKAGES = {"eng-spa": "apertium-eng-spa", "eng-cat": "apertium-eng-cat", "cat-fra": "apertium-fra-cat"}
APERTIUM_PIVOTS = {"fr": "ca"}
APERTIUM_ENGINE = ("apertium", "apertium-anaphora", "apertium-lex-tools", "apertium-separable", "cg3", "lttoolbox")
APERTIUM_MODES = Path("/usr/share/apertium/modes")
APERTIUM_STATEFUL = re.compile(r"\bapertium-(tagger|anaphora|transfer|interchunk|postchunk) ")
# what `Apertium` puts before the stateful programs: the tagger is started for each text, the others forget at each NUL (-z)
ONE_BY_ONE = r'''import re, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
number, program, *options = sys.argv[1:]
texts = re.split(rb"(?<=\[\n\n\])", sys.stdin.buffer.read())
if len(texts) != int(number) + 1:
    sys.exit("texts cannot be told apart")
def run(text, *more):
    return subprocess.run([program, *more, *options], input=text, stdout=subprocess.PIPE, check=True).stdout
if program == "apertium-tagger":
    with ThreadPoolExecutor() as pool:
        made = b"".join(pool.map(run, texts))
else:
    made = run(b"".join(text + b"\0" for text in texts), "-z").replace(b"\0", b"")
sys.stdout.buffer.write(made)
'''
MARKED = re.compile(r"([*#@]+)(\w[\w'’·-]*)")
NLLB_CODES = {"ar": "arb_Arab", "cs": "ces_Latn", "de": "deu_Latn", "el": "ell_Grek", "en": "eng_Latn", "es": "spa_Latn", "fr": "fra_Latn",
              "is": "isl_Latn", "it": "ita_Latn", "nl": "nld_Latn", "pt": "por_Latn", "ru": "rus_Cyrl", "sr": "srp_Cyrl", "uk": "ukr_Cyrl"}
MAX_NEW_TOKENS = 256            # of a neural model
REPLY_TOKENS = 1024             # of a language model
REMINDER = "Remember: the translation and nothing else, all of it on one line."


class Text(NamedTuple):
    """One English text."""

    segment_id: str
    source: str


class Translator(Protocol):
    """Translates English texts into the language that its constructor took.

    Attributes
    ----------
    card : dict
        What `card.yaml` says about the translator (keys: `translator_card`), the same for every language.
    batch : int
        Texts handed over at a time, so the most that an interruption loses.
    counted : tuple of str, optional
        What the translator counts. `*_words` are printed as words and texts, others as texts.
    counts : list of tuple of int, optional
        The numbers of `counted` for each text of the last call.
    quality : callable, optional
        (language, frame with the columns source and text) → what the card says of the translations of this language.
    """

    card: dict[str, Any]
    batch: int

    def translate(self, sources: Sequence[str]) -> list[str]:
        """Return one translation per source, in one line each."""
        ...


def translator_card(name: str, label: str, made_with: str, packages: dict[str, str], licence: str, languages: str | list[str],
                    description: str, **more: Any) -> dict[str, Any]:
    """Return the part of a translator's card that no run changes; `languages` are those it translates into here."""
    return {"name": name, "label": label, "kind": "translator", "version": made_with, "packages": packages, "licence": licence,
            "languages": languages, "description": description, **more}


def to_texts(sources: pd.DataFrame, limit: int | None = None) -> list[Text]:
    """Return the first `limit` texts of a frame with the string columns segment_id and source, sorted by id.

    Raises
    ------
    InputError
        As in `to_pairs`; or a text is empty.
    """
    texts = [Text(pair.segment_id, pair.source) for pair in to_pairs(sources.assign(masculine="", feminine=""), limit)]
    empty = next((text.segment_id for text in texts if not text.source.strip()), None)
    if empty is not None:
        raise InputError("the English text is empty", segment_id=empty)
    return texts


def sources_sha256(texts: pd.DataFrame | Sequence[Text]) -> str:
    """Hash the English texts: SHA-256 over one JSON array [id, source] and LF per text, sorted by id."""
    texts = to_texts(texts) if isinstance(texts, pd.DataFrame) else texts
    return sha256("".join(json.dumps(list(text), ensure_ascii=False) + "\n" for text in texts).encode()).hexdigest()


def checked_translations(translator: Any, texts: Sequence[Text]) -> list[str]:
    """Translate one batch; InputError unless every text gets a translation that is not empty and holds no line break, TAB or NUL."""
    name = translator.card["name"]
    made = translator.translate([text.source for text in texts])
    if len(made) != len(texts):
        raise InputError(f"{name} gave {len(made)} translations for {len(texts)} texts", segment_id=texts[0].segment_id)
    made = [translation.strip() for translation in made]
    for text, translation in zip(texts, made, strict=True):
        if not translation:
            raise InputError(f"{name} gives no translation of {text.source[:60]!r}", segment_id=text.segment_id,
                             hint="Nothing is filled in")
        if len(translation.splitlines()) > 1 or "\t" in translation or "\0" in translation:
            raise InputError(f"{name} gives a translation with a line break, TAB or NUL: {translation[:80]!r}", segment_id=text.segment_id)
    return made


def translate_language(name: str, language: str, sources: pd.DataFrame, out_dir: Path | str, progress: bool | None = None,
                       limit: int | None = None, options: dict[str, Any] | None = None) -> Run:
    """Translate all English texts into a language: `<out_dir>/<name>/<language>.tsv` and its line in `card.yaml`.

    Parameters
    ----------
    name, language : str
        A name in `TRANSLATORS`; the language code.
    sources : DataFrame
        String columns `segment_id, source`, any order, one row per text; others are ignored.
    progress, limit, options
        As in `score_language`.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        Bad texts, a translation that is empty or holds a line break, a missing program or package, a card that speaks of other versions.
    """
    translator, texts = create(TRANSLATORS, name, language, options), to_texts(sources, limit)
    path = Path(out_dir) / translator.card["name"] / f"{language}.tsv"
    check_card(path.parent / "card.yaml", translator.card, language)
    digest, counted = sources_sha256(texts), getattr(translator, "counted", ())
    key = f"# {sha256(json.dumps([translator.card, language, digest, counted], sort_keys=True).encode()).hexdigest()}\n"

    def made(batch: list[Text]) -> list[str]:
        """Rows of the part file; a third cell holds what the translator counted."""
        translations = checked_translations(translator, batch)
        counts = translator.counts if counted else [()] * len(batch)
        return [f"{text.segment_id}\t{translation}\t{' '.join(map(str, numbers))}\n"
                for text, translation, numbers in zip(batch, translations, counts, strict=True)]

    start = time.perf_counter()
    part, kept, resumed = produce(path, key, texts, lambda text: [f"{text.segment_id}\t"], translator.batch, made, progress)
    rows = [row.removesuffix("\n").split("\t") for row in kept]
    entries = {"input_sha256": digest}
    if hasattr(translator, "quality"):
        made_texts = pd.DataFrame([row[:2] for row in rows], columns=["segment_id", "text"])
        entries["quality"] = translator.quality(language, made_texts.merge(sources, on="segment_id"))
    write_atomically(path, "segment_id\ttext\n" + "".join(f"{segment_id}\t{text}\n" for segment_id, text, _ in rows))
    part.unlink()
    numbers = zip(*([int(n) for n in cell.split()] for *_, cell in rows))
    update_translator_card(path.parent / "card.yaml", translator.card, language, **entries, **{
        what: {"words": sum(column), "texts": sum(n > 0 for n in column)} if what.endswith("_words") else sum(n > 0 for n in column)
        for what, column in zip(counted, numbers)})
    return Run(path, len(texts), resumed, time.perf_counter() - start)


@alone
def update_translator_card(path: Path, card: dict[str, Any], language: str, **entries: Any) -> None:
    """Write the `card.yaml` of a translator or detector with `entries` ({key: value for this language}) beside the other languages'.

    Those of languages that were made by another detector, or with other settings, are dropped: they are no longer up to date.
    """
    old, card = read_card(path), dict(card)
    old = {} if differing(old, card, COMPARED) else old
    kept = {key: dict(sorted({**(old.get(key) or {}), language: value}.items())) for key, value in entries.items()}
    invocation = card.pop("invocation", card["name"])
    verb = {"translator": "translate", "detector": "detect"}[card["kind"]]
    command = f"python -m mtgender {verb} {invocation} --language {' '.join(kept['input_sha256'])}"
    write_atomically(path, yaml.safe_dump({**card, "command": command, **kept}, sort_keys=False, allow_unicode=True, width=120))


def pipe(command: Sequence[str], lines: Sequence[str], hint: str) -> list[str]:
    """Give `lines` to a program's stdin and return the lines that it writes.

    Raises
    ------
    InputError
        A text holds a line end; the program cannot be run, fails, writes no UTF-8 or another number of lines.
    """
    broken = next((line for line in lines if len(line.splitlines()) > 1), None)
    if broken is not None:
        raise InputError(f"a text holds a line end, which {command[0]} cannot be given: {broken[:60]!r}")
    found = written_lines(command, lines, hint, {**os.environ, "LC_ALL": "C.UTF-8"})
    if len(found) != len(lines):
        raise InputError(f"{command[0]} wrote {len(found)} lines for {len(lines)}", hint=hint)
    return found


def strip_marks(text: str) -> tuple[str, list[str], list[str]]:
    """Take Apertium's marks out of a translation.

    Returns
    -------
    tuple
        The text without marks and without doubled spaces; the words that Apertium does not know (`*`), which stay English (or Catalan);
        the words whose translation or form it lacks (`@`, `#`), which stay dictionary forms.

    Examples
    --------
    >>> strip_marks("El *welder ha visto  el #parque, barro-*stained.")
    ('El welder ha visto el parque, barro-stained.', ['welder', 'stained'], ['parque'])
    >>> strip_marks("Il va fermer#le l'**écrou.")
    ("Il va fermer le l'écrou.", ['écrou'], ['le'])
    """
    unknown, unformed = [], []

    def plain(match: re.Match) -> str:
        marks, word = match.groups()
        (unknown if "*" in marks else unformed).append(word)
        inside = match.start() and text[match.start() - 1].isalnum()  # `#` where a multiword was to be put together
        return f" {word}" if inside else word

    return " ".join(MARKED.sub(plain, text).split()), unknown, unformed


class Apertium:
    """Apertium's rule-based translation into Spanish, and into French by way of Catalan, from the Debian packages.

    The program `apertium` is called once per batch and step. Texts are handed over with an empty line between them, which ends a sentence
    for Apertium: no rule reaches across two texts. Some of its programs, though, remember: a text with an unseen ambiguity changes how
    later texts are tagged, and rules keep the last subject and its gender. So a copy of Apertium's mode file (its list of programs) starts
    the tagger anew for each text and lets the other programs forget: the translation of a text does not depend on those before it.

    Apertium marks what it cannot translate; the marks are taken out after each step and counted. A word counts once: one that the first
    step left as it was is not counted again in the second.
    """

    batch = 200
    counted = ("unknown_words", "unformed_words")

    def __init__(self, language: str) -> None:
        if language not in APERTIUM_STEPS:
            raise InputError(f"apertium has no way from English to {language!r} here", hint=f"It has {', '.join(APERTIUM_STEPS)}")
        self.steps, self.counts = APERTIUM_STEPS[language], []
        packages = " ".join(["apertium", *sorted(set(APERTIUM_PACKAGES.values()))])
        self.hint = f"Install the Debian packages: apt-get install {packages}"
        try:
            listed = subprocess.run(["apertium", "-l"], capture_output=True, text=True).stdout.split()
        except OSError:
            raise InputError("the program apertium is not installed here", hint=self.hint) from None
        missing = [step for step in APERTIUM_PACKAGES if step not in listed or not (APERTIUM_MODES / f"{step}.mode").is_file()]
        if missing:
            raise InputError(f"apertium does not have {', '.join(missing)} here", hint=self.hint)
        pins = debian_versions([*APERTIUM_ENGINE, *APERTIUM_PACKAGES.values()])
        self.card = translator_card(
            "apertium", "Apertium", f"apertium {pins['apertium']}", pins,
            "GPL: apertium and fra-cat 2.0 or later, eng-spa 2.0, eng-cat 3.0 or later", list(APERTIUM_STEPS),
            "Rule-based translation by Apertium: English to Spanish (eng-spa), English to Catalan to French "
            "(eng-cat, cat-fra). Marks of unknown and unformed words are taken out, doubled spaces made one; unknown words stay in "
            "English, or in Catalan. An unformed Spanish noun may take a feminine article that says nothing of its gender (la gerente, la "
            "parque): a gap of the dictionary.", pivot=dict(APERTIUM_PIVOTS))

    def translate(self, sources: Sequence[str]) -> list[str]:
        """Return one translation per source; `counts` then holds the marked words of each."""
        clash = next((source for source in sources if MARKED.search(source)), None)
        if clash is not None:
            raise InputError(f"a text holds one of Apertium's own marks (* # @) before a word: {clash[:60]!r}")
        texts, unknown, unformed = list(sources), [Counter() for _ in sources], [Counter() for _ in sources]
        for step in self.steps:
            for i, line in enumerate(self._step(step, texts)):
                texts[i], *found = strip_marks(line)
                earlier = unknown[i] + unformed[i]
                for total, words in zip((unknown[i], unformed[i]), found, strict=True):
                    total.update(Counter(map(str.lower, words)) - earlier)
        self.counts = [(a.total(), b.total()) for a, b in zip(unknown, unformed, strict=True)]
        return texts

    def _step(self, step: str, texts: Sequence[str]) -> list[str]:
        """Run one step over a batch; returns one marked line per text."""
        with TemporaryDirectory() as folder:
            program, mode = Path(folder) / "one_by_one.py", Path(folder) / "modes" / f"{step}.mode"
            program.write_text(ONE_BY_ONE, encoding="utf-8")
            mode.parent.mkdir()
            before = f"{shlex.quote(sys.executable)} {shlex.quote(str(program))} {len(texts)} "
            programs = (APERTIUM_MODES / mode.name).read_text(encoding="utf-8")
            mode.write_text(APERTIUM_STATEFUL.sub(lambda match: before + match[0], programs), encoding="utf-8")
            lines = pipe(["apertium", "-d", folder, "-f", "txt", step], [line for text in texts for line in (text, "")], self.hint)
        if any(line.strip() for line in lines[1::2]):
            raise InputError(f"apertium ({step}) mixed up its lines", hint="Is this another version of Apertium?")
        return lines[::2]


def debian_versions(packages: Sequence[str]) -> dict[str, str]:
    """Return the installed versions of Debian packages, sorted by name; "unknown" where Debian did not install them."""
    try:
        listed = subprocess.run(["dpkg-query", "-W", "-f", "${Package}\t${Version}\n", *packages], capture_output=True, text=True).stdout
    except OSError:
        listed = ""
    found = dict(line.split("\t") for line in listed.splitlines())
    return {package: found.get(package) or "unknown" for package in sorted(packages)}


class CommandTranslator:
    """Runs a command that reads one English text a line on stdin and writes one translation a line.

    Parameters
    ----------
    language : str
    model : str
        The command line.
    name : str, optional
        Name of the folder of translations; "command" if not given.
    batch_size : int
        Texts handed over in one call; 0 means all at once.
    """

    def __init__(self, language: str, model: str = "", name: str = "", batch_size: int = 0) -> None:
        self.command, self.batch, name = split_command(model), batch_size or ALL_AT_ONCE, name or "command"
        program = self.command[0].rpartition("/")[2]
        self.card = translator_card(name, name, f"the program {program}", {}, "the command's own", "multilingual",
                                    f"Translations of the command {program}.", model=model)

    def translate(self, sources: Sequence[str]) -> list[str]:
        """Return the line that the command writes for each source."""
        return pipe(self.command, sources, "It reads one English text a line and writes one translation a line")


class M2M100:
    """M2M-100, a many-to-many translation model, through transformers; beam search, no sampling.

    Parameters
    ----------
    language : str
    model : str
        Folder or name on the hub.
    name : str, optional
        Name of the folder of translations; that of the translator if not given.
    gpu : bool
    batch_size : int
    beams : int
        Beam size.
    """

    own_name, label, licence, example = "m2m100", "M2M-100", "MIT", "facebook/m2m100_418M"
    counted = ("unfinished",)

    def __init__(self, language: str, model: str = "", name: str = "", gpu: bool = False, batch_size: int = 16, beams: int = 5) -> None:
        if not model:
            raise InputError(f"which {self.label} model?", hint=f"--model {self.example}, or the path of a folder")
        if batch_size < 1 or beams < 1:
            raise InputError("batch size and beam size start at 1")
        import torch
        from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer

        if gpu and not torch.cuda.is_available():
            raise InputError("there is no GPU here", hint="Leave --gpu out")
        local = os.path.isdir(model)
        try:
            kind = AutoConfig.from_pretrained(model, local_files_only=local).model_type
            if kind == "m2m_100":
                self.tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=local, src_lang=self.code("en"))
                self.model = AutoModelForSeq2SeqLM.from_pretrained(model, local_files_only=local).eval()
        except Exception as error:      # whatever transformers and the hub's client raise: no file, no network, no such model
            raise InputError(f"the model cannot be loaded ({type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]})",
                             path=Path(model) if local else None, hint="Give a folder with model and tokenizer, or a name on the hub such "
                                                                       f"as {self.example}") from None
        if kind != "m2m_100":
            raise InputError(f"a model of type {kind}, not m2m_100", path=Path(model) if local else None,
                             hint=f"Is this a {self.label} model?")
        self.device = "cuda" if gpu else "cpu"
        self.torch, self.model, self.batch, self.beams, self.counts = torch, self.model.to(self.device), batch_size, beams, []
        self.first = self.language_token(language)
        name, shown = name or self.own_name, Path(model).name if local else model
        pins = {package: version(package) for package in ("sentencepiece", "torch", "transformers")}
        self.card = translator_card(
            name, name if name != self.own_name else self.label, f"{shown}, beam {beams}, transformers {pins['transformers']}", pins,
            self.licence, "multilingual", f"{self.label} ({shown}), beam search with {beams} beams. `unfinished` counts texts whose "
            f"translation was cut off after {MAX_NEW_TOKENS} tokens.", model=shown, beams=beams, device=self.device,
            dtype=str(self.model.dtype).removeprefix("torch."), batch_size=batch_size, max_new_tokens=MAX_NEW_TOKENS)

    def code(self, language: str) -> str:
        """The model's code of a language."""
        return language

    def language_token(self, language: str) -> int:
        """The token that starts a translation into this language."""
        token = self.tokenizer.convert_tokens_to_ids(self.marker(language))
        if token is None or token == self.tokenizer.unk_token_id:
            raise InputError(f"the model does not translate into {language!r}")
        return token

    def marker(self, language: str) -> str:
        """The spelling of the token that starts a translation."""
        return f"__{self.code(language)}__"

    def translate(self, sources: Sequence[str]) -> list[str]:
        """Return one translation per source; `counts` tells which were cut off."""
        inputs = self.tokenizer(list(sources), return_tensors="pt", padding=True).to(self.device)
        with self.torch.no_grad():
            made = self.model.generate(**inputs, forced_bos_token_id=self.first, num_beams=self.beams, do_sample=False,
                                       max_new_tokens=MAX_NEW_TOKENS, max_length=None)
        words = made[:, 2:]     # behind the token that starts the decoder (which is that of the end, too) and that of the language
        self.counts = [(int(self.tokenizer.eos_token_id not in row),) for row in words.tolist()]
        return self.tokenizer.batch_decode(words, skip_special_tokens=True)


class NLLB(M2M100):
    """NLLB-200, through transformers; parameters as in `M2M100`. Its weights may not be used commercially."""

    own_name, label, licence = "nllb", "NLLB-200", "code MIT, weights CC BY-NC 4.0"
    example = "facebook/nllb-200-distilled-600M"

    def code(self, language: str) -> str:
        """The model's code of a language, such as deu_Latn."""
        return NLLB_CODES.get(language, language)

    def marker(self, language: str) -> str:
        """The spelling of the token that starts a translation."""
        return self.code(language)


def one_line(reply: str) -> tuple[str, bool] | None:
    r"""Return a reply as one line and whether lines were joined; None if it is not a translation alone.

    The turns of a conversation come back on lines of their own: they are joined by a space. An empty line or a code fence says that
    the reply holds something else too (a preamble, notes).

    Examples
    --------
    >>> one_line(" „Wo ist der Koch?“\n„In der Küche.“ "), one_line("Er kam.\n\nNote: gender is open."), one_line("  ")
    (('„Wo ist der Koch?“ „In der Küche.“', True), None, None)
    """
    lines = [line.strip() for line in reply.strip().splitlines()]
    if not lines or any(not line or line.startswith("```") for line in lines):
        return None
    return " ".join(lines), len(lines) > 1


class LLMTranslator:
    """A language model behind any OpenAI-compatible endpoint (environment as for the judge), at temperature 0; replies are kept.

    A reply that is not a translation alone (`one_line`) is asked for once more with a reminder; if that does not help, the run stops
    and names the text.

    Parameters
    ----------
    language : str
    name : str, optional
        Name of the folder of translations; "llm" if not given.
    """

    batch = 16
    counted = ("joined", "asked_again")

    def __init__(self, language: str, name: str = "") -> None:
        if language not in LANGUAGES:
            raise InputError(f"unknown language {language!r}", hint=f"known: {', '.join(LANGUAGES)}")
        self.endpoint, self.language, self.counts = judge.Endpoint({"temperature": 0, "max_tokens": REPLY_TOKENS}), LANGUAGES[language], []
        name = name or "llm"
        template = (judge.PROMPTS / "translation.txt").read_bytes()
        self.card = translator_card(
            name, name, f"{self.endpoint.model}, prompt translation", {"openai": version("openai")}, "the model's own", "multilingual",
            f"Translations by {self.endpoint.model} (prompt template translation.txt, temperature 0). `joined`: replies of several lines, "
            "joined by spaces; `asked_again`: replies that held more than the translation.", model=self.endpoint.model,
            prompt_sha256=sha256(template).hexdigest(), **self.endpoint.settings)

    def translate(self, sources: Sequence[str]) -> list[str]:
        """Return the model's translation of each source; one that could not be used is returned as it came, and refused by the run."""
        prompts = [judge.prompt("translation", language=self.language, source=source) for source in sources]
        replies = self.endpoint.ask(prompts)
        again = [i for i, reply in enumerate(replies) if one_line(reply) is None]
        for i, reply in zip(again, self.endpoint.ask([f"{prompts[i]}\n\n{REMINDER}" for i in again]), strict=True):
            replies[i] = reply
        lines = [one_line(reply) or (reply, False) for reply in replies]
        self.counts = [(int(joined), int(i in again)) for i, (_, joined) in enumerate(lines)]
        return [text for text, _ in lines]


# name → constructor (language, **options)
TRANSLATORS: dict[str, Callable[..., Any]] = {
    "apertium": Apertium,
    "command": CommandTranslator,
    "gemma3-fewshot": lazy("few_shot", "FewShot"),
    "llm": LLMTranslator,
    "m2m100": M2M100,
    "nllb": NLLB,
}
