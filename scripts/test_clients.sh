#!/usr/bin/env bash
# Turns packages that use einops into a table of what their models give on einops and on einrs, in an environment of its own.
# Usage: bash scripts/test_clients.sh [option of tests/clients/compare.py ...]
set -euo pipefail
cd "$(dirname "$0")/.."
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

env=.venvs/clients
requirements=tests/clients/requirements.txt
if [ ! -x "$env/bin/python" ]; then "${PYTHON:-python3}" -m venv "$env"; fi
python=$env/bin/python

# pip takes half a minute to find that nothing is missing, so it is asked only when the list is new.
if ! cmp -s "$requirements" "$env/installed.txt"; then
    "$python" -m pip install --quiet --requirement "$requirements"
    cp "$requirements" "$env/installed.txt"
fi

build=.venvs/clients-build
rm -rf "$build/wheels"
CARGO_TARGET_DIR=$build/target "$python" -m pip wheel --quiet --no-deps --wheel-dir "$build/wheels" .
"$python" -m pip install --quiet --no-deps --force-reinstall "$build"/wheels/einrs-*.whl

programs=()
for program in tests/clients/*.py; do
    case $program in */compare.py | */harness.py) ;; *) programs+=("$program") ;; esac
done
"$python" tests/clients/compare.py "$@" "${programs[@]}"
