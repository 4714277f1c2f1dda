"""Studies: what is compared, where it lies, and every path a run uses.

A study is a YAML file (`studies/*.yaml`). All scalars are read as text and converted by the key's declared type, so that
`language: no`, `isco: 0110` or `system: nan` stay what was written.
"""

from __future__ import annotations

import difflib
import glob
import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = {
    "ar": "Arabic", "cs": "Czech", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fr": "French",
    "is": "Icelandic", "it": "Italian", "nl": "Dutch", "pt": "Portuguese", "ru": "Russian", "sr": "Serbian", "uk": "Ukrainian",
}
ROLES = ("metric", "fluency", "control")
# whose labour figures go with a language; Ukraine has none by ISCO-08
COUNTRIES = {"ar": "EGY", "cs": "CZE", "de": "DEU", "el": "GRC", "fr": "FRA", "is": "ISL", "ru": "RUS"}
TEXT_TYPES = ("statement", "report", "conversation", "story", "news report", "presentation")  # the first three are OccuPairs'



class InputError(Exception):
    """Bad input, told in one line: where, what is wrong, what to do.

    Parameters
    ----------
    problem : str
        What was found and what was expected.
    path, line, segment_id : optional
        File, 1-based line and segment id.
    hint : str, optional
        What to do about it.
    """

    def __init__(self, problem, *, path=None, line=None, segment_id=None, hint=None):
        self.problem, self.path, self.line, self.segment_id, self.hint = problem, path, line, segment_id, hint
        place = [] if path is None else [display_path(path)]
        if line is not None:
            place.append(f"line {line}")
        if segment_id is not None:
            place.append(f"segment {segment_id}")
        message = (", ".join(place) + ": " if place else "") + problem + (f". {hint}" if hint else "")
        super().__init__("".join(c if c.isprintable() else ascii(c)[1:-1] for c in message))      # one line, whatever was read

    def _render_traceback_(self):
        """Shown by IPython in place of a traceback."""
        return [f"InputError: {self}"]


def display_path(path):
    """A path as text, relative to the repository where it lies inside."""
    path = Path(path)
    try:
        return path.resolve().relative_to(ROOT).as_posix()
    except ValueError:
        return path.as_posix()


def copies():
    """Folder of the parquet copies of large outside files, of all studies."""
    return ROOT / "results" / "read"


def file_name(name):
    """A file name for an opaque system name (`Qwen 3.6` -> `Qwen_3.6`)."""
    return re.sub(r"^\.+|[^\w.+-]", lambda m: "_" * len(m.group()), name) or "_"


def _one_of(*allowed):
    def convert(text):
        if text not in allowed:
            raise ValueError(f"expected one of {', '.join(allowed)}")
        return text
    return convert


def _text(text):
    if not isinstance(text, str):
        raise ValueError("expected a text")
    return text


def _number(kind, low, high):
    def convert(text):
        value = kind(_text(text))
        if not low <= value <= high:
            raise ValueError(f"expected a number from {low} to {high}")
        return value
    return convert


def _flag(text):
    if text not in ("true", "false"):
        raise ValueError("expected true or false")
    return text == "true"


def _texts(value):
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise ValueError("expected a list of texts, like [de, ru]")
    if len(set(value)) != len(value):
        raise ValueError("an entry occurs twice")
    return tuple(value)


def _label(text):
    if not _text(text).strip() or not text.isprintable():
        raise ValueError("expected a text in one line, not empty")
    return text


def _languages(value):
    if not _texts(value):
        raise ValueError("expected at least one language")
    for code in value:
        if code not in LANGUAGES:
            raise ValueError(f"unknown language {code!r}; known: {', '.join(LANGUAGES)}")
    return tuple(value)


def _roles(value):
    if isinstance(value, str):
        return dict.fromkeys(LANGUAGES, _one_of(*ROLES)(value))
    if not isinstance(value, dict):
        raise ValueError("expected a role or a mapping language: role")
    return {code: _one_of(*ROLES)(role) for code, role in zip(_languages(list(value)), value.values())}


def _detector(value):
    """`lexicon`, or a mapping with `name` and the detector's options."""
    values = {"name": value} if isinstance(value, str) else dict(value) if isinstance(value, dict) else {}
    known = {"name": _text, "fuzzy": _number(float, 0, 100), "similarity": _number(float, -1, 1), "model": _text}
    for key in values:
        if key not in known:
            raise ValueError(f"unknown key {key!r}; known: {', '.join(known)}")
    if "name" not in values:
        raise ValueError("expected the name of a detector, or a mapping with name, fuzzy, similarity, model")
    return {key: known[key](v) for key, v in values.items()}


