# `make run` and `make test` may each be the first command on a new machine: both set everything up.
# Set-up is done again when pyproject.toml changes. `make PYTHON=python3.13 test` names another Python.

PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3.14 python3 python,$(if $(shell command -v $(name) 2>/dev/null),$(name))))
VENV := .venv
BIN := $(VENV)/bin
# There are uv and pip; all packages are there; the tests are compiled.
PIP := $(VENV)/.pip
READY := $(VENV)/.ready
COMPILED := $(VENV)/.compiled
# Tests at a time. They wait for browsers too, so it is one more than the cores of a small machine; each one more reads
# all tests anew, which takes half a minute of a core.
WORKERS ?= 3
# A worker that has no tests left takes some from another.
SHARED_OUT := --dist worksteal
# Tests start hundreds of processes, and each would compile the package anew where this is set.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help run check test test-rest test-all test-browsergym test-frameworks test-cube test-ray pages ocr bench bench-perception bench-held-out bench-miniwob bench-mutations bench-surfaces bench-drawn bench-history bench-memory bench-step bench-act bench-restless bench-scrolling bench-moving bench-record bench-mcp bench-icons icon-namer docs docs-serve docs-pictures profile lint format types-js doctor clean
.DEFAULT_GOAL := help

help:
	@echo "make run       sets everything up and runs `vision-agent demo`: a task in a shop, one on a canvas"
	@echo "make check     format, lint, types, and every quick test that needs no browser (a minute)"
	@echo "make test      the most telling tests of the whole product (six minutes)"
	@echo "make test-rest lint, types, more variants and the long tests; a build server runs both"
	@echo "make test-all  everything, all variants, the longest tests and the large suites too (two hours)"
	@echo "make test-browsergym  our agent in BrowserGym's own environment, which is fetched (two minutes)"
	@echo "make test-frameworks  LangChain, CrewAI and the OpenAI Agents SDK over MCP, which are fetched (five minutes)"
	@echo "make test-cube  our browser as a tool of CUBE's benchmarks, which are fetched and need Python 3.12 (three minutes)"
	@echo "make test-ray  evaluations and tables by the workers of a Ray, which is fetched (three minutes)"
	@echo "make bench     how long looking takes, side by side with a plain screenshot"
	@echo "make bench-perception  how right the marks are, on our pages and on pages of other projects (long)"
	@echo "make bench-held-out  the same on pages labelled by hand, of 39 libraries that the marks were not tuned on (eight minutes)"
	@echo "make bench-miniwob  how many MiniWoB++ tasks marks alone and points can do (long)"
	@echo "make bench-mutations  whether what was meant is hit when pages change under the hand, and what an act costs (long)"
	@echo "make bench-history  what a run of 30 steps costs in tokens, by what a model is told of earlier steps, and a crowded listing"
	@echo "make bench-surfaces  what is found on canvases from their pixels alone, of ours and of other projects' libraries"
	@echo "make bench-drawn  which shapes, roles and values of charts are read from canvases, of libraries that were tuned on and others"
	@echo "make bench-memory  how soon an exemplar is found among 10,000, and how often it is one of the same kind of task"
	@echo "make bench-step  what share of a step is neither the model's nor the page's"
	@echo "make bench-act  how long one click takes until its outcome is known, against plain Playwright"
	@echo "make bench-restless  how much longer a look takes on a page that never rests"
	@echo "make bench-scrolling  clicks on rows out of view, against plain Playwright"
	@echo "make bench-moving  how often a click hits what does not stop moving, and that it hits nothing else"
	@echo "make bench-record  what recording a run of 100 steps costs in CPU and disk, and how large its folder is"
	@echo "make bench-icons   how often icons without a name get the right one, on icon sets that nothing was learned from"
	@echo "make icon-namer    make the network that names icons again, from icon sets that are fetched from npm (half an hour)"
	@echo "make bench-mcp  what one look over MCP costs and shows, against Playwright's MCP server"
	@echo "make profile   where the time of one observation and one step goes, as flame graphs in build/profile"
	@echo "make docs      build the site of docs/ into build/docs, and fail at any warning"
	@echo "make docs-serve     show it at http://127.0.0.1:8000/ while you write"
	@echo "make docs-pictures  make the pictures of the site again"
	@echo "make lint      ruff and mypy"
	@echo "make format    let ruff format"
	@echo "make types-js  check the types of overlay_js (needs npm)"
	@echo "make doctor    what a run would find on this machine"
	@echo "make clean     remove what was made here, the environment too; run folders stay"

