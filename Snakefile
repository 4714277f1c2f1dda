# What is made from what. One rule a notebook; `./run_all.sh [STUDY] [Snakemake options]` calls it.
#
#   prepare -> infer -> notebooks (by run, by language, by study) -> reading, manifest

from mtgender import cli, data
from mtgender import study as studies
from mtgender.study import display_path, file_name

STUDY = studies.load(config.get("study", cli.DEFAULT))
NAME = display_path(STUDY.path)
RESULTS = display_path(STUDY.results)
PREPARED = [f"{RESULTS}/prepared/{f}" for f in ("pairs.parquet", "scores.parquet", "annotations.parquet", "genders.parquet",
                                               "gender_counts.parquet", "neutral.parquet", "repeats.parquet", "runs.csv")]
INFERRED = [f"{RESULTS}/inference/{f}.parquet" for f in ("occupations", "score_runs", "score_summaries", "ranges", "pair_means", "language_means",
                                                        "error_occupations", "error_runs", "system_runs", "system_groups")]
READ = [*(f"src/mtgender/{m}.py" for m in ("study", "isco", "data", "formats")), "data/isco08.csv"]
MEASURE = [*READ, "src/mtgender/preference.py", "src/mtgender/representation.py", "src/mtgender/inference.py"]
PRESENT = [*MEASURE, "src/mtgender/tables.py", "src/mtgender/figures.py"]
# a notebook is made again when the digest of what it reads changes: of a run, a language, or all runs of a kind
INPUTS = [display_path(f) for f in (*STUDY.source_files(), *STUDY.files())]
NOTES = [display_path(f) for f in (STUDY.pairs / "gender_marks.tsv", STUDY.pairs / "review.tsv") if f.is_file()]
STUDY_FILES = [display_path(f) for f in STUDY.source_files()]
WHOLE = [*STUDY_FILES, *NOTES, *PRESENT]
SCORES, ERRORS, TRANSLATED = ([f"{RESULTS}/digests/study/{kind}"] for kind in ("scores", "annotations", "translations"))
SYSTEMS = "src/mtgender/systems.py"
DETECTION = [f for f in ("data/detectors/accuracy.csv", "data/detectors/measured.csv", "data/detectors/missed_occupations.csv",
                         "data/detectors/calibration.csv", "data/published/systems_paper.csv",
                         "data/gender_counts/human_llm_agreement_by_run.csv") if (studies.ROOT / f).is_file()]
SCORE_RUNS = {f"{file_name(s)}.{code}": (s, code) for s, code in STUDY.runs("scores")}
ERROR_RUNS = {f"{file_name(s)}.{code}": (s, code) for s, code in STUDY.runs("annotations")}
SYSTEM_RUNS = {f"{file_name(source)}.{file_name(s)}.{code}": (source, s, code) for source, s, code in data.counted_runs(STUDY)}
# pairs in languages that the study only translates into
EXTRA_PAIRS = [display_path(STUDY.pairs / f"{code}.tsv") for code in sorted({c for _, c in STUDY.runs("translations")} - set(STUDY.languages))
               if (STUDY.pairs / f"{code}.tsv").is_file()]
# languages that the detector of genders has to do with: those of the pairs and of the translations
DETECTED = list(dict.fromkeys([*STUDY.languages, *(code for _, code in STUDY.runs("translations"))])) if STUDY.translations else []
DIGESTS = [f"{RESULTS}/digests/{name}" for name in (*(f"scores/{run}" for run in SCORE_RUNS), *(f"annotations/{run}" for run in ERROR_RUNS),
           *(f"systems/{run}" for run in SYSTEM_RUNS), "study/scores", "study/annotations", "study/translations",
           *(f"languages/{code}" for code in dict.fromkeys([*STUDY.languages, *DETECTED, *data.counted_languages(STUDY)])))]
# -r passes text as text: a system may be called `nan`, a language code is `no`
# warm_papermill.py is the papermill command line; without a server it is papermill itself
PAPERMILL = "python src/warm_papermill.py {input.notebook} {log} --no-progress-bar --log-level ERROR -r study {NAME:q}"
# a failure's traceback stands in the executed copy; what papermill itself says goes beside it
QUIETLY = " 2> {log}.err && rm -f {log}.err"