def _neutral(value):
    """Folder and languages of texts with a third variant."""
    if not isinstance(value, dict) or sorted(value) != ["languages", "path"]:
        raise ValueError("expected {path: folder, languages: [de]}")
    return {"path": _text(value["path"]), "languages": _languages(value["languages"])}


SYSTEM_KEYS = {
    "label": _label, "path": _text, "format": _one_of("own", "wmt25", "wmt26"), "languages": _languages, "higher_is_better": _flag,
    "references": _flag, "baseline": _flag, "role": _roles, "genders": _text,
}
STUDY_KEYS = {
    "name": _label, "title": _label, "extends": _text, "pairs": _text, "pairs_format": _one_of("own", "gambit"), "set": _text,
    "source": _text, "subset": _number(int, 1, 1000), "languages": _languages, "panel": _languages,
    "gender_counts": _texts, "scores": dict, "annotations": dict, "translations": dict,
    "add_scores": dict, "add_annotations": dict, "add_translations": dict, "detector": _detector,
    "neutral": _neutral,
    "q": _number(float, 0, 1), "level": _number(float, 0.5, 0.9999), "replicates": _number(int, 100, 1_000_000),
    "seed": _number(int, 0, 2**63), "range": _one_of("evaluator", "run"), "count_instruction_fault": _flag,
    "allow_partial": _flag, "publish": _flag, "published": _flag,
}
REQUIRED = ("pairs", "languages")
DEPTH = 20         # levels of a YAML file
REPEAT = re.compile(r".*\.r([1-9][0-9]*)\.tsv")
NAME_BYTES = 100   # of a system's name as part of file names
KINDS = ("scores", "annotations", "translations")


@dataclass(frozen=True)
class System:
    """One evaluator (score files), annotator (error-span files) or translation system (texts) of a study."""

    name: str
    kind: str
    path: Path
    languages: tuple[str, ...]
    label: str
    format: str = "own"
    higher_is_better: bool = True
    references: bool = False
    baseline: bool = False
    roles: dict = field(default_factory=dict)
    card: dict = field(default_factory=dict)
    genders: Path | None = None      # of translations: the folder of labels that a detector gave, if not the study's own
    problem: InputError | None = None  # why its card cannot be read: then its runs are refused

    def file(self, language):
        """The file that holds one language; a `{language}` in the path is replaced, else `<path>/<language>.tsv|.jsonl|.txt`."""
        text = str(self.path)
        if "{language}" in text:
            return Path(text.replace("{language}", language))
        if self.path.is_file():
            return self.path
        plain = self.path / f"{language}.txt"
        if self.kind == "translations" and plain.is_file() and not plain.with_suffix(".tsv").is_file():
            return plain
        return self.path / f"{language}.{'jsonl' if self.kind == 'annotations' else 'tsv'}"

    def repeats(self, language):
        """Files of repeated scores (`<language>.r1.tsv`, `.r2.tsv`, …) in order, others so named last; none where `file` is there."""
        whole = self.file(language)
        if self.kind != "scores" or self.format != "own" or whole.is_file():
            return []
        found = whole.parent.glob(f"{glob.escape(whole.stem)}.r*.tsv")
        return sorted(found, key=lambda p: (int(m[1]) if (m := REPEAT.fullmatch(p.name)) else math.inf, p.name))

    def files(self, language):
        """The repeats of a language, or its one file."""
        return self.repeats(language) or [self.file(language)]

    def role(self, language):
        """metric, fluency or control; of a language that was not tested, what all tested ones agree on, else metric."""
        tested = set(self.roles.values())
        return self.roles.get(language, tested.pop() if len(tested) == 1 else "metric")


