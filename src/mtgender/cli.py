"""`python -m mtgender …`: what the workflow and people call from a shell.

Every command prints one clear line for bad input (exit status 2) and never a traceback for it.
"""

from __future__ import annotations

import argparse
import ast
import functools
import hashlib
import html
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import urllib.parse
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from mtgender import __version__, data, formats, study
from mtgender.study import ROOT, InputError, display_path

DEFAULT = "studies/occupairs.yaml"
NO_ALT = "No description has been provided for this image"     # what nbconvert says of every picture


def prepare(args):
    """read and validate the study's files"""
    chosen = study.load(args.study)
    runs = data.prepare(chosen)
    if not len(runs):
        raise InputError("the study names no scores, annotations, translations or gender counts", path=args.study,
                         hint="Name some: scores: {my-metric: {path: folder}}")
    for problem in runs.loc[runs["status"] == "refused", "problem"]:
        print(f"refused: {problem}", file=sys.stderr)
    print(f"{(runs['status'] == 'ok').sum()} of {len(runs)} runs read")


def infer(args):
    """measure, bootstrap and test every run"""
    from mtgender import inference
    chosen = study.load(args.study)
    inference.infer(chosen)
    inference.digests(chosen)


def notebook_parameters(path):
    """Names that a notebook's `parameters` cell assigns.

    Raises
    ------
    InputError
        If no code cell is tagged `parameters` (papermill would put its values where the defaults overwrite them).
    """
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (ValueError, KeyError, OSError):
        raise InputError("not a notebook", path=path) from None
    tagged = [c for c in cells if c["cell_type"] == "code" and "parameters" in c["metadata"].get("tags", [])]
    if len(tagged) != 1:
        raise InputError(f"{len(tagged)} cells tagged 'parameters', expected one", path=path)
    try:
        body = ast.parse("".join(tagged[0]["source"])).body
    except SyntaxError as error:
        raise InputError(f"the parameters cell is not plain Python (its line {error.lineno})", path=path) from None
    return [t.id for node in body if isinstance(node, (ast.Assign, ast.AnnAssign))
            for t in (node.targets if isinstance(node, ast.Assign) else [node.target])]


def check_parameters(path, given):
    """Refuse parameters that a notebook does not have (papermill only warns)."""
    known = notebook_parameters(path)
    for name in given:
        if name not in known:
            raise InputError(f"no parameter {name!r}", path=path, hint=f"It has {', '.join(known)}")


def export(args):
    """write the study's texts in the WMT25 or WMT26 evaluation format"""
    chosen = study.load(args.study)
    languages = args.language or chosen.languages
    for code in languages:
        if code not in chosen.languages:
            raise InputError(f"language {code!r} is not in the study", path=chosen.path, hint=f"It has {', '.join(chosen.languages)}")
        pairs = formats.study_pairs(chosen, code)
        if args.format == "wmt25":
            path = args.out / f"{chosen.set_name}.en-{code}.tsv"
            text = "\n".join("\t".join(row) for row in [formats.WMT25_TEXTS, *formats.wmt25_texts(pairs, code, chosen.set_name)
                                                        .itertuples(index=False)]) + "\n"
        else:
            path = args.out / f"{chosen.set_name}.en-{code}.jsonl"
            text = "\n".join(formats.wmt26_texts(pairs, code, chosen.set_name)) + "\n"
        data.replace(path, lambda p, text=text: p.write_text(text, encoding="utf-8", newline="\n"))
        print(f"{path}: {len(pairs)} pairs")


SOURCES = ROOT / "data" / "public_sources.tsv"
SOURCE_COLUMNS = ["dataset", "repository", "commit", "path", "git_blob_sha1", "licence"]
HOST = "https://raw.githubusercontent.com"


def fetch(args):
    """download a public data set at a pinned commit, every file verified"""
    import pooch

    table = data.read_tsv(SOURCES, SOURCE_COLUMNS)
    rows = table[table["dataset"] == args.dataset]
    if not len(rows):
        raise InputError(f"no data set {args.dataset!r}", path=SOURCES, hint=f"It has {', '.join(table['dataset'].unique())}")
    folder, base = args.out / args.dataset, os.environ.get("MTGENDER_FETCH_FROM", HOST).rstrip("/")
    first = rows.iloc[0]
    print(f"{args.dataset}: {len(rows)} files of {first['repository']} at {first['commit'][:12]}, licence: {first['licence']}; "
          f"into {display_path(folder)}")
    wanted = [row for row in rows.itertuples() if git_blob_sha1(folder / row.path) != row.git_blob_sha1]
    pooch.get_logger().setLevel("WARNING")
    for done, row in enumerate(wanted):
        target = folder / row.path
        part = target.with_name(target.name + ".part")
        part.unlink(missing_ok=True)
        try:
            pooch.retrieve(f"{base}/{row.repository}/{row.commit}/{urllib.parse.quote(row.path)}", None, part.name, part.parent,
                           downloader=pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=60))
        except (OSError, ValueError) as error:
            part.unlink(missing_ok=True)
            there = len(rows) - len(wanted) + done
            raise InputError(
                f"{row.path} could not be downloaded ({type(error).__name__}); {there} of {len(rows)} files are there", path=target,
                hint=f"Call again to go on, or place the files of {row.repository} (commit {row.commit[:12]}) in {display_path(folder)} "
                     f"under the names in {display_path(SOURCES)}") from None
        if git_blob_sha1(part) != row.git_blob_sha1:
            part.unlink()
            raise InputError(f"{row.path} arrived damaged (its git blob hash is not {row.git_blob_sha1[:12]}…)", path=target,
                             hint="Call again; what is complete is kept")
        os.replace(part, target)
        print(f"{done + 1}/{len(wanted)} {row.path}")
    print(f"{len(rows)} files are there ({len(wanted)} new)")


