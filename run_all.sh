#!/usr/bin/env bash
# Makes the environment, then every table, figure and executed notebook of a study.
#
#   ./run_all.sh                        the default study (studies/occupairs.yaml)
#   ./run_all.sh studies/mine.yaml      another one
#   ./run_all.sh [STUDY] -n | -j 4 | -k | --forcerun RULE …      options go to Snakemake
#   ./run_all.sh --check                make everything in results/check and compare with the committed tables
#   ./run_all.sh --rescore [--accept]   make the committed scores and annotations again; say what differs; replace them
#   ./run_all.sh --lab                  open JupyterLab on the notebooks
#   --verbose                           show all that Snakemake says
#   --plain                             papermill itself, a new process for every notebook, instead of the warm server
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
. src/environment.sh

study=studies/occupairs.yaml mode=run accept=() options=() verbose='' plain='' given_cores=''
first=1
for argument in "$@"; do
    case $argument in
        -h | --help) sed -n '2,/^set/p' run_all.sh | sed '$d; s/^# \{0,1\}//'; exit 0 ;;
        --check | --rescore | --lab) mode=${argument#--} ;;
        --accept) accept=(--accept) ;;
        --verbose) verbose=1 ;;
        --plain) plain=1 ;;
        *.yaml | *.yml) if [ -n "$first" ]; then study=$argument; else options+=("$argument"); fi ;;
        -j* | --jobs* | -c* | --cores*) given_cores=1; options+=("$argument") ;;
        *) options+=("$argument") ;;
    esac
    first=''
    case $argument in --check | --verbose | --plain) first=1 ;; esac
done
[ ${#accept[@]} -eq 0 ] || [ "$mode" = rescore ] || fail "--accept goes with --rescore"

if [ "$mode" = lab ]; then
    make_environment .venv-lab requirements-lab.lock
    say "opening JupyterLab"
    exec .venv-lab/bin/jupyter lab --notebook-dir=notebooks "${options[@]}"
fi
if [ "$mode" = rescore ]; then
    make_environment .venv-producers requirements-producers.lock
    exec .venv-producers/bin/python -m mtgender rescore "$study" "${accept[@]}" "${options[@]}"
fi

make_environment .venv requirements.lock
PATH="$PWD/.venv/bin:$PATH"
export PATH MPLBACKEND=module://matplotlib_inline.backend_inline
# One thread for BLAS: several notebooks run at once, and sums keep one order.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

if [ "$mode" = check ]; then
    mkdir -p results
    printf 'extends: "%s"\nname: check\npublish: false\n' "$(cd "$(dirname "$study")" && pwd)/$(basename "$study")" >results/check.yaml
    rm -rf results/check
    study=results/check.yaml
fi

name=$(python - "$study" <<'PY'
import sys
from mtgender import study
try:
    loaded = study.load(sys.argv[1])
except study.InputError as error:
    sys.exit(f"mtgender: {error}")
print(loaded.results.name)
PY
) || exit 2
mkdir -p "results/$name" || fail "results/$name cannot be written"

# Translations without the genders of their occupations: a detector goes first (a producer, in an environment of its own).
if [ -n "$(python -m mtgender detect --pending --study "$study" 2>/dev/null)" ]; then
    say "finding the gender of the occupation in the study's translations"
    make_environment .venv-producers requirements-producers.lock
    .venv-producers/bin/python -m mtgender detect --study "$study" || say "a translation without genders is refused below"
fi

# One run at a time on a results folder; a lock left by a killed run is cleared.
alive() { kill -0 "$1" 2>/dev/null && { [ ! -r "/proc/$1/cmdline" ] || tr '\0' ' ' <"/proc/$1/cmdline" | grep -q run_all; }; }
mine="results/$name/.running"
if other=$(cat "$mine" 2>/dev/null) && [ -n "$other" ] && alive "$other"; then
    fail "another run (process $other) is at work on results/$name; wait for it or stop it"
fi
echo $$ >"$mine" || fail "results/$name cannot be written"
socket=''
tidy() {
    rm -f "$mine"
    [ -z "$socket" ] || { kill "$server" 2>/dev/null; rm -rf "$(dirname "$socket")"; }
}
trap tidy EXIT
others=0
for running in results/*/.running; do
    [ "$running" = "$mine" ] && continue
    if other=$(cat "$running" 2>/dev/null) && [ -n "$other" ] && alive "$other"; then others=1; fi
done
if [ $others = 0 ] && [ -n "$(ls .snakemake/locks 2>/dev/null)" ]; then
    say "clearing the lock of a run that was killed"
    snakemake --unlock --config study="$study" >/dev/null 2>&1
fi

say "study $study → results/$name"
case " ${options[*]} " in *" -n "* | *" --dry-run "* | *" --dryrun "*) plain=1 ;; esac
if [ -z "$plain" ]; then
    socket=$(mktemp -d)/papermill                 # a private folder; the server ends with this script
    export WARM_PAPERMILL=$socket
    python src/warm_papermill.py --serve &
    server=$!
    export WARM_PAPERMILL_SERVER=$server          # who asks before it listens waits while it lives
fi
[ -n "$given_cores" ] || options=(--cores "$(cores)" "${options[@]}")
if [ -n "$verbose" ]; then
    snakemake all runs --config study="$study" --keep-going --rerun-incomplete "${options[@]}"
    status=$?
else
    snakemake all runs --config study="$study" --keep-going --rerun-incomplete --quiet rules host "${options[@]}" 2>&1 | awk '
        /^(Select jobs|Execute [0-9]+ jobs|Touching output|Complete log|Elapsed time|Using shell|Provided cores|Rules claiming)/ { next }
        /^(Assuming unrestricted|Building DAG|\[[A-Z][a-z][a-z] [A-Z][a-z][a-z] )/ || /^$/ { next }
        /^Finished jobid/ { sub(/.*Rule: /, ""); sub(/\).*/, ""); rule = $0; next }
        /^[0-9]+ of [0-9]+ steps/ { printf "%3d/%d  %s\n", $1, $3, rule; fflush(); next }
        { print; fflush() }'
    status=${PIPESTATUS[0]}
fi
case " ${options[*]} " in *" -n "* | *" --dry-run "* | *" --dryrun "*) exit $status ;; esac

python -m mtgender report "$study" || status=1
if [ "$mode" = check ] && [ $status = 0 ]; then
    python -m mtgender check "$study" || status=1
fi
if [ $status = 0 ]; then say "done: results/$name"; else say "finished with problems (named above): results/$name"; fi
exit $status
