#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The libFuzzer harnesses: selftests/fuzz/NAME.c is a program for one parser or one law, by clang
# with ASan and UBSan. corpus/NAME holds inputs that reach all of its code that is known to be
# reachable, and those that once found a fault.
#
#   fuzz.sh list                    the names
#   fuzz.sh build NAME              build/fuzz/NAME
#   fuzz.sh run NAME INPUTS [SEED]  the corpus, then so many inputs made from it: the same ones
#                                   for the same seed; prints the number of inputs
#   fuzz.sh merge NAME FOLDER       add what is new in FOLDER to the corpus, and drop from it what
#                                   reaches nothing of its own
#   fuzz.sh soak INPUTS             so many inputs in all, on every CPU; interrupted, it goes on
#                                   where it was, unless what it tests has changed
#
# A failure prints the claim that does not hold or the sanitizer's report, and where the input is;
# in a soak the input goes to the corpus as well.
set -u
cd "$(dirname "$0")/../.." || exit 2
out=${HOPCC_FUZZ_OUT:-build/fuzz} corpus=selftests/fuzz/corpus soak=build/soak

# clang's ASan may not find room for its shadow memory where the host randomises addresses by
# more than 28 bits (vm.mmap_rnd_bits).
fixed=
! setarch -R true 2>/dev/null || fixed="setarch -R"

# Inputs of one process of a soak: about a minute.
step=2000000
interrupted=130

harnesses()
{
	for source in selftests/fuzz/*.c; do
		basename "$source" .c
	done
}

# Not alignment: the kernel reads packets where they lie, too.
build()
{
	mkdir -p "$out" || return
	set -- "$1" -Iselftests/fuzz/shim -Iselftests/unit/shim -Iinclude -Iinclude/uapi
	for folder in hop_core sch_* net_* tcp_*; do
		set -- "$@" "-I$folder"
	done
	name=$1
	shift
	clang -std=gnu11 -g -O1 -Wall -Wextra -Werror -Wno-unused-parameter -Wno-unused-function \
		-Wno-gnu-variable-sized-type-not-at-end \
		-Wno-sign-compare -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-fno-sanitize=alignment '-DEXPORT_SYMBOL_GPL(name)=_Static_assert(1, "")' \
		'-DIS_ENABLED(option)=0' \
		"$@" -o "$out/$name" "selftests/fuzz/$name.c"
}

# fuzz NAME INPUTS SEED LOG ARGUMENT...: libFuzzer, and what it says on failure
fuzz()
{
	name=$1 inputs=$2 seed=$3 log=$4
	shift 4
	rm -f "$out/$name".crash-* "$out/$name".timeout-* "$out/$name".oom-*
	$fixed "$out/$name" -runs="$inputs" -seed="$seed" -max_len=1024 -timeout=10 \
		-rss_limit_mb=1024 -artifact_prefix="$out/$name." "$@" >"$log" 2>&1 && return
	grep -vE '^(#|INFO: |[[:space:]]*NEW|==[0-9]+==WARNING)' "$log" | head -n 40
	return 1
}

# The inputs that a process ran.
ran()
{
	sed -n 's/^Done \([0-9]*\) runs in .*/\1/p' "$1"
}

# libFuzzer reads a folder in no order of its own: the list has one, for the same run everywhere.
run()
{
	name=$1 inputs=$2 seed=${3:-1} log=$out/$1.log
	files=$(find "$corpus/$name" -type f 2>/dev/null | LC_ALL=C sort)
	printf '%s\n' "$files" | tr '\n' ',' | sed 's/,*$//' >"$out/$name.files"
	fuzz "$name" $((inputs + $(printf '%s\n' "$files" | grep -c .))) "$seed" "$log" \
		${files:+"-seed_inputs=@$out/$name.files"} || return
	ran "$log"
}