def git_blob_sha1(path):
    """The hash that git gives a file's content; empty if there is no file."""
    if not path.is_file():
        return ""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _produce(kind, chosen, name, languages, out, limit=None, options=None, references=None, neutral=False, keep=False):
    from mtgender import producers
    from mtgender.producers.run import read_card
    registry = producers.EVALUATORS if kind == "scores" else producers.ANNOTATORS
    if name not in registry:
        raise InputError(f"unknown {'evaluator' if kind == 'scores' else 'annotator'} {name!r}", hint=f"Known: {', '.join(registry)}")
    if neutral and not chosen.neutral:
        raise InputError("the study has no texts with a neutral variant", path=chosen.path, hint="neutral: {path: folder, languages: [de]}")
    for code in languages or (chosen.neutral["languages"] if neutral else chosen.languages):
        pairs = (data.read_neutral(chosen.neutral["path"], code, data.read_source(chosen.pairs)) if neutral
                 else formats.study_pairs(chosen, code))
        if kind == "annotations":
            made = producers.annotate_language(name, code, pairs, out, limit=limit, options=options, keep=keep)
        else:
            texts = data.read_texts(references / f"{code}.tsv", pairs["segment_id"]) if references else None
            made = producers.score_language(name, code, pairs, out, limit=limit, options=options, references=texts, keep=keep)
            folder = made.path.parent.parent if neutral else made.path.parent
            tested = (neutral or keep) and code in read_card(folder / "card.yaml").get("role", {})
            if not limit and not tested and not (options or {}).get("repeat"):
                whole = formats.study_pairs(chosen, code) if neutral else pairs
                if not producers.validate_language(name, code, whole, out, options=options, references=texts)[0]:
                    print(f"{name} ({code}): these texts allow no validity test, so the card names no role")
        print(f"{display_path(made.path)}: {made.n} pairs")
    return made.path


def _options(args, *names):
    """What the command line says to a producer's constructor: only what was given."""
    return {name: value for name in names if (value := getattr(args, name))}


def score(args):
    """score the study's pairs with an evaluator (needs the producers extra)"""
    chosen = study.load(args.study)
    options = _options(args, "model", "name", "gpu", "batch_size", "lower_is_better", "temperature", "repeat")
    options |= {"references": True} if args.references else {}
    _produce("scores", chosen, args.producer, args.language, args.out or chosen.results / "produced" / "scores", args.limit, options,
             args.references, args.neutral)


def annotate(args):
    """mark error spans in the study's pairs with an annotator (needs the producers extra)"""
    chosen = study.load(args.study)
    _produce("annotations", chosen, args.producer, args.language, args.out or chosen.results / "produced" / "annotations", args.limit,
             _options(args, "model", "name", "gpu", "batch_size"))


def translate(args):
    """translate the study's English texts with an MT system (needs the producers extra, or Debian's Apertium)"""
    from mtgender import producers
    chosen = study.load(args.study)
    if args.producer not in producers.TRANSLATORS:
        raise InputError(f"unknown translator {args.producer!r}", hint=f"Known: {', '.join(producers.TRANSLATORS)}")
    options = _options(args, "model", "name", "gpu", "batch_size", "beams")
    for code in args.language or chosen.languages:
        made = producers.translate_language(args.producer, code, data.read_source(chosen.pairs),
                                            args.out or chosen.results / "produced" / "translations", limit=args.limit, options=options)
        print(f"{display_path(made.path)}: {made.n} texts")


def generate(args):
    """have benchmark or evaluation texts written by a language model (needs the llm-judge extra)"""
    from mtgender.producers import generate as generation
    out, refused = args.out or study.load(args.study).results / "generated", 0
    for code in args.language or ["en"]:
        made = generation.generate_language(code, out, codes=args.isco or [], count=args.count, limit=args.limit, tries=args.tries,
                                            **_options(args, "text_types", "genders"))
        more = f"; {made.refused} refused: {display_path(made.listed)}" if made.refused else ""
        print(f"{display_path(made.path)}: {made.n} texts{more}")
        refused += made.refused
    return 1 if refused else 0