run: $(READY)
	@$(BIN)/vision-agent demo

# Two at a time: the pages are fetched while the packages are.
test:
	@$(MAKE) --no-print-directory -j2 $(READY) pages
	@$(MAKE) --no-print-directory $(COMPILED)
	@$(BIN)/python -m pytest -q -n $(WORKERS) $(SHARED_OUT) -m "not thorough and not rest"

# The types are checked beside the tests, because mypy uses one core for a minute.
test-rest: pages rest-packages
	@$(MAKE) --no-print-directory -j2 lint rest-tests

.PHONY: rest-tests
rest-tests: $(READY)
	@$(BIN)/python -m pytest -q -n $(WORKERS) $(SHARED_OUT) -m "rest and not thorough"

test-all: lint types-js pages rest-packages
	@$(BIN)/python -m pytest -q -n $(WORKERS) $(SHARED_OUT)

# Nothing here may start a browser: Playwright's driver is replaced by a script that says so and fails.
check: $(READY)
	@$(MAKE) --no-print-directory -j2 lint $(COMPILED)
	@PLAYWRIGHT_NODEJS_PATH="$(CURDIR)/tests/no_browser.sh" $(BIN)/python -m pytest -q -n 2 $(SHARED_OUT) -m "not browser and not thorough and not rest"

# In an environment of its own: its pins exclude ours.
test-browsergym: $(READY)
	@$(BIN)/python tests/evals/browsergym_environment.py

# In environments of their own: their pins exclude each other.
test-frameworks: $(READY)
	@$(BIN)/python tests/integrations/frameworks_environment.py

# In an environment of its own: it needs Python 3.12. `make CUBE_PYTHON=python3.13 test-cube` names one.
test-cube: export CUBE_PYTHON := $(CUBE_PYTHON)
test-cube: $(READY)
	@$(BIN)/python tests/integrations/cube_environment.py

# The extra stays in the environment afterwards; `make test` is the same with it.
test-ray: $(READY)
	@$(call install,--editable '.[ray]') \
		|| { echo "Ray could not be installed; see $(VENV)/pip.log"; exit 5; }
	@$(BIN)/python -m pytest -q tests/evals/test_ray_workers.py tests/evals/test_ray_rows.py

# Fetched beforehand, so that tests need no network; what cannot be fetched is said, and its tests are skipped.
pages: $(PIP)
	@$(BIN)/python tests/pages.py || true

# Packages that `make test` does without.
.PHONY: rest-packages
rest-packages: $(READY)
	@$(call install,--group rest) \
		|| echo "pyright, Jupyter and other packages could not be installed: their tests are skipped; see $(VENV)/pip.log"

bench: $(READY)
	@$(BIN)/python tests/benchmarks/bench_observe.py

# The engine is an extra; without it what needs it is left out and said.
ocr: $(READY)
	@$(call install,--editable '.[ocr]') \
		|| echo "The OCR engine could not be installed: nothing is read; see $(VENV)/pip.log"

bench-perception: ocr
	@$(BIN)/python tests/benchmarks/bench_perception.py

bench-held-out: ocr
	@status=0; for set in first second third fourth; do \
		$(BIN)/python tests/benchmarks/bench_perception.py --held-out $$set || status=1; \
	done; exit $$status

bench-miniwob: $(READY)
	@$(BIN)/python tests/benchmarks/bench_miniwob.py

bench-mutations: $(READY)
	@$(BIN)/python tests/benchmarks/bench_mutations.py

bench-history: $(READY)
	@$(BIN)/python tests/benchmarks/bench_history.py

bench-memory: $(READY)
	@$(BIN)/python tests/benchmarks/bench_memory.py

bench-step: $(READY)
	@$(BIN)/python tests/benchmarks/bench_step.py

bench-act: $(READY)
	@$(BIN)/python tests/benchmarks/bench_act.py

bench-restless: $(READY)
	@$(BIN)/python tests/benchmarks/bench_restless.py

bench-scrolling: $(READY)
	@$(BIN)/python tests/benchmarks/bench_scrolling.py

bench-moving: $(READY)
	@$(BIN)/python tests/benchmarks/bench_moving.py

bench-mcp: $(READY) pages
	@$(BIN)/python tests/benchmarks/bench_mcp.py

bench-record: $(READY)
	@$(BIN)/python tests/benchmarks/bench_record.py

