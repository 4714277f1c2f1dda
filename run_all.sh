#!/usr/bin/env bash
# Makes the environment, then every table, figure and executed notebook of a study.
#
#   ./run_all.sh                        the default study (studies/occupairs.yaml)
#   ./run_all.sh studies/mine.yaml      another one
#   ./run_all.sh [STUDY] -n | -j 4 | -k | --forcerun RULE …      options go to Snakemake
#   ./run_all.sh --check                make every table in results/check and compare with the committed ones
#   ./run_all.sh --rescore [--accept]   make the committed scores and annotations again; say what differs; replace them
#   ./run_all.sh --rescore --limit 20   a trial: their first rows only
#   ./run_all.sh --rescore --config producers=e5-cosine languages=de,ru       those of one producer and two languages
#   ./run_all.sh --rescore --record     also put what came of it into benchmarks/rescored.csv
#   ./run_all.sh --lab                  open JupyterLab on the notebooks
#   ./run_all.sh --environment producers | llm-judge | gemma | neural | slurm      what evaluators or a cluster need beside
#   ./run_all.sh [STUDY] scored | annotated | translated         the study's producers, a job each language, into results/<study>/produced
#   ./run_all.sh [STUDY] --profile profiles/slurm                on a cluster
#   --verbose                           show all that Snakemake says
#   --plain                             papermill itself, a new process for every notebook, instead of the warm server
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
. src/environment.sh

study=studies/occupairs.yaml mode=run rescored=() options=() targets=() settings=() verbose='' plain='' given_cores='' as_it_is='' dry='' extra=''
chosen='' in_settings='' before=''
for argument in "$@"; do
    case $in_settings$argument in
        1-*) ;;
        1*=*) settings+=("$argument"); continue ;;
    esac
    in_settings=''
    case $argument in
        -h | --help) sed -n '2,/^set/p' run_all.sh | sed '$d; s/^# \{0,1\}//'; exit 0 ;;
        --check | --rescore | --lab) mode=${argument#--} ;;
        --environment) mode=environment ;;
        --accept) rescored+=(--accept) ;;
        --record) rescored+=(--record benchmarks/rescored.csv) ;;
        --verbose) verbose=1 ;;
        --plain) plain=1 ;;
        *.yaml | *.yml)                           # the study, unless an option before it takes a value
            case $before in
                '' | --check | --rescore | --lab | --accept | --record | --verbose | --plain | -[nkpFt] | --dry-run | --keep-going | --forceall | --touch)
                    [ -z "$chosen" ] || fail "two studies: $study and $argument"
                    study=$argument chosen=1 ;;
                *) options+=("$argument") ;;
            esac ;;
        scored | annotated | translated) targets+=("$argument") ;;
        -C | --config) in_settings=1 ;;
        --config=*) in_settings=1; settings+=("${argument#--config=}") ;;
        -j* | --jobs* | -c* | --cores*) given_cores=1; options+=("$argument") ;;
        --profile* | --executor*) given_cores=1 plain=1; options+=("$argument") ;;          # other machines do not reach the server here
        -n | --dry-run | --dryrun) dry=1 plain=1 as_it_is=1; options+=("$argument") ;;
        -R | --forcerun* | -F | --forceall | -t | --touch) as_it_is=1; options+=("$argument") ;;
        *) if [ "$mode" = environment ] && [ -z "$extra" ]; then extra=$argument; else options+=("$argument"); fi ;;
    esac
    case $argument in -*) before=$argument ;; *) before='' ;; esac