for notebook, given in {"metrics/1_challenge_set": ["language"], "metrics/2_score_run": ["language", "system"],
                        "metrics/5_error_run": ["language", "system"], "metrics/3_score_prediction": [],
                        "metrics/4_languages_occupations": [], "metrics/6_error_annotation": [], "metrics/7_coverage": [],
                        "published/1_consistency": [], "systems/1_benchmark": [], "systems/2_detector": ["language"],
                        "systems/3_system_run": ["language", "system", "source"], "systems/4_systems": [],
                        "systems/5_real_world": ["language"],
                        "joint/1_evaluators_meet_systems": [], "joint/2_robustness": [], "joint/3_calibration": [],
                        "joint/4_repeats": [], "joint/5_neutral": [],
                        "00_overview": []}.items():
    cli.check_parameters(studies.ROOT / "notebooks" / f"{notebook}.ipynb", ["study", *given])


def table(name):
    """The three files of a table; updated in place, so that committed ones survive a failure."""
    return [update(f"{display_path(STUDY.tables)}/{name}.{suffix}") for suffix in ("csv", "md", "tex")]


def long_table(name):
    return update(f"{display_path(STUDY.tables)}/{name}.csv")


def figure(name):
    return [update(f"{display_path(STUDY.figures)}/{name}.{suffix}") for suffix in ("png", "svg", "csv")]


def executed(name):
    """The executed notebook is a log: it stays, with its traceback, when a cell fails."""
    return f"{RESULTS}/notebooks/{name}.ipynb"


onstart:
    # Snakemake 9.27 leaves a timer behind for every job that asks for the schedule again each second, to no end: with 150 jobs a core's work
    if not workflow.remote_exec:
        workflow.scheduler.job_rate_limiter = None


wildcard_constraints:
    language="[a-z]{2}",
    run="[^/]+",
    producer="[^/]+",


rule all:
    input:
        f"{RESULTS}/manifest.json",
        f"{RESULTS}/site/index.html",


rule prepare:
    """Read and validate every pair, score and annotation file; one clear line for each bad one, the others go on."""
    input:
        INPUTS, READ,
    output:
        PREPARED,
    shell:
        "python -m mtgender prepare {NAME:q}"


rule infer:
    """One seeded bootstrap and all tests, for all runs together."""
    input:
        PREPARED, MEASURE, STUDY_FILES, "data/labour.csv",
    output:
        INFERRED, DIGESTS,
    shell:
        "python -m mtgender infer {NAME:q}"


rule inferred:
    """Asked for first where results are there: what comes out the same as before makes nothing else again."""
    input:
        PREPARED, INFERRED, DIGESTS,


rule overview:
    """The whole story on one page"""
    input:
        SCORES, ERRORS, TRANSLATED, WHOLE, SYSTEMS,
        notebook="notebooks/00_overview.ipynb",
    output:
        touch(f"{RESULTS}/done/00_overview"),
    log:
        executed("00_overview"),
    shell:
        PAPERMILL + QUIETLY


rule metrics_1_challenge_set:
    """Table 1: a pair of texts with its gendered parts, by language"""
    input:
        f"{RESULTS}/digests/languages/{{language}}", PRESENT, NOTES,
        notebook="notebooks/metrics/1_challenge_set.ipynb",
    output:
        table("metrics_table1_{language}"),
        f"{RESULTS}/runs/challenge_set.{{language}}.csv",
    log:
        executed("metrics/1_challenge_set/{language}"),
    shell:
        PAPERMILL + " -r language {wildcards.language}" + QUIETLY


rule metrics_2_score_run:
    """Audit card of one evaluator in one language"""
    input:
        f"{RESULTS}/digests/scores/{{run}}", PRESENT,
        notebook="notebooks/metrics/2_score_run.ipynb",
    output:
        multiext(f"{RESULTS}/runs/score_run.{{run}}", ".png", ".csv", ".occupations.png", ".occupations.csv"),
    log:
        executed("metrics/2_score_run/{run}"),
    params:
        system=lambda wildcards: SCORE_RUNS[wildcards.run][0],
        language=lambda wildcards: SCORE_RUNS[wildcards.run][1],
    shell:
        PAPERMILL + " -r system {params.system:q} -r language {params.language}" + QUIETLY


rule metrics_3_score_prediction:
    """Table 2, Figure 1, rates, and the count of significant runs (metrics paper, section 5.1)"""
    input:
        SCORES, WHOLE,
        notebook="notebooks/metrics/3_score_prediction.ipynb",
    output:
        table("metrics_table2"), table("metrics_rates"), long_table("score_runs"), long_table("score_summaries"),
        figure("metrics_figure1"),
    log:
        executed("metrics/3_score_prediction"),
    shell:
        PAPERMILL + QUIETLY


