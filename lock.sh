#!/usr/bin/env bash
# Pins again what pyproject.toml asks for (needs uv): exact versions with hashes, no address. For maintainers.
set -euo pipefail
cd "$(dirname "$0")"
compile() {
    uv pip compile --quiet pyproject.toml --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
        --no-header --no-annotate --no-emit-package mtgender "$@"
}
compile --extra analysis -o requirements.lock
compile --extra analysis --extra test --extra slurm -c requirements.lock -o requirements-test.lock
compile --extra analysis --extra slurm -c requirements.lock -o requirements-slurm.lock
compile --extra analysis --extra lab -c requirements.lock -o requirements-lab.lock
compile --extra producers --extra producers-test -c requirements.lock -o requirements-producers.lock
compile --extra gemma -c requirements-producers.lock -o requirements-gemma.lock
compile --extra llm-judge --extra llm-judge-test -c requirements-producers.lock -o requirements-llm-judge.lock
# torch last and without a hash: which build it is depends on the machine. For Python 3.11 to 3.13 (numpy 1.26 has no later one)
uv pip compile --quiet pyproject.toml --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-package mtgender \
    --no-emit-package torch --extra neural --extra neural-test -o requirements-neural.lock
grep -o 'torch==[0-9.]*' pyproject.toml | head -1 >>requirements-neural.lock
