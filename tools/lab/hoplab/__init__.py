# SPDX-License-Identifier: GPL-2.0
"""hoplab: scenarios of real Linux networking in virtual time."""


class LabError(Exception):
    """What the user sees as one line: `lab: MESSAGE`."""
