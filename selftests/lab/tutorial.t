#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every block of commands of Documentation/tutorial.md, as it is written there.
cd "$(dirname "$0")/../.." || exit 2
. selftests/lib/tap.sh
for program in mn ping iperf flent; do
	command -v $program >/dev/null || {
		echo "1..0 # SKIP no $program: run tools/setup/setup.sh check"
		exit 0
	}
done

top=$(pwd) out=$(pwd)/build/tutorial
page=$top/Documentation/tutorial.md
rm -rf "$out"
mkdir -p "$out/bin"
ln -s "$top/tools" "$out/tools"
cat >"$out/bin/sudo" <<'END'
#!/bin/sh
exec "$@"
END
cat >"$out/bin/modprobe" <<'END'
#!/bin/sh
for module; do
	case $module in -*) ;; *) [ -e "/sys/module/$module" ] || exit 1 ;; esac
done
END
chmod +x "$out"/bin/*

# part WHERE COMMAND...: the claims of tutorial.py, counted on
part()
{
	"$@" >"$out/tap" 2>"$out/errors"
	status=$?
	while read -r line; do
		case $line in
		"ok "*) ok 0 "${line#ok * - }" ;;
		"not ok "*) ok 1 "${line#not ok * - }" ;;
		1..*) ;;
		*) echo "$line" ;;
		esac
	done <"$out/tap"
	[ $status -eq 0 ] || sed 's/^/# /' "$out/errors"
	tail -n 1 "$out/tap" | grep -q '^1\.\.'
	ok $? "all blocks of this part were run"
}

part tools/lab/lab exec --limit 120 -- /usr/bin/python3 -B selftests/lab/tutorial.py "$page" guest "$out"
PATH=$top/tools/lab:$PATH
part /usr/bin/python3 -B selftests/lab/tutorial.py "$page" host "$out"
echo "1..$count"
exit $failed
