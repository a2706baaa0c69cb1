# SPDX-License-Identifier: GPL-2.0
# DCTCP: a sender with dctcp_ms over wred. Part of guest_hopcc.sh.
# shellcheck shell=sh
# shellcheck disable=SC2034 # used by the other parts

# The queue has room for the long round trips of a starved machine: a packet that is dropped all the
# same was dropped by a change.
dctcp_ms()
{
	system=dctcp_ms cc=dctcp_ms modules="sch_wred tcp_dctcp_ms"
	queue="wred limit 500k ect min 30k max 30k nect min 100k max 200k prob 0.1"
}

dctcp_ms_gentle()
{
	echo "wred limit 1m ect min 20k max 20k prob 1"
	echo "wred limit 500k ect min 40k max 80k prob 0.5"
}

dctcp_ms_rough()
{
	echo "wred limit 20k ect min 5k max 15k prob 0.5"
	echo "wred limit 1m ect min 50k max 50k nect min 40k max 60k prob 1"
	echo "wred limit 10"
}

dctcp_ms_turn()
{
	[ "$1" = h2 ] || cat <<'END'
read -r turn <tcp_dctcp_ms_rtt_max_us
echo $(((turn + 7001) % 20000)) >tcp_dctcp_ms_rtt_max_us
END
}
