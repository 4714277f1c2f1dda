"""Translators: what turns the English texts into `data/translations/<system>/<language>.tsv`.

Tested here: the protocol on a fake translator (an interrupted run ends in the same bytes as an uninterrupted one; empty translations, line
breaks, wrong numbers of lines and mixed versions are refused and nothing is written); the `command` translator; Apertium's marks, taken out
and counted, and Apertium itself where it is installed; M2M-100 and NLLB on tiny random checkpoints where transformers is; the language
model against a small local server where openai is; and that the committed translations are complete and speak of the committed English.
"""
from __future__ import annotations

import importlib.util
import json
import re
import shutil
import stat
import sys
from pathlib import Path

import chat_server
import pandas as pd
import pytest
import yaml

from mtgender import data
from mtgender.producers import translators
from mtgender.producers.translators import TRANSLATORS, Apertium, one_line, sources_sha256, strip_marks, translate_language
from mtgender.study import LANGUAGES, ROOT, InputError

SOURCES = pd.DataFrame([[f"{code}-statement", f"The cook left “{code}” – twice."] for code in range(1000, 1007)],
                       columns=["segment_id", "source"])
COMMITTED = sorted((ROOT / "data" / "translations").glob("*/*.tsv"))


class Fake:
    """Turns the text round and counts vowels; stops after `stop` calls; `answers` replace single translations."""

    batch = 2
    counted = ("unknown_words", "asked_again")
    stop, calls, version, answers = None, 0, "1", {}

    def __init__(self, language):
        self.card = translators.translator_card("fake", "Fake", self.version, {}, "MIT", "multilingual", "For tests.")

    def translate(self, sources):
        cls = type(self)
        if cls.stop is not None and cls.calls >= cls.stop:
            raise KeyboardInterrupt
        cls.calls += 1
        self.counts = [(sum(map(s.count, "aeiou")), int("1003" in s)) for s in sources]
        return [cls.answers.get(s, s[::-1]) for s in sources if cls.answers.get(s) is not ...]


@pytest.fixture
def fake(monkeypatch):
    """A fresh class, registered as `fake`."""
    cls = type("Fresh", (Fake,), {"answers": {}})
    monkeypatch.setitem(TRANSLATORS, "fake", cls)
    return cls


@pytest.fixture
def script(tmp_path):
    """A program made of Python lines, ready to be run as a command."""
    def make(*lines):
        path = tmp_path / "translator"
        path.write_text("\n".join([f"#!{sys.executable}", "import sys", *lines]) + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)
    return make


def translate(name, language, out, sources=SOURCES, **more):
    return translate_language(name, language, sources, out, progress=False, **more)


