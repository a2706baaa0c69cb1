# SPDX-License-Identifier: GPL-2.0
# LDCP: a sender with ldcp over wred. Part of guest_hopcc.sh.
# shellcheck shell=sh
# shellcheck disable=SC2034 # used by the other parts

ldcp()
{
	system=ldcp cc=ldcp modules="sch_wred tcp_ldcp"
	queue="wred limit 500k ect min 30k max 90k nect min 300k max 300k"
}

ldcp_gentle() { dctcp_ms_gentle; }

ldcp_rough() { dctcp_ms_rough; }

ldcp_turn()
{
	case $1 in
	h1) cat <<'END'
for value in 0 1; do
	echo $value >tcp_ldcp_per_rtt
	echo $((250000 + 250000 * value)) >tcp_ldcp_beta_ppm
	echo $((10000 + 10000 * value)) >tcp_ldcp_bdp_bytes
done
END
	;;
	h2) echo 'for value in 0 1; do echo $((2 - value)) >tcp_ldcp_ack_pkts; done' ;;
	esac
}
