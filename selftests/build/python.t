#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# No Python source of the tree has a finding of flake8's. The lab's host side and hopstat are typed: mypy
# finds nothing, and no module of the lab imports one that imports it. No test uses a name that is not there.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"

for tool in flake8 mypy; do
	command -v $tool >/dev/null || tap_skip "no $tool: run tools/setup/setup.sh check"
done

sources=$(find . -path ./build -prune -o -path ./.git -prune -o -path ./lab-results -prune \
	-o -type f -print | sort | while read -r file; do
	case $file in
	*.py) echo "$file" ;;
	*) head -c 64 "$file" | head -n 1 | tr -d '\0' | grep -q '^#! *[^ ]*/python3' && echo "$file" ;;
	esac
done)
# shellcheck disable=SC2086 # names without blanks
flake8 --config selftests/build/flake8.ini $sources >build/flake8.log 2>&1
tap_result $? "flake8 has no findings in $(echo "$sources" | wc -l) Python sources" build/flake8.log

# Each check must find a planted fault.
mkdir -p build/python/circle
printf 'import os\n\n\ndef unused():\n    value = 1\n' >build/python/bad.py
flake8 --config selftests/build/flake8.ini build/python/bad.py >build/python/log 2>&1
[ "$(grep -c -e F401 -e F841 build/python/log)" -eq 2 ]
tap_result $? "flake8 finds an unused import and an unused variable" build/python/log

MYPYPATH=tools/lab mypy --config-file selftests/build/mypy.ini -p hoplab >build/mypy.log 2>&1
tap_result $? "mypy has no findings in the lab's host side" build/mypy.log
MYPYPATH=tools/hopstat mypy --config-file selftests/build/mypy.ini -p hopstat_lib >build/mypy.log 2>&1
tap_result $? "mypy has no findings in hopstat" build/mypy.log
mypy --config-file selftests/build/mypy.ini tools/intlayout/intlayout >build/mypy.log 2>&1
tap_result $? "mypy has no findings in intlayout" build/mypy.log
mypy --config-file selftests/build/mypy.ini tools/mininet/hopcc_mininet.py >build/mypy.log 2>&1
tap_result $? "mypy has no findings in hopcc_mininet" build/mypy.log
printf 'def of(value: int) -> str:\n    return value\n' >build/python/bad.py
! mypy --config-file selftests/build/mypy.ini build/python/bad.py >build/python/log 2>&1 &&
	grep -q 'Incompatible return value' build/python/log
tap_result $? "mypy finds a wrong type" build/python/log
printf 'def of(value):\n    return value\n' >build/python/bad.py
! mypy --config-file selftests/build/mypy.ini build/python/bad.py >build/python/log 2>&1 &&
	grep -q 'missing a type annotation' build/python/log
tap_result $? "mypy finds a function without annotations" build/python/log

# Tests are not typed, and Python finds a name that another module lost only when it runs the test. mypy says so
# before. Its own list of socket's names has no TCP_CONGESTION.
missing_names() { # files in one folder -> what they take from a module that does not have it
	folder=$(dirname "$1")
	(
		path=
		for other in netns lib tdc; do
			[ "$(realpath "selftests/$other")" = "$(realpath "$folder")" ] || path=$path:$PWD/selftests/$other
		done
		cache=$PWD/build/mypy
		cd "$folder" || exit 1
		# shellcheck disable=SC2046 # names without blanks
		MYPYPATH=${path#:} mypy --cache-dir "$cache" --check-untyped-defs --ignore-missing-imports \
			$(basename -a "$@") 2>&1 | grep -v 'has no attribute "TCP_CONGESTION"' |
			grep -e 'Module .*has no attribute' -e ': error: .*\[syntax\]' -e '^mypy: ' -e 'Source file found'
	)
}

for folder in $(find selftests -name '*.py' -exec dirname {} + | sort -u); do
	missing_names "$folder"/*.py
done >build/python/missing
[ ! -s build/python/missing ]
tap_result $? "no test takes a name from a module that does not have it" build/python/missing
mkdir -p build/python/names
printf 'X = 1\n' >build/python/names/a.py
printf 'import a\nfrom a import lost\n\n\ndef late():\n    return a.gone + lost\n' >build/python/names/b.py
missing_names build/python/names/*.py >build/python/log
grep -q '"a" has no attribute "lost"' build/python/log && grep -q 'no attribute "gone"' build/python/log
tap_result $? "a name that is missing at the import, or later, is found" build/python/log

selftests/build/circles.py tools/lab/hoplab >build/circles.log 2>&1
tap_result $? "no module of the lab's host side is in a circle of imports" build/circles.log
printf 'from . import b\n' >build/python/circle/a.py
printf 'def late():\n    from .a import x\n    return x\n' >build/python/circle/b.py
! selftests/build/circles.py build/python/circle >build/python/log 2>&1 && grep -q 'a imports b' build/python/log
tap_result $? "a circle by an import within a function is found" build/python/log
tap_done
