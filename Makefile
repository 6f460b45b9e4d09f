# Two commands do everything on a fresh machine: `make demo` and `make test`.
# Nothing is installed outside .venv; everything that is made lies under .openbook/ and .venv/.

PYTHON ?= python3
# cpu or gpu: which lock file is installed.
LOCK ?= cpu

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready-$(LOCK)
PIP := $(BIN)/python -m pip --disable-pip-version-check
# PyTorch's own index of CPU wheels: only asked where the configured index has no such wheel.
TORCH_INDEX := https://download.pytorch.org/whl/cpu

.PHONY: help setup demo test test-slow check bench report docs lock clean

help: ## List the targets.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 14

setup: $(READY) ## Make .venv from the lock file (2 minutes, 3 GB).

$(READY): requirements/$(LOCK).lock pyproject.toml
	@$(PYTHON) requirements/preflight.py $(LOCK)
	@echo "Installing $$(grep -vc '^#' requirements/$(LOCK).lock) packages into $(VENV): about 2 minutes, 3 GB" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --no-deps --requirement requirements/$(LOCK).lock \
	  || $(PIP) install --no-deps --extra-index-url $(TORCH_INDEX) --requirement requirements/$(LOCK).lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY) ## Run the main job on the embedded defaults: index, serve, fine-tune, compare, report.
	@$(BIN)/openbook experiment run demo

test: $(READY) ## Run the tests: real vLLM, real model, real fine-tuning.
	@$(BIN)/python -m pytest -m "not slow"

test-slow: $(READY) ## Run the long tests as well.
	@$(BIN)/python -m pytest

check: $(READY) ## Lint, format, types and import arrows.
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(READY) ## Measure the serving layer against raw vLLM.
	@$(BIN)/openbook bench serving

report: $(READY) ## Write the demo's report again from its answers.
	@$(BIN)/openbook report demo

docs: $(READY) ## Write docs/commands.md from the commands' help texts.
	@$(BIN)/python docs/write_commands.py

lock: $(READY) ## Resolve requirements/*.in again and write the lock files.
	@$(BIN)/python requirements/lock.py cpu gpu

clean: ## Remove what was made: .venv, .openbook and caches.
	rm -rf $(VENV) .openbook *.egg-info build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
