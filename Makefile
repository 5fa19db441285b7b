# SPDX-License-Identifier: MIT
#
# make demo       build, analyse the shipped incident, print its report
# make test       build and run every test
# make            build only: build/aftershock
# make help       the other targets

PREFIX  ?= /usr/local
CC      ?= cc
BUILD   ?= build
WERROR  ?=
SANITIZE ?=

# ---- layers: what each may use besides itself (make layers checks it) ----

LAYERS        := base model input store analysis report cli
USES_base     :=
USES_model    := base
USES_input    := base model
USES_store    := base model
USES_analysis := base model store
USES_report   := base model analysis
USES_cli      := base model input store analysis report

# Third-party headers, and the only files that may include them.
ONLY_pcre2.h     := src/input/rules/regex.c
ONLY_pcap/pcap.h := src/input/capture/record_libpcap.c src/cli/probe.c
ONLY_archive.h   := src/input/source.c src/input/unpack.c
ONLY_archive_entry.h := src/input/source.c src/input/unpack.c
ONLY_zlib.h      := src/input/coding/gzip.c
ONLY_lzma.h      := src/input/coding/xz.c
ONLY_zstd.h      := src/input/coding/zstd.c
ONLY_json-c/json.h := src/input/json.c
ONLY_sqlite3.h   := $(wildcard src/store/*.c)
THIRD_PARTY      := pcre2.h pcap/pcap.h archive.h archive_entry.h zlib.h lzma.h zstd.h json-c/json.h sqlite3.h

# ---- flags ----

LIBRARIES := libpcre2-8 libpcap sqlite3 libarchive zlib liblzma libzstd json-c
ifeq ($(filter demo test help clean,$(MAKECMDGOALS)),)
PKG_CFLAGS := $(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null)
PKG_LIBS   := $(shell pkg-config --libs $(LIBRARIES) 2>/dev/null)
TEST_LIBS  := $(shell pkg-config --libs cmocka 2>/dev/null)
TEST_CFLAGS := $(shell pkg-config --cflags cmocka 2>/dev/null)
endif

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Wwrite-strings -Wpointer-arith \
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wundef -Wvla -Wformat=2 -Wswitch-enum \
	-Wdouble-promotion -Wnull-dereference -Wimplicit-fallthrough
HARDEN   := $(if $(SANITIZE),,-D_FORTIFY_SOURCE=2 -fstack-protector-strong)
CFLAGS   ?= -O3 -g
ALL_CFLAGS := -std=c11 -D_DEFAULT_SOURCE -Iinclude $(WARNINGS) $(WERROR) -fPIE $(HARDEN) $(CFLAGS) $(SANITIZE) $(PKG_CFLAGS)
ALL_LDFLAGS := -pie -Wl,-z,relro,-z,now $(LDFLAGS) $(SANITIZE)
ALL_LIBS := $(PKG_LIBS) -lm -lpthread

# ---- what there is, by wildcard: adding a file touches no list ----

sources  = $(sort $(wildcard src/$(1)/*.c src/$(1)/*/*.c))
objects  = $(patsubst %.c,$(BUILD)/%.o,$(call sources,$(1)))
# A layer and all that it uses, nearest first.
closure  = $(1) $(foreach l,$(USES_$(1)),$(l)) $(foreach l,$(USES_$(1)),$(USES_$(l)))
archives = $(foreach l,$(1),$(BUILD)/lib$(l).a)

UNIT     := $(sort $(wildcard tests/unit/*/test_*.c))
UNIT_BIN := $(UNIT:tests/unit/%.c=$(BUILD)/unit/%)
FUZZ     := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN := $(FUZZ:tests/fuzz/%.c=$(BUILD)/fuzz/%)
HEADERS  := $(sort $(wildcard include/*/*.h include/*/*/*.h))

.PHONY: all demo test check run-demo layers headers lint asan fuzz bless bench lab lab-check install clean help need
.SECONDEXPANSION:
.DELETE_ON_ERROR:
.SECONDARY:

all: need $(BUILD)/aftershock

need:
	@sh .ci/deps --check

$(BUILD)/aftershock: $(call objects,cli) $(call archives,report analysis store input model base)
	@echo '  LD $@'
	@$(CC) $(ALL_LDFLAGS) -o $@ $(call objects,cli) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(ALL_LIBS)

