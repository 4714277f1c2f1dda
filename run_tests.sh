#!/usr/bin/env bash
# Tests. Fast suite by default; --all adds producers, --long the cluster and fault injection. Other options go to pytest.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
. src/environment.sh

all='' options=()
for argument in "$@"; do
    case $argument in
        -h | --help) sed -n '2p' run_tests.sh | sed 's/^# //'; exit 0 ;;
        --all) all=1 ;;
        --long) all=1; export MTGENDER_LONG=1 ;;
        *) options+=("$argument") ;;
    esac
done
if [ -n "$all" ]; then                            # the two side by side
    (make_environment .venv-producers requirements-producers.lock; make_environment .venv-producers requirements-llm-judge.lock) &
    producers=$!
fi
make_environment .venv requirements-test.lock requirements.lock
[ -z "$all" ] || wait "$producers" || exit 1
PATH="$PWD/.venv/bin:$PATH"
export PATH OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
say "ruff"
ruff check --quiet . || exit 1
say "pytest"
if [ -n "$all" ]; then
    status=0
    make_environment .venv-neural requirements-neural.lock &          # the largest download, while the others are tested
    neural=$!
    pytest -n "$(cores)" --dist loadfile --no-loadscope-reorder ${options[@]+"${options[@]}"} || status=$?
    say "pytest, producers"
    producers() {
        .venv-producers/bin/python -m pytest -o addopts=-ra "$@" -k "not translators or language_model" ${options[@]+"${options[@]}"}
    }
    second="$(mktemp)"                              # two halves side by side; the second one's output follows
    producers tests/test_llm_detector.py tests/test_generate.py tests/test_translators.py tests/test_few_shot.py >"$second" 2>&1 &
    half=$!
    producers tests/test_producers.py tests/test_producer_adapters.py || status=$?
    wait "$half" || status=$?
    cat "$second"
    rm "$second"
    wait "$neural" || say "no .venv-neural: the tests of COMET and MetricX are skipped"
    say "pytest, neural metrics"
    [ ! -x .venv-neural/bin/pytest ] || .venv-neural/bin/python -m pytest -o addopts=-ra tests/test_neural.py \
        tests/test_translators.py -k neural ${options[@]+"${options[@]}"} || status=$?
    exit $status
else
    pytest -n "$(cores)" --dist loadfile --no-loadscope-reorder -m "not slow" ${options[@]+"${options[@]}"}
fi
