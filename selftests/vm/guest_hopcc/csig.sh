# SPDX-License-Identifier: GPL-2.0
# CSIG: a sender with csig and its carrier over the qdisc csig. Part of guest_hopcc.sh.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # used by the other parts; set by guest_hopcc.sh

csig()
{
	system=csig cc=csig modules="sch_csig tcp_csig net_csig_tag"
	queue="csig rate ${mbit}mbit interval 1ms limit 8m"
}

csig_gentle()
{
	echo "csig interval 10ms estimator ewma"
	echo "csig interval 1ms estimator raw"
}

csig_rough()
{
	csig_gentle
	echo "csig mode strip"
	echo "csig mode update"
	echo "csig mode update lm all compact 200"
}

csig_turn()
{
	case $1 in
	h1) cat <<'END'
for value in 0 1; do
	echo $value >tcp_csig_move_rounds
	echo $value >tcp_csig_jump
	echo "1 $value" >tcp_csig_edges
done
END
	;;
	h2) echo 'for value in 0 1; do echo $((1 + value)) >csig; done' ;;
	esac
}

# Do the same as churn_int with csig.
churn_csig()
{
	start_floods csig
	two_csigs
	until_true 30 both_update || return 1
	refused rmmod sch_csig || return 1
	i=0
	while [ $i -lt 8 ]; do
		i=$((i + 1))
		two_csigs
		tc -force -batch - <<-END
			qdisc change dev i0 handle 11: parent 1:1 csig mode strip interval ${i}ms
			qdisc change dev i0 handle 12: parent 1:2 csig estimator ewma
			-s qdisc show dev i0
			qdisc change dev i0 handle 11: parent 1:1 csig mode update estimator dre
		END
		[ $((i % 4)) -ne 0 ] || tc qdisc del dev i0 root
	done
	two_csigs
	until_true 30 both_update
	end_floods $?
}

two_csigs()
{
	csig="csig rate 1gbit interval 20us estimator raw mode update"
	tc -batch - <<-END
		qdisc replace dev i0 root handle 1: prio
		qdisc replace dev i0 parent 1:1 handle 11: $csig
		qdisc replace dev i0 parent 1:2 handle 12: $csig
	END
}

both_update() { [ "$(tc -s qdisc show dev i0 | grep -c 'updated: abw [1-9]')" -eq 2 ]; }

csig_hosts()
{
	/usr/bin/python3 -B "$here/csig_host.py" /run/hopcc/modprobe >"$tmp/csig" 2>&1
	status=$?
	grep -A 1 '^not ok' "$tmp/csig" || tail -n 3 "$tmp/csig"
	return $status
}
