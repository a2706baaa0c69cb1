#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Print the modules of a Python package that import each other, directly or by others, in circles.

    circles.py FOLDER

Imports within functions count, too. The exit status is 1 if there is a circle.
"""
import ast
import sys
from pathlib import Path


def imports(file, names):
    """The package's own modules that a module of it imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module} if node.module else {alias.name for alias in node.names}
    return found & names


def reachable(graph, start):
    found, left = set(), [start]
    while left:
        for name in graph[left.pop()] - found:
            found.add(name)
            left.append(name)
    return found


def main(folder):
    files = {file.stem: file for file in Path(folder).glob("*.py")}
    graph = {name: imports(file, set(files)) for name, file in files.items()}
    circular = sorted(name for name in graph if name in reachable(graph, name))
    for name in circular:
        print(f"{name} imports {' '.join(sorted(graph[name] & set(circular)))}")
    return 1 if circular or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
