// SPDX-License-Identifier: GPL-2.0
/* cost_offload NAMESPACE DEVICE gro|tso on|off: ethtool -K, which a guest may not have. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int main(int argc, char **argv)
{
	struct ethtool_value value;
	struct ifreq ifr = {};
	char path[64];
	int sock;

	if (argc != 5) {
		fputs("usage: cost_offload NAMESPACE DEVICE gro|tso on|off\n", stderr);
		return 2;
	}
	snprintf(path, sizeof(path), "/run/netns/%s", argv[1]);
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", argv[2]);
	value.cmd = strcmp(argv[3], "tso") ? ETHTOOL_SGRO : ETHTOOL_STSO;
	value.data = !strcmp(argv[4], "on");
	ifr.ifr_data = (void *)&value;
	if (setns(open(path, O_RDONLY), CLONE_NEWNET)) {
		perror(path);
		return 1;
	}
	sock = socket(AF_INET, SOCK_DGRAM, 0);
	if (ioctl(sock, SIOCETHTOOL, &ifr)) {
		perror(argv[2]);
		return 1;
	}
	return 0;
}
