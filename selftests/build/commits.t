#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# .githooks/commit-msg takes messages that are as CONTRIBUTING.md says, and refuses others; git calls it.
# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

hooks=$(cd "$(dirname "$0")/../../.githooks" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
long=$(printf 'sch_xcp: %063d' 0) longer=$(printf 'sch_xcp: %064d' 0)

# takes WORDS MESSAGE, refuses WORDS CAUSE MESSAGE: a claim; \n in a message ends a line
takes()
{
	printf '%b' "$2" >"$work/message"
	"$hooks/commit-msg" "$work/message" 2>/dev/null
	ok $? "takes $1"
}

refuses()
{
	printf '%b' "$3" >"$work/message"
	said=$("$hooks/commit-msg" "$work/message" 2>&1) && said="taken"
	case $said in "commit-msg: $2: "*) ok 0 "refuses $1" ;; *) ok 1 "refuses $1" ;; esac
}

takes "a subject and a body" "net_int: drop a probe\n\nIts header was cut: 3 of 10 arrive.\n"
takes "72 characters" "$long\n\nWhy.\n"
takes "72 characters, not bytes" "sch_xcp: $(printf 'ä%.0s' $(seq 63))\n\nWhy.\n"
takes "two folders" "net_int, net_xcp: drop it\n\nWhy.\n"
takes "a body and a trailer" "tools: drop it\n\nWhy.\n\nSigned-off-by: A <a@b>\n"
takes "a merge" "Merge w-docs into main\n"
refuses "73 characters" "a subject of more than 72 characters" "$longer\n\nWhy.\n"
refuses "a subject without a folder" 'the subject is not "folder: verb phrase"' "Drop a probe\n\nWhy.\n"
refuses "a folder without a verb" 'the subject is not "folder: verb phrase"' "net_int:\n\nWhy.\n"
refuses "no blank line" "no blank line behind the subject" "net_int: drop it\nWhy.\n"
refuses "no body" "no body with the reason" "net_int: drop it\n"
refuses "comments as a body" "no body with the reason" "net_int: drop it\n\n# Why.\n"
refuses "the patch of commit -v as a body" "no body with the reason" "net_int: drop it\n# ------ >8 ------\ndiff\n"
refuses "a trailer as a body" "no body with the reason" "net_int: drop it\n\nSigned-off-by: A <a@b>\n"

# What the script says has its effect in git, too.
commit()
{
	git -C "$work" -c user.name=a -c user.email=a@b -c core.hooksPath="$hooks" commit -q --allow-empty "$@" 2>/dev/null
}
git -C "$work" init -q
commit -m "net_int: drop it"
test $? -ne 0
ok $? "git refuses a commit without a body"
commit -m "net_int: drop it" -m "Why." && [ "$(git -C "$work" log --format=%s)" = "net_int: drop it" ]
ok $? "git takes one with a body"

echo "1..$count"
exit "$failed"
