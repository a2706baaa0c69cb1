#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The pages hang together: every relative link of a Markdown page leads to a file, and to a heading
where it names one; each page's tables are tables to a renderer, and no row has too few or too many cells; every page under Documentation/ can be reached from index.md; every page that
code, tests or tools name is there, and every function and test that the pages of conformance name. The
table of matrix.md has each test of `make matrix`, and CONTRIBUTING.md guards folders by tests that are there. The
files and folders that CONTRIBUTING.md and architecture.md name are there, and both name each folder of tools/ and selftests/.

    links.t [DIRECTORY]     the pages of another directory, the links only
"""

import fnmatch
import glob
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from tap import Tap

try:
    from markdown_it import MarkdownIt
except ImportError:
    sys.exit("links.t: no markdown_it: run tools/setup/setup.sh check")

SKIPPED = {".git", "build", "lab-results", "corpus", "__pycache__"}
LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")
FUNCTION = re.compile(r"`(\w+)\(\)`")
TEST = re.compile(r"`(?:selftests/)?([\w*/.-]+\.(?:t|py))`")
NAMED_PAGE = re.compile(r"\bDocumentation/[\w./-]*\w\.(?:md|svg|8)\b")
# A file by its ending, or a folder by its slash, in backquotes; NAME, <kind> and … stand for any word.
NAMED_FILE = re.compile(r"`((?:[\w.*<>…][\w.*<>…-]*/)*[\w.*<>…][\w.*<>…-]*(?:\.(?:[chts]|py|sh|md|lua|txt|list|toml|json|svg)|/))`")
HEADING = re.compile(r"#{1,6} +(.*?)(?: +#+)?$")


def text_lines(path):
    """The lines of a page without its code: fenced, indented behind an empty line, or in backquotes."""
    fenced, indented, after_empty = False, False, True
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.lstrip().startswith("```"):
                fenced = not fenced
                continue
            indented = line.startswith("    ") and (after_empty or indented)
            after_empty = not line.strip()
            if not fenced and not indented:
                yield line


def anchor_of(title, seen):
    """The anchor that GitHub gives a heading: lower case, no punctuation, blanks to hyphens."""
    title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title)
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    number = seen.get(anchor, 0)
    seen[anchor] = number + 1
    return f"{anchor}-{number}" if number else anchor


def anchors(path):
    seen = {}
    return {anchor_of(match.group(1), seen)
            for match in map(HEADING.match, text_lines(path)) if match}


def links(path):
    for line in text_lines(path):
        yield from LINK.findall(re.sub(r"`[^`]*`", "", line))


def walk(root):
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(set(subfolders) - SKIPPED)
        for name in sorted(names):
            yield os.path.join(folder, name)


def resolve(page, link):
    """(file, anchor) that a relative link means; the file is the page itself where it has none."""
    target, _, anchor = link.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
    return path, anchor


def broken_links(root):
    complaints = []
    for page in (path for path in walk(root) if path.endswith(".md")):
        for link in links(page):
            if re.match(r"[a-z]+:", link):
                continue
            path, anchor = resolve(page, link)
            if not os.path.exists(path):
                complaints.append(f"{os.path.relpath(page, root)}: no file {link}")
            elif anchor and path.endswith(".md") and anchor not in anchors(path):
                complaints.append(f"{os.path.relpath(page, root)}: no heading {link}")
    return complaints


def broken_tables(path, renderer=MarkdownIt("commonmark").enable("table")):
    """Lines of a page that start as a row and are in no table, and rows that the renderer would pad or cut."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines, cells, complaints = text.splitlines(), 0, []
    for token in renderer.parse(text):
        if token.type == "thead_open":
            cells = 0
        elif token.type == "th_open":
            cells += 1
        elif token.type == "tr_open" and token.map:
            row = lines[token.map[0]].strip()
            # A row is the head of a table of so many columns only if it has as many cells.
            alone = renderer.parse(f"{row}\n{'|-' * max(cells, 1)}|\n")
            if cells and alone[0].type != "table_open":
                complaints.append(f"{path}:{token.map[0] + 1}: not {cells} cells: {row[:60]}")
        elif token.type == "inline" and token.map:
            complaints += [f"{path}:{token.map[0] + i + 1}: a row outside a table: {line[:60]}"
                           for i, line in enumerate(token.content.splitlines()) if line.lstrip().startswith("|")]
    return complaints


def all_broken_tables(root):
    return [complaint for path in walk(root) if path.endswith(".md") for complaint in broken_tables(path)]


def found_in_bad_tables():
    """What the check says of tables that are wrong on purpose; the last page's are right."""
    pages = ("| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| 3 | 4 |\n", "| a | b |\n| --- | --- |\n| 1 |\n",
             "| a | b |\n| --- | --- |\n| 1 | `x|y` |\n", "| a | b |\n| --- |\n| 1 | 2 |\n",
             "| a | b |\n| --- | --- |\n| `x\\|y` | |\n\n    | no row |\n\n- x\n\n  | c |\n  | - |\n  | 1 |\n")
    with tempfile.TemporaryDirectory() as root:
        found = []
        for text in pages:
            with open(os.path.join(root, "page.md"), "w", encoding="utf-8") as file:
                file.write(text)
            found.append([int(c.split(":")[1]) for c in broken_tables(os.path.join(root, "page.md"))])
        return found


