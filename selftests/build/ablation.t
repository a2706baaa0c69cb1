#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Each patch that removes a rule of a congestion control applies to the tree, and says what the rule is for.
cd "$(dirname "$0")/../.." || exit 2
exec selftests/ablation/ablation.py check