$(BUILD)/lib%.a: $$(call objects,$$*)
	@rm -f $@
	@$(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	@$(CC) $(ALL_CFLAGS) -DAFTERSHOCK_PREFIX='"$(PREFIX)"' -MMD -MP -c -o $@ $<

-include $(foreach l,$(LAYERS),$(patsubst %.o,%.d,$(call objects,$(l))))

# ---- the two commands of the README ----

demo:
	@sh .ci/deps
	@$(MAKE) --no-print-directory run-demo

test:
	@sh .ci/deps
	@$(MAKE) --no-print-directory check

run-demo: $(BUILD)/aftershock
	$(BUILD)/aftershock analyze samples/refund-incident -o $(BUILD)/demo

# ---- tests ----

# A unit test links its own layer and those that the layer uses, nothing else.
# (gcc cannot know that cmocka's assert_non_null does not return.)
layer_of = $(word 1,$(subst /, ,$(patsubst $(BUILD)/unit/%,%,$(1))))

$(BUILD)/unit/%: tests/unit/%.c $$(call archives,$$(call closure,$$(call layer_of,$(BUILD)/unit/$$*))) $(wildcard tests/unit/*.h)
	@mkdir -p $(@D)
	@echo '  CC $<'
	@$(CC) $(ALL_CFLAGS) -Wno-null-dereference $(TEST_CFLAGS) -Itests/unit $(ALL_LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(ALL_LIBS) $(TEST_LIBS)

$(BUILD)/fuzz/%: tests/fuzz/%.c tests/fuzz/replay.c $(call archives,input store model base)
	@mkdir -p $(@D)
	@echo '  CC $<'
	@$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< tests/fuzz/replay.c -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(ALL_LIBS)

# Judges of reports: against the truth of a lab run, and against a golden case's facts. And what unpacks recordings for tests.
JUDGES := $(BUILD)/lab_check $(BUILD)/facts $(BUILD)/unpack

$(BUILD)/lab_check: tests/lab/lab_check.c
$(BUILD)/facts: tests/facts.c
$(BUILD)/unpack: tests/unpack.c

$(JUDGES):
	@mkdir -p $(@D)
	@echo '  CC $<'
	@$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(ALL_LIBS)

check: all $(UNIT_BIN) $(FUZZ_BIN) $(JUDGES) layers headers
	@BUILD=$(BUILD) sh tests/run.sh

# Rewrites a golden case and shows the difference: make bless CASE=refund_incident
bless: all
	@BUILD=$(BUILD) sh tests/golden.sh --bless $(CASE)

layers:
	@sh tests/layers.sh $(foreach l,$(LAYERS),$(l):$(subst $(eval) ,$(comma),$(strip $(USES_$(l))))) -- $(foreach h,$(THIRD_PARTY),$(h):$(subst $(eval) ,$(comma),$(strip $(ONLY_$(h)))))

comma := ,

headers:
	@for h in $(HEADERS); do \
		printf '#include "%s"\n#include "%s"\n' "$${h#include/}" "$${h#include/}" | \
		$(CC) -std=c11 -D_DEFAULT_SOURCE -Iinclude $(WARNINGS) -Werror -fsyntax-only -x c - || { echo "headers: $$h does not stand alone"; exit 1; }; \
	done; echo "headers: each compiles alone and twice"

asan:
	@$(MAKE) --no-print-directory BUILD=build/asan WERROR=-Werror CFLAGS="-O1 -g -fno-omit-frame-pointer" \
		SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all" check

lint:
	@sh tests/lint.sh "$(LIBRARIES)"

# Coverage-guided, with clang: make fuzz TARGET=rules SECONDS=60
fuzz:
	@sh tests/fuzz/run.sh "$(TARGET)" "$(or $(SECONDS),60)"

# ---- how fast: ratios against others, in pairs (BENCH_MB=1000, BENCH_PAIRS=5, BENCH_ONLY="log capture") ----

BENCH     := $(sort $(wildcard tests/bench/*.c))
BENCH_BIN := $(BENCH:tests/bench/%.c=$(BUILD)/%)

$(BENCH_BIN): $(BUILD)/%: tests/bench/%.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	@$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(ALL_LIBS)

bench: all $(BENCH_BIN)
	@BUILD=$(BUILD) sh tests/bench/run.sh

# ---- the lab: needs root, Java, Maven and Python; nothing else of the project does ----

lab:
	python3 tests/lab/lab.py $(RUN)

lab-check: all $(JUDGES)
	@BUILD=$(BUILD) sh tests/lab/check.sh

install: all
	install -D -m 755 $(BUILD)/aftershock $(DESTDIR)$(PREFIX)/bin/aftershock
	install -d $(DESTDIR)$(PREFIX)/share/aftershock/rules
	install -m 644 rules/*.rules $(DESTDIR)$(PREFIX)/share/aftershock/rules

clean:
	rm -rf build

help:
	@echo "make demo | test | all | asan | lint | layers | headers | fuzz TARGET=name | bless CASE=name | bench | lab RUN=name | lab-check | install | clean"
