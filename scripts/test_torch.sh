#!/usr/bin/env bash
# Turns a version of torch into the cells of "Where it works", by running torch's matrix in an environment of its own.
# Usage: bash scripts/test_torch.sh 2.5.1 [option of pytest ...]
set -euo pipefail
cd "$(dirname "$0")/.."
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

version=${1:?usage: scripts/test_torch.sh VERSION}
shift
env=.venvs/torch-$version
python=$env/bin/python
if [ ! -x "$python" ]; then "${PYTHON:-python3}" -m venv "$env"; fi

wheels=.venvs/torch-wheels
rm -rf "$wheels"
CARGO_TARGET_DIR=.venvs/torch-target "$python" -m pip wheel --quiet --no-deps --wheel-dir "$wheels" .
wheel=("$wheels"/einrs-*.whl)
"$python" -m pip install --quiet "${wheel[0]}[test-numpy]" "torch==$version" onnx onnxscript
# pip leaves an einrs of the same version alone.
"$python" -m pip install --quiet --no-deps --force-reinstall "${wheel[0]}"

# One process: the cells of a run are written at its end.
"$python" -m pytest tests/matrix/test_matrix_torch_*.py tests/matrix/test_polyfills.py \
    -m "slow_trace or not slow_trace" --cells docs/cells "$@"
