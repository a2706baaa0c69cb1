# SPDX-License-Identifier: GPL-2.0
# The verbs. `make` builds the modules for the running kernel (or KDIR=).

KVER	?= $(shell uname -r)
KDIR	?= /lib/modules/$(KVER)/build
DESTDIR	?=
# where stock tc looks for plug-ins
TCLIB	?= $(DESTDIR)/usr/lib/$(shell gcc -print-multiarch)/tc
MANDIR	?= $(DESTDIR)/usr/share/man
SBINDIR	?= $(DESTDIR)/usr/sbin
INCDIR	?= $(DESTDIR)/usr/include
SHAREDIR ?= $(DESTDIR)/usr/share/hopcc
# Of the kernel that KDIR is for, not of the one that runs. As uname and the modules have
# it: Debian 12's headers have another word, 6.1.192, for kernelrelease.
RELEASE	 = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
MODDIR	?= $(DESTDIR)/lib/modules/$(RELEASE)/updates/hopcc

LAB	:= tools/lab/lab
OUT	:= build/modules
# modules that users load: neither the tests nor the lab's wire
MODULES  = $(filter-out %_test.ko %/sch_link.ko,$(wildcard $(OUT)/*/*.ko))

.PHONY: all modules tools demo check matrix soak soak-control figures install style clean

all: modules tools

modules:
	@test -e $(KDIR)/Makefile || { echo "no kernel headers in $(KDIR): apt-get install linux-headers-amd64, or say KDIR=" >&2; exit 2; }
	@tools/build-modules.sh modules $(KDIR)

tools:
	@$(MAKE) --no-print-directory -C tools/tc OUT=$(CURDIR)/build/tc

# The showcase: install what is missing, build, run in the lab, table and pictures.
demo:
	@tools/setup/setup.sh demo
	@$(LAB) setup
	@$(LAB) run showcase --out lab-results/showcase

# Every test a gate needs.
check:
	@tools/setup/setup.sh check
	@selftests/run.sh

# What the gate does for minutes, for hours: so many inputs to parsers and laws, hours of the control
# surface, and chaos with so many seeds.
.PHONY: soak-laws soak-chaos
SOAK_INPUTS ?= 1000000000
SOAK_HOURS ?= 4
SOAK_SEEDS ?= 100
soak: soak-laws soak-control soak-chaos
	@cat build/soak/laws.said build/soak/control.said build/soak/chaos.said

soak-laws:
	@tools/setup/setup.sh check
	@selftests/fuzz/fuzz.sh soak $(SOAK_INPUTS)

soak-control:
	@tools/setup/setup.sh check
	@selftests/soak/control.sh $(SOAK_HOURS)

soak-chaos:
	@tools/setup/setup.sh check
	@selftests/soak/chaos.sh $(SOAK_SEEDS)

# The modules in every kernel that they are for, 7.x of Debian 13's backports among them, with
# more rounds of races than the gate has; for arm64, s390x and PREEMPT_RT, with the unit tests on
# s390x; in a kernel that detects data races; the lab from each kernel source.
matrix:
	@tools/setup/setup.sh matrix
	@VM_ROUNDS=10 selftests/run.sh selftests/build/build-[0-9]*.t selftests/vm/distro-*.t selftests/*/*-matrix.t

# The long sweeps, too big for a gate: hours. Interrupted, it goes on where it was; with
# SSHLOGIN=FILE on other machines (Documentation/lab.md, "Many machines"). Then what CSIG's tags
# cost: a gigabyte, a million connections, instructions a byte. Last, what every module costs a
# host: instructions a byte, a packet and an ACK (selftests/cost); and qdiscs with two CPUs.
FIGURES	:= lab-results/figures
# The gate runs these with fewer congestion controls.
SCEPTIC	:= $(basename $(notdir $(wildcard tools/lab/scenarios/sceptic-*.toml)))
SSHLOGIN ?=
figures:
	@tools/setup/setup.sh figures
	@$(LAB) setup
	@mkdir -p $(FIGURES)
	@$(LAB) jobs --figures --out $(FIGURES) $(SCEPTIC) > $(FIGURES)/jobs
	@parallel -j $$(nproc) --joblog $(FIGURES)/log --resume-failed --workdir . \
		$(if $(SSHLOGIN),--sshloginfile $(SSHLOGIN) --return '{= s/.* //s =}' --cleanup) < $(FIGURES)/jobs
	@rm $(FIGURES)/log
	@$(LAB) report $(FIGURES)
	@prove selftests/netns/csig_bulk.t :: 268435456 1000000
	@prove --exec '' selftests/vm/csig_cost.sh
	@tools/setup/setup.sh check
	@selftests/cost/cost.py --json $(FIGURES)/cost.json
	@selftests/vm/mq_scaling.py count | tee $(FIGURES)/mq-scaling

install: all
	@test -n "$(MODULES)" || { echo "nothing built" >&2; exit 2; }
	@test -n "$(RELEASE)" || { echo "$(KDIR) does not say for which kernel it is" >&2; exit 2; }
	install -d $(MODDIR) $(TCLIB) $(MANDIR)/man8 $(INCDIR)/linux $(INCDIR)/hopcc $(SBINDIR)
	install -m 644 $(MODULES) $(MODDIR)
	install -m 755 build/tc/q_wred.so build/tc/q_xcp.so build/tc/q_int.so build/tc/q_csig.so $(TCLIB)
	install -m 755 tools/csigd/csigd tools/intlayout/intlayout $(SBINDIR)
	install -d $(SHAREDIR)/hopstat_lib
	install -m 755 tools/hopstat/hopstat $(SHAREDIR)
	install -m 644 tools/hopstat/hopstat_lib/*.py $(SHAREDIR)/hopstat_lib
	ln -sf ../share/hopcc/hopstat $(SBINDIR)/hopstat
	install -m 644 Documentation/man/*.8 $(MANDIR)/man8
	install -m 644 include/uapi/linux/*.h $(INCDIR)/linux
	install -m 644 include/uapi/hopcc/*.h $(INCDIR)/hopcc
	@test -n "$(DESTDIR)" || depmod $(RELEASE)

# Style alone: checkpatch, sparse, shellcheck, the length of functions, words, Python, links of the pages.
style:
	@tools/setup/setup.sh check
	@prove selftests/build/checkpatch.t selftests/build/build-*.t selftests/build/shellcheck.t \
		selftests/build/functions.t selftests/build/language.t selftests/build/names.t \
		selftests/build/python.t selftests/build/links.t

clean:
	rm -rf build lab-results