def detect(args):
    """find the gender that the study's translations give to each occupation (needs the producers extra)"""
    from mtgender.producers import detect as detection
    chosen = study.load(args.study)
    name = args.producer or chosen.detector["name"]
    declared = chosen.detector if name == chosen.detector["name"] else {}        # the study's options are of its own detector
    options = {key: value for key, value in declared.items() if key != "name"} | _options(args, "model", "fuzzy", "similarity")
    if not chosen.translations:
        raise InputError("the study has no translations", path=chosen.path,
                         hint="Name them: add_translations: {mine: {path: folder, languages: [de]}}")
    source, failed = data.read_source(chosen.pairs), 0
    wanted = [(system, code) for system, code in chosen.runs("translations")
              if (not args.language or code in args.language) and (not args.system or system in args.system)]
    if not wanted:
        raise InputError("no such translations in the study", path=chosen.path,
                         hint=f"It has {', '.join(f'{s} ({code})' for s, code in chosen.runs('translations'))}")
    for system, code in wanted:
        path = chosen.genders(system, code) if args.out is None else args.out / study.file_name(system) / f"{code}.tsv"
        try:
            texts = data.read_translations(chosen.translations[system].file(code), source, chosen.allow_partial)
            frame = source.merge(texts, on="segment_id")
            if not args.again and detection.up_to_date(path, frame, name, options):
                continue
            if args.pending:
                print(f"{system} ({code})")
                continue
            made = detection.detect_language(name, path, frame, options=options)
            print(f"{display_path(made.path)}: {made.n} texts")
        except InputError as error:
            if not args.pending:                       # the others go on
                print(f"{system} ({code}): {error}", file=sys.stderr)
                failed += 1
    return 2 if failed else 0


def rescore(args):
    """make the committed scores and annotations again and say what differs"""
    from mtgender import producers
    from mtgender.producers.run import read_card
    from mtgender.producers.validity import accept
    if args.limit and (args.accept or args.record):
        raise InputError("--accept would replace whole files by their first rows" if args.accept else "--record is of whole files",
                         hint="Leave --limit out")
    chosen = study.load(args.study)
    files = list(_committed_files(chosen))
    wanted = [(kind, name, code, file) for kind, name, code, file in files
              if (not args.producer or name in args.producer) and (not args.language or code in args.language)]
    if not wanted:
        raise InputError("no such scores or annotations in the study", path=chosen.path,
                         hint=f"It has {', '.join(dict.fromkeys(name for _, name, _, _ in files))}")
    out = args.out or chosen.results / (f"rescore-{args.limit}" if args.limit else "rescore")
    under_way = _go_on_or_begin(out)
    if args.begin:
        return 0
    program = under_way.read_text(encoding="utf-8")
    counts, changed = {"the same": 0, "different": 0, "skipped": 0}, []
    for kind, name, code, committed in wanted:
        registry = producers.EVALUATORS if kind == "scores" else producers.ANNOTATORS
        repeat, neutral = study.REPEAT.fullmatch(committed.name), committed.parent.name == "neutral"
        shown = f"{name} ({code}{', neutral' if neutral else ''}{f', repeat {repeat[1]}' if repeat else ''})"
        try:
            if name not in registry:
                raise InputError("not made by this project")
            options = {}
            if repeat:
                card = read_card(committed.parent / "card.yaml")
                drawn = card.get("drop", card.get("temperature"))
                options = {"repeat": int(repeat[1])} | ({"temperature": drawn} if drawn else {})
            made = _produce(kind, chosen, name, [code], out / kind, args.limit, options, neutral=neutral, keep=True)
        except InputError as error:
            print(f"{shown}: skipped: {error}")
            counts["skipped"] += 1
            continue
        largest = ""
        try:
            problem, largest = _compare_produced(committed, made, kind)
            if not problem and kind == "scores" and not args.limit and not repeat:
                problem = _compare_validity(*(path.parents[neutral] for path in (committed, made)), code)
        except InputError as error:                             # of the committed file
            problem = str(error)
        print(f"{shown}: {problem or 'the same'}", flush=True)
        counts["different" if problem else "the same"] += 1
        if problem:
            changed.append((shown, made, committed, code))
        if args.record and committed.is_file():
            _record(args.record, committed, problem or "the same", largest, program)
    for shown, made, committed, code in changed if args.accept else ():
        accept(made, committed, code)
        print(f"{shown}: committed file replaced")
    under_way.unlink()                                          # the next call begins anew; one after a stop goes on
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    return 1 if counts["different"] and not args.accept else 0


