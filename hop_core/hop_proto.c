// SPDX-License-Identifier: GPL-2.0
/* The protocol number of a header in front of TCP; see hopcc/core/hop_proto.h. */

#include <linux/module.h>
#include <hopcc/core/hop_hook.h>
#include <hopcc/core/hop_proto.h>

/* Return: 0, or -EBUSY if another module has the number. */
static int hop_proto_start(struct hop_proto *p, u8 number)
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

int hop_proto_register(struct hop_proto *p, u8 number, struct pernet_operations *nets)
{
	int err = number ? hop_hook_hold() : -EINVAL;

	if (err)
		return err;
	err = register_pernet_subsys(nets);
	if (err)
		goto no_nets;
	err = hop_proto_start(p, number);
	if (!err)
		return 0;
	unregister_pernet_subsys(nets);
no_nets:
	hop_hook_release();
	return err;
}
EXPORT_SYMBOL_GPL(hop_proto_register);

/*
 * GSO packets are segmented until no hook makes them any more. Congestion controls hold a reference
 * to the carrier, so no flow is open.
 */
void hop_proto_unregister(struct hop_proto *p, u8 number, struct pernet_operations *nets,
			  const struct hop_carrier *carrier)
{
	WRITE_ONCE(p->merges, false);
	hop_gro_flush();
	inet6_del_protocol(p->v6, number);
	inet_del_protocol(p->v4, number);
	unregister_pernet_subsys(nets);
	hop_hook_release();
	inet6_del_offload(p->offload_v6, number);
	inet_del_offload(p->offload_v4, number);
	hop_flow_retire(carrier);
}
EXPORT_SYMBOL_GPL(hop_proto_unregister);
