#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""TCP's private state is written in one file, hopcc/core/hop_stack.h, where each write has its invariant and
the function of the kernel that it leans on. Planted writers are found, readers are not."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))
from tap import Tap

HOME = "include/hopcc/core/hop_stack.h"
FOLDERS = ("include/hopcc", "hop_core", "net_", "sch_", "tcp_")
# Members of struct sock, inet_connection_sock and tcp_sock that the stack itself writes.
MEMBERS = (r"icsk_(?:rto\w*|ca_ops|ca_state|ca_setsockopt|ack\.\w+|ext_hdr_len|retransmits|backoff|pending|pmtu_cookie)",
           r"snd_(?:cwnd\w*|ssthresh|nxt|una|wnd)", r"prior_(?:ssthresh|cwnd)", r"undo_(?:marker|retrans)",
           r"prr_\w+", r"tcp_(?:wstamp_ns|clock_cache|mstamp)", r"ecn_flags", r"reord\w+", r"srtt_us", r"rcv_(?:nxt|wnd|wup)",
           r"sk_pacing_(?:rate|status|shift)", r"sk_gso_\w+", r"sk_route_caps", r"tlp_\w+", r"is_cwnd_limited")
MEMBER = rf"(?:->|\.)(?:{'|'.join(MEMBERS)})\b"
OWNER = r"(?:\btp|\bsk|\bicsk|\btcp_sk\([^()]*\)|\binet_csk\([^()]*\)|->sk)"
ASSIGNS = r"\s*(?:=(?!=)|\+=|-=|\*=|<<=|>>=|\|=|&=|\^=|\+\+|--)"
WRITER = re.compile(rf"{OWNER}{MEMBER}{ASSIGNS}|(?:\+\+|--){OWNER}{MEMBER}"
                    rf"|\b(?:WRITE_ONCE|smp_store_release|cmpxchg|xchg)\(&?{OWNER}{MEMBER}"
                    r"|\btcp_snd_cwnd_set\(|\bINET_ECN_(?:dont)?xmit\(|\bsk_gso_disable\(|\bsk_setup_caps\(")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)

PLANTED = ("tp->undo_marker = 0;", "tcp_sk(sk)->prior_ssthresh = pkts;", "WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &reno);",
           "tp->prr_delivered += n;", "tp->ecn_flags |= TCP_ECN_DEMAND_CWR;", "inet_csk(sk)->icsk_rto <<= 1;",
           "icsk->icsk_ack.pending |= ICSK_ACK_NOW;", "tp->prr_out++;", "--tp->undo_retrans;",
           "tcp_snd_cwnd_set(tp, 2);", "tp->tcp_wstamp_ns =\n\t\tnow_ns;", "cmpxchg(&sk->sk_pacing_status, 0, 1);")
READERS = ("if (tp->undo_marker == seq)", "rto = inet_csk(sk)->icsk_rto;", "/* tp->undo_marker = 0; */",
           "return tp->ecn_flags & TCP_ECN_OK;", "seq <= tp->undo_marker", "WRITE_ONCE(hs->snd_nxt, tp->snd_nxt);")


def writers(text):
    """Lines of the text that write TCP's state."""
    code = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    return [code.count("\n", 0, match.start()) + 1 for match in WRITER.finditer(code)]


def sources():
    for top in ["include/hopcc", *sorted(os.listdir("."))]:
        if not top.startswith(FOLDERS) or not os.path.isdir(top):
            continue
        for folder, subfolders, names in os.walk(top):
            subfolders.sort()
            yield from (os.path.join(folder, name) for name in sorted(names)
                        if name.endswith((".c", ".h")) and not name.endswith("_test.c"))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    os.chdir(os.path.join(HERE, "../.."))
    tap = Tap()
    tap.equal("planted writers are found", [line for line in PLANTED if not writers(line)], [])
    tap.equal("readers and comments are not", [line for line in READERS if writers(line)], [])
    text = read(HOME)
    tap.claim(f"{HOME} writes TCP's state", len(writers(text)) > 20, f"{len(writers(text))} places")
    found = [f"{path}:{line}" for path in sources() if path != HOME for line in writers(read(path))]
    tap.claim("no other file does", not found, "\n".join(found))
    bare = re.findall(r"^static inline[^;{]*?\b(hop_stack_\w+)\(", text, re.M)
    unsaid = [name for name in bare if not re.search(rf"/\*\*\n \* {name}\(\) - (?:(?!\*/).)*\b(?!hop_)\w+\(\)", text, re.S)]
    tap.claim("each of its functions names the function of the kernel that it leans on", not unsaid, "\n".join(unsaid))
    return tap.done()


sys.exit(main())
