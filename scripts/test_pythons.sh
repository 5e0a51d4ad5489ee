#!/usr/bin/env bash
# Turns the CPythons that pyenv or the PATH offers into a list of those that einrs builds for and passes the numpy tests on.
set -euo pipefail
cd "$(dirname "$0")/.."

# Prints where pyenv keeps the newest CPython of a version, or nothing.
pyenv_python() {
    local root
    root=$(pyenv root 2>/dev/null) || return 0
    printf '%s\n' "$root/versions/$1".*/bin/"python$1" | sort -V | tail -n 1
}

# Runs a candidate, since a pyenv shim exists for versions that are not active and Debian splits off ensurepip.
usable() {
    "$1" -c 'import ensurepip, sys, venv
sys.exit("%d.%d" % sys.version_info[:2] != sys.argv[1] or sys.implementation.name != "cpython")' "$2" 2>/dev/null
}

find_python() {
    local candidate
    for candidate in "$(pyenv_python "$1")" "$(command -v "python$1" || true)"; do
        if [ -n "$candidate" ] && usable "$candidate" "$1"; then
            echo "$candidate"
            return
        fi
    done
}

passed="" failed="" missing=""
for version in 3.10 3.11 3.12 3.13 3.14; do
    # `make test` covers the interpreter of .venv, with every framework.
    if [ -x .venv/bin/python ] && usable .venv/bin/python "$version"; then continue; fi
    python=$(find_python "$version")
    if [ -z "$python" ]; then
        missing="$missing $version"
        continue
    fi
    echo "--- CPython $version: $python"
    if bash scripts/test_wheel.sh "$python"; then passed="$passed $version"; else failed="$failed $version"; fi
done

echo "other CPythons: passed:${passed:- none}; failed:${failed:- none}; not found here:${missing:- none}"
[ -z "$failed" ]
