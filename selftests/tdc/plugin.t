#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# tc's plug-ins build without a warning, want nothing that the installed tc
# does not export, and are loaded by it.
cd "$(dirname "$0")/../.." || exit 2
out=build/plugin-test n=0 failed=0
mkdir -p $out

result()
{
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		sed 's/^/# /' $out/log
		failed=1
	fi
}

rm -f $out/*.so
make -s -C tools/tc "OUT=$PWD/$out" CFLAGS="-O2 -Werror" >$out/log 2>&1
result $? "plug-ins build without a warning"
make -s -C tools/tc "OUT=$PWD/$out" CFLAGS="-O2 -Werror" check >$out/log 2>&1
result $? "tc exports what they want"
for plugin in "$out"/q_*.so; do
	kind=${plugin##*/q_} kind=${kind%.so}
	TC_LIB_DIR=$out PATH=$PATH:/usr/sbin:/sbin tc qdisc add dev lo root "$kind" help >$out/log 2>&1
	grep -q "^Usage: .*$kind" $out/log
	result $? "tc loads $kind and shows its usage"
done
echo "1..$n"
exit $failed
