/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CSIG for applications over UDP, draft-ravi-ippm-csig-01 section 4.2.2: receiving a datagram
 * together with its tag. <linux/csig_udp.h> has functions to write the tag to a payload.
 */
#ifndef HOPCC_TOOLS_CSIG_UDP_CSIG_UDP_SOCKET_H
#define HOPCC_TOOLS_CSIG_UDP_CSIG_UDP_SOCKET_H

#include <linux/csig_udp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#ifndef SO_RCVMARK
#define SO_RCVMARK 75
#endif

/**
 * csig_udp_open() - make a socket report the tags of received datagrams
 * @fd: file descriptor of a UDP socket
 *
 * Return: 0, or -1 with errno.
 */
static inline int csig_udp_open(int fd)
{
	int one = 1;

	return setsockopt(fd, SOL_SOCKET, SO_RCVMARK, &one, sizeof(one));
}

/**
 * csig_udp_receive() - receive a datagram and its tag, like recvfrom()
 * @fd: file descriptor of the socket, after csig_udp_open()
 * @data: buffer for the datagram
 * @bytes: size of @data
 * @from: result: source address of the datagram
 * @from_bytes: size of @from; result: length of the address
 * @mark: result: the tag, see <linux/csig_udp.h>; 0 if the datagram had none
 *
 * Return: length of the datagram, or -1 with errno.
 */
static inline ssize_t csig_udp_receive(int fd, void *data, size_t bytes, struct sockaddr *from,
				       socklen_t *from_bytes, __u32 *mark)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(__u32))];
	} control;
	struct iovec part = { .iov_base = data, .iov_len = bytes };
	struct msghdr msg = {
		.msg_name = from, .msg_namelen = *from_bytes, .msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t got = recvmsg(fd, &msg, 0);
	struct cmsghdr *c;

	*mark = 0;
	if (got < 0)
		return got;
	*from_bytes = msg.msg_namelen;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_MARK)
			memcpy(mark, CMSG_DATA(c), sizeof(*mark));
	return got;
}

#endif /* HOPCC_TOOLS_CSIG_UDP_CSIG_UDP_SOCKET_H */