def files(folder):
    return {path.name: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


# ---- the protocol

def test_a_run_writes_sorted_rows_and_a_card(fake, tmp_path):
    made = translate("fake", "de", tmp_path, sources=SOURCES.iloc[::-1].assign(isco="1000"))
    assert made[:3] == (tmp_path / "fake" / "de.tsv", 7, 0)
    text = made.path.read_bytes().decode()
    assert text.startswith("segment_id\ttext\n1000-statement\t.eciwt – ”0001“ tfel kooc ehT\n")
    assert text.count("\n") == 8 and "\r" not in text
    assert data.read_texts(made.path, SOURCES["segment_id"])["1006-statement"].startswith(".eciwt")
    card = yaml.safe_load((made.path.parent / "card.yaml").read_text())
    assert list(card)[:8] == ["name", "label", "kind", "version", "packages", "licence", "languages", "description"]
    assert card["kind"] == "translator" and card["command"] == "python -m mtgender translate fake --language de"
    assert card["input_sha256"] == {"de": sources_sha256(SOURCES)}
    vowels = sum(sum(map(s.count, "aeiou")) for s in SOURCES["source"])
    assert card["unknown_words"] == {"de": {"words": vowels, "texts": 7}} and card["asked_again"] == {"de": 1}
    translate("fake", "ar", tmp_path, limit=2)
    card = yaml.safe_load((made.path.parent / "card.yaml").read_text())
    assert list(card["unknown_words"]) == ["ar", "de"] and card["command"].endswith("fake --language ar de")


@pytest.mark.parametrize("stop", [0, 1, 3])
@pytest.mark.parametrize("torn", [b"", b"1006-sta", "1006-statement\t½".encode()[:-1]])
def test_an_interrupted_run_ends_in_the_same_bytes(fake, tmp_path, stop, torn):
    translate("fake", "de", tmp_path / "whole")
    fake.calls, fake.stop = 0, stop
    with pytest.raises(KeyboardInterrupt):
        translate("fake", "de", tmp_path / "broken")
    assert set(files(tmp_path / "broken")) == {"de.tsv.part"}
    with next((tmp_path / "broken").rglob("*.part")).open("ab") as part:
        part.write(torn)
    fake.stop, fake.calls = None, 0
    assert translate("fake", "de", tmp_path / "broken").resumed == 2 * stop and fake.calls == 4 - stop
    assert files(tmp_path / "broken") == files(tmp_path / "whole")


def test_a_part_file_of_other_texts_or_another_version_is_not_taken_up(fake, tmp_path):
    fake.stop = 2
    with pytest.raises(KeyboardInterrupt):
        translate("fake", "de", tmp_path)
    fake.stop, fake.version = None, "2"
    assert translate("fake", "de", tmp_path).resumed == 0
    fake.version = "3"
    with pytest.raises(InputError, match="de were made with"):
        translate("fake", "cs", tmp_path)


@pytest.mark.parametrize("answer, message", [
    ("", "gives no translation"), ("  ", "gives no translation"), ("a\nb", "line break"), ("a\rb", "line break"),
    ("a\u2028b", "line break"), ("a\tb", "line break, TAB"), ("a\0b", "NUL"), (..., "gave 1 translations for 2 texts")])
def test_a_translation_that_is_none_is_refused_and_never_written(fake, tmp_path, answer, message):
    fake.answers = {SOURCES["source"][5]: answer}
    with pytest.raises(InputError, match=message) as caught:
        translate("fake", "de", tmp_path)
    assert caught.value.segment_id == ("1004-statement" if answer is ... else "1005-statement")
    assert set(files(tmp_path)) == {"de.tsv.part"}
    fake.answers = {}
    assert translate("fake", "de", tmp_path).resumed == 4      # what was translated before is kept


def test_bad_texts_names_and_options_are_refused(fake, tmp_path):
    for sources, message in (
            (pd.concat([SOURCES, SOURCES[:1]]), "occurs twice"), (SOURCES[["source"]], "lack the column segment_id"),
            (SOURCES.assign(source=None), "not text"), (SOURCES.assign(source=" "), "1000-statement: the English text is empty")):
        with pytest.raises(InputError, match=message):
            translate("fake", "de", tmp_path, sources=sources)
    for name, language, options, message in (
            ("nobody", "de", {}, "no producer called"), ("fake", "de", {"beams": 3}, "no option beams"),
            ("command", "de", {}, "which command"),
            ("apertium", "is", {}, "no way from English to 'is'"), ("m2m100", "de", {}, "which M2M-100 model"),
            ("nllb", "de", {}, "which NLLB-200 model"), ("llm", "xx", {}, "unknown language"),
            ("m2m100", "de", {"model": "x", "beams": 0}, "beam")):
        with pytest.raises(InputError, match=message):
            translate(name, language, tmp_path, options=options)
    assert not files(tmp_path)


def test_nllb_has_a_code_of_every_language_of_the_project():
    assert set(translators.NLLB_CODES) == set(LANGUAGES)
    assert all(re.fullmatch("[a-z]{3}_[A-Z][a-z]{3}", code) for code in translators.NLLB_CODES.values())
    assert len(set(translators.NLLB_CODES.values())) == len(LANGUAGES)


# ---- any command

def test_a_command_reads_a_text_a_line_and_writes_a_translation_a_line(script, tmp_path):
    model = script("for line in sys.stdin.buffer.read().decode().split('\\n')[:-1]:",
                   "    sys.stdout.buffer.write((line.upper() + '\\n').encode())")
    made = translate("command", "de", tmp_path / "out", options={"model": model, "name": "mine", "batch_size": 3})
    assert made.path == tmp_path / "out" / "mine" / "de.tsv"
    assert list(data.read_texts(made.path, SOURCES["segment_id"]).values()) == [s.upper() for s in SOURCES["source"]]
    card = yaml.safe_load((made.path.parent / "card.yaml").read_text())
    assert card["name"] == card["label"] == "mine" and card["version"] == "the program translator" and "--as mine" in card["command"]
    with pytest.raises(InputError, match=r"de were made with model \S+; here: model \S+ -x"):
        translate("command", "cs", tmp_path / "out", options={"model": f"{model} -x", "name": "mine"})
    with pytest.raises(InputError, match="holds a line end"):
        translate("command", "de", tmp_path, sources=SOURCES.assign(source="a\nb"), options={"model": model})


@pytest.mark.parametrize("lines, message", [
    (["print(1)"], "wrote 1 lines for 7"), (["print('x\\n' * 7)"], "wrote 8 lines for 7"), (["pass"], "wrote 0 lines for 7"),
    (["print('x\\n' * 3 + '\\n' + 'x\\n' * 2 + 'x')"], "1003-statement: command gives no translation"),
    (["sys.exit('no model')"], "status 1: no model"), (["sys.stdout.buffer.write(b'\\xff')"], "not UTF-8"), (None, "cannot be run")])
def test_a_command_that_fails_is_refused(script, tmp_path, lines, message):
    with pytest.raises(InputError, match=message):
        translate("command", "de", tmp_path / "out", options={"model": script(*lines) if lines else "/no/such/program"})
    assert not list((tmp_path / "out").rglob("de.tsv"))


# ---- Apertium

@pytest.mark.parametrize("text, plain, unknown, unformed", [
    ("El *welder fijó el *zorblatt.", "El welder fijó el zorblatt.", ["welder", "zorblatt"], []),
    ("“*Welder?” – #parque, @bruise", "“Welder?” – parque, bruise", ["Welder"], ["parque", "bruise"]),
    ("d'*ictus barro-*stained siete-año-*olds", "d'ictus barro-stained siete-año-olds", ["ictus", "stained", "olds"], []),
    ("fermer#le #*torner *Ärger", "fermer le torner Ärger", ["torner", "Ärger"], ["le"]),
    (" nada  que *passers-por*", "nada que passers-por*", ["passers-por"], []), ("nada", "nada", [], []), ("", "", [], [])])
def test_marks_are_taken_out_and_counted(text, plain, unknown, unformed):
    assert strip_marks(text) == (plain, unknown, unformed)


@pytest.fixture
def fake_apertium(tmp_path, monkeypatch):
    """A program `apertium` first on the path, which knows no word but `the` and keeps the mode files that it is given."""
    def make(modes="eng-spa eng-cat cat-fra", separator=""):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        monkeypatch.setattr(translators, "APERTIUM_MODES", folder)
        for mode in ("eng-spa", "eng-cat", "cat-fra"):
            (folder / f"{mode}.mode").write_text("analyse 'x' | apertium-tagger -g $2 'x.prob' | apertium-transfer 'x'\n")
        (folder / "apertium").write_text("\n".join([
            f"#!{sys.executable}", "import shutil, sys", "if sys.argv[1] == '-l':", f"    print({modes!r})", "    sys.exit()",
            "assert sys.argv[1] == '-d' and sys.argv[3:5] == ['-f', 'txt']",
            f"shutil.copy(f'{{sys.argv[2]}}/modes/{{sys.argv[5]}}.mode', f'{folder}/{{sys.argv[5]}}.used')",
            "for n, line in enumerate(sys.stdin.read().split('\\n')[:-1]):",
            "    line = ' '.join('*' + w if w.isalpha() and w != 'the' else w for w in line.split(' '))",
            f"    print(line if line else {separator!r})"]) + "\n")
        (folder / "apertium").chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        return folder
    return make


def test_a_word_unknown_to_both_steps_counts_once(fake_apertium):
    folder = fake_apertium()
    apertium = Apertium("fr")
    assert apertium.translate(["the cook left", "the"]) == ["the cook left", "the"] and apertium.counts == [(2, 0), (0, 0)]
    for step in ("eng-cat", "cat-fra"):             # each text has a tagger of its own
        assert re.fullmatch(r"analyse 'x' (\| \S+ \S+one_by_one.py 2 apertium-(tagger -g \$2|transfer) 'x(.prob)?'\s){2}",
                            (folder / f"{step}.used").read_text())
    assert set(apertium.card["packages"].values()) == {"unknown"}       # no dpkg-query on this path
    with pytest.raises(InputError, match="one of Apertium's own marks"):
        apertium.translate(["write to *me*"])


def test_apertium_that_is_missing_incomplete_or_loses_lines(fake_apertium, tmp_path, monkeypatch):
    fake_apertium(modes="eng-spa eng-cat")
    with pytest.raises(InputError, match="does not have cat-fra here.*apt-get install apertium apertium-eng-cat"):
        Apertium("es")
    fake_apertium(separator="x")
    with pytest.raises(InputError, match="mixed up its lines"):
        translate("apertium", "es", tmp_path / "out")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="not installed here.*apertium-fra-cat"):
        Apertium("es")


