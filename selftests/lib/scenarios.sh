# SPDX-License-Identifier: GPL-2.0
# Which scenarios the gate runs. Included by lab/*.t, at the tree's root.
# shellcheck shell=sh

# The scenarios that matrix.list leaves to `make check-long`
left_scenarios() { sed -n 's,^\(tools/lab/scenarios/[^[:blank:]]*\).*,\1,p' selftests/matrix.list; }

# gate_scenarios PREFIX: all others whose names begin so
gate_scenarios()
{
	for scenario in tools/lab/scenarios/"$1"*.toml; do
		left_scenarios | grep -qxF "$scenario" || echo "$scenario"
	done
}
