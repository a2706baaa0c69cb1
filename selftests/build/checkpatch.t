#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# checkpatch --strict has nothing to say of any C source, but for what is
# listed here with its reason.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"

ignored=$(sed 's/ *#.*//' <<END | tr -s '\n ' ','
FILE_PATH_CHANGES	# there is no MAINTAINERS file here
MACRO_ARG_REUSE	# only in shims and tracepoints, where arguments are names
COMPLEX_MACRO	# TRACE_EVENT's parts and compat's initialisers are no expressions
END
)

scripts=$(kernel_scripts)
if [ -z "$scripts" ]; then
	tools/lab/kernel/build.sh release >/dev/null 2>&1
	scripts=$(kernel_scripts)
fi
[ -n "$scripts" ] || tap_skip "no kernel source in the cache: run tools/lab/lab setup"

# What was clean stays clean while file, script and options are the same: one empty file for each
# such file in the cache.
clean=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc/checkpatch
mkdir -p "$clean"
find "$clean" -type f -mtime +60 -delete
script_sum=$(cat "$scripts/checkpatch.pl" "$scripts/const_structs.checkpatch" "$scripts/spelling.txt" \
	"$0" 2>/dev/null | sha256sum)

# is_clean FILE OPTIONS: succeeds if the file was found clean before; sets $key, its name in the cache
is_clean()
{
	key=$({ echo "$script_sum $1 $2"; cat "$1"; } | sha256sum | cut -d ' ' -f 1)
	[ -e "$clean/$key" ] || return 1
	touch "$clean/$key"
}

# Files of one class at once: half of what a file costs is the start.
classes=build/checkpatch.classes
rm -rf "$classes"
mkdir -p "$classes"
for file in $(find include hop_core sch_* net_* tcp_* tools selftests -name '*.[ch]' 2>/dev/null | sort); do
	case $file in
	# Version tests are its job; KV(6, 1, 0) reads as a constant on the left.
	# What a kernel lacks, its shim's argument is not used for.
	include/compat/*) more=LINUX_VERSION_CODE,CONSTANT_COMPARISON,MACRO_ARG_UNUSED ;;
	# The layout in which the kernel writes its TRACE_EVENTs.
	*/trace.h) more=OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT ;;
	# Programs: the kernel's macros for attributes are not there.
	tools/lab/traffic/* | tools/tc/*) more=PREFER_DEFINED_ATTRIBUTE_MACRO ;;
	# Shims define what the kernel's headers do, from what C has.
	selftests/*)
		more=CAMELCASE,NEW_TYPEDEFS,PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO
		more=$more,VOLATILE,UNSPECIFIED_INT,MACRO_WITH_FLOW_CONTROL
		;;
	*) more=NONE ;;
	esac
	if is_clean "$file" "$more"; then
		tap_result 0 "$file"
	else
		echo "../$file" >>"$classes/$more"
	fi
done

for class in "$classes"/*; do
	[ -e "$class" ] || break
	# In build/ it may leave its list of the kernel's names in camel case.
	(cd build && xargs perl "$scripts/checkpatch.pl" --no-tree --root="${scripts%/scripts}" \
		--strict --terse --no-summary "--ignore=$ignored,${class##*/}" -f) \
		<"$class" >build/checkpatch.said 2>&1
	status=$?
	while read -r file; do
		! grep -F "$file:" build/checkpatch.said >build/checkpatch.bad
		tap_result $? "${file#../}" build/checkpatch.bad
		# A run that ended early has not looked at all of them.
		is_clean "${file#../}" "${class##*/}" || [ "$status" -ne 0 ] || : >"$clean/$key"
	done <"$class"
	# Said of no file, or by perl.
	[ "$status" -eq 0 ] || grep -q '^\.\./' build/checkpatch.said
	tap_result $? "checkpatch ran over $(wc -l <"$class") files" build/checkpatch.said
done
tap_done