def _record(path, committed, outcome, largest, program):
    """Put into a CSV what came of making a committed file again; rows of other files stay."""
    rows = data.read_tsv_like(path, data.RESCORED, ",").drop(columns="line").to_dict("records") if path.is_file() else []
    name = display_path(committed)
    row = {"file": name, "rows": len(data.read_lines(committed)) - (committed.suffix == ".tsv"),
           "outcome": outcome.replace(",", ";").replace("\n", " "),                  # cells of our own figures hold no comma
           "largest_relative_difference": largest, "date": f"{datetime.now(UTC):%Y-%m-%d}",
           "sha256": sha256(committed)[:12], "program": program[:12]}
    frame = pd.DataFrame([*(r for r in rows if r["file"] != name), row])[data.RESCORED].sort_values("file")
    data.replace(path, lambda part: frame.to_csv(part, index=False, lineterminator="\n"))


def _go_on_or_begin(folder):
    """Empty a folder, unless what lies there is of a call that was stopped and of the same program; returns the file that tells."""
    locks = (ROOT / f"requirements-{extra}.lock" for extra in ("producers", "gemma", "neural", "llm-judge"))
    files = [*sorted((ROOT / "src/mtgender/producers").glob("*.py")), *filter(Path.is_file, locks)]
    program, mark = hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest(), folder / ".under-way"
    if not mark.is_file() or mark.read_text(encoding="utf-8") != program:
        shutil.rmtree(folder, ignore_errors=True)
        data.replace(mark, lambda part: part.write_text(program, encoding="utf-8"))
    return mark


def _committed_files(chosen):
    """(kind, producer, language, file) of every score and annotation file of a study, those of repeats and neutral texts included."""
    for kind in ("scores", "annotations"):
        for name, code in chosen.runs(kind):
            for file in getattr(chosen, kind)[name].files(code):
                yield kind, name, code, file
    for name, code, file in chosen.neutral_runs():
        yield "scores", name, code, file


def _compare_produced(committed, made, kind, rtol=1e-4):
    """What a committed producer file and one made again differ in (empty: nothing), and the largest relative difference of scores."""
    if not committed.is_file():
        return "no committed file yet", ""
    old, new = data.read_lines(committed), data.read_lines(made)
    if kind == "annotations":
        ids = {json.loads(line)["segment_id"] for line in new}
        old = [line for line in old if json.loads(line)["segment_id"] in ids]
        changed = sum(a != b for a, b in zip(old, new)) + abs(len(old) - len(new))
        return f"{changed} annotations differ" if changed else "", ""
    columns = new[0].split("\t")
    old, new = (data.read_tsv(p, columns).set_index("segment_id") for p in (committed, made))
    if not set(new.index) <= set(old.index):
        return "other segments", ""
    a, b = (f.loc[new.index, columns[1:]].astype(float).to_numpy() for f in (old, new))
    difference = abs(a - b) / abs(a).clip(1e-12)
    moved = int((difference > rtol).sum())
    said = f"{moved} scores differ by more than {rtol:g} (largest {abs(a - b).max():.2g})" if moved else ""
    return said, f"{difference.max():.1e}"


def _compare_validity(committed, made, language):
    """What the validity test made again says other than the committed one, which decides the role; empty if nothing."""
    from mtgender.producers.validity import read_rows
    old, new = ({row["probe"]: row["rate"] for row in read_rows(folder / "validity.csv", language)} for folder in (committed, made))
    moved = [f"{probe} {old.get(probe, 'none')} before, {new.get(probe, 'none')} now" for probe in {**old, **new}
             if old.get(probe) != new.get(probe)]
    return f"the validity test differs: {'; '.join(moved)}" if moved else ""


def reading(args):
    """the reading copy of study-level notebooks as Markdown, and all executed notebooks as an HTML site"""
    chosen = study.load(args.study)
    found = executed(chosen)
    top = [p for p in found if study_level(chosen, p)]
    _reading_copy(chosen, top)
    _site(chosen, found)


def executed(chosen):
    """Executed notebooks of a study as it is now, sorted; copies of systems and languages it no longer has are left out."""
    runs = {f"{study.file_name(system)}.{code}" for kind in ("scores", "annotations") for system, code in chosen.runs(kind)}
    runs |= {".".join((study.file_name(source), study.file_name(system), code)) for source, system, code in data.counted_runs(chosen)}
    runs |= {*chosen.languages, *(code for _, code in chosen.runs("translations")), *data.counted_languages(chosen)}
    return [p for p in sorted(chosen.notebooks.rglob("*.ipynb")) if study_level(chosen, p) or p.stem in runs]


def study_level(chosen, path):
    """Whether an executed notebook is one of the whole study (`metrics/3_…`), not of a run or language (`metrics/2_…/<run>`)."""
    return len(path.relative_to(chosen.notebooks).parts) <= 2


