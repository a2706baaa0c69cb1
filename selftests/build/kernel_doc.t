#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel's kernel-doc accepts the comments of every C source: the names in a comment are those of
# the code below it, no parameter, member or result is missing. A comment of another kind has one form
# of a result, too: "Return:".
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"

scripts=$(kernel_scripts)
if [ -z "$scripts" ]; then
	tools/lab/kernel/build.sh release >/dev/null 2>&1
	scripts=$(kernel_scripts)
fi
[ -n "$scripts" ] || tap_skip "no kernel source in the cache: run tools/lab/lab setup"
script=$scripts/kernel-doc
# Newer scripts have a switch for the warnings of missing results.
more=-v
! grep -q Wreturn "$script" || more=-Wall

# complaints_of FILE...: what kernel-doc and the rule on results say. The script also complains of a
# function without parameters whose comment has a text and then its sections, which is good style.
complaints_of()
{
	perl "$script" -none "$more" "$@" 2>&1 >/dev/null |
		grep -E '(warning|error):' | grep -v 'contents before sections'
	grep -nE '(/\*|^[[:space:]]*\*)(.*[.;:])? Returns' "$@" /dev/null
}

planted=build/kernel_doc_planted.h
cat >$planted <<'END'
/**
 * enum a_old - an enum that was renamed
 * @A_ONE: one
 */
enum a_new {
	A_ONE,
};

/**
 * a_one() - a parameter that is not described
 * @a: the first
 *
 * Return: the sum.
 */
static int a_one(int a, int b)
{
	return a + b;
}

/**
 * a_two() - a result that is not described
 * @a: the first
 */
static int a_two(int a)
{
	return a;
}

/* Returns another form. */
/* A sentence. Returns another form. */
/* A function that returns this. Return: the form. */
END
complaints_of $planted >build/kernel_doc.said
found=0
for word in a_old "'b'" a_two "$planted:29:" "$planted:30:"; do
	grep -q "$word" build/kernel_doc.said && found=$((found + 1))
done
[ "$found" -eq 5 ] && [ "$(wc -l <build/kernel_doc.said)" -eq 5 ]
tap_result $? "a planted old name, missing parameter, missing result and other form are found" \
	build/kernel_doc.said

find include hop_core sch_* net_* tcp_* tools selftests -name '*.[ch]' >build/kernel_doc.files
[ "$(xargs grep -l '^ *\/\*\*$' <build/kernel_doc.files | wc -l)" -gt 100 ]
tap_result $? "there are sources with kernel-doc"
# shellcheck disable=SC2046 # names without blanks
complaints_of $(cat build/kernel_doc.files) >build/kernel_doc.said
[ ! -s build/kernel_doc.said ]
tap_result $? "kernel-doc of all $(wc -l <build/kernel_doc.files) sources is complete" build/kernel_doc.said
tap_done
