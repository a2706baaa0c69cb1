# SPDX-License-Identifier: GPL-2.0
# The verbs. `make` builds the modules for the running kernel (or KDIR=).

KVER	?= $(shell uname -r)
KDIR	?= /lib/modules/$(KVER)/build
DESTDIR	?=
MULTIARCH = $(shell gcc -print-multiarch)
# where stock tc looks for plug-ins
TCLIB	?= $(DESTDIR)/usr/lib/$(MULTIARCH)/tc
MANDIR	?= $(DESTDIR)/usr/share/man
SBINDIR	?= $(DESTDIR)/usr/sbin
INCDIR	?= $(DESTDIR)/usr/include
BINDIR	?= $(DESTDIR)/usr/bin
SHAREDIR ?= $(DESTDIR)/usr/share/hopcc
UNITDIR	?= $(DESTDIR)/usr/lib/systemd/system
ETCDIR	?= $(DESTDIR)/etc
COMPLETIONDIR ?= $(DESTDIR)/usr/share/bash-completion/completions
# where Python looks for modules
PYTHONDIR ?= $(DESTDIR)/usr/lib/python3/dist-packages
LUADIR	?= $(DESTDIR)/usr/lib/$(MULTIARCH)/wireshark/plugins
# Of the kernel that KDIR is for, not of the one that runs. As uname and the modules have
# it: Debian 12's headers have another word, 6.1.192, for kernelrelease.
RELEASE	 = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
MODDIR	?= $(DESTDIR)/usr/lib/modules/$(RELEASE)/updates/hopcc

