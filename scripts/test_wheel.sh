#!/usr/bin/env bash
# Turns one interpreter into a tested wheel: builds einrs for it in release mode and runs the tests that need no framework but numpy.
# Usage: bash scripts/test_wheel.sh PYTHON, where PYTHON is the command or path of a CPython.
set -euo pipefail
cd "$(dirname "$0")/.."
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

name=$("$1" -c 'import sys, sysconfig
print("%d.%d" % sys.version_info[:2] + "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED")))')
# Each interpreter has a target folder of its own: PyO3 is compiled for one interpreter at a time.
env=.venvs/$name
build=.venvs/$name-build

"$1" -m venv --clear "$env"
bin=$env/bin
if [ -d "$env/Scripts" ]; then bin=$env/Scripts; fi
# einops' own threading test starts `python` and must get this one.
export PATH="$PWD/$bin:$PATH"

rm -rf "$build/wheels"
CARGO_TARGET_DIR=$build/target python -m pip wheel --quiet --no-deps --wheel-dir "$build/wheels" .
wheels=("$build"/wheels/einrs-*.whl)
python -m pip install --quiet "${wheels[0]}[test-numpy]"

python -c 'import sys, sysconfig, einrs
free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
if free_threaded and sys._is_gil_enabled():
    sys.exit("importing einrs turned the GIL back on")
print("einrs", einrs.__version__, "on CPython", sys.version.split()[0], "free-threaded" * free_threaded)'
EINRS_REQUIRE=numpy python -m pytest --numprocesses 2 --dist loadfile -m "not needs_torch and not needs_jax"
