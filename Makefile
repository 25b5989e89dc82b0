# Every target first makes .venv, or renews it when what it was made from has changed.
FLAVOUR ?= $(shell command -v nvidia-smi >/dev/null 2>&1 && echo gpu || echo cpu)
STAMP := .venv/.ready
PY := .venv/bin/python
OURS := actors cluster envpool training tests scripts examples launch.py
WORKERS ?= 2

.PHONY: run test bench chaos soak check docs setup clean
run: $(STAMP)   ## evolve a pool and train on it: make run [ARGS='run.name=demo']
	$(PY) launch.py --config local $(ARGS)

test: $(STAMP)  ## all tests, those with a cluster in one worker: make test [WORKERS=0 ARGS='tests/envpool']
	$(PY) -m pytest -n $(WORKERS) --no-loadscope-reorder $(ARGS)

bench: $(STAMP) ## ratios to named alternatives, in one run: make bench [ARGS='sandbox store']
	$(PY) -m tests.benchmarks $(ARGS)

chaos: $(STAMP) ## an hour of random kills on four nodes, then the invariants: make chaos [ARGS='--minutes 10']
	$(PY) -m tests.chaos $(ARGS)

soak: $(STAMP)  ## 20,000 sandbox jobs, most of them hostile; all must stay flat: make soak [ARGS='--jobs 2000']
	$(PY) -m tests.soak $(ARGS)

check: $(STAMP) ## lint, types, direction of imports, every test found
	.venv/bin/ruff check $(OURS)
	.venv/bin/mypy
	.venv/bin/lint-imports
	$(PY) -m pytest --collect-only -qq >/dev/null || $(PY) -m pytest --collect-only

docs: $(STAMP)  ## the user guide and the reference as a site in site/: make docs [ARGS='--clean']
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict $(ARGS)

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt scripts/setup
	scripts/setup $(FLAVOUR)
	@touch $@

clean:
	rm -rf .venv build dist *.egg-info
