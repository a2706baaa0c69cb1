# SPDX-License-Identifier: GPL-2.0
# The paths in matrix.list, which `make check` leaves to `make check-long`. Included at the tree's root.
# shellcheck shell=sh

# left_in FOLDER: the paths of matrix.list below a folder
left_in() { sed -n "s,^\\($1/[^[:blank:]]*\\).*,\\1,p" selftests/matrix.list; }

# gate_scenarios PREFIX: the scenarios whose names begin so, without those that are left
gate_scenarios() { printf '%s\n' tools/lab/scenarios/"$1"*.toml | grep -vxF "$(left_in tools/lab/scenarios)"; }
