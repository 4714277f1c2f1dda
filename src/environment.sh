# Sourced by run_all.sh and run_tests.sh: makes the environments. Pins and hashes come from requirements*.lock, which are complete:
# nothing beyond them is installed (--no-deps).

unset PYTHONDONTWRITEBYTECODE        # each of some hundred processes would compile the modules again

say() { printf '%s\n' "── $*"; }
fail() { printf '%s\n' "mtgender: $*" >&2; exit 1; }

find_python() {
    local candidate
    for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
        [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s' "$candidate"
            return 0
        fi
    done
    command -v python3 >/dev/null 2>&1 || fail "python3 was not found; install Python 3.11 or newer"
    fail "Python 3.11 or newer is needed; python3 is $(python3 -V 2>&1 | cut -d' ' -f2)"
}

# make_environment FOLDER LOCK [LOCK_IT_COVERS]: installs only when the lock changed or the folder moved
make_environment() {
    local folder=$1 lock=$2 covers=${3:-} stamp python
    stamp="$(cksum <"$lock") $PWD"
    if [ -x "$folder/bin/python" ] && [ "$(cat "$folder/.made-from-$lock" 2>/dev/null)" = "$stamp" ]; then
        say "environment $folder is up to date"
        return 0
    fi
    python=$(find_python) || exit 1
    "$python" -c 'import venv, ensurepip' 2>/dev/null ||
        fail "the venv module of $python is missing; on Debian or Ubuntu: apt install python3-venv"
    say "making $folder from $lock (once; a few minutes)"
    if [ ! -x "$folder/bin/python" ] || ! "$folder/bin/python" -c '' 2>/dev/null ||
        [ "$(cat "$folder/.made-in" 2>/dev/null)" != "$PWD" ]; then
        rm -rf "$folder"
        "$python" -m venv "$folder" || fail "could not make $folder"
    fi
    # a pin without a hash (torch: which build it is depends on the machine) is installed on its own
    local pip=("$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps) bare
    for bare in $(grep -E '^[A-Za-z0-9._-]+==[^ ]+$' "$lock"); do
        "${pip[@]}" "$bare" || fail "installing $bare failed; call again to go on"
    done
    "${pip[@]}" --require-hashes -r <(grep -vE '^[A-Za-z0-9._-]+==[^ ]+$' "$lock") ||
        fail "installing $lock failed; call again to go on"
    # the project itself: a path, so that nothing has to be built and edits count at once
    "$folder/bin/python" - "$PWD/src" <<'PY'
import pathlib, sys, sysconfig
pathlib.Path(sysconfig.get_path("purelib"), "mtgender.pth").write_text(sys.argv[1] + "\n")
PY
    # plain papermill's kernels talk over TCP on this machine only, and are interrupted at their end; without this each one says so
    mkdir -p "$folder/etc/ipython"
    printf 'c.IPKernelApp.log_level = 50\n' >"$folder/etc/ipython/ipython_kernel_config.py"
    printf '%s' "$PWD" >"$folder/.made-in"
    printf '%s' "$stamp" >"$folder/.made-from-$lock"
    if [ -n "$covers" ]; then
        printf '%s' "$(cksum <"$covers") $PWD" >"$folder/.made-from-$covers"
    fi
}

cores() { getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2; }
