# Turns one word (demo, test, lint, ...) into the commands that build and check einrs in .venv; `make help` lists them.

PYTHON ?= python3
N ?= 20000
SEED ?= 0
FUZZ_SECONDS ?= 60
TORCH ?= 2.5.1

# Two, since each takes gigabytes once it has imported the frameworks.
WORKERS := --numprocesses 2 --dist loadfile

# pyproject.toml is the one place that says which maturin builds einrs.
MATURIN := $(shell sed -n 's/^requires = \["\(maturin[^"]*\)"\].*/\1/p' pyproject.toml)

# maturin and PyO3 take the interpreter from VIRTUAL_ENV and refuse to choose while conda is active as well.
IN_VENV := env -u CONDA_PREFIX VIRTUAL_ENV="$(CURDIR)/.venv" PATH="$(CURDIR)/.venv/bin:$$PATH"

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-clients test-trace test-torch lint bench bench-quick fuzz fuzz-diff test-pythons clean install-demo install-test

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: install-demo ## build in release mode and run the tour
	$(IN_VENV) python examples/tour.py

# torch and tensorflow in one process end it (each brings its own LLVM), hence three runs of pytest.
test: install-test ## run every Rust and Python test; torch, jax, tensorflow and more are installed for it
	$(IN_VENV) cargo test
	$(IN_VENV) EINRS_REQUIRE="numpy tensorflow keras" python -m pytest $(WORKERS) tests/tensorflow
	$(IN_VENV) EINRS_REQUIRE="tinygrad mlx pytensor dask xarray" python -m pytest tests/others
	$(IN_VENV) EINRS_REQUIRE="numpy torch jax flax equinox onnx onnxscript skimage matplotlib" \
	    python -m pytest $(WORKERS)

test-clients: ## run real packages on einops and on einrs and compare; fetches them into an environment of its own
	bash scripts/test_clients.sh

# One process for each folder: the cells of a run are written at its end.
test-trace: install-test ## run every test of tracing, the long ones too, and write the page "Where it works"
	$(IN_VENV) python -m pytest tests/matrix -m "slow_trace or not slow_trace" --cells docs/cells
	$(IN_VENV) python -m pytest tests/tensorflow --cells docs/cells
	$(IN_VENV) python scripts/where_it_works.py

test-torch: ## run torch's tests of tracing on the version TORCH=2.5.1, in an environment of its own
	bash scripts/test_torch.sh $(TORCH)
	$(PYTHON) scripts/where_it_works.py

lint: install-test ## check layout, lints and types
	$(IN_VENV) cargo fmt --check
	$(IN_VENV) cargo fmt --check --manifest-path fuzz/Cargo.toml
	$(IN_VENV) cargo clippy --all-targets -- -D warnings
	$(IN_VENV) ruff check .
	$(IN_VENV) ruff format --check .
	$(IN_VENV) mypy --strict python/einrs
	for script in .ci/run scripts/*.sh; do bash -n $$script || exit 1; done

bench: install-test ## measure the compile path (criterion) and the operations (tables, and JSON in target/ops.json)
	$(IN_VENV) cargo bench --package einrs --bench '*'
	$(IN_VENV) python benches/ops.py --json target/ops.json
	$(IN_VENV) python benches/trace.py

bench-quick: install-test ## the same benchmarks in a short run that only shows that they work
	$(IN_VENV) cargo bench --package einrs --bench '*' -- --quick
	$(IN_VENV) python benches/ops.py --quick
	$(IN_VENV) python benches/trace.py --quick

fuzz: ## fuzz the core, FUZZ_SECONDS=60 a target; needs a nightly Rust and `cargo install cargo-fuzz`
	for target in parse_round_trip bind; do \
	    mkdir -p fuzz/corpus/$$target && \
	    cargo +nightly fuzz run $$target fuzz/corpus/$$target fuzz/seeds/$$target -- \
	        -dict=fuzz/dict -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

fuzz-diff: install-test ## compare einrs with einops on N=20000 drawn calls from SEED=0
	$(IN_VENV) python tests/fuzz_differential.py --cases $(N) --seed $(SEED)

test-pythons: ## build for each other CPython found here and run the numpy tests on it
	bash scripts/test_pythons.sh

clean: ## remove what the other targets made
	rm -rf .venv .venvs target fuzz/target python/einrs/_einrs.*.so

# Cargo compiles and pip installs only what is missing or changed, so these run each time.
install-demo: EXTRAS := demo
install-test: EXTRAS := demo,test-numpy,test
install-demo install-test: .venv/bin/maturin
	$(IN_VENV) maturin develop --release --extras $(EXTRAS)

.venv/bin/maturin: pyproject.toml
	test -x .venv/bin/python || $(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check '$(or $(MATURIN),$(error pyproject.toml names no maturin in its line `requires = [...]`))'
	touch $@