rule metrics_4_languages_occupations:
    """Language means, Table 3, all occupations, ISCO roll-up (section 5.2)"""
    input:
        SCORES, WHOLE,
        notebook="notebooks/metrics/4_languages_occupations.ipynb",
    output:
        table("metrics_languages"), table("metrics_table3"), table("metrics_isco"), long_table("metrics_occupations"),
        figure("metrics_majors"),
    log:
        executed("metrics/4_languages_occupations"),
    shell:
        PAPERMILL + QUIETLY


rule metrics_5_error_run:
    """Audit card of one error annotator in one language"""
    input:
        f"{RESULTS}/digests/annotations/{{run}}", PRESENT,
        notebook="notebooks/metrics/5_error_run.ipynb",
    output:
        f"{RESULTS}/runs/error_run.{{run}}.csv",
    log:
        executed("metrics/5_error_run/{run}"),
    params:
        system=lambda wildcards: ERROR_RUNS[wildcards.run][0],
        language=lambda wildcards: ERROR_RUNS[wildcards.run][1],
    shell:
        PAPERMILL + " -r system {params.system:q} -r language {params.language}" + QUIETLY


rule metrics_6_error_annotation:
    """Table 4: error-free differences (section 6)"""
    input:
        ERRORS, WHOLE,
        notebook="notebooks/metrics/6_error_annotation.ipynb",
    output:
        table("metrics_table4"), long_table("error_runs"), figure("metrics_errors"),
    log:
        executed("metrics/6_error_annotation"),
    shell:
        PAPERMILL + QUIETLY


rule metrics_7_coverage:
    """Appendix A: coverage, roles, native ranges"""
    input:
        SCORES, ERRORS, WHOLE,
        notebook="notebooks/metrics/7_coverage.ipynb",
    output:
        table("metrics_coverage"), figure("metrics_coverage"),
    log:
        executed("metrics/7_coverage"),
    shell:
        PAPERMILL + QUIETLY


rule published_1_consistency:
    """The papers' printed numbers: what follows from them, and whether it agrees"""
    input:
        SCORES if STUDY.published else [], WHOLE, "src/mtgender/published.py", "data/published/metrics_paper.csv", "data/published/systems_paper.csv",
        "data/labour.csv",
        notebook="notebooks/published/1_consistency.ipynb",
    output:
        table("published_consistency"),
    log:
        executed("published/1_consistency"),
    shell:
        PAPERMILL + QUIETLY


rule systems_1_benchmark:
    """Tables 1, 5 and 6 of the systems paper: texts and their lengths, English and in the target languages"""
    input:
        TRANSLATED, WHOLE, SYSTEMS, EXTRA_PAIRS, "data/published/systems_paper.csv",
        notebook="notebooks/systems/1_benchmark.ipynb",
    output:
        table("systems_table1"), table("systems_table5"),
    log:
        executed("systems/1_benchmark"),
    shell:
        PAPERMILL + QUIETLY


rule systems_2_detector:
    """How well gender is detected in one language"""
    input:
        f"{RESULTS}/digests/languages/{{language}}", PRESENT, SYSTEMS, DETECTION,
        notebook="notebooks/systems/2_detector.ipynb",
    output:
        f"{RESULTS}/runs/detector.{{language}}.csv",
    log:
        executed("systems/2_detector/{language}"),
    shell:
        PAPERMILL + " -r language {wildcards.language}" + QUIETLY


rule systems_3_system_run:
    """Audit card of one translation system in one language"""
    input:
        f"{RESULTS}/digests/systems/{{run}}", PRESENT, SYSTEMS, "data/gender_counts/systems.csv", "data/labour.csv",
        notebook="notebooks/systems/3_system_run.ipynb",
    output:
        multiext(f"{RESULTS}/runs/system_run.{{run}}", ".png", ".csv", ".groups.csv"),
    log:
        executed("systems/3_system_run/{run}"),
    params:
        source=lambda wildcards: SYSTEM_RUNS[wildcards.run][0],
        system=lambda wildcards: SYSTEM_RUNS[wildcards.run][1],
        language=lambda wildcards: SYSTEM_RUNS[wildcards.run][2],
    shell:
        PAPERMILL + " -r system {params.system:q} -r language {params.language} -r source {params.source:q}" + QUIETLY


rule systems_4_systems:
    """Tables 2, 3, 4, 7, 8 and 9 of the systems paper, by ISCO level and major group; texts that steer gender"""
    input:
        TRANSLATED, WHOLE, SYSTEMS, DETECTION, "data/gender_counts/systems.csv",
        notebook="notebooks/systems/4_systems.ipynb",
    output:
        table("systems_table2"), table("systems_table2_misses"), table("systems_table3"), table("systems_table4"), table("systems_table7"), table("systems_table9"),
        table("systems_steered"), table("systems_levels"), table("systems_isco"), long_table("system_runs"),
    log:
        executed("systems/4_systems"),
    shell:
        PAPERMILL + QUIETLY


