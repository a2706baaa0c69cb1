#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The manual pages: groff formats each without a warning, every page that one refers to is there, and the
# page of a congestion control has its sysctls as hopcc(7) has them, and hopstat(8) has each check of doctor. netns/sysctl_names.t compares
# hopcc(7) with the modules.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"
log=build/manual.log
command -v groff >/dev/null || tap_skip "no groff: run tools/setup/setup.sh check"

for page in Documentation/man/*.[1-8]; do
	groff -man -ww -z -Tutf8 -rHY=0 "$page" >"$log" 2>&1 && [ ! -s "$log" ]
	tap_result $? "${page##*/}: groff has nothing to say" "$log"
done

# Pages of other packages.
others="dmesg(1) ethtool(8) ip(8) ip-route(8) modules-load.d(5) ss(8) sysctl.d(5) tc(8) tc-mqprio(8) tc-red(8) tc-tbf(8) tcp(7)"
sed -nE 's/^\.BR ([a-z_\\-]+) \(([1-8])\).*/\1(\2)/p' Documentation/man/*.[1-8] | tr -d '\\' | sort -u |
	while read -r name; do
		page=${name%(*}.$(expr "$name" : '.*(\(.\))')
		case " $others " in
		*" $name "*) ;;
		*) [ -e "Documentation/man/$page" ] || echo "$name" ;;
		esac
	done >"$log"
[ ! -s "$log" ]
tap_result $? "every page that another one refers to is there" "$log"

# entries FILE SECTION-PREFIX: "NAME (RANGE)" and the text below it, a line each
entries()
{
	awk -v prefix="$2" '
		/^\.(TP|SH|SS|PP)/ { if (entry) print entry; entry = "" }
		$1 == ".BR" && index($2, prefix) == 1 && /" \(/ { entry = $0; next }
		entry && !/^\./ { entry = entry " " $0 }' "$1" | sort
}
for page in Documentation/man/tcp_*.7; do
	name=$(basename "$page" .7)
	entries "$page" "${name}_" >build/manual.page
	entries Documentation/man/hopcc.7 "${name}_" >build/manual.hopcc
	[ -s build/manual.page ] && diff build/manual.page build/manual.hopcc >"$log"
	tap_result $? "$name(7): sysctls as in hopcc(7)" "$log"
done

# A check is the first word of a finding: finding("ecn", ...), or of an event's tuple.
cat tools/hopstat/hopstat_lib/doctor*.py | tr -d '\n' |
	grep -oE '(finding\(|"\): \() *"[a-z]+"' | grep -oE '[a-z]+"$' | tr -d '"' | sort -u >build/manual.checks
sed -nE 's/^\.B ([a-z, ]+)$/\1/p' Documentation/man/hopstat.8 | tr -d , | tr ' ' '\n' | sort -u |
	comm -23 build/manual.checks - >"$log"
[ "$(wc -l <build/manual.checks)" -ge 20 ] && [ ! -s "$log" ]
tap_result $? "hopstat(8): each check of doctor" "$log"
tap_done