def apertium(language):
    if not shutil.which("apertium"):
        pytest.skip("apertium is not installed here (Debian packages apertium apertium-eng-spa apertium-eng-cat apertium-fra-cat)")
    try:
        return Apertium(language)
    except InputError as error:
        pytest.skip(str(error))


@pytest.mark.slow
@pytest.mark.parametrize("language, words", [("es", ["enfermer", "fontanero", "puente"]), ("fr", ["infirm", "plombier", "pont"])])
def test_apertium_translates_each_text_on_its_own(language, words):
    translator = apertium(language)
    sources = ["The nurse said: “I will come tomorrow” – and left", "the plumber’s zorblatt broke", "The bridge was old."]
    made = translator.translate(sources)
    assert all(word in text for word, text in zip(words, made, strict=True)), made
    assert [made[0].count(mark) for mark in "“”–"] == [1, 1, 1] and "zorblatt" in made[1] and "*" not in "".join(made)
    assert [a for a, _ in translator.counts] == [0, 1, 0]
    assert [translator.translate([source])[0] for source in sources] == made


@pytest.mark.slow
@pytest.mark.parametrize("language, segment_id, before", [("es", "4213-conversation", 50), ("fr", "1342-conversation", 9)])
def test_what_apertium_remembers_does_not_reach_other_texts(language, segment_id, before):
    """Left to itself, Apertium translates these texts otherwise after those before them: its tagger and its rules remember."""
    texts = data.read_source(ROOT / "data" / "occupairs").set_index("segment_id")["source"]
    place = list(texts.index).index(segment_id)
    translator = apertium(language)
    assert translator.translate(list(texts[place - before:place + 1]))[-1] == translator.translate([texts.iloc[place]])[0]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["es", "fr"])
