#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# An unprivileged user in a user namespace of his own, and all congestion controls, in the lab's
# guest.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec --limit 900 /usr/bin/python3 -B selftests/netns/user_namespace.py
