# SPDX-License-Identifier: GPL-2.0
# Shared by the tests of a law against its formulas.
# shellcheck shell=sh

# reference FOLDER [ARGUMENT...]: build the C source beside the test, NAME_reference.c, with
# the headers of the module in FOLDER, and run it
reference()
{
	name=$(basename "$0" .t) folder=$1
	shift
	cd "$(dirname "$0")/../.." || exit 2
	out=${HOPCC_UNIT_OUT:-build/unit}
	mkdir -p "$out" || exit 2
	# shellcheck disable=SC2086 # a list
	${CC:-cc} -std=gnu11 -g -O2 -Wall -Wextra -Werror -Wno-sign-compare -Wno-unused-function \
		'-DEXPORT_SYMBOL_GPL(name)=_Static_assert(1, "")' \
		${HOPCC_UNIT_SANITIZE:--fsanitize=undefined -fno-sanitize-recover=all} \
		-Iselftests/unit/shim -Iinclude "-I$folder" \
		-o "$out/$name" "selftests/unit/$name.c" -lm || exit 1
	# shellcheck disable=SC2086 # a command and its words
	exec ${HOPCC_UNIT_RUN:-} "$out/$name" "$@"
}
