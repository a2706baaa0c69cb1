#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tags through tunnels between routers and bridges, under KASAN, lockdep and kmemleak.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup --kernel debug >/dev/null || exit 1
exec tools/lab/lab exec --kernel debug /usr/bin/python3 -B selftests/netns/csig_tunnel.py brief