def test_apertium_gives_what_is_committed(language):
    translator = apertium(language)
    folder = ROOT / "data" / "translations" / "apertium"
    if translator.card["packages"] != yaml.safe_load((folder / "card.yaml").read_text(encoding="utf-8"))["packages"]:
        pytest.skip("other versions of Apertium's packages are installed here")
    sources = data.read_source(ROOT / "data" / "occupairs")[::100]
    committed = data.read_texts(folder / f"{language}.tsv", data.read_source(ROOT / "data" / "occupairs")["segment_id"])
    assert translator.translate(list(sources["source"])) == [committed[i] for i in sources["segment_id"]]


# ---- what is committed

def test_there_are_committed_translations():
    assert {path.stem for path in COMMITTED if path.parent.name == "apertium"} == {"es", "fr"}


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_committed_translations_are_complete_and_of_the_committed_english(path):
    source = data.read_source(ROOT / "data" / "occupairs")
    texts = data.read_texts(path, source["segment_id"])
    raw = path.read_bytes()
    assert list(texts) == list(source["segment_id"]) and raw.endswith(b"\n") and b"\r" not in raw and not raw.startswith(b"\xef\xbb\xbf")
    assert all(text and text == text.strip() and len(text.splitlines()) == 1 for text in texts.values())
    card = yaml.safe_load((path.parent / "card.yaml").read_text(encoding="utf-8"))
    assert card["kind"] == "translator" and card["name"] == path.parent.name
    assert card["input_sha256"][path.stem] == sources_sha256(source), "translated from other texts: translate them again"
    assert path.stem in card["command"].partition("--language ")[2].split()
    assert card.get("quality", {path.stem: {"passed": True}})[path.stem]["passed"], "it fails its own check: not to be committed"
    if path.parent.name == "apertium":
        assert path.stem in card["languages"] and not any(mark in text for text in texts.values() for mark in "*#@")
        # the quotation marks and question marks of the English are all there: no text slipped into another line
        for english, text in zip(source["source"], texts.values(), strict=True):
            assert [english.count(mark) for mark in "“”–?!;"] == [text.count(mark) for mark in "“”–?!;"]