@dataclass(frozen=True)
class Study:
    """A validated study; every path of a run is a property of it."""

    path: Path
    name: str
    title: str
    pairs: Path
    languages: tuple[str, ...]
    panel: tuple[str, ...]
    scores: dict[str, System]
    annotations: dict[str, System]
    translations: dict[str, System] = field(default_factory=dict)
    detector: dict = field(default_factory=lambda: {"name": "lexicon"})
    gender_counts: tuple[Path, ...] = ()
    neutral: dict = field(default_factory=dict)          # path, languages of the texts with a neutral variant
    pairs_format: str = "own"
    set: str = ""
    source: str = "en"
    subset: int | None = None
    q: float = 0.05
    level: float = 0.95
    replicates: int = 5000
    seed: int = 20260801
    range: str = "evaluator"
    count_instruction_fault: bool = False
    allow_partial: bool = False
    publish: bool = False
    published: bool = False       # the study of the paper's own data: its numbers are compared with the printed ones

    @cached_property
    def results(self):
        return ROOT / "results" / file_name(self.name)

    @property
    def set_name(self):
        """Name of the challenge set in outside formats."""
        return self.set or self.pairs.name

    @property
    def tables(self):
        return ROOT / "tables" if self.publish else self.results / "tables"

    @property
    def figures(self):
        return ROOT / "figures" if self.publish else self.results / "figures"

    @property
    def run_outputs(self):
        return self.results / "runs"

    @property
    def reading(self):
        return ROOT / "docs" / "reading" if self.publish else self.results / "reading"

    @property
    def prepared(self):
        return self.results / "prepared"

    @property
    def inference(self):
        return self.results / "inference"

    @property
    def notebooks(self):
        return self.results / "notebooks"

    def source_files(self):
        """The study file and the study files it extends."""
        return _chain(self.path)

    def runs(self, kind):
        """(system name, language) of every declared run of a kind, in study order.

        `scores` and `annotations` are of the study's languages; `translations` may be into others too.
        """
        if kind == "translations":
            return [(s.name, code) for s in self.translations.values() for code in s.languages]
        return [(s.name, code) for s in getattr(self, kind).values() for code in self.languages if code in s.languages]

    def genders(self, system, language):
        """The file of the genders that a detector found in a system's translations."""
        folder = self.translations[system].genders or self.results / "genders" / file_name(system)
        return folder / f"{language}.tsv"

    def repeated_runs(self):
        """(system, language) of every score run with repeats."""
        return [(name, code) for name, code in self.runs("scores") if self.scores[name].repeats(code)]

    def neutral_runs(self):
        """(system, language, file) of every evaluator that scored the texts with a neutral variant."""
        languages = self.neutral.get("languages", ())
        runs = [(s.name, code, s.path / "neutral" / f"{code}.tsv") for s in self.scores.values() for code in languages]
        return [run for run in runs if run[2].is_file()]

    def files(self, kinds=KINDS):
        """Input files that exist: pairs; of each kind scores (also of neutral variants), annotations, translations (and counts); cards."""
        if self.pairs_format == "gambit":
            stems = [f"{self.set_name}.{self.source}-{code}" for code in self.languages]
            found = [self.pairs / f"{stem}.{end}" for stem in stems for end in ("src.txt", "hyp-1.txt", "hyp-2.txt", "meta.tsv")]
        else:
            found = [self.pairs / f"{code}.tsv" for code in ("en", *self.languages)]
        for kind in kinds:
            found += [f for name, code in self.runs(kind) for f in getattr(self, kind)[name].files(code)]
            found += [s.path / "card.yaml" for s in getattr(self, kind).values() if s.card]
        if "translations" in kinds:
            found += [*(self.genders(name, code) for name, code in self.runs("translations")), *self.gender_counts]
        if "scores" in kinds:
            found += [self.neutral["path"] / f"{code}.tsv" for code in self.neutral.get("languages", ())]
            found += [path for *_, path in self.neutral_runs()]
        return sorted({f for f in found if f.is_file()})


