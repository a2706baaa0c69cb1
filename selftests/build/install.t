#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# `make install` puts the modules where the kernel of KDIR looks for them, whichever kernel runs, and
# everything else in its place; `make uninstall` removes it. All in a directory of this test.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"

kdir=build/install-test
mkdir -p "$kdir/include/generated"
echo '#define UTS_RELEASE "9.9.9-other"' >"$kdir/include/generated/utsrelease.h"
log=$kdir/log

make -n "KDIR=$kdir" MODULES=x.ko install >"$log" 2>&1
grep -q '^install -m 644 x.ko /usr/lib/modules/9\.9\.9-other/updates/hopcc$' "$log"
tap_result $? "modules go to the kernel of KDIR" "$log"
grep -q 'depmod 9\.9\.9-other$' "$log"
tap_result $? "and depmod is for it" "$log"

# A tree below DESTDIR, with a file for the modules: nothing is built but tc's plug-ins.
tree=$PWD/$kdir/tree
rm -rf "$tree" "$kdir/root"
touch "$kdir/x.ko"
# in_tree GOAL: make it below DESTDIR
in_tree()
{
	make -o all "KDIR=$kdir" "MODULES=$kdir/x.ko" "DESTDIR=$tree" "$1" >"$log" 2>&1
}
make -C tools/tc "OUT=$PWD/build/tc" >"$log" 2>&1 && in_tree install
tap_result $? "make install below DESTDIR" "$log"

# lacks FILE...: print those that are not in the tree
lacks()
{
	for file; do
		[ -e "$tree/$file" ] || echo "no $file"
	done
}
multiarch=$(gcc -print-multiarch)
lacks usr/lib/modules/9.9.9-other/updates/hopcc/x.ko "usr/lib/$multiarch/tc/q_csig.so" usr/sbin/hopstat \
	usr/sbin/hopcc-exporter usr/share/hopcc/grafana/hopcc.json usr/lib/systemd/system/hopcc-exporter.service \
	usr/sbin/csigd usr/sbin/intlayout usr/sbin/hopcc-ports usr/bin/ldcp-thresholds \
	usr/include/linux/pkt_sched_wred.h usr/include/hopcc/csig_bpf.h \
	usr/lib/systemd/system/hopcc-qdisc@.service etc/hopcc/ports \
	usr/lib/python3/dist-packages/hopcc_scapy.py usr/lib/python3/dist-packages/hopcc_mininet.py \
	usr/share/hopcc/examples/mininet/xcp.py usr/share/hopcc/examples/bpf/tcp_ca.h >"$log"
[ ! -s "$log" ]
tap_result $? "modules, plug-ins, programs, headers, the unit and its file" "$log"
for page in Documentation/man/*; do
	lacks "usr/share/man/man${page##*.}/${page##*/}"
done >"$log"
for completion in tools/completion/*; do
	case $completion in
	*/tc-hopcc) lacks etc/bash_completion.d/tc-hopcc ;;
	*) lacks "usr/share/bash-completion/completions/${completion##*/}" ;;
	esac
done >>"$log"
for dissector in tools/wireshark/*.lua; do
	[ ! -e "$dissector" ] || lacks "usr/lib/$multiarch/wireshark/plugins/${dissector##*/}"
done >>"$log"
[ ! -s "$log" ]
tap_result $? "all manual pages, completions and dissectors" "$log"
"$tree/usr/sbin/hopstat" --help >"$log" 2>&1 && "$tree/usr/sbin/hopcc-exporter" --help >"$log" 2>&1
tap_result $? "hopstat and hopcc-exporter run from there" "$log"

# A system whose /lib is a link, as Debian's.
mkdir -p "$kdir/root/usr/lib"
ln -s usr/lib "$kdir/root/lib"
tar -C "$tree" -c . | tar -C "$kdir/root" -x >"$log" 2>&1 && [ -L "$kdir/root/lib" ] &&
	[ -e "$kdir/root/lib/modules/9.9.9-other/updates/hopcc/x.ko" ]
tap_result $? "unpacked over a system, the tree leaves its link /lib" "$log"

echo 'eth1 root xcp' >"$tree/etc/hopcc/ports"
in_tree install && grep -q 'eth1 root xcp' "$tree/etc/hopcc/ports"
tap_result $? "installed again, it keeps the settings in /etc/hopcc" "$log"
in_tree uninstall
find "$tree" -type f -o -type l | sed "s,^$tree/,," >"$log"
[ "$(cat "$log")" = etc/hopcc/ports ]
tap_result $? "make uninstall removes all files but those settings" "$log"

make KDIR=/nonexistent install >"$log" 2>&1
[ $? = 2 ] && grep -q 'no kernel headers in /nonexistent: .*apt-get install' "$log"
tap_result $? "no headers: what to install" "$log"
tap_done
