# SPDX-License-Identifier: GPL-2.0
"""hoplab: scenarios of real Linux networking in virtual time. This is the host's side.

Each line uses the lines above it:

    build, units                            what guests boot with; numbers with units
    kinds, tables, sizes, schema            values, tables and cases of a scenario file
    arrivals, fabric, topology, connections the network and the traffic of a case
    batches, changes, inputs                what the guest's programs read
    results, metrics, claims                what they wrote, what it means, whether claims hold
    relations, scenario, record             a whole scenario file; a result file
    guest, ready, runner                    one guest; is the lab ready; all runs
    slowdown, table, pages, plot, report    output
    digests, cli                            the recorded digests; the commands
"""


class LabError(Exception):
    """The user sees it as one line: `lab: MESSAGE`."""