def unreachable_pages(index):
    """Pages and pictures below the folder of index that no chain of links from it leads to."""
    reached, pending = set(), [os.path.normpath(index)]
    while pending:
        page = pending.pop()
        if page in reached or not os.path.exists(page):
            continue
        reached.add(page)
        if page.endswith(".md"):
            pending += [resolve(page, link)[0] for link in links(page)
                        if not re.match(r"[a-z]+:", link)]
    return [path for path in walk(os.path.dirname(index))
            if path.endswith((".md", ".svg", ".8")) and path not in reached]


def missing_pages(root):
    """Mentions of pages, in any text file, that are not there."""
    complaints = []
    for path in walk(root):
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (UnicodeDecodeError, OSError):
            continue
        for name in NAMED_PAGE.findall(text):
            if not os.path.exists(os.path.join(root, name)):
                complaints.append(f"{os.path.relpath(path, root)}: {name}")
    return complaints


def words_of_code():
    words = set()
    for path in walk("."):
        if path.endswith((".c", ".h")):
            with open(path, encoding="utf-8") as file:
                words.update(re.findall(r"\w+", file.read()))
    return words


def is_there(test):
    """A test by its name, by its folder and name, or by a pattern; or any file of the tree."""
    return any(glob.glob(pattern) for pattern in
               (test, f"selftests/{test}", f"selftests/*/{test}"))


def missing_tests(page, text):
    """Tests that the text, of this page, names and that are not there."""
    return [f"{page}: no test {name}" for name in sorted(set(TEST.findall(text))) if not is_there(name)]


def missing_names():
    """Functions and tests that a page of conformance names and that are not there."""
    code, complaints = words_of_code(), []
    for page in (path for path in walk("Documentation/conformance") if path.endswith(".md")):
        with open(page, encoding="utf-8") as file:
            text = file.read()
        complaints += [f"{page}: no function {name}()"
                       for name in sorted(set(FUNCTION.findall(text)) - code)]
        complaints += missing_tests(page, text)
    return complaints


def missing_scenarios(page="Documentation/figures.md", top="tools/lab/scenarios"):
    """Rows of the papers' figures whose scenario is not there, or that have neither a scenario nor "none"."""
    complaints, rows = [], 0
    for line in text_lines(page):
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) < 4 or cells[1] in ("scenario", "---"):
            continue
        rows += 1
        names = re.findall(r"`([^`]+)`", cells[1])
        complaints += [f"{page}: {cells[0]}: no scenario {name}" for name in names
                       if not os.path.exists(f"{top}/{name}.toml")]
        if (not names and cells[1] != "none") or not all(cells):
            complaints.append(f"{page}: {cells[0]}: a scenario or none, and what is published and measured")
    return complaints + ([] if rows >= 25 else [f"{page}: {rows} rows"])


def untabled(page="Documentation/matrix.md", tests=None):
    """Tests of `make matrix` without a row in the page, and rows without a test."""
    tests = tests or [path.removeprefix("selftests/") for path in glob.glob("selftests/*/*-matrix.t")]
    with open(page, encoding="utf-8") as file:
        rows = re.findall(r"^\| `([^`]+)` \|", file.read(), re.M)
    return ([f"{page}: no row for {test}" for test in sorted(tests) if test not in rows]
            + [f"{page}: no test {row}" for row in rows if not is_there(row)])


def missing_guards(page="CONTRIBUTING.md"):
    """Tests that the table of folders names and that are not there."""
    with open(page, encoding="utf-8") as file:
        guards = file.read().partition("\n## Folders and what guards them\n")[2]
    names = [name for name in TEST.findall(guards) if name.endswith(".t")]
    return missing_tests(page, guards) + ([] if len(names) > 50 else [f"{page}: {len(names)} tests"])


def tree():
    """All files and folders (with a slash) of the tree, without what is built."""
    paths = []
    for folder, subfolders, names in os.walk("."):
        subfolders[:] = [name for name in subfolders if name not in (".git", "__pycache__")
                         and (folder != "." or name not in SKIPPED)]
        paths += [os.path.normpath(os.path.join(folder, name)) for name in names]
        paths += [os.path.normpath(os.path.join(folder, name)) + "/" for name in subfolders]
    return paths


def missing_files(page, text, paths):
    """Files and folders that the text, of this page, names and that no path of the tree ends with."""
    complaints = []
    for name in sorted(set(NAMED_FILE.findall(text))):
        pattern = re.sub(r"<\w+>|…|NAME", "*", name)
        if not any(fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, f"*/{pattern}") for path in paths):
            complaints.append(f"{page}: no file {name}")
    return complaints


