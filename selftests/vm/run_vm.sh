#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run one script as root in a distribution's kernel, on two CPUs, in QEMU.
#
#   run_vm.sh KERNEL_IMAGE MODULES_DIR SCRIPT [ARGUMENT...]
#
# The guest's root is the host's, read-only over 9p under a tmpfs: the host's
# programs and this checkout are there under the same paths, and nothing that
# the script does reaches the host. MODULES_DIR is the kernel's lib/modules/VER,
# wherever it is. No /dev/kvm: one that exists may still hang a stock kernel.
#
#   VM_LIMIT_S  seconds of own time for the script (600): what lib/limit.py counts, so load does not end it
#   VM_LOG      keep the kernel's console here
#   VM_QUEUES   number of queue pairs of a virtio NIC, eth0 in the guest; what it sends goes to a
#               tap device in a network namespace of its own (default: no NIC)
#   VM_NETDEV   the back end of a virtio NIC, eth0 in the guest, in the words of QEMU's -netdev
#   VM_PIDFILE  QEMU's process ID goes here; its threads are named
#   VM_ICOUNT   1: one CPU whose clock counts instructions, one a ns: for what code costs,
#               whatever else the machine does
#   VM_PLUGIN   a plug-in of QEMU's emulator, with its arguments
#
# The script's output is our output, its exit status ours. Status 1 as well
# when the kernel warns, oopses, locks up or leaks a device; 124 when the
# script or the boot takes too long; the console's last lines are then shown.
# Each second of own time is a line on the guest's console, which guest_init.sh counts.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/usr/sbin:/sbin

