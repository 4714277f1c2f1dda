"""The committed scores and annotations, made again."""

import os
import shutil
import subprocess

import pytest
from conftest import write

from mtgender.study import ROOT


def rescore(*arguments, **variables):
    command = ["bash", str(ROOT / "run_all.sh"), *map(str, arguments), "--rescore"]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=1800, env={**os.environ, **variables})
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_rescore_reproduces_the_committed_files():
    """Twenty pairs a run; the full one is made by hand."""
    status, output = rescore("--limit", "20")
    assert status == 0 and "0 different" in output and "e5-cosine (de): the same" in output, output[-2000:]


@pytest.mark.slow
def test_a_job_each_producer_and_language_then_all_is_compared(tmp_path):
    name = f"rescore-{tmp_path.name}-{os.getpid()}"
    shutil.copytree(ROOT / "data/scores/wordfreq-zipf", tmp_path / "wordfreq-zipf")
    scores = tmp_path / "wordfreq-zipf/fr.tsv"
    scores.write_text(scores.read_text().replace("\t5.", "\t6.", 1))
    path = write(tmp_path / "study.yaml", f"name: {name}", f"pairs: {ROOT / 'data/occupairs'}", "languages: [de, fr]", "scores:",
                 "  wordfreq-zipf: {path: wordfreq-zipf}",
                 f"  gemma3-forward: {{path: {ROOT / 'data/scores/gemma3-forward'}, languages: [de]}}",
                 "annotations:", f"  hunspell: {{path: {ROOT / 'data/annotations/hunspell'}, languages: [de]}}")
    made = ROOT / "results" / name / "rescore"
    try:
        status, output = rescore(path, MTGENDER_GEMMA_TERMS="")
        compared = [line for line in output.splitlines() if not line.endswith(" pairs")][-5:]
        assert status == 1, output[-3000:]
        assert compared[0] == "wordfreq-zipf (de): the same" and compared[3] == "hunspell (de): the same", output[-3000:]
        assert compared[1].startswith("wordfreq-zipf (fr): 1 scores differ by more than 0.0001")
        assert compared[2].startswith("gemma3-forward (de): skipped: the Gemma weights come under")
        assert compared[4] == "2 the same, 1 different, 1 skipped"
        assert "1/6 " in output                                 # four of the declared runs and two targets
        assert "  score producer=wordfreq-zipf, language=de\n" in output or "  score language=de, producer=wordfreq-zipf\n" in output
        assert {p.relative_to(made).as_posix() for p in made.rglob("*.*sv")} == {
            *(f"scores/wordfreq-zipf/{file}" for file in ("de.tsv", "fr.tsv", "validity.csv"))} and not (made / ".under-way").exists()
        status, output = rescore(path, "--config", "producers=wordfreq-zipf,hunspell", "languages=de")
        compared = [line for line in output.splitlines() if not line.endswith(" pairs")][-3:]
        assert status == 0 and compared == ["wordfreq-zipf (de): the same", "hunspell (de): the same", "2 the same, 0 different, 0 skipped"]
        assert (made.parent / "rescore-wordfreq-zipf-hunspell-de/scores/wordfreq-zipf/de.tsv").is_file() and "1/4 " in output
    finally:
        shutil.rmtree(made.parent, ignore_errors=True)
