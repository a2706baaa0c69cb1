# SPDX-License-Identifier: GPL-2.0
# XCP: a sender with xcp and its carrier over the qdisc xcp. Part of guest_hopcc.sh.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # used by the other parts; mbit is set by guest_hopcc.sh

xcp()
{
	system=xcp cc=xcp modules="sch_xcp tcp_xcp net_xcp"
	queue="xcp rate ${mbit}mbit limit 8m"
}

xcp_gentle()
{
	echo "xcp rate $((mbit - 2))mbit alpha 0.3"
	echo "xcp rate ${mbit}mbit alpha 0.4"
}

xcp_rough()
{
	xcp_gentle
	echo "xcp alpha 9"
}

xcp_turn()
{
	[ "$1" = h2 ] || cat <<'END'
for value in 0 1; do
	echo $value >xcp_gso
	echo $value >tcp_xcp_loss
	echo $value >xcp
	echo $((3 - 2 * value)) >xcp_format
done
END
}
