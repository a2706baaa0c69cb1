#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Same seed, same bytes, wherever the checkout is; another seed, others. And a claim that
# does not hold, a guest that hangs, complains or dies make the lab fail.
top=$(cd "$(dirname "$0")/../.." && pwd)
lab=$top/tools/lab/lab
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

# shellcheck source=selftests/lib/tap.sh
. "$top/selftests/lib/tap.sh"

digest() { # FOLDER SEED
	"$lab" run smoke --seed "$2" --out "$out/$1" --digest 2> "$out/$1.err" > "$out/$1.out"
	sed -n 's|^\([0-9a-f]\{64\}\)  smoke/.*|\1|p' "$out/$1.out"
}

fails_with() { # TEXT COMMAND...
	text=$1
	shift
	"$@" > "$out/fails" 2>&1
	status=$?
	grep -q "$text" "$out/fails" && [ $status != 0 ] && return 0
	sed 's/^/# /' "$out/fails"
	return 1
}

# A checkout with what is built here, in a place with a longer name: below a folder that
# the guest covers.
copy_checkout() {
	mkdir -p "$1"
	(cd "$top" && cp -a --parents Kbuild Makefile include hop_core sch_* net_* tcp_* tools \
		build/uml-release build/guest build/tc build/lab "$1")
}

echo 1..10
first=$(digest a 7)
second=$(digest b 7)
third=$(digest c 8)
# The first line names the seed; the measured lines are what must differ.
body() {
	tail -n +2 "$out/$1/smoke.all.$2.jsonl" | sha256sum
}
echo "# seed 7: $first"
echo "# seed 7: $second"
echo "# seed 8: $third"
[ -n "$first" ] && [ "$first" = "$second" ]
ok $? "the same seed gives the same digest"
far=$out/a/checkout/somewhere/else
copy_checkout "$far"
fourth=$(lab=$far/tools/lab/lab; digest far 7)
echo "# seed 7: $fourth"
[ -n "$fourth" ] && [ "$first" = "$fourth" ] && ! grep building "$out/far.err"
ok $? "and in another checkout"
[ -n "$third" ] && [ "$(body a 7)" != "$(body c 8)" ]
ok $? "another seed gives another"

sed 's/^min = 0.9$/min = 0.9999999/; s/^max = 1.0$//' "$top/tools/lab/scenarios/smoke.toml" > "$out/high.toml"
fails_with FAIL "$lab" run "$out/high.toml" --out "$out/high"
ok $? "a claim that does not hold fails the run"
{
	cat "$top/tools/lab/scenarios/smoke.toml"
	printf '[[host]]\nname = "s1"\nnft = "table ip box nonsense"\n'
} > "$out/rules.toml"
fails_with 's1.nft:1:' "$lab" run "$out/rules.toml" --out "$out/rules"
ok $? "rules that nft refuses fail the run, with its line"
fails_with 'within 3 s of its own time' "$lab" exec --timeout 3 -- sh -c 'while :; do :; done'
ok $? "a guest that spins is ended"
fails_with 'within 50 s of virtual time' "$lab" exec --limit 50 -- sleep 1000
ok $? "a guest that sleeps for ever is ended"
fails_with 'kernel complains' "$lab" exec -- sh -c 'echo "<2>WARNING: said by a test" > /dev/kmsg'
ok $? "a kernel that warns fails the run"
fails_with 'the guest died' "$lab" exec -- busybox poweroff -f
ok $? "a guest that ends early fails the run"
"$lab" exec -- sh -c 'exit 7' 2> /dev/null
[ $? = 7 ]
ok $? "the command's exit status is passed on"
exit $failed