LAB	:= tools/lab/lab
OUT	:= build/modules
# modules that users load: neither the tests nor the lab's wire
MODULES  = $(filter-out %_test.ko %/sch_link.ko %/net_wire.ko,$(wildcard $(OUT)/*/*.ko))

.PHONY: all modules tools demo check check-long matrix soak soak-control figures style clean \
	install install-modules install-tools install-headers install-lab uninstall deb

all: modules tools

modules:
	@test -e $(KDIR)/Makefile || { echo "no kernel headers in $(KDIR): for a Debian kernel apt-get install linux-headers-$(KVER), for another one say KDIR=" >&2; exit 2; }
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

# The tests that the gate leaves: in the debug kernel (KASAN, UBSAN, lockdep, kmemleak), and long ones.
check-long:
	@tools/setup/setup.sh check
	@selftests/run.sh --long selftests/lab/scenarios-matrix.t

# The same; and the modules in every kernel that they are for, 7.x of Debian 13's backports among them, with
# more rounds of races than the gate has; for arm64, s390x and PREEMPT_RT, with the unit tests on s390x; in a
# kernel that detects data races; the lab from each kernel source.
matrix:
	@tools/setup/setup.sh matrix
	@VM_ROUNDS=10 selftests/run.sh --long selftests/build/build-[0-9]*.t selftests/vm/distro-*.t \
		selftests/*/*-matrix.t

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

# What is installed. The trees below /usr: Debian's /lib is a link there, and an archive of a DESTDIR
# tree with a directory of that name would replace the link.
PLUGINS	:= q_wred.so q_xcp.so q_int.so q_csig.so
PROGRAMS := tools/csigd/csigd tools/intlayout/intlayout tools/ports/hopcc-ports
COMMANDS := tools/ldcp-thresholds
HOPSTAT	:= $(notdir $(wildcard tools/hopstat/hopstat_lib/*.py))
DISSECTORS := $(wildcard tools/wireshark/*.lua)
UAPI	:= $(patsubst include/uapi/%,%,$(wildcard include/uapi/*/*.h))
MAN7	:= $(notdir $(wildcard Documentation/man/*.7))
MAN8	:= $(notdir $(wildcard Documentation/man/*.8))
COMPLETIONS := csigd hopstat hopcc-exporter hopcc-ports ldcp-thresholds
UNITS	:= tools/ports/hopcc-qdisc@.service tools/hopstat/hopcc-exporter.service
PYTHON_MODULES := tools/scapy/hopcc_scapy.py tools/mininet/hopcc_mininet.py
EXAMPLES := $(notdir $(wildcard tools/ports/examples/*))

install: all install-modules install-tools install-headers install-lab

install-modules:
	@test -n "$(MODULES)" || { echo "nothing built" >&2; exit 2; }
	@test -n "$(RELEASE)" || { echo "$(KDIR) does not say for which kernel it is" >&2; exit 2; }
	install -d $(MODDIR)
	install -m 644 $(MODULES) $(MODDIR)
	@test -n "$(DESTDIR)" || depmod $(RELEASE)

install-tools:
	install -d $(TCLIB) $(MANDIR)/man7 $(MANDIR)/man8 $(SBINDIR) $(BINDIR) $(SHAREDIR)/hopstat_lib \
		$(SHAREDIR)/examples $(UNITDIR) $(ETCDIR)/hopcc $(COMPLETIONDIR) $(ETCDIR)/bash_completion.d
	install -m 755 $(addprefix build/tc/,$(PLUGINS)) $(TCLIB)
	install -m 755 $(PROGRAMS) $(SBINDIR)
	install -m 755 $(COMMANDS) $(BINDIR)
	install -m 755 tools/hopstat/hopstat tools/hopstat/hopcc-exporter $(SHAREDIR)
	install -m 644 $(addprefix tools/hopstat/hopstat_lib/,$(HOPSTAT)) $(SHAREDIR)/hopstat_lib
	ln -sf ../share/hopcc/hopstat $(SBINDIR)/hopstat
	ln -sf ../share/hopcc/hopcc-exporter $(SBINDIR)/hopcc-exporter
	install -m 644 $(addprefix Documentation/man/,$(MAN7)) $(MANDIR)/man7
	install -m 644 $(addprefix Documentation/man/,$(MAN8)) $(MANDIR)/man8
	install -m 644 $(UNITS) $(UNITDIR)
	install -D -m 644 -t $(SHAREDIR)/grafana tools/grafana/hopcc.json
	install -m 644 $(addprefix tools/ports/examples/,$(EXAMPLES)) $(SHAREDIR)/examples
	@test -e $(ETCDIR)/hopcc/ports || install -m 644 tools/ports/ports $(ETCDIR)/hopcc/ports
	install -m 644 $(addprefix tools/completion/,$(COMPLETIONS)) $(COMPLETIONDIR)
	install -m 644 tools/completion/tc-hopcc $(ETCDIR)/bash_completion.d/tc-hopcc
ifneq ($(DISSECTORS),)
	install -d $(LUADIR)
	install -m 644 $(DISSECTORS) $(LUADIR)
endif
	install -D -m 644 -t $(PYTHONDIR) $(PYTHON_MODULES)
	install -d $(SHAREDIR)/examples/mininet
	install -m 755 tools/mininet/examples/*.py $(SHAREDIR)/examples/mininet

install-headers:
	install -d $(INCDIR)/linux $(INCDIR)/hopcc
	install -m 644 include/uapi/linux/*.h $(INCDIR)/linux
	install -m 644 include/uapi/hopcc/*.h $(INCDIR)/hopcc
	install -D -m 644 -t $(SHAREDIR)/examples/bpf tools/bpf/*

# Page and completion: the lab itself runs in its checkout, or from the package hopcc-lab.
install-lab:
	install -d $(MANDIR)/man1 $(COMPLETIONDIR)
	install -m 644 Documentation/man/lab.1 $(MANDIR)/man1
	install -m 644 tools/completion/lab $(COMPLETIONDIR)

# Everything that `make install` put there, for the kernel of KDIR. Settings in /etc/hopcc stay.
uninstall:
	rm -rf $(MODDIR) $(SHAREDIR)
	rm -f $(addprefix $(TCLIB)/,$(PLUGINS)) $(addprefix $(SBINDIR)/,$(notdir $(PROGRAMS)) hopstat hopcc-exporter) \
		$(addprefix $(BINDIR)/,$(notdir $(COMMANDS))) $(addprefix $(INCDIR)/,$(UAPI)) \
		$(addprefix $(MANDIR)/man7/,$(MAN7)) $(addprefix $(MANDIR)/man8/,$(MAN8)) \
		$(MANDIR)/man1/lab.1 $(COMPLETIONDIR)/lab \
		$(addprefix $(UNITDIR)/,$(notdir $(UNITS))) $(addprefix $(COMPLETIONDIR)/,$(COMPLETIONS)) \
		$(ETCDIR)/bash_completion.d/tc-hopcc $(addprefix $(LUADIR)/,$(notdir $(DISSECTORS))) \
		$(addprefix $(PYTHONDIR)/,$(notdir $(PYTHON_MODULES)))
	-rmdir $(INCDIR)/hopcc 2>/dev/null
	@test -n "$(DESTDIR)" || depmod $(RELEASE)

# Debian packages, in build/deb: the modules for DKMS, tools, headers, the lab.
deb:
	@tools/setup/setup.sh deb
	@debian/build.sh

# Style alone: checkpatch, sparse, kernel-doc, shellcheck, the length of functions, words, Python, links of the pages.
style:
	@tools/setup/setup.sh check
	@prove selftests/build/checkpatch.t selftests/build/build-*.t selftests/build/kernel_doc.t selftests/build/locks.t \
		selftests/build/shellcheck.t selftests/build/functions.t selftests/build/language.t \
		selftests/build/names.t selftests/build/knobs.t selftests/build/python.t selftests/build/links.t

clean:
	rm -rf build lab-results
