// SPDX-License-Identifier: GPL-2.0
/* The protocol number of a header in front of TCP; see hopcc/core/hop_proto.h. */

#include <linux/module.h>
#include <hopcc/core/hop_proto.h>

int hop_proto_start(struct hop_proto *p, u8 number)
{
	if (inet_add_offload(p->offload_v4, number))
		return -EBUSY;
	if (inet6_add_offload(p->offload_v6, number))
		goto no_offload_v6;
	if (inet_add_protocol(p->v4, number))
		goto no_v4;
	if (inet6_add_protocol(p->v6, number))
		goto no_v6;
	WRITE_ONCE(p->merges, true);
	return 0;

no_v6:
	inet_del_protocol(p->v4, number);
no_v4:
	inet6_del_offload(p->offload_v6, number);
no_offload_v6:
	inet_del_offload(p->offload_v4, number);
	return -EBUSY;
}
EXPORT_SYMBOL_GPL(hop_proto_start);

void hop_proto_stop(struct hop_proto *p, u8 number)
{
	WRITE_ONCE(p->merges, false);
	hop_gro_flush();
	inet6_del_protocol(p->v6, number);
	inet_del_protocol(p->v4, number);
}
EXPORT_SYMBOL_GPL(hop_proto_stop);

void hop_proto_end(const struct hop_proto *p, u8 number)
{
	inet6_del_offload(p->offload_v6, number);
	inet_del_offload(p->offload_v4, number);
}
EXPORT_SYMBOL_GPL(hop_proto_end);