rule systems_5_real_world:
    """Figure 2 of the systems paper: translations against labour statistics"""
    input:
        f"{RESULTS}/digests/languages/{{language}}", PRESENT, SYSTEMS,
        notebook="notebooks/systems/5_real_world.ipynb",
    output:
        table("systems_figure2_{language}"), figure("systems_figure2_{language}"),
    log:
        executed("systems/5_real_world/{language}"),
    shell:
        PAPERMILL + " -r language {wildcards.language}" + QUIETLY


rule joint_1_evaluators_meet_systems:
    """Evaluators, systems and the labour market by occupation: do they agree, and where not?"""
    input:
        SCORES, TRANSLATED, WHOLE, "src/mtgender/joint.py", "data/labour.csv",
        notebook="notebooks/joint/1_evaluators_meet_systems.ipynb",
    output:
        table("joint_languages"), table("joint_correlations"), table("joint_contradictions"), table("joint_quadrants"),
        long_table("joint_occupations"), figure("joint_evaluators_systems"), figure("joint_evaluators_labour"), figure("joint_majors"),
    log:
        executed("joint/1_evaluators_meet_systems"),
    shell:
        PAPERMILL + QUIETLY


rule joint_2_robustness:
    """Does the conclusion survive other analyses, and is the preference one for shorter and more frequent words?"""
    input:
        SCORES, WHOLE, "src/mtgender/robustness.py",
        [display_path(f) for f in (STUDY.pairs / "review.tsv", STUDY.pairs / "gender_marks.tsv") if f.is_file()],
        notebook="notebooks/joint/2_robustness.ipynb",
    output:
        table("joint_confound"), table("joint_robustness"), table("joint_precision"), table("joint_strategies"),
        long_table("joint_robustness_runs"), figure("joint_confound"), figure("joint_robustness"),
    log:
        executed("joint/2_robustness"),
    shell:
        PAPERMILL + QUIETLY


rule joint_3_calibration:
    """Simulated evaluators and systems with known truth: false discoveries, coverage of the intervals, bias, power"""
    input:
        SCORES, ERRORS, TRANSLATED, WHOLE, "src/mtgender/simulation.py", "src/mtgender/published.py", "data/published/metrics_paper.csv",
        notebook="notebooks/joint/3_calibration.ipynb",
    output:
        table("joint_components"), table("joint_calibration"), table("joint_fdr"), table("joint_power"),
        figure("joint_calibration"), figure("joint_calibration_systems"), figure("joint_power"),
    log:
        executed("joint/3_calibration"),
    shell:
        PAPERMILL + QUIETLY


rule joint_4_repeats:
    """Evaluators that do not say the same twice: variance between repeats, texts and occupations"""
    input:
        SCORES, WHOLE, "src/mtgender/repeats.py",
        notebook="notebooks/joint/4_repeats.ipynb",
    output:
        table("joint_repeats"),
    log:
        executed("joint/4_repeats"),
    shell:
        PAPERMILL + QUIETLY


rule joint_5_neutral:
    """A third, neutral variant against the masculine and the feminine one"""
    input:
        SCORES, WHOLE, "src/mtgender/neutral.py",
        notebook="notebooks/joint/5_neutral.ipynb",
    output:
        table("joint_neutral"),
    log:
        executed("joint/5_neutral"),
    shell:
        PAPERMILL + QUIETLY


rule tabled:
    """What makes tables that are committed beside those of `all`: the notebooks of a language, and the simulation."""
    input:
        expand(rules.metrics_1_challenge_set.output[-1], language=STUDY.languages),
        expand(rules.systems_5_real_world.output[0], language=data.counted_languages(STUDY)),
        rules.joint_3_calibration.output,


# A run that fails or was refused must not keep the reading copy from the others: run notebooks are asked for, not waited for.
rule runs:
    """Every notebook of a language or a run."""
    input:
        expand(rules.metrics_1_challenge_set.output[-1], language=STUDY.languages),
        expand(rules.metrics_2_score_run.output[0], run=SCORE_RUNS),
        expand(rules.metrics_5_error_run.output[0], run=ERROR_RUNS),
        expand(rules.systems_2_detector.output[0], language=DETECTED),
        expand(rules.systems_3_system_run.output[0], run=SYSTEM_RUNS),
        expand(rules.systems_5_real_world.output[0], language=data.counted_languages(STUDY)),