def named_files_missing():
    paths, complaints = tree(), []
    for page in ("CONTRIBUTING.md", "Documentation/architecture.md"):
        with open(page, encoding="utf-8") as file:
            complaints += missing_files(page, file.read(), paths)
    return complaints


def unnamed_folders(contributing, architecture, folders):
    """Folders of tools/ and selftests/ without a row in CONTRIBUTING.md, or absent from architecture.md's tree."""
    rows = " ".join(line.split("|")[1] for line in contributing.splitlines() if line.startswith("| `"))
    drawn = architecture.partition("\n## The tree\n")[2].partition("\n## ")[0]
    of_selftests = set(re.findall(r"\w+", drawn.partition("selftests/")[2]))
    return ([f"CONTRIBUTING.md: no row for {folder}" for folder in folders if f"`{folder}`" not in rows]
            + [f"architecture.md: no {folder}" for folder in folders if folder not in drawn
               and not (folder.startswith("selftests/") and folder.split("/")[1] in of_selftests)])


def folders_without_place(folders=None):
    with open("CONTRIBUTING.md", encoding="utf-8") as file:
        contributing = file.read()
    with open("Documentation/architecture.md", encoding="utf-8") as file:
        architecture = file.read()
    folders = folders or [path for path in tree() if re.fullmatch(r"(tools|selftests)/\w[\w-]*/", path)]
    return unnamed_folders(contributing, architecture, sorted(folders))


def found_planted():
    """What the checks of named files and folders say of names that are wrong on purpose, beside right ones."""
    text = "`no.c` `selftests/none/` `sch_*/no_*.h` `links.t` `lib/` `sch_*/…_packet.h` `q_<kind>.c` `lab run` `x.y`"
    return ([complaint.split()[-1] for complaint in missing_files("page", text, tree())]
            + folders_without_place(["selftests/none/", "selftests/unit/"]))


def found_in_bad_pages():
    """What the check says of pages that are wrong on purpose."""
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(os.path.join(root, "pages"))
        with open(os.path.join(root, "pages", "index.md"), "w", encoding="utf-8") as file:
            file.write("# One `word`, two\n[a](#one-word-two) [b](#three) [c](none.md)\n"
                       "`[d](none.md)`\n\n    [e](none.md)\n")
        with open(os.path.join(root, "pages", "alone.md"), "w", encoding="utf-8") as file:
            file.write("# Alone\n```\n[f](none.md)\n```\n[g](index.md#one-word-two)\n")
        bad = broken_links(root)
        alone = unreachable_pages(os.path.join(root, "pages", "index.md"))
        return bad, [os.path.basename(path) for path in alone]


def main():
    if len(sys.argv) > 1:
        complaints = broken_links(sys.argv[1])
        print("\n".join(complaints))
        return int(bool(complaints))
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    bad, alone = found_in_bad_pages()
    planted = untabled(tests=["none/none-matrix.t"])
    expected = ["pages/index.md: no heading #three", "pages/index.md: no file none.md"]
    tables, names = found_in_bad_tables(), found_planted()
    planted_names = ["no.c", "sch_*/no_*.h", "selftests/none/", "CONTRIBUTING.md: no row for selftests/none/",
                     "architecture.md: no selftests/none/"]
    checks = [
        ("a row behind a blank line, rows with few and many cells, and a head of another width are found",
         [] if tables == [[5], [3], [3], [1, 2, 3], []] else [f"found in lines {tables}"]),
        ("each row of each page is in a table of as many cells", all_broken_tables(".")),
        ("a broken link, a broken anchor and a lone page are found where there are some",
         [] if bad == expected and alone == ["alone.md"] else [str(bad), str(alone)]),
        ("every relative link leads to a file and a heading", broken_links(".")),
        ("every page can be reached from Documentation/index.md",
         unreachable_pages("Documentation/index.md")),
        ("every page that a file names is there", missing_pages(".")),
        ("a test of make matrix without a row is found",
         [] if planted == ["Documentation/matrix.md: no row for none/none-matrix.t"] else [f"found {planted}"]),
        ("each test of make matrix has a row, and each test that a table names is there",
         untabled() + missing_guards()),
        ("a file, a pattern and a folder that are not there are found, and a folder without a row",
         [] if names == planted_names else [f"found {names}"]),
        ("each file and folder that CONTRIBUTING.md and architecture.md name in backquotes is there",
         named_files_missing()),
        ("each folder of tools/ and selftests/ has a row in CONTRIBUTING.md and is in architecture.md's tree",
         folders_without_place()),
        ("every figure of the papers has a scenario that is there, or none", missing_scenarios()),
        ("every function and test that a page of conformance names is there", missing_names()),
    ]
    tap = Tap()
    for claim, complaints in checks:
        tap.claim(claim, not complaints, "\n".join(complaints))
    return tap.done()


sys.exit(main())
