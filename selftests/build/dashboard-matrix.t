#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The dashboard of Grafana against the types of Grafana's own schema, by TypeScript's compiler: every key is known
# and has a value of its type, and each of the planted faults is found. exporter.t has what its queries give.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"
log=build/dashboard.log
types=$(tools/setup/grafana-schema.sh --path 2>/dev/null) ||
	tap_skip "no schema of Grafana: run tools/setup/setup.sh matrix"
mkdir -p build/dashboard
# The compiler looks for packages in the folders above the file.
ln -sfn "$types/node_modules" build/dashboard/node_modules

# typed FILE: the compiler has nothing to say of a dashboard
typed()
{
	{
		cat <<-'END'
		import type { Dashboard } from "@grafana/schema";
		// JSON has strings where Grafana's types have enumerations of strings.
		type Json<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
		END
		printf 'export const dashboard: Json<Dashboard> = '
		cat "$1"
		echo ';'
	} >build/dashboard/dashboard.ts
	"$types/node_modules/.bin/tsc" --noEmit --strict --skipLibCheck --module nodenext --moduleResolution nodenext \
		--target es2022 build/dashboard/dashboard.ts >"$log" 2>&1
}

typed tools/grafana/hopcc.json
tap_result $? "the dashboard has the types of Grafana's schema" "$log"
for fault in 's/"timeseries"/7/' 's/"absolute"/"absolut"/' 's/"gridPos"/"gridpos"/' \
	's/"schemaVersion": \([0-9]*\)/"schemaVersion": "\1"/' 's/"type": "value"/"type": "valeu"/'; do
	sed "$fault" tools/grafana/hopcc.json >build/dashboard/bad.json
	! typed build/dashboard/bad.json && grep -q 'error TS' "$log"
	tap_result $? "a planted fault is found: $fault" "$log"
done
tap_done