bench-surfaces: ocr
	@$(BIN)/python tests/benchmarks/bench_surfaces.py

bench-icons: icon-packages
	@$(BIN)/python tests/benchmarks/bench_icons.py

icon-namer: icon-packages
	@$(BIN)/python tests/icons/make_namer.py

.PHONY: icon-packages
icon-packages: $(READY)
	@$(call install,--group icons) \
		|| { echo "What draws icon sets could not be installed; see $(VENV)/pip.log"; exit 5; }

bench-drawn: ocr
	@$(BIN)/python tests/benchmarks/bench_drawn.py

profile: $(READY)
	@$(BIN)/python tests/benchmarks/profile_look.py

# The extra stays in the environment afterwards. Material announces its successor at each build, which is no warning.
docs: docs-packages
	@cd docs && NO_MKDOCS_2_WARNING=1 "$(CURDIR)/$(BIN)/python" -m mkdocs build --quiet --strict
	@echo "The site is in build/docs; open build/docs/index.html"

docs-serve: docs-packages
	@cd docs && NO_MKDOCS_2_WARNING=1 "$(CURDIR)/$(BIN)/python" -m mkdocs serve --quiet

docs-pictures: $(READY)
	@$(BIN)/python docs/pictures.py
	@$(BIN)/python docs/gallery.py

.PHONY: docs-packages
docs-packages: $(READY)
	@$(BIN)/python -c 'import material, mkdocstrings_handlers.python' 2>/dev/null \
		|| $(call install,--editable '.[docs]') \
		|| { echo "The site cannot be built: its packages could not be installed; see $(VENV)/pip.log"; exit 5; }

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(READY)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

types-js:
	@if ! command -v npm >/dev/null; then \
		echo "The type check of overlay_js is skipped: there is no npm."; \
	elif ! { cd overlay_js && { [ -x node_modules/.bin/tsc ] || npm install --no-package-lock; } >/dev/null 2>&1; }; then \
		echo "The type check of overlay_js is skipped: npm could not install TypeScript."; \
	else node_modules/.bin/tsc -p jsconfig.json; fi

doctor: $(READY)
	@$(BIN)/vision-agent doctor

clean:
	rm -rf $(VENV) build dist test-results .pytest_cache .mypy_cache .ruff_cache overlay_js/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Each worker of pytest would compile every test by itself, at the same time; two processes compile half each.
$(COMPILED): $(shell find tests -name '*.py' -not -name '* *') | $(READY)
	@find tests -name 'test_*.py' | xargs -P 2 -n 150 $(BIN)/python -m pytest -q --collect-only >/dev/null 2>&1 || true
	@touch $@

# uv, because pip takes four times as long, and pip where uv fails, because pip may know of other servers.
# Their own words go to a file: they are long, and they name servers. Errors are shown when both fail.
install = { $(BIN)/uv pip install --python $(BIN)/python $(1) || $(BIN)/python -m pip install --no-compile $(1); } \
	</dev/null >>$(VENV)/pip.log 2>&1

define PIP_FAILED
{ { grep ERROR $(VENV)/pip.log || tail -n 5 $(VENV)/pip.log; } | sed -E "s#[a-z+]+://[^ ,)]+#(address)#g; s#host='[^']*'#(address)#g"; \
	echo "The packages could not be installed; all of what pip said is in $(VENV)/pip.log"; exit 5; }
endef

# Only what is imported is compiled, when it is.
$(READY): pyproject.toml | $(PIP)
	@rm -f $(VENV)/pip.log
	@$(call install,--editable . --group dev) || $(PIP_FAILED)
	@$(BIN)/vision-agent setup </dev/null
	@touch $@

$(PIP):
	@test -n "$(PYTHON)" || { echo "There is no Python here; 3.11 or later is needed: apt-get install python3 python3-venv"; exit 5; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is older than 3.11; name another one: make PYTHON=python3.13 …"; exit 5; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || $(MAKE) --no-print-directory python-venv
	@echo "Setting up $(VENV) (once, a minute or two)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --no-compile uv "pip>=25.1" </dev/null >$(VENV)/pip.log 2>&1 || $(PIP_FAILED)
	@touch $@

# Debian ships Python without the part that makes environments.
.PHONY: python-venv
python-venv:
	@package=$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing $$package"; \
		{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y $$package; } </dev/null >/dev/null 2>&1; \
	fi; \
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
		|| { echo "$(PYTHON) cannot make an environment; type: sudo apt-get install $$package"; exit 5; }