done
[ ${#rescored[@]} -eq 0 ] || [ "$mode" = rescore ] || fail "--accept and --record go with --rescore"

if [ "$mode" = environment ]; then
    case $extra in
        producers) make_environment .venv-producers requirements-producers.lock ;;
        llm-judge | gemma)
            make_environment .venv-producers requirements-producers.lock
            make_environment .venv-producers "requirements-$extra.lock" ;;
        neural)                                   # numpy < 2 has no later wheels
            for PYTHON in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 ''; do
                [ -n "$PYTHON" ] || continue
                ! "$PYTHON" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null || break
            done
            [ -n "$PYTHON" ] || fail "this environment needs Python 3.11, 3.12 or 3.13"
            make_environment .venv-neural requirements-neural.lock ;;
        slurm) make_environment .venv requirements.lock; make_environment .venv requirements-slurm.lock ;;
        *) fail "no environment '$extra'; there are producers, llm-judge, gemma, neural, slurm" ;;
    esac
    exit 0
fi
if [ "$mode" = lab ]; then
    make_environment .venv-lab requirements-lab.lock
    say "opening JupyterLab"
    exec .venv-lab/bin/jupyter lab --notebook-dir=notebooks ${options[@]+"${options[@]}"}
fi
if [ "$mode" = rescore ]; then                    # a job each producer and language, then what they made is compared
    folder=rescore
    for setting in ${settings[@]+"${settings[@]}"}; do
        chosen=${setting#*=}
        case $setting in
            producers=*) rescored+=(--producer ${chosen//,/ }) folder+=-${chosen//,/-} ;;
            languages=*) rescored+=(--language ${chosen//,/ }) folder+=-${chosen//,/-} ;;
        esac
    done
    rescored=(rescore "$study" ${rescored[@]+"${rescored[@]}"})
    case " ${options[*]-}" in
        *' --limit'*)
            make_environment .venv-producers requirements-producers.lock
            exec .venv-producers/bin/python -m mtgender "${rescored[@]}" "${options[@]}" ;;
    esac
    targets=(scored annotated) settings+=("folder=$folder")
fi

make_environment .venv requirements.lock
PATH="$PWD/.venv/bin:$PATH"
export PATH MPLBACKEND=module://matplotlib_inline.backend_inline
# One thread for BLAS: several notebooks run at once, and sums keep one order.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

if [ "$mode" = check ]; then
    mkdir -p results
    printf 'extends: "%s"\nname: check\npublish: false\n' "$(cd "$(dirname "$study")" && pwd)/$(basename "$study")" >results/check.yaml
    study=results/check.yaml
fi

# name of the results folder; whether inputs are newer than the last run that went well (none: no run yet); whether there are translations
read -r name newer translations < <(python - "$study" <<'PY'
import sys
from mtgender import study
try:
    loaded = study.load(sys.argv[1])
except study.InputError as error:
    sys.exit(f"mtgender: {error}")
made, well = loaded.inference / "score_runs.parquet", loaded.results / ".well"
inputs = [*loaded.source_files(), *loaded.files(), *(study.ROOT / "src/mtgender").glob("*.py")]
since = well.stat().st_mtime if well.is_file() else 0
newer = "none" if not made.is_file() else "yes" if any(f.stat().st_mtime >= since for f in inputs) else "no"
print(loaded.results.name, newer, "yes" if loaded.translations else "no")
PY
)
[ -n "$name" ] || exit 2
[ "$mode" != check ] || newer=none                # all is made again
mkdir -p "results/$name" || fail "results/$name cannot be written"

# Translations without the genders of their occupations: a detector goes first (a producer, in an environment of its own).
if [ "$translations" = yes ] && [ "$newer" != no ] && [ -n "$(python -m mtgender detect --pending --study "$study" 2>/dev/null)" ]; then
    say "finding the gender of the occupation in the study's translations"
    make_environment .venv-producers requirements-producers.lock
    .venv-producers/bin/python -m mtgender detect --study "$study" || say "a translation without genders is refused below"
fi

# One run at a time on a results folder, named in a file made whole or not at all; what a killed run left is cleared.
alive() { [ -n "$1" ] && kill -0 "$1" 2>/dev/null && { [ ! -r "/proc/$1/cmdline" ] || tr '\0' ' ' <"/proc/$1/cmdline" | grep -q run_all; }; }
mine="results/$name/.running"
claim() { (set -o noclobber; echo $$ >"$mine") 2>/dev/null; }
if ! claim; then
    other='' group=''
    { read -r other group <"$mine"; } 2>/dev/null
    ! alive "$other" || fail "another run (process $other) is at work on results/$name; wait for it or stop it"
    ! alive "$group" || { say "stopping what a killed run left at work"; kill -KILL -- "-$group" 2>/dev/null; }
    rm -f "$mine" 2>/dev/null && claim || fail "results/$name cannot be written"
fi
socket='' work='' watcher=''
stop() {                                          # Snakemake and all that it started
    [ -n "$work" ] || return 0
    kill -INT -- "-$work" 2>/dev/null
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do kill -0 -- "-$work" 2>/dev/null || return 0; sleep 0.25; done
    kill -KILL -- "-$work" 2>/dev/null
}
tidy() {
    [ -z "$watcher" ] || kill -- "-$watcher" 2>/dev/null
    [ -z "$socket" ] || { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; rm -rf "$(dirname "$socket")"; }
    rm -f "$mine"
}
trap tidy EXIT
trap 'say "stopped; call again to go on"; stop; exit 130' INT TERM HUP
if [ "$mode" = check ]; then find results/check -mindepth 1 ! -name .running -delete 2>/dev/null; fi
find "results/$name" -name '.*.part' -type f -delete 2>/dev/null
others=0
for running in results/*/.running; do
    [ "$running" = "$mine" ] && continue
    if read -r other _ 2>/dev/null <"$running" && alive "$other"; then others=1; fi
done
if [ $others = 0 ] && [ -n "$(ls .snakemake/locks 2>/dev/null)" ]; then
    say "clearing the lock of a run that was killed"
    snakemake --unlock --config study="$study" >/dev/null 2>&1
fi
[ $others = 1 ] || find tables figures docs/reading -name '.*.part' -type f -delete 2>/dev/null

# Snakemake's report as one line a job: done/total, elapsed, rule and run; what programs say themselves goes through.
show() {
    local line rule='' block='' job=0 held='' detail=()
    trap '' INT
    while IFS= read -r line; do
        case $line in
            'rule '*: | 'localrule '*: | 'checkpoint '*: | 'group job '*:) rule=${line#* } rule=${rule%:} block=1 ;;
            'Error in rule '* | 'Error in group '*) line=${line#Error in } block=1; printf '   failed  %s\n' "${line%%[:,]*}" ;;
            'Job stats:') block=table ;;
            '') block='' ;;
            '    jobid: '*) job=${line#*: } detail[job]='' ;;
            '    wildcards: '*) detail[job]=" ${line#*: }" ;;
            '    reason: '*) [ -z "$dry" ] || printf '  %-30s %.150s\n' "$rule" "${line#*: }" ;;
            'Finished jobid: '*) job=${line#*: } job=${job%% *} rule=${line##*Rule: } rule=${rule%)*} ;;
            [0-9]*' steps ('*) printf '%4d/%d %3d:%02d  %s%s\n' "${line%% *}" "$(set -- $line; echo "$3")" $((SECONDS / 60)) \
                $((SECONDS % 60)) "$rule" "${detail[job]:-}" ;;
            'Select jobs'* | 'Execute '*' jobs'* | 'Touching output'* | 'Complete log'* | 'Elapsed time'* | 'Using shell'* | \
                'Provided '* | 'Rules claiming'* | 'Assuming unrestricted'* | 'Building DAG'* | \[???\ ???\ *\] | 'host: '* | \
                RuleException: | 'CalledProcessError in file'* | "Command 'set -euo"* | 'At least one job did not complete'* | \
                'Shutting down, this might'* | 'Exiting because a job'* | 'Removing output files of failed'* | 'This was a dry-run'* | \
                'The order of jobs does not'* | *'would have been'* | 'Some jobs were triggered'* | Reasons:) held='' ;;
            WorkflowError:) held=$line ;;
            '    '*) [ -n "$block" ] || printf '%s\n' "$line" ;;
            *) [ "$block" = table ] || { [ -z "$held" ] || echo "$held"; held=''; printf '%s\n' "$line"; } ;;
        esac
    done
}
snakemake_() {
    local options_=("$@" --config ${settings[@]+"${settings[@]}"} study="$study" --keep-going --rerun-incomplete
        --max-checksum-file-size 1GB "${options[@]}")
    if [ -n "$verbose" ]; then snakemake "${options_[@]}"; else snakemake "${options_[@]}" --quiet host 2>&1 | show; fi
    return "${PIPESTATUS[0]}"
}
work() {
    [ ${#targets[@]} -eq 0 ] || { snakemake_ "${targets[@]}"; return; }
    # Inputs changed: measured first, so that what comes out as before makes nothing else again.
    [ "$newer" != yes ] || [ -n "$as_it_is" ] || snakemake_ inferred
    if [ "$mode" = check ]; then snakemake_ all tabled; else snakemake_ all runs; fi      # notebooks of a run make no table to compare
}

say "study $study → results/$name"
[ ${#targets[@]} -gt 0 ] || [ -n "$dry" ] || [ "$newer" = no ] || touch "results/$name/.began"
[ -n "$given_cores" ] || options=(--cores "$(cores)" ${options[@]+"${options[@]}"})
if [ ${#targets[@]} -gt 0 ]; then
    plain=1
    make_environment .venv-producers requirements-producers.lock
    if [ "$mode" = rescore ] && [ -z "$dry" ]; then
        rescored+=(--out "results/$name/$folder")
        .venv-producers/bin/python -m mtgender "${rescored[@]}" --begin || exit
    fi
fi
set -m                                            # what follows has process groups of its own, which end with this script
if [ -z "$plain" ]; then
    socket=$(mktemp -d)/papermill                 # a private folder
    export WARM_PAPERMILL=$socket
    python src/warm_papermill.py --serve </dev/null &
    server=$!
fi
work </dev/null &
work=$!
echo "$$ $work" >"$mine"
{ while alive $$; do sleep 1; done; stop; [ -z "$socket" ] || rm -rf "$(dirname "$socket")"; } </dev/null >/dev/null 2>&1 &
watcher=$!
set +m
wait "$work"
status=$?
work=''
if [ -n "$dry" ]; then
    [ "$newer" != yes ] || say "at most these: where prepare and infer give the same as before, nothing else is made again"
    exit $status
fi
if [ "$mode" = rescore ]; then                    # what could not be made is tried once more, and named
    env -u OMP_NUM_THREADS .venv-producers/bin/python -m mtgender "${rescored[@]}"
    exit
fi
[ ${#targets[@]} -eq 0 ] || exit $status

slowest=(--slowest 5)
[ "$mine" -nt "results/$name/manifest.json" ] && slowest=()                # nothing was made
if [ $status != 0 ] || [ "$newer" != no ] || [ ${#slowest[@]} -gt 0 ]; then
    python -m mtgender report "$study" ${slowest[@]+"${slowest[@]}"} || status=1
fi
if [ $status != 0 ]; then
    head -c 1000000 /dev/zero 2>/dev/null >"results/$name/.room" || say "no space is left for results/$name"
    rm -f "results/$name/.room"
fi
if [ "$mode" = check ] && [ $status = 0 ]; then
    python -m mtgender check "$study" || status=1
fi
if [ $status != 0 ]; then rm -f "results/$name/.well"; elif [ "$newer" != no ]; then mv -f "results/$name/.began" "results/$name/.well"; fi
if [ $status = 0 ]; then say "done: results/$name"; else say "finished with problems (named above): results/$name"; fi
exit $status