def page_name(chosen, path):
    """File stem of an executed notebook's page: `metrics/2_score_run/x.de.ipynb` -> `metrics_2_score_run_x.de`."""
    return path.relative_to(chosen.notebooks).with_suffix("").as_posix().replace("/", "_")


def _reading_copy(chosen, notebooks):
    import nbformat
    from nbconvert import MarkdownExporter
    from traitlets.config import Config

    from mtgender.figures import same_picture
    config = Config()
    config.TagRemovePreprocessor.remove_cell_tags = {"parameters", "injected-parameters", "colophon"}
    config.MarkdownExporter.preprocessors = ["nbconvert.preprocessors.TagRemovePreprocessor"]
    config.MarkdownExporter.exclude_input = True
    exporter = MarkdownExporter(config=config)
    for path in notebooks:
        name = page_name(chosen, path)
        notebook, words = nbformat.read(path, 4), []
        for out, shown in _pictures(notebook):
            if "file" in shown:                             # a figure that is kept is linked, not kept twice
                out["data"] = {"text/markdown": f"![{shown['alt']}]({os.path.relpath(ROOT / shown['file'], chosen.reading)})"}
            else:
                words.append(shown.get("alt", "figure"))
        body, resources = exporter.from_notebook_node(notebook)
        for said in words:                                  # in the order of the page; a picture of another kind keeps its name
            body = body.replace("![png](", f"![{said}](", 1)
        for number, (key, content) in enumerate(sorted(resources["outputs"].items(), key=lambda item: body.find(item[0])), 1):
            picture = f"{name}_{number}{Path(key).suffix}"
            body = body.replace(key, picture)
            if not same_picture(chosen.reading / picture, content):
                data.replace(chosen.reading / picture, lambda p, content=content: p.write_bytes(content))
        source = Path(os.path.relpath(ROOT / "notebooks" / path.relative_to(chosen.notebooks), chosen.reading)).as_posix()
        text = re.sub(r"<style scoped>.*?</style>\s*", "", body, flags=re.S)
        text = re.sub(r"\n{3,}", "\n\n", text).strip() + f"\n\n---\nExecuted copy of [{Path(source).name}]({source}), code left out.\n"
        target = chosen.reading / f"{name}.md"
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            data.replace(target, lambda p, text=text: p.write_text(text, encoding="utf-8", newline="\n"))
    print(f"{display_path(chosen.reading)}: {len(notebooks)} pages")


def _pictures(notebook):
    """Outputs of a notebook that are pictures, with their metadata (`figures.picture`)."""
    outputs = (out for cell in notebook.cells for out in cell.get("outputs", ()) if "image/png" in out.get("data", ()))
    return [(out, out["metadata"].get("image/png", {})) for out in outputs]


def _site(chosen, notebooks):
    """A page for every notebook executed since its page was made, and an index."""
    site = chosen.results / "site"
    names = {p: page_name(chosen, p) for p in notebooks}
    pages = {path: site / f"{name}.html" for path, name in names.items()}
    newer = [p for p, page in pages.items() if not page.is_file() or page.stat().st_mtime < p.stat().st_mtime]
    if newer:
        with ProcessPoolExecutor(min(os.cpu_count() or 1, len(newer))) as pool:
            list(pool.map(_page, newer, (pages[p] for p in newer), chunksize=8))
    groups = {}
    for path, name in names.items():
        parts = path.relative_to(chosen.notebooks).with_suffix("").parts
        detail = f": {parts[-1]}" if len(parts) > 2 else ""
        group = {"metrics": "Evaluators", "systems": "Translation systems", "joint": "Evaluators and systems together",
                 "published": "The papers"}.get(parts[0], "Start here")
        groups.setdefault(group, []).append((name, _title(path) + detail))
    body = "".join(f"<h2>{group}</h2><ul>" + "".join(f'<li><a href="{urllib.parse.quote(name)}.html">{html.escape(shown)}</a></li>'
                                                     for name, shown in rows) + "</ul>" for group, rows in groups.items())
    title = html.escape(chosen.title)
    page = ('<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{title}</title><style>body{{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;"
            f"color:#22262b}}a{{color:#3b6fb6}}</style><h1>{title}</h1><p>Executed notebooks of the study "
            f"<b>{html.escape(chosen.name)}</b>.</p>{body}</html>\n")
    data.replace(site / "index.html", lambda p: p.write_text(page, encoding="utf-8"))
    print(f"{display_path(site / 'index.html')}: {len(names)} notebooks")


@functools.cache
def _exporter():
    from nbconvert import HTMLExporter
    return HTMLExporter()


def _page(path, page):
    """One executed notebook as HTML."""
    import nbformat
    notebook = nbformat.read(path, 4)
    body, _ = _exporter().from_notebook_node(notebook, {"metadata": {"name": page.stem}})
    for _, shown in _pictures(notebook):                    # nbconvert knows no alternative text
        body = body.replace(f'alt="{NO_ALT}"', f'alt="{html.escape(shown.get("alt", "figure"))}"', 1)
    data.replace(page, lambda p: p.write_text(body, encoding="utf-8"))