# ---- neural models, on tiny random checkpoints

@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """{translator: folder} of random weights with real tokenizers, in the layout of the hub."""
    for package in ("torch", "transformers", "sentencepiece"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed here (extra neural, ./run_tests.sh --all)")
    import sentencepiece
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer, NllbTokenizerFast
    folder = tmp_path_factory.mktemp("models")
    english = list(data.read_source(ROOT / "data" / "occupairs")["source"][:200])
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(english), model_prefix=str(folder / "spm"), vocab_size=200,
                                             bos_id=0, pad_id=1, eos_id=2, unk_id=3, minloglevel=2)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model"))
    names = ["<s>", "<pad>", "</s>", "<unk>", *(pieces.id_to_piece(i) for i in range(4, pieces.get_piece_size()))]
    (folder / "vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}))
    fast = Tokenizer(models.Unigram())
    fast.pre_tokenizer = pre_tokenizers.Metaspace()
    fast.train_from_iterator(english, trainers.UnigramTrainer(vocab_size=200, special_tokens=names[:4], unk_token="<unk>"))
    made = {"m2m100": M2M100Tokenizer(str(folder / "vocab.json"), str(folder / "spm.model")),
            "nllb": NllbTokenizerFast(tokenizer_object=fast)}
    for name, tokenizer in made.items():
        torch.manual_seed(5)
        marks = {*tokenizer.all_special_ids, *getattr(tokenizer, "lang_token_to_id", {}).values()}
        size = max(*tokenizer.get_vocab().values(), *marks) + 1
        model = M2M100ForConditionalGeneration(M2M100Config(
            vocab_size=size, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
            encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=512, decoder_start_token_id=2, init_std=1.0))
        with torch.no_grad():           # so that words come out, not marks
            model.get_input_embeddings().weight[sorted(marks)] *= 0.3
        tokenizer.save_pretrained(folder / name)
        model.save_pretrained(folder / name)
        made[name] = folder / name
    return made


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, token, english", [("m2m100", "__de__", "__en__"), ("nllb", "deu_Latn", "eng_Latn")])
def test_neural_translators_start_with_the_language_and_tell_the_run(checkpoints, tmp_path, monkeypatch, name, token, english):
    monkeypatch.setattr(translators, "MAX_NEW_TOKENS", 12)
    options = {"model": str(checkpoints[name]), "beams": 3, "batch_size": 4}
    made = translate(name, "de", tmp_path / "a", options=options)
    texts = data.read_texts(made.path, SOURCES["segment_id"])
    card = yaml.safe_load((made.path.parent / "card.yaml").read_text())
    assert (card["beams"], card["device"], card["dtype"], card["batch_size"], card["model"]) == (3, "cpu", "float32", 4, name)
    assert set(card["packages"]) == {"sentencepiece", "torch", "transformers"} and 0 <= card["unfinished"]["de"] <= 7
    translator = TRANSLATORS[name]("de", **options)
    tokens = translator.tokenizer.convert_ids_to_tokens(translator.tokenizer("The cook left.")["input_ids"])
    assert tokens[0] == english and translator.tokenizer.convert_ids_to_tokens(translator.first) == token
    assert translator.translate(list(SOURCES["source"][:4])) != TRANSLATORS[name]("fr", **options).translate(list(SOURCES["source"][:4]))
    assert token not in "".join(texts.values()) and "</s>" not in "".join(texts.values())
    assert files(translate(name, "de", tmp_path / "b", options=options).path.parent) == files(tmp_path / "a")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_neural_models_that_are_not_there_or_are_something_else(checkpoints, tmp_path):
    (tmp_path / "bert").mkdir()
    (tmp_path / "bert" / "config.json").write_text('{"model_type": "bert"}')
    for model, language, message in ((tmp_path / "bert", "de", "type bert, not m2m_100"), (tmp_path / "empty", "de", "cannot be loaded"),
                                     (checkpoints["m2m100"], "xx", "does not translate into 'xx'"),
                                     (checkpoints["nllb"].parent, "de", "cannot be loaded")):
        with pytest.raises(InputError, match=message):
            translate("m2m100", language, tmp_path / "out", options={"model": str(model)})


# ---- a language model

@pytest.mark.parametrize("reply, expected", [
    (" Er kam. \n", ("Er kam.", False)), ("„Wo?“\n„Da.“", ("„Wo?“ „Da.“", True)), ("„Wo?“\r\n  „Da.“", ("„Wo?“ „Da.“", True)), ("", None),
    (" \n ", None), ("Here it is:\n\nEr kam.", None), ("```\nEr kam.\n```", None), ("Er kam.\n \nNote: …", None)])
def test_a_reply_is_a_translation_alone(reply, expected):
    assert one_line(reply) == expected


def echo(prompt):
    """The English of the prompt."""
    return f"T: {prompt.rpartition('English: ')[2]}".split("\n\nRemember")[0]


@pytest.fixture
def server(monkeypatch, tmp_path):
    with chat_server.running(monkeypatch, tmp_path, echo) as handler:
        yield handler


@pytest.mark.slow
def test_a_language_model_is_asked_once_and_its_lines_are_joined(server, tmp_path):
    server.replies[:] = ["„Wo?“\n„Da.“", "Sure!\n\nDer Koch ging."]
    made = translate("llm", "de", tmp_path / "out")
    texts = data.read_texts(made.path, SOURCES["segment_id"])
    assert texts["1000-statement"] == "„Wo?“ „Da.“" and texts["1002-statement"] == "T: The cook left “1002” – twice."
    assert len(server.seen) == 8 and server.seen[7]["messages"][0]["content"].endswith(translators.REMINDER)
    assert server.seen[0]["max_tokens"] == translators.REPLY_TOKENS and server.seen[0]["temperature"] == 0
    assert "into German" in server.seen[0]["messages"][0]["content"]
    card = yaml.safe_load((made.path.parent / "card.yaml").read_text())
    assert card["joined"] == {"de": 1} and card["asked_again"] == {"de": 1} and card["model"] == "tiny"
    before = files(made.path.parent)
    made.path.unlink()
    translate("llm", "de", tmp_path / "out")
    assert len(server.seen) == 8 and files(made.path.parent) == before              # all from the cache
    assert not any(b"sk-secret" in content for content in files(tmp_path).values())


@pytest.mark.slow
def test_a_language_model_that_does_not_translate_is_refused(server, tmp_path):
    server.replies[:] = ["Sure!\n\nDer Koch ging."] * 7 + ["Again:\n\nDer Koch."]
    with pytest.raises(InputError, match="1000-statement: llm gives a translation with a line break"):
        translate("llm", "de", tmp_path / "out")
    assert not list((tmp_path / "out").rglob("de.tsv"))
