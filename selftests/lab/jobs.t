#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs as plain jobs, by GNU parallel: the same bytes as by `lab run`, none twice, one report.
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 2
lab=tools/lab/lab
command -v parallel >/dev/null || { echo "1..0 # SKIP no parallel: run tools/setup/setup.sh check"; exit 0; }
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
PARALLEL_HOME=$out/home
export PARALLEL_HOME
mkdir "$PARALLEL_HOME"

. selftests/lib/tap.sh

work() { # JOBS
	parallel -j2 --joblog "$out/log" --resume-failed < "$1"
}

cat > "$out/few" << END
0 0
100000 100
END
cat > "$out/small.toml" << END
title = "a few flows over two spines"
[sweep]
cc = ["cubic", "dctcp"]
[run]
duration = "40ms"
seeds = [1, 2]
[fabric]
kind = "leaf-spine"
hosts = 2
leaves = 2
spines = 2
rate = "10gbit"
delay = "1us"
[[flow]]
name = "few-{cc}"
from = "h[1-4]"
to = "h[1-4]"
cc = "{cc}"
mode = "poisson"
sizes = "few"
load = 0.1
stop = "20ms"
[[claim]]
case = "dctcp"
metric = "cubic.transfers / dctcp.transfers"
min = 1
max = 1
END

echo 1..8
$lab jobs "$out/small.toml" --out "$out/by-jobs" > "$out/jobs"
sed 's/^/# /' "$out/jobs"
[ "$(wc -l < "$out/jobs")" = 4 ] && [ "$(awk '{ print $NF }' "$out/jobs" | sort -u | wc -l)" = 4 ]
ok $? "one command a run, each with a file of its own"

head -3 "$out/jobs" > "$out/most"
work "$out/most" > "$out/first" && [ "$(wc -l < "$out/first")" = 3 ]
ok $? "three of four, then interrupted"
work "$out/jobs" > "$out/second" && [ "$(wc -l < "$out/second")" = 1 ]
ok $? "resumed: the fourth alone"
rm -f "$out/log"

$lab run "$out/small.toml" --out "$out/by-run" --digest > "$out/run" 2>&1
sed -n 's/^\([0-9a-f]\{64\}\)  /\1  /p' "$out/run" | sort > "$out/expected"
sort "$out/first" "$out/second" | cmp - "$out/expected" && [ "$(wc -l < "$out/expected")" = 4 ]
ok $? "the same bytes as by lab run"

$lab report "$out/by-jobs" > "$out/report"
status=$?
grep -q 'slowdown by flow size' "$out/report" && grep -q 'cubic.transfers / dctcp.transfers .* pass' "$out/report" &&
	grep -q 'slowdown by size: few-cubic' "$out/by-jobs/report.html" && [ $status = 0 ]
ok $? "one report of all, with claims on several cases"

python3 -c 'import sys, xml.etree.ElementTree as xml
sys.exit(any(xml.parse(file).getroot().tag != "{http://www.w3.org/2000/svg}svg" for file in sys.argv[1:]))' \
	"$out"/by-jobs/small-few-*.svg 2> "$out/err"
ok $? "slowdowns by size as a picture of its own"

$lab measure "$out/small.toml" nosuch 1 "$out/none/x.jsonl" 2> "$out/err"
[ $? = 2 ] && grep -q 'no such case' "$out/err" && [ ! -e "$out/none" ]
ok $? "a run that is not there: exit status 2 and nothing written"
sed 's/^duration = .*/&\ntimeout = "10ms"/' "$out/small.toml" > "$out/slow.toml"
$lab measure "$out/slow.toml" cubic 1 "$out/none/x.jsonl" 2> "$out/err"
[ $? = 1 ] && grep -q 'own time' "$out/err" && [ ! -e "$out/none/x.jsonl" ]
ok $? "a run that fails: exit status 1 and no result"
exit $failed