def _title(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            return "".join(cell["source"]).splitlines()[0].lstrip("# ")
    return path.stem


def sha256(path):
    """SHA-256 of a file, hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def git_commit():
    """The repository's commit, with `-dirty` if files that git tracks were changed; empty outside git."""
    try:
        result = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
                                capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return result.stdout.strip()


def colophon(chosen, reads=study.KINDS, **parameters):
    """What a notebook ends with: versions, commit, parameters, input hashes.

    Parameters
    ----------
    chosen : Study
    reads : sequence of str
        Kinds of runs that the notebook reads.
    **parameters
        Of the notebook.

    Returns
    -------
    DataFrame
        item, value.
    """
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "pandas", "scipy", "matplotlib", "papermill")}
    rows = [("mtgender", __version__), ("commit", git_commit() or "unknown"),
            ("python", platform.python_version()), *versions.items(), *((f"parameter {k}", v) for k, v in parameters.items()),
            *((f"sha256 {display_path(f)}", sha256(f)[:16]) for f in (*chosen.source_files(), *_own_files(chosen, reads, **parameters)))]
    return pd.DataFrame(rows, columns=["item", "value"])


def _own_files(chosen, reads, language=None, system=None, **_):
    """Input files of a notebook: all of the study, or without those that belong to other runs and languages only."""
    runs = {(s, code): getattr(chosen, kind)[s].files(code) for kind in study.KINDS for s, code in chosen.runs(kind)}
    others = {f for (s, code), files in runs.items() for f in files if language and (code != language or system not in (None, s))}
    own = {f for (s, code), files in runs.items() for f in files if code == language and system in (None, s)}
    return [f for f in chosen.files(reads) if f not in others - own]


def manifest(args):
    """hashes, parameters, versions, commit and wall times of a run"""
    chosen = study.load(args.study)
    notebooks = {}
    for path in executed(chosen):
        meta = json.loads(path.read_text(encoding="utf-8"))["metadata"].get("papermill", {})
        source = Path(meta.get("input_path", ""))
        notebooks[path.relative_to(chosen.notebooks).as_posix()] = {
            "notebook": source.as_posix(), "sha256": sha256(ROOT / source) if source.name and (ROOT / source).is_file() else None,
            "parameters": meta.get("parameters"), "seconds": round(meta["duration"], 2) if meta.get("duration") else None,
            "failed": meta.get("exception")}
    content = {"study": chosen.name, "commit": git_commit(), "python": platform.python_version(),
               "packages": dict(sorted((d.metadata["Name"], d.version) for d in importlib.metadata.distributions())),
               "inputs": {display_path(f): sha256(f) for f in (*chosen.source_files(), *chosen.files())}, "notebooks": notebooks,
               "tables": {display_path(f): sha256(f) for f in sorted(chosen.tables.glob("*.csv"))}}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    data.replace(chosen.results / "manifest.json", lambda p: p.write_text(text, encoding="utf-8"))


def report(args):
    """what a run refused or failed at; exit status 1 if anything"""
    chosen = study.load(args.study)
    failed = 0
    runs = data.read_runs(chosen) if (chosen.prepared / "runs.csv").is_file() else pd.DataFrame({"status": [], "problem": []})
    for problem in runs.loc[runs["status"] == "refused", "problem"]:
        print(f"refused   {problem}")
        failed += 1
    taken = []
    for path in executed(chosen):
        text = path.read_bytes()
        if text.rstrip().endswith(b"\n}") and not args.slowest and b'"exception": true' not in text:
            continue                                                     # whole and well; saves the reading of many pictures
        try:
            content = json.loads(text)
        except ValueError:
            print(f"failed    {display_path(path)}: half written, by a run that was stopped or had no space left")
            failed += 1
            continue
        taken.append((content["metadata"].get("papermill", {}).get("duration") or 0, path))
        if not content["metadata"].get("papermill", {}).get("exception"):
            continue
        count, error = next(((c["execution_count"], o) for c in content["cells"] for o in c.get("outputs", [])
                             if o["output_type"] == "error"), ("?", {"ename": "did not finish", "evalue": ""}))
        if error["ename"] == "InputError" and error["evalue"] in set(runs["problem"]):
            continue                                                     # the run was refused, and that is told above
        print(f"failed    {content['metadata']['papermill']['input_path']}, cell {count}: {error['ename']}: {error['evalue'][:300]}\n"
              f"          executed copy: {display_path(path)}")
        failed += 1
    for seconds, path in sorted(taken, reverse=True)[:args.slowest]:
        print(f"{seconds:7.1f} s {path.relative_to(chosen.notebooks).with_suffix('')}")
    return 1 if failed else 0