merge()
{
	name=$1 new=$out/$1.merged
	rm -rf "$new"
	mkdir -p "$new" "$corpus/$name" || return
	# By code reached, not by how often: else a corpus has ten times as many.
	$fixed "$out/$name" -merge=1 -use_counters=0 "$new" "$corpus/$name" "$2" \
		>"$out/$name.log" 2>&1 || { tail -n 20 "$out/$name.log"; return 1; }
	# An input that found a fault stays, whatever code it reaches.
	for input in "$corpus/$name"/found-*; do
		[ ! -e "$input" ] || mv "$input" "$new"
	done
	rm -rf "${corpus:?}/$name"
	mv "$new" "$corpus/$name"
}

# soak_some NAME INPUTS: one process of a soak, on one CPU
soak_some()
{
	name=$1 left=$2
	mkdir -p "$soak/$name"
	done_already=$(inputs_of "$name")
	[ "$left" -le "$step" ] || left=$step
	# Another seed each time, from what was found so far.
	if ! fuzz "$name" "$left" $((done_already / step + 2)) "$soak/$name.log" \
		"$soak/$name" "$corpus/$name"; then
		for input in "$out/$name".crash-* "$out/$name".timeout-* "$out/$name".oom-*; do
			[ ! -e "$input" ] || cp "$input" "$corpus/$name/found-${input##*-}"
		done
		return 1
	fi
	# libFuzzer ends with status 0 also when it is interrupted, without a last line.
	new=$(ran "$soak/$name.log")
	[ -n "$new" ] || return $interrupted
	echo $((done_already + new)) >"$soak/$name.new"
	mv "$soak/$name.new" "$soak/$name.inputs"
}

inputs_of() { cat "$soak/$1.inputs" 2>/dev/null || echo 0; }

# A harness until it has its part.
soak_one()
{
	name=$1 part=$2
	while :; do
		have=$(inputs_of "$name")
		[ "$have" -lt "$part" ] || return 0
		soak_some "$name" $((part - have))
		status=$?
		[ $status -ne $interrupted ] || return $status
		if [ $status -ne 0 ]; then
			echo "$name: a fault, after $have inputs; the input is in $corpus/$name"
			return 1
		fi
		echo "$(date +%H:%M:%S) $name: $(inputs_of "$name") of $part inputs"
	done
}

# Drops the counts of inputs that ran on other sources, and keeps the inputs that were found.
forget_others()
{
	now=$(find selftests/fuzz selftests/unit/shim include hop_core sch_* net_* tcp_* -name '*.[ch]' \
		-exec sha256sum {} + | LC_ALL=C sort -k 2 | sha256sum)
	[ "$now" = "$(cat "$soak/sources" 2>/dev/null)" ] || rm -f "$soak"/*.inputs
	echo "$now" >"$soak/sources"
}

soak()
{
	case $1 in
	'' | *[!0-9]*)
		echo "fuzz.sh: '$1' is not a number of inputs" >&2
		return 2
		;;
	esac
	mkdir -p "$soak"
	forget_others
	names=$(harnesses)
	part=$((($1 + $(echo "$names" | wc -l) - 1) / $(echo "$names" | wc -l)))
	for name in $names; do
		build "$name" || return
	done
	# The signal also ends those that run; then what they did is counted.
	was=
	trap 'was=", interrupted: the same command goes on"' INT TERM
	echo "$names" | xargs -P "$(nproc)" -I NAME selftests/fuzz/fuzz.sh soak_one NAME "$part"
	status=$?
	[ -z "$was" ] || status=$interrupted
	[ -n "$was" ] || [ $status -eq 0 ] || was=", with a fault"
	sum=0
	for name in $names; do
		sum=$((sum + $(inputs_of "$name")))
	done
	echo "# soak: $sum of $1 inputs to $(echo "$names" | wc -l) parsers and laws${was:-, no fault}" |
		tee "$soak/laws.said"
	return $status
}

case ${1:-} in
list) harnesses ;;
build) build "$2" ;;
run) run "$2" "$3" "${4:-1}" ;;
merge) merge "$2" "$3" ;;
soak) soak "$2" ;;
soak_one) soak_one "$2" "$3" ;;
*)
	sed -n 's/^#   //p' "$0" >&2
	exit 2
	;;
esac
