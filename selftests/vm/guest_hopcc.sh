#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run in a test guest: load the modules as a user does and use each system; then run everything at once:
# traffic, changes of options and attempts to unload. Prints TAP without the plan, which the host adds.
#
#   guest_hopcc.sh MODULES_BUILD ROUNDS FIRST
#
# ROUNDS: how many rounds of everything at once; FIRST: 0 or 1, the half of the kinds of rounds.
# PORT_MBIT: rate of the port of s1 (50); a guest that is slower than that never has a queue.
# VM_MININET: "no" leaves out Mininet's example.
# LEAST_MBIT: least goodput of all streams (2). It only shows that nothing stalls; the lab measures speed.
#
#       h1 ------------------ s1 ------------------ h2
#         .1  192.0.2.0/25  .2  .130 192.0.2.128/25  .129
#         ::1 2001:db8:1::/64 ::2  ::2 2001:db8:2::/64 ::1
#                            h2 <- tbf + qdisc of the system
#
# guest_hopcc/common.sh   claims, conditions, modules
# guest_hopcc/network.sh  the network, its traffic and its statistics
# guest_hopcc/works.sh    one system in use, and its queue while it changes
# guest_hopcc/rough.sh    everything at once
# guest_hopcc/SYSTEM.sh   for each system: SYSTEM() sets its congestion control, modules and queue;
#                         SYSTEM_gentle() prints changes of the queue that must not drop packets;
#                         SYSTEM_rough() prints other changes, the last one refused as out of range;
#                         SYSTEM_turn() prints commands that change the settings of h1 or h2
#
# shellcheck disable=SC2034 # variables that the files of guest_hopcc use
set -u
build=$1 rounds=$2 first=$3
here=$(cd "$(dirname "$0")" && pwd)
systems="dctcp_ms ldcp xcp hpccpp csig"
mbit=${PORT_MBIT:-50} least_mbit=${LEAST_MBIT:-2}
# Python without site-packages: importing them takes seconds of an emulated CPU.
python="/usr/bin/python3 -I -S"
# The lab's guest has directories of its own for tc's plug-ins and for the kernel's modules.
export TC_LIB_DIR="${TC_LIB_DIR:-$build/tc}"
kernel_modules=${HOPLAB_MODULES:-}/lib/modules
tmp=$(mktemp -d) n=0 failed=0

# shellcheck source=/dev/null
for part in common network works $systems rough; do
	. "$here/guest_hopcc/$part.sh"
done

trap teardown EXIT
install_modules
ok "all modules load" load_all
ok "all modules unload when nothing uses them" unload_all
ok "tc and sysctl load the modules of the qdiscs and congestion controls that they name" loads_by_name
ok "net_csig_tag has no hook before csig or csig_ports is set" hooks_on_use
load_all
works dctcp_ms marked 'dctcp.*alpha:'
works ldcp marked ' ldcp .*bbr:'
works xcp micro ' xcp .*bbr:'
works hpccpp probe ' hpccpp .*bbr:'
works csig compact ' csig .*bbr:'
ok "xcp: its hosts and routers work in VRFs" /usr/bin/python3 -B "$here/../netns/xcp_vrf.py"
ok "xcp, hpccpp, csig: filters of the sender in a control group, a bridge or a VRF see every packet" \
	/usr/bin/python3 -B "$here/../netns/sender_places.py"
ok "xcp, hpccpp, csig: connections with equal addresses and ports in two VRFs stay apart" \
	/usr/bin/python3 -B "$here/../netns/vrf_twins.py"
ok "xcp, hpccpp, csig: packets may leave through another network namespace than their socket's" \
	/usr/bin/python3 -B "$here/../netns/foreign_socket.py"
# The kernel of another distribution may be without MPTCP.
[ ! -e /proc/sys/net/mptcp/enabled ] ||
	ok "each congestion control works on both sub-flows of a connection of MPTCP" \
		/usr/bin/python3 -B "$here/../netns/mptcp.py"
ok "xcp, csig: a connection that joins a VRF gets back the room that its flow reserved" \
	/usr/bin/python3 -B "$here/../netns/room.py" vrf
ok "xcp, hpccpp: a connection that gets a TCP-MD5 key has no GSO packets afterwards" \
	/usr/bin/python3 -B "$here/../netns/md5.py"
ok "flow entries are charged to the memory control group of the process that connects" \
	/usr/bin/python3 -B "$here/flow_memory.py"
ok "xcp, hpccpp: FTP in its active mode works beside conntrack's helper" ftp
# The lab has a command of its own for Mininet, and KCSAN makes the guest too slow for it.
[ "${VM_MININET:-yes}" = no ] || [ -n "${HOPLAB_MODULES:-}" ] || ! command -v mn >/dev/null ||
	ok "Mininet's example of dctcp_ms fills its port, which marks packets" mininet_example dctcp_ms 2 3
ok "int: two classes of a port keep stamping while options change and qdiscs are replaced" churn_int
ok "csig: two classes of a port keep updating tags while options change" churn_csig
ok "int, csig, xcp, wred: the transmit queues below mq count as one port" /usr/bin/python3 -B "$here/mq.py"
ok "csig: hosts with tags survive changes of all settings and the unloading of net_csig_tag" csig_hosts
ok "all modules unload after use" until_true 20 unload_all
all_at_once
exit $failed
