#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The recorded results have the same bytes here, on this CPU, and on one with fewer features: glibc
# takes other code there, in User-Mode Linux itself and in the guest's programs.
cd "$(dirname "$0")/../.." || exit 2
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
failed=0

claim() { # NUMBER STATUS WORDS FILE
	if [ "$2" = 0 ]; then
		echo "ok $1 - $3"
	else
		echo "not ok $1 - $3"
		failed=1
	fi
	sed 's/^/# /' "$out/$4"
}

echo 1..4
tools/lab/lab digests >"$out/plain" 2>&1
claim 1 $? "the recorded digests hold, where kernel, compiler and packages are the recorded ones" plain
GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX,-SSE4_2,-SSSE3,-ERMS,-FSRM,-BMI2 \
	tools/lab/lab digests >"$out/masked" 2>&1
grep -E '^[0-9a-f]{64} ' "$out/plain" >"$out/these" && [ "$(wc -l <"$out/these")" = 3 ] &&
	grep -E '^[0-9a-f]{64} ' "$out/masked" | cmp - "$out/these"
claim 2 $? "the same digests without AVX-512, AVX2 and SSE4.2" masked

tools/lab/lab digests --record --file "$out/digests.json" >"$out/record" 2>&1 &&
	tools/lab/lab digests --file "$out/digests.json" >"$out/same" 2>&1 && grep -q 'the same bytes' "$out/same"
claim 3 $? "what is recorded here holds here" same
sed -i '/"smoke/s/: "./: "x/' "$out/digests.json"
! tools/lab/lab digests --file "$out/digests.json" >"$out/other" 2>&1 && grep -q 'give other bytes' "$out/other"
claim 4 $? "another digest is found" other
exit $failed