def check(args):
    """compare a study's tables with the committed ones"""
    from mtgender import tables
    made, committed = study.load(args.study).tables, ROOT / "tables"
    if made == committed:
        raise InputError("these are the committed tables themselves", path=args.study, hint="./run_all.sh --check makes others to compare")
    failed = 0
    names = sorted({p.name for p in (*committed.glob("*.csv"), *made.glob("*.csv"))})
    for name in names:
        old, new = committed / name, made / name
        found = ([f"{name} is not made any more"] if not new.is_file() else [f"{name} is not committed"] if not old.is_file()
                 else [f"{name}: {d}" for d in tables.differences(tables.read_csv(old), tables.read_csv(new))])
        print("\n".join(f"differs   {line}" for line in found) if found else f"same      {name}")
        failed += bool(found)
    print(f"{len(names) - failed} of {len(names)} tables are the same")
    return 1 if failed or not names else 0


def readme(args):
    """put the committed numbers and the map of claims into README.md and data/README.md"""
    from mtgender import joint, neutral, robustness, simulation, tables
    command = [sys.executable, "-m", "snakemake", "all", "runs", "--summary", "--nolock"]
    summary = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    blocks = {"README.md": {"results": tables.readme_results(ROOT / "tables"), "claims": claims_map(summary) + "\n",
                            "producers": tables.readme_producers(ROOT), "rescored": tables.readme_rescored(ROOT),
                            "systems": tables.readme_systems(ROOT / "tables"),
                            "benchmarks": tables.readme_benchmarks(ROOT / "benchmarks" / "results.csv"),
                            "found": "\n".join(filter(None, (part.findings(ROOT / "tables").strip()
                                                             for part in (joint, robustness, neutral, simulation)))) + "\n"},
              "data/README.md": tables.data_card(ROOT)}
    for name, parts in blocks.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        for marker, block in parts.items():
            text = re.sub(rf"(<!-- {marker} -->\n).*?(<!-- /{marker} -->)", lambda m, block=block: m[1] + block + m[2], text, flags=re.S)
        data.replace(ROOT / name, lambda p, text=text: p.write_text(text, encoding="utf-8", newline="\n"))


def claims_map(summary):
    """Markdown rows rule -> notebook, tables and figures.

    Parameters
    ----------
    summary : str
        What `snakemake all runs --summary` prints.
    """
    text = (ROOT / "Snakefile").read_text(encoding="utf-8")
    rules = re.findall(r'^rule (\w+):\n    """(.*?)"""\n(.*?)(?=^rule |\Z)', text, flags=re.S | re.M)
    outputs = {}
    for line in summary.splitlines()[1:]:
        cells = line.split("\t")
        if cells[0].startswith(("tables/", "figures/")):
            outputs.setdefault(cells[2], []).append(cells[0])
    rows = ["| result | notebook | files |", "| --- | --- | --- |"]
    for rule, purpose, body in rules:
        if rule in outputs:
            notebook = re.search(r'notebook="([^"]+)"', body).group(1)
            files = ", ".join(f"[{Path(f).name}]({f})" for f in outputs[rule] if f.endswith((".md", ".png")))
            rows.append(f"| {' '.join(purpose.split())} | [{Path(notebook).stem}]({notebook}) | {files} |")
    return "\n".join(rows)