def read_yaml(path):
    """A YAML file as nested dicts and lists of text, and the line of every key.

    Returns
    -------
    value : dict
    lines : dict
        Tuple of keys -> 1-based line.
    """
    try:
        node = yaml.compose(Path(path).read_bytes().decode("utf-8-sig"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 ({error.reason})", path=path) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise InputError(f"not valid YAML: {getattr(error, 'problem', None) or error.reason}", path=path,
                         line=mark.line + 1 if mark else None) from None
    lines = {}

    def build(node, keys):
        if len(keys) > DEPTH:                                # or an alias within what it stands for
            raise InputError(f"more than {DEPTH} levels deep", path=path, line=node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            value = {}
            for key, child in node.value:
                name = key.value
                if not isinstance(key, yaml.ScalarNode):
                    raise InputError("a key must be a text", path=path, line=key.start_mark.line + 1)
                lines[(*keys, name)] = key.start_mark.line + 1
                if name in value:
                    raise InputError(f"key {name!r} occurs twice", path=path, line=key.start_mark.line + 1)
                value[name] = build(child, (*keys, name))
            return value
        if isinstance(node, yaml.SequenceNode):
            return [build(child, (*keys, number)) for number, child in enumerate(node.value)]
        return node.value

    value = build(node, ()) if node is not None else {}
    if not isinstance(value, dict):
        raise InputError("expected key: value lines", path=path, line=1)
    return value, lines


def _convert(raw, allowed, path, lines, keys=()):
    """Check keys and types of one mapping; every problem is one InputError with its line."""
    result = {}
    for key, value in raw.items():
        line = lines.get((*keys, key))
        if key not in allowed:
            close = difflib.get_close_matches(key, allowed, 1)
            hint = f"Did you mean {close[0]!r}?" if close else f"Known keys: {', '.join(allowed)}"
            raise InputError(f"unknown key {key!r}", path=path, line=line, hint=hint)
        if allowed[key] is dict:
            if value == "":
                value = {}
            if not isinstance(value, dict):
                raise InputError(f"{key}: expected a mapping name: {{path: …}}, found {value!r}", path=path, line=line)
            result[key] = value
            continue
        try:
            result[key] = allowed[key](value)
        except (ValueError, TypeError) as error:
            raise InputError(f"{key}: {error}, found {value!r}", path=path, line=line) from None
    return result


def _find(text, study_path):
    """A path named in a study file: beside that file if it lies there, else in the repository; or absolute."""
    here, there = study_path.parent / text, ROOT / text
    names = [text.replace("{language}", code) for code in LANGUAGES] if "{language}" in text else [text]
    return here if any((study_path.parent / name).exists() for name in names) else there


def _read_system(name, raw, kind, languages, path, lines, keys, own):
    """`own`: whether the languages it names must be the study's (it stands in the file that says which these are)."""
    if not name.strip() or not name.isprintable() or len(file_name(name).encode()) > NAME_BYTES:
        raise InputError(f"{kind}: {name[:40]!r} is no name; expected a text in one line of at most {NAME_BYTES} bytes", path=path,
                         line=lines.get(keys))
    if not isinstance(raw, dict):
        raise InputError(f"{name}: expected {{path: …}}, found {raw!r}", path=path, line=lines.get(keys))
    values = _convert(raw, SYSTEM_KEYS, path, lines, keys)
    if "path" not in values:
        raise InputError(f"{name}: no path", path=path, line=lines.get(keys), hint="Say where its files lie: path: folder")
    place = _find(values.pop("path"), path)
    card, problem = {}, None
    try:
        card, from_card = _read_card(place, kind)
        values = {**from_card, **values}
    except InputError as error:                             # its runs are refused, the others go on
        problem = error
    roles = values.pop("role", {})
    if "genders" in values:
        values["genders"] = _find(values["genders"], path)
    if own and not set(values.get("languages", ())) <= set(languages):
        raise InputError(f"{name}: {_outside(values['languages'], languages)}", path=path, line=lines.get((*keys, "languages")),
                         hint="Add it to the languages of the study, or leave it out here")
    covered = values.pop("languages", None) or tuple(card.get("input_sha256", ())) or languages
    if own and not set(covered) & set(languages):
        raise InputError(f"{name}: by its card {_outside(covered, languages)}", path=path, line=lines.get(keys))
    return System(name=name, kind=kind, path=place, languages=covered, label=values.pop("label", name), roles=roles, card=card,
                  problem=problem, **values)


def _read_card(folder, kind):
    """A folder's card.yaml, and what it says in a study's terms; both empty without one."""
    path = folder / "card.yaml"
    if not path.is_file():
        return {}, {}
    card, lines = read_yaml(path)
    made = card.get("input_sha256") or {}
    try:
        if made:
            _languages(list(made))
        if not isinstance(made, dict):
            raise ValueError("expected a mapping language: hash")
    except ValueError as error:
        raise InputError(f"input_sha256: {error}", path=path, line=lines.get(("input_sha256",))) from None
    known = {k: v for k, v in card.items() if k in SYSTEM_KEYS and k != "path"}
    if kind == "translations" and made:
        known.pop("languages", None)                        # a translator's card names all it can do, made are those with a hash
    return card, _convert(known, SYSTEM_KEYS, path, lines)


def _outside(codes, languages):
    return f"{', '.join(c for c in codes if c not in languages)} not among the study's languages ({', '.join(languages)})"


def _chain(path):
    """A study file and those it extends, base last."""
    chain = [Path(path)]
    while True:
        raw, lines = read_yaml(chain[-1])
        extends = raw.get("extends")
        if not extends:
            return chain
        if not isinstance(extends, str):
            raise InputError("extends: expected a text, the name of one study", path=chain[-1], line=lines[("extends",)])
        base = _find(extends if extends.endswith((".yaml", ".yml")) else f"{extends}.yaml", chain[-1])
        if not base.is_file():
            base = ROOT / "studies" / base.name
        if base.resolve() in [c.resolve() for c in chain]:
            raise InputError(f"extends itself through {extends!r}", path=path)
        if not base.is_file():
            known = sorted(p.stem for p in (ROOT / "studies").glob("*.yaml"))
            raise InputError(f"extends {extends!r}, which does not exist", path=chain[-1], hint=f"Known: {', '.join(known)}")
        chain.append(base)


def load(path):
    """Read and validate a study.

    Parameters
    ----------
    path : str or Path
        A file, or the bare name of one in `studies/`. A relative path that does not exist here is sought in the repository.

    Returns
    -------
    Study

    Raises
    ------
    InputError
        Unknown key, wrong type, unknown language, missing key: with file and line.
    """
    path = Path(path)
    if not path.is_file():
        for candidate in (ROOT / path, ROOT / "studies" / f"{path.name}.yaml"):
            if candidate.is_file():
                path = candidate
                break
        else:
            raise InputError("no such study file", path=path, hint="Studies lie in studies/*.yaml")
    merged, systems = {}, {kind: {} for kind in KINDS}
    for file in reversed(_chain(path)):
        raw, lines = read_yaml(file)
        values = _convert(raw, STUDY_KEYS, file, lines)
        if file != path:
            values.pop("publish", None)
            values.pop("published", None)
            values.pop("name", None)
        if "panel" in values and not set(values["panel"]) <= set(values.get("languages", merged.get("languages", values["panel"]))):
            raise InputError(f"panel: {_outside(values['panel'], values.get('languages', merged.get('languages')))}", path=file,
                             line=lines[("panel",)])
        if "pairs" in values:
            values["pairs"] = _find(values["pairs"], file)
        if "neutral" in values:
            values["neutral"]["path"] = _find(values["neutral"]["path"], file)
        if "gender_counts" in values:
            values["gender_counts"] = tuple(_find(text, file) for text in values["gender_counts"])
        for kind in systems:
            if kind in values:
                systems[kind] = {}
            for key in (kind, f"add_{kind}"):
                for name, entry in values.pop(key, {}).items():
                    if key != kind and name in systems[kind]:
                        raise InputError(f"{name!r} is already in the study", path=file, line=lines[(key, name)],
                                         hint="Choose another name")
                    systems[kind][name] = (entry, file, lines, (key, name))
        merged.update(values)
        merged.pop("extends", None)
    merged.setdefault("name", path.stem)
    for key in REQUIRED:
        if key not in merged:
            raise InputError(f"no {key!r}", path=path, hint=f"A study needs {', '.join(REQUIRED)} (or extends another)")
    languages = merged["languages"]
    built = {kind: {name: _read_system(name, entry, kind, languages, file, lines, keys, own=kind != "translations" and file == path)
                    for name, (entry, file, lines, keys) in entries.items()} for kind, entries in systems.items()}
    for kind, entries in built.items():
        names = {}
        for name in entries:
            other = names.setdefault(file_name(name).casefold(), name)
            if other != name:
                raise InputError(f"{kind}: {other!r} and {name!r} would share a file name", path=path, hint="Rename one")
    labels = [system.label for system in built["translations"].values()]
    if len(set(labels)) < len(labels):
        raise InputError("two translation systems have one label", path=path, hint="Give each a label of its own")
    merged["panel"] = merged.get("panel") or languages
    merged.setdefault("title", merged["name"])
    if "subset" in merged and merged.get("pairs_format", "own") != "gambit":
        raise InputError("subset goes with pairs_format: gambit", path=path, hint="Leave it out: the project's own texts are all taken")
    if built["translations"] and merged.get("pairs_format", "own") != "own":
        raise InputError("translations need a challenge set in the project's own format", path=path)
    return Study(path=path, **built, **merged)
