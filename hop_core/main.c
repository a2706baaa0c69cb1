// SPDX-License-Identifier: GPL-2.0
/* hop_core: what several modules share; this file starts and stops its parts. */

#include <linux/module.h>
#include <linux/random.h>
#include <hopcc/core/hop_flow.h>
#include <hopcc/core/hop_speed.h>
#include <hopcc/lib/hop_arrival.h>
#include <hopcc/lib/hop_version.h>

static int __init hop_core_init(void)
{
	int err;

	get_random_bytes(&hop_arrival_secret, sizeof(hop_arrival_secret));
	err = hop_flow_table_start();
	if (err)
		return err;
	err = hop_speed_start();
	if (err)
		hop_flow_table_stop();
	return err;
}

static void __exit hop_core_exit(void)
{
	hop_speed_stop();
	hop_flow_table_stop();
}

module_init(hop_core_init);
module_exit(hop_core_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("hopcc: common functions of the carriers and of the switch qdiscs");
MODULE_VERSION(HOPCC_VERSION);