rule reading:
    """Executed notebooks as Markdown (study level) and as an HTML site (all)."""
    input:
        rules.overview.output,
        rules.metrics_3_score_prediction.output,
        rules.metrics_4_languages_occupations.output,
        rules.metrics_6_error_annotation.output,
        rules.metrics_7_coverage.output,
        rules.published_1_consistency.output,
        rules.systems_1_benchmark.output,
        rules.systems_4_systems.output if SYSTEM_RUNS else [],
        rules.joint_1_evaluators_meet_systems.output,
        rules.joint_2_robustness.output,
        rules.joint_3_calibration.output if STUDY.publish else [],      # simulates for half a minute; the same for every study of a kind
        rules.joint_4_repeats.output if STUDY.repeated_runs() else [],
        rules.joint_5_neutral.output if STUDY.neutral_runs() else [],
        "src/mtgender/cli.py",
    output:
        f"{RESULTS}/site/index.html",
    shell:
        "python -m mtgender reading {NAME:q}"


rule manifest:
    """Hashes, parameters, versions, commit, wall times."""
    input:
        f"{RESULTS}/site/index.html",
    output:
        f"{RESULTS}/manifest.json",
    shell:
        "python -m mtgender manifest {NAME:q}"


# What makes scores, error spans and translations: a job each producer and language, asked for by `scored`, `annotated`, `translated`
# (no part of `all`). The study's own runs, or those of `--config producers=comet,metricx languages=de,ru`; `options` goes to each producer;
# one whose rule has the resource `gpu` in the profile runs on a GPU. A job computes with one thread, or as many as `--set-threads score=8`
# says (Snakemake sets OMP_NUM_THREADS). `--rescore` has them made in a folder of its own.
PRODUCERS = config.get("producers_python", ".venv-producers/bin/python")
PRODUCED = f"{RESULTS}/{config.get('folder', 'produced')}"
OPTIONS = config.get("options", "")


def produced(kind, registry, suffix):
    """Files of the producers that were asked for, or of the study's own that this project has."""
    def files(wildcards):
        from mtgender import producers
        runs = [(name, code) for name, code in STUDY.runs(kind) if name in getattr(producers, registry)]
        if "producers" in config or "languages" in config:
            names, codes = str(config.get("producers", "")), str(config.get("languages", ""))
            asked = [(name, code) for name in (names.split(",") if names else dict(runs))
                     for code in (codes.split(",") if codes else STUDY.languages)]
            runs = [run for run in runs if run in asked] if "folder" in config else asked      # what there is to make again
        return [f"{PRODUCED}/{kind}/{name}/{code}.{suffix}" for name, code in runs]
    return files


def texts(wildcards):
    """The texts of one language, where they are files of our own."""
    return [display_path(f) for f in (STUDY.pairs / "en.tsv", STUDY.pairs / f"{wildcards.language}.tsv") if f.is_file()]


rule scored:
    input:
        produced("scores", "EVALUATORS", "tsv"),


rule annotated:
    input:
        produced("annotations", "ANNOTATORS", "jsonl"),


rule translated:
    input:
        produced("translations", "TRANSLATORS", "tsv"),


rule score:
    """An evaluator over the texts of one language"""
    input:
        texts,
    output:
        f"{PRODUCED}/scores/{{producer}}/{{language}}.tsv",
    params:
        gpu=lambda wildcards, resources: "--gpu" if resources.gpu else "",
    resources:
        gpu=0,
    shell:
        "{PRODUCERS} -m mtgender score {wildcards.producer} --study {NAME:q} --language {wildcards.language}"
        " --out {PRODUCED:q}/scores {OPTIONS} {params.gpu}"


rule annotate:
    """An annotator over the texts of one language"""
    input:
        texts,
    output:
        f"{PRODUCED}/annotations/{{producer}}/{{language}}.jsonl",
    params:
        gpu=lambda wildcards, resources: "--gpu" if resources.gpu else "",
    resources:
        gpu=0,
    shell:
        "{PRODUCERS} -m mtgender annotate {wildcards.producer} --study {NAME:q} --language {wildcards.language}"
        " --out {PRODUCED:q}/annotations {OPTIONS} {params.gpu}"


rule translate:
    """A translator from English into one language"""
    input:
        display_path(STUDY.pairs / "en.tsv") if STUDY.pairs_format == "own" else [],
    output:
        f"{PRODUCED}/translations/{{producer}}/{{language}}.tsv",
    params:
        gpu=lambda wildcards, resources: "--gpu" if resources.gpu else "",
    resources:
        gpu=0,
    shell:
        "{PRODUCERS} -m mtgender translate {wildcards.producer} --study {NAME:q} --language {wildcards.language}"
        " --out {PRODUCED:q}/translations {OPTIONS} {params.gpu}"