def parser():
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m mtgender", description="Masculine and feminine forms in machine translation.")
    commands = top.add_subparsers(dest="command", required=True, metavar="command")

    def add(function, *arguments, positional=True):
        sub = commands.add_parser(function.__name__, help=function.__doc__.split("\n")[0])
        if positional:
            sub.add_argument("study", nargs="?", default=DEFAULT, help=f"study file (default {DEFAULT})")
        for names, options in arguments:
            sub.add_argument(*names, **options)
        sub.set_defaults(run=function)

    def positive(text):
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
        return int(text)

    def one_name(text):
        if not text.strip() or not text.isprintable() or set(text) & set("/\\") or text.startswith("."):
            raise argparse.ArgumentTypeError(f"{text!r} is not a name of a folder")
        return text

    code = {"choices": study.LANGUAGES, "metavar": "CODE"}
    number = {"type": positive, "metavar": "N"}
    language = (("--language",), {"action": "append", **code, "help": "may be given several times; default: all of the study"})
    several = (("--language",), {"action": "extend", "nargs": "+", **code, "help": "one or several; default: all of the study"})
    made = [(("--study",), {"default": DEFAULT}), several, (("--limit",), {**number, "help": "only the first N pairs"}),
            (("--out",), {"type": Path, "help": "folder (default results/<study>/produced)"})]
    for function in (prepare, infer, reading, manifest, check):
        add(function)
    add(report, (("--slowest",), {"type": int, "default": 0, "metavar": "N", "help": "also the N slowest notebooks"}))
    add(rescore, (("--accept",), {"action": "store_true", "help": "replace what differs"}),
        (("--limit",), {**number, "help": "a trial: only the first N pairs"}),
        (("--producer",), {"action": "extend", "nargs": "+", "metavar": "NAME", "help": "only these; default: all of the study"}), several,
        (("--out",), {"type": Path, "help": "folder (default results/<study>/rescore); a stopped call goes on in it"}),
        (("--record",), {"type": Path, "metavar": "CSV", "help": "also put the outcome of each file into this table"}),
        (("--begin",), {"action": "store_true", "help": "only make the folder ready, for files that are made there by other calls"}))
    model = (("--model",), {"metavar": "MODEL", "help": "checkpoint, folder or hub name of a neural metric; the command of `command`"})
    named = (("--as",), {"dest": "name", "type": one_name, "metavar": "NAME",
                         "help": "name of the folder and of the system; default: the producer's own"})
    device = [(("--gpu",), {"action": "store_true"}), (("--batch-size",), number)]
    add(score, (("producer",), {"metavar": "evaluator"}), *made, model, named, *device,
        (("--references",), {"type": Path, "metavar": "FOLDER", "help": "<language>.tsv with segment_id and text; a reference-based run"}),
        (("--lower-is-better",), {"action": "store_true", "help": "of `command`"}),
        (("--neutral",), {"action": "store_true", "help": "the texts with a third, neutral variant"}),
        (("--temperature",), {"type": float, "metavar": "T", "help": "of a language model as judge; above 0 its scores vary"}),
        (("--repeat",), {**number, "metavar": "K", "help": "which run of a judge that varies: written as <language>.rK.tsv"}),
        positional=False)
    add(annotate, (("producer",), {"metavar": "annotator"}), *made, model, named, *device, positional=False)
    add(translate, (("producer",), {"metavar": "translator"}), *made, model, named, *device,
        (("--beams",), {**number, "help": "beam size of a neural model"}), positional=False)
    add(detect, (("producer",), {"metavar": "detector", "nargs": "?", "help": "default: the study's, or lexicon"}), made[0], several,
        (("--system",), {"action": "extend", "nargs": "+", "metavar": "NAME", "help": "only these; default: all translations"}),
        (("--out",), {"type": Path, "help": "folder (default: where the study looks for them)"}), model,
        (("--fuzzy",), {"type": float, "metavar": "0-100", "help": "how alike the found term and the text must be"}),
        (("--similarity",), {"type": float, "metavar": "-1-1", "help": "how near the term must be to an ISCO-08 title"}),
        (("--again",), {"action": "store_true", "help": "also what is up to date"}),
        (("--pending",), {"action": "store_true", "help": "only name what is to be done"}), positional=False)
    add(generate, (("--study",), {"default": DEFAULT, "help": "whose results folder is written to"}),
        (("--language",), {"action": "extend", "nargs": "+", **code, "help": "one or several; default: en"}),
        (("--text-type",), {"dest": "text_types", "action": "extend", "nargs": "+", "choices": study.TEXT_TYPES, "metavar": "TYPE",
                            "help": f"of {', '.join(study.TEXT_TYPES)}; default: the first three"}),
        (("--gender",), {"dest": "genders", "action": "extend", "nargs": "+", "choices": ("masculine", "feminine", "non-specific"),
                         "metavar": "GENDER", "help": "of masculine, feminine, non-specific; default: the last for English (to be "
                                                      "translated), the others for other languages (to test a detector on)"}),
        (("--isco",), {"action": "extend", "nargs": "+", "metavar": "CODE", "help": "unit groups; default: all 436"}),
        (("--count",), {**number, "default": 1, "help": "texts of each kind (default 1)"}),
        (("--tries",), {**number, "default": 3, "help": "replies to each request before it is listed in refused.tsv and "
                                                                        "the exit status is 1 (default 3)"}),
        (("--limit",), {**number, "help": "only the first N texts of a language"}),
        (("--out",), {"type": Path, "metavar": "FOLDER", "help": "default results/<study>/generated; its folder `benchmark` can be "
                                                                 "the `pairs` of a study, whose English `translate` reads"}),
        positional=False)
    add(export, (("--format",), {"choices": ("wmt25", "wmt26"), "default": "wmt25"}), language,
        (("--out",), {"type": Path, "default": ROOT / "results" / "export"}))
    add(fetch, (("dataset",), {}), (("--out",), {"type": Path, "default": ROOT / "data" / "external", "metavar": "FOLDER"}),
        positional=False)
    add(readme, positional=False)
    return top


def main(argv=None):
    """Run one command; returns the exit status (0 fine, 1 something differs or failed, 2 bad input)."""
    args = parser().parse_args(argv)
    try:
        return args.run(args) or 0
    except InputError as error:
        print(f"mtgender: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 1
    except OSError as error:
        print(f"mtgender: {error.strerror}: {error.filename}" if error.filename else f"mtgender: {error}", file=sys.stderr)
        return 1