[ $# -ge 3 ] || { sed -n '3,6s/^# *//p' "$0" >&2; exit 2; }
kernel=$1 modules=$(readlink -f "$2") script=$3
shift 3
ver=$(basename "$modules")
limit_s=${VM_LIMIT_S:-600}
boot_s=120

for program in qemu-system-x86_64 busybox cpio modprobe xz; do
	command -v "$program" >/dev/null ||
		{ echo "run_vm.sh: no $program: run tools/setup/setup.sh check" >&2; exit 2; }
done
[ -r "$kernel" ] || { echo "run_vm.sh: cannot read $kernel" >&2; exit 2; }
[ -r "$modules/modules.dep" ] || { echo "run_vm.sh: no modules in $modules" >&2; exit 2; }

tmp=$(mktemp -d "${TMPDIR:-/tmp}/run-vm.XXXXXX")
qemu=
trap 'test -z "$qemu" || kill "$qemu" 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
console=${VM_LOG:-$tmp/console}
: >"$console"

# The drivers that reach the root, in the order in which they load.
root_modules()
{
	for name in virtio_pci 9pnet_virtio 9p overlay; do
		modprobe -d "${modules%/lib/modules/*}/" -S "$ver" --show-depends "$name"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

initramfs()
{
	mkdir -p "$tmp/root/bin" "$tmp/root/modules"
	cp "$(command -v busybox)" "$tmp/root/bin/busybox"
	n=100
	for module in $(root_modules); do
		n=$((n + 1))
		case $module in
		*.xz) xz -dc "$module" >"$tmp/root/modules/$n.ko" ;;
		*) cp "$module" "$tmp/root/modules/$n.ko" ;;
		esac
	done
	cp "$here/initramfs_init.sh" "$tmp/root/init"
	chmod +x "$tmp/root/init"
	# Read by guest_init.sh.
	{
		echo "modules=$modules cwd=$PWD limit_s=$limit_s"
		printf 'script=%s\n' "$script"
		printf 'here=%s\n' "$here"
		printf 'set --'
		[ $# -eq 0 ] || printf " '%s'" "$@"
		echo
	} >"$tmp/root/conf"
	(cd "$tmp/root" && find . | cpio --quiet -o -H newc) >"$tmp/initramfs"
}

# A busy host misleads the guest when it measures its clock: its second was once a fifth of
# ours. Both have the same counter, and Linux prints twice its rate as bogomips.
clock=$(awk '/^bogomips/ { printf "tsc_early_khz=%d", $3 * 500; exit }' /proc/cpuinfo)
cpus="-accel tcg,thread=multi -smp 2"
if [ "${VM_ICOUNT:-0}" = 1 ]; then
	cpus="-accel tcg -smp 1 -icount shift=0,sleep=off"
	clock=
fi
# Only a tap device has several queues. Without root it is in a user namespace.
nic='' in_namespace=''
if [ -n "${VM_QUEUES:-}" ]; then
	nic="-netdev tap,id=nic,ifname=tap0,script=no,downscript=no,vhost=off,queues=$VM_QUEUES
		-device virtio-net-pci,netdev=nic,mq=on,vectors=$((2 * VM_QUEUES + 2))"
	in_namespace="unshare -n"
	[ "$(id -u)" -eq 0 ] || in_namespace="unshare -rn"
	in_namespace="$in_namespace $here/in_tap.sh"
fi
[ -z "${VM_NETDEV:-}" ] || nic="-netdev $VM_NETDEV,id=nic -device virtio-net-pci,netdev=nic"
[ -z "${VM_PLUGIN:-}" ] || cpus="$cpus -plugin $VM_PLUGIN"
[ -z "${VM_PIDFILE:-}" ] || cpus="$cpus -pidfile $VM_PIDFILE -name guest,debug-threads=on"
initramfs "$@"

# boot: run the guest, to its end. What the script says, while it says it, but for the
# words of guest_init.sh. norandmaps: an emulated program starts in half the time when what
# is translated of it lies where it was before.
boot()
{
	: >"$tmp/output"
	# shellcheck disable=SC2086 # words
	"$here/../lib/limit.py" --ticks $((limit_s + boot_s)) $in_namespace qemu-system-x86_64 \
		$cpus $nic -m 1024 -display none -monitor none -no-reboot \
		-nodefaults -kernel "$kernel" -initrd "$tmp/initramfs" \
		-append "console=ttyS0 loglevel=5 panic=-1 oops=panic hung_task_panic=0 tsc=nowatchdog $clock norandmaps mitigations=off net.ifnames=0" \
		-chardev stdio,id=console,signal=off -serial chardev:console -serial "file:$tmp/output" \
		-fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		>"$console" 2>"$tmp/qemu" &
	qemu=$!
	tail -n +1 -f --pid="$qemu" "$tmp/output" | sed -un 's/\r//g; /^VM-/!p' || :
	status=0
	wait "$qemu" || status=$?
	qemu=
}

# An emulated kernel now and then dies while it patches its own code, before any of ours
# runs: that is the emulator's.
for attempt in 1 2 3; do
	boot
	if [ "$status" -eq 124 ] || grep -q '^VM-START' "$tmp/output"; then
		break
	fi
	echo "# boot $attempt ended before the script began: $(grep -m 1 -E 'BUG:|Oops|panic' "$console" | tr -d '\r')"
done
trouble='WARNING:|BUG:|Oops|general protection|Call Trace|soft lockup|hard LOCKUP|rcu.*stall|rcu.*kthread starved|blocked for more than|refcount_t|unregister_netdevice: waiting|KASAN|UBSAN|Kernel panic|unable to handle|kmem_cache.*Slab|WATCHDOG'

last_lines()
{
	echo "# $1; the last lines of the kernel's console:"
	tail -n 40 "$console" | tr -d '\r' | sed 's/^/#   /'
	sed 's/^/# qemu: /' "$tmp/qemu"
}

if [ "$status" -ne 0 ]; then
	last_lines "qemu ended with status $status ($limit_s s allowed)"
	exit "$status"
fi
# Data races are kcsan-matrix.t's to sort, by whose they are.
complaints=$(grep -v 'BUG: KCSAN: ' "$console" | grep -E "$trouble" || :)
if [ -n "$complaints" ]; then
	last_lines "the kernel complained"
	echo "$complaints" | head -5 | tr -d '\r' | sed 's/^/# /'
	exit 1
fi
status=$(tr -d '\r' <"$tmp/output" | sed -n 's/^VM-EXIT //p' | tail -1)
if [ -z "$status" ]; then
	last_lines "the guest ended without a result"
	exit 1
fi
exit "$status"
