#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Bash completes the words of hopcc's commands: verbs, options and values; beside tc's own completion
# the qdiscs and their options, which are those of each qdisc's help.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"
# shellcheck disable=SC2154,SC2034 # tap_failed is build_lib.sh's

bash_completion=/usr/share/bash-completion/bash_completion
[ -r $bash_completion ] || tap_skip "no bash-completion: run tools/setup/setup.sh check"
make -C tools/tc "OUT=$PWD/build/tc" >build/completion.log 2>&1
export TC_LIB_DIR=$PWD/build/tc PATH=$PWD/tools/hopstat:$PWD/tools/csigd:$PWD/tools:$PWD/tools/lab:$PWD/tools/ports:$PATH:/usr/sbin
export HOPCC_PORTS=$PWD/tools/ports/examples/switch-ports
# shellcheck source=/dev/null
. $bash_completion
for file in tools/completion/*; do
	# shellcheck source=/dev/null
	. "$file"
done

# complete_line LINE: what bash offers for its last word, each on a line
complete_line()
{
	local COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS COMP_CWORD COMP_TYPE=9 COMP_KEY=9 COMPREPLY=()
	local of
	read -ra COMP_WORDS <<<"$1"
	[[ $1 != *' ' ]] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	of=$(complete -p "${COMP_WORDS[0]}" | sed -E 's/.*-F ([^ ]+) .*/\1/')
	"$of" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
	printf '%s\n' "${COMPREPLY[@]}"
}

# offers LINE WORD...: these words are among those that bash offers
offers()
{
	local line=$1 word missing=''
	shift
	complete_line "$line" >build/completion.got
	for word; do
		grep -qx -- "$word" build/completion.got || missing+=" $word"
	done
	[ -z "$missing" ] || { echo "missing:$missing; offered:"; cat build/completion.got; } >build/completion.bad
	[ -z "$missing" ]
	tap_result $? "$line: $*" build/completion.bad
}

# exactly LINE [WORD...]: these words and no others
exactly()
{
	local line=$1
	shift
	complete_line "$line" | sort >build/completion.got
	printf '%s\n' "$@" | sort >build/completion.want
	diff build/completion.got build/completion.want >build/completion.bad
	tap_result $? "$line: nothing but $*" build/completion.bad
}

offers 'hopstat ' trace mesh answer flows why doctor export
exactly 'hopstat tr' trace
offers 'hopstat --' --json --csv --interval --count
offers 'hopstat mesh --h' --hosts --help
exactly 'hopstat trace --pro' --probes
offers 'csigd --' --rate --interval --buckets --lm
exactly 'csigd --lm comp' compact=
offers 'csigd l' lo
exactly 'csigd --rate 10' 10mbit 10gbit
offers 'hopcc-exporter --' --listen --textfile --worst --help
exactly 'hopcc-exporter --listen ' 127.0.0.1:14353 :14353
exactly 'ldcp-thresholds 10g' 10gbit
exactly 'ldcp-thresholds 10gbit 100u' 100us
exactly 'hopcc-ports st' start stop
exactly 'hopcc-ports start ' eth1 eth2 eth3
offers 'lab ' setup run list exec shell report mininet
exactly 'lab run dctcp-1' dctcp-1g dctcp-10g
exactly 'lab run --kernel ' release debug
exactly 'lab mininet tools/mininet/exam' tools/mininet/examples
offers 'lab mininet --' --limit --timeout --seed
offers 'lab run --' --only --seed --out --json
offers 'tc qdisc add dev lo root ' wred xcp int csig fq_codel
exactly 'tc qdisc add dev lo root wr' wred
exactly 'tc qdisc add dev lo root xcp share ' alpha allowed_queue beta cubic e2e_share gamma help limit \
	max_interval min_interval noshare overhead protocol rate reno share
exactly 'tc qdisc add dev lo root int rate 7gbit spe' speed
exactly 'tc qdisc add dev lo parent 1:1 handle 10: csig mode ' update pass strip
exactly 'tc qdisc add dev lo root wred limit '
offers 'tc qdisc add dev lo root fq_codel ' ecn

# The options of each qdisc are those of its help.
for kind in wred xcp int csig; do
	tc qdisc add dev lo root $kind help 2>&1 | sed -n '/^Usage/,/^ *[A-Z]* :=/p' | grep -v ':=' |
		grep -oE '\[ *(\[no\])?[a-z_0-9]+' | sed -E 's/^\[ *//; s/^\[no\](.*)/\1 no\1/' | tr ' ' '\n' |
		grep -v -x -e reno -e cubic | sort -u >build/completion.want
	[ $kind != xcp ] || echo noshare >>build/completion.want
	complete_line "tc qdisc add dev lo root $kind " | grep -vx help | sort >build/completion.got
	sort -o build/completion.want build/completion.want
	[ -s build/completion.want ] && diff build/completion.got build/completion.want >build/completion.bad
	tap_result $? "tc: the options of $kind are those of its help" build/completion.bad
done
tap_done
