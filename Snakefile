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
                                               "gender_counts.parquet", "runs.csv")]
INFERRED = [f"{RESULTS}/inference/{f}.parquet" for f in ("occupations", "score_runs", "score_summaries", "ranges", "pair_means", "language_means",
                                                        "error_occupations", "error_runs", "system_runs", "system_groups")]
READ = [f"src/mtgender/{m}.py" for m in ("study", "isco", "data", "formats")]
MEASURE = [*READ, "src/mtgender/preference.py", "src/mtgender/representation.py", "src/mtgender/inference.py"]
PRESENT = [*MEASURE, "src/mtgender/tables.py", "src/mtgender/figures.py"]
SCORE_RUNS = {f"{file_name(s)}.{code}": (s, code) for s, code in STUDY.runs("scores")}
ERROR_RUNS = {f"{file_name(s)}.{code}": (s, code) for s, code in STUDY.runs("annotations")}
# -r passes text as text: a system may be called `nan`, a language code is `no`
# warm_papermill.py is the papermill command line; without a server it is papermill itself
PAPERMILL = "python src/warm_papermill.py {input.notebook} {log} --no-progress-bar --log-level ERROR -r study {NAME:q}"
# a failure's traceback stands in the executed copy; what papermill itself says goes beside it
QUIETLY = " 2> {log}.err && rm -f {log}.err"

for notebook, given in {"metrics/1_challenge_set": ["language"], "metrics/2_score_run": ["language", "system"],
                        "metrics/5_error_run": ["language", "system"], "metrics/3_score_prediction": [],
                        "metrics/4_languages_occupations": [], "metrics/6_error_annotation": [], "metrics/7_coverage": [],
                        "published/1_consistency": [], "systems/4_systems": [], "systems/5_real_world": ["language"],
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


wildcard_constraints:
    language="[a-z]{2}",
    run="[^/]+",


rule all:
    input:
        f"{RESULTS}/manifest.json",
        f"{RESULTS}/site/index.html",


rule prepare:
    """Read and validate every pair, score and annotation file; one clear line for each bad one, the others go on."""
    input:
        [display_path(f) for f in (*STUDY.source_files(), *STUDY.files())],
        READ,
    output:
        PREPARED,
    shell:
        "python -m mtgender prepare {NAME:q}"


rule infer:
    """One seeded bootstrap and all tests, for all runs together."""
    input:
        PREPARED,
        MEASURE,
    output:
        INFERRED,
    shell:
        "python -m mtgender infer {NAME:q}"


rule overview:
    """The whole story on one page"""
    input:
        PREPARED, INFERRED, PRESENT,
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
        PREPARED, INFERRED, PRESENT,
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
        PREPARED, INFERRED, PRESENT,
        notebook="notebooks/metrics/2_score_run.ipynb",
    output:
        multiext(f"{RESULTS}/runs/score_run.{{run}}", ".png", ".svg", ".csv", ".occupations.png", ".occupations.svg", ".occupations.csv"),
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
        PREPARED, INFERRED, PRESENT,
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
        PREPARED, INFERRED, PRESENT,
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
        PREPARED, INFERRED, PRESENT,
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
        PREPARED, INFERRED, PRESENT,
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
        PREPARED, INFERRED, PRESENT,
        notebook="notebooks/metrics/7_coverage.ipynb",
    output:
        table("metrics_coverage"), figure("metrics_coverage"),
    log:
        executed("metrics/7_coverage"),
    shell:
        PAPERMILL + QUIETLY


rule published_1_consistency:
    """The metrics paper's printed numbers: what follows from them, and whether it agrees"""
    input:
        PREPARED, INFERRED, PRESENT, "src/mtgender/published.py", "data/published/metrics_paper.csv", "data/published/systems_paper.csv",
        "data/labour.csv",
        notebook="notebooks/published/1_consistency.ipynb",
    output:
        table("published_consistency"),
    log:
        executed("published/1_consistency"),
    shell:
        PAPERMILL + QUIETLY


rule systems_4_systems:
    """Tables 3 and 9 of the systems paper, by major group; texts that steer gender"""
    input:
        PREPARED, INFERRED, PRESENT,
        notebook="notebooks/systems/4_systems.ipynb",
    output:
        table("systems_table3"), table("systems_steered"), table("systems_levels"), table("systems_table9"), long_table("system_runs"),
    log:
        executed("systems/4_systems"),
    shell:
        PAPERMILL + QUIETLY


rule systems_5_real_world:
    """Figure 2 of the systems paper: translations against labour statistics"""
    input:
        PREPARED, INFERRED, PRESENT,
        notebook="notebooks/systems/5_real_world.ipynb",
    output:
        table("systems_figure2_{language}"), figure("systems_figure2_{language}"),
    log:
        executed("systems/5_real_world/{language}"),
    shell:
        PAPERMILL + " -r language {wildcards.language}" + QUIETLY


# A run that fails or was refused must not keep the reading copy from the others: run notebooks are asked for, not waited for.
rule runs:
    """Every notebook of a language or a run."""
    input:
        expand(rules.metrics_1_challenge_set.output[-1], language=STUDY.languages),
        expand(rules.metrics_2_score_run.output[0], run=SCORE_RUNS),
        expand(rules.metrics_5_error_run.output[0], run=ERROR_RUNS),
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
        rules.systems_4_systems.output if STUDY.gender_counts else [],
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
