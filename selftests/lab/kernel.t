#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The cache of kernels: another key for all that changes a kernel, none for what does not, and
# nothing in a complete build directory ever changes.
cd "$(dirname "$0")/../.." || exit 2
top=$(pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

. selftests/lib/tap.sh

# A copy of the kernel's folder, to change.
cp -r tools/lab/kernel "$tmp/kernel"
mkdir "$tmp/bin"
key() { PATH=$tmp/bin:$PATH "$tmp/kernel/build.sh" "${1:-release}" --path; }
# program NAME LINE: a tool that says another version
program() {
	printf '#!/bin/sh\necho "%s"\n' "$2" >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

first=$(key)
[ -n "$first" ] && [ "$first" = "$(tools/lab/kernel/build.sh release --path)" ]
ok $? "the same key in another checkout"
[ "$(key debug)" != "$first" ]
ok $? "another key for the debug kernel"
for tool in gcc ld; do
	program $tool "$tool (Debian 99) 99"
	[ "$(key)" != "$first" ]
	ok $? "another key for another $tool"
	rm "$tmp/bin/$tool"
done
series=$(tools/setup/setup.sh series) series=${series%% *}
for file in lab.config "linux-$series.patch"; do
	cp "$tmp/kernel/$file" "$tmp/kept"
	echo '# changed' >>"$tmp/kernel/$file"
	[ "$(key)" != "$first" ]
	ok $? "another key for another $file"
	cp "$tmp/kept" "$tmp/kernel/$file"
done
sed -i 's/-j"$(nproc)"/-j1/' "$tmp/kernel/build.sh"
[ "$(key)" != "$first" ]
ok $? "another key for another way to build"

listing() { find "$kdir" -printf '%p %s %T@\n' | sort; }

tools/lab/lab setup >/dev/null || exit 1
kdir=$(tools/lab/kernel/build.sh release --path)

# The configuration once more, with tools beside the compiler that Kconfig asks for.
program pahole v9.9
program rustc 'rustc 9.9.9'
program bindgen 'bindgen 9.9.9'
eval "$(sed -n '/^make_kernel() {/,/^}/p' tools/lab/kernel/build.sh)"
# shellcheck disable=SC2034 # make_kernel's
src=$(readlink -f "$kdir/source")
PATH=$tmp/bin:$PATH make_kernel "$tmp/again" -s KCONFIG_ALLCONFIG="$kdir/all.config" allnoconfig >"$tmp/log"
cmp "$kdir/.config" "$tmp/again/.config" >"$tmp/log"
ok $? "the same configuration where pahole, rustc and bindgen are installed"

listing >"$tmp/before"
mkdir "$tmp/module"
ln -s "$top"/selftests/lab/stack_depth/* "$tmp/module/"
make -C "$kdir" M="$tmp/module" ARCH=um modules >"$tmp/log" 2>&1
ok $? "a module builds for a kernel in the cache"
tools/lab/lab setup >/dev/null
listing | diff "$tmp/before" - >"$tmp/differs"
ok $? "nothing in the kernel's directory changes meanwhile"
sed 's/^/# /' "$tmp/differs" | head -5

# A module of ours is built again when a source or the kernel's content changes, however old its file is.
python3 - "$kdir" <<'END'
import sys
sys.path.insert(0, "tools/lab")
sys.dont_write_bytecode = True
import pathlib, shutil, tempfile
from hoplab import build
kdir = pathlib.Path(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    copy = pathlib.Path(folder)
    for name in ("linux", "Module.symvers", ".config"):
        shutil.copy2(kdir / name, copy)
    same = build.kernel_identity(copy) == build.kernel_identity(kdir)
    stat = (copy / "Module.symvers").stat()
    data = (copy / "Module.symvers").read_bytes()
    (copy / "Module.symvers").write_bytes(data[:-2] + b"x\n")
    import os
    os.utime(copy / "Module.symvers", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    sys.exit(not (same and build.kernel_identity(copy) != build.kernel_identity(kdir)))
END
ok $? "a kernel is known by its content, not by its path or its times"
echo "1..$count"
exit $failed
