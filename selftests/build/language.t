#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Comments, messages and pages are plain English with the field's terms (CONTRIBUTING.md, "How text
reads"). This test counts the faults that a pattern finds without false alarms: one-line comments
that open with "who", "what", "of", "those", "it" or "that"; kernel-doc members that open with
"of"; and words that hopcc once used in a private sense and for which the field has a term, in text
and in the names of C code.

    language.t [--list] [DIRECTORY]     the faults in another directory, one a line
"""

import ast
import io
import os
import re
import sys
import tempfile
import tokenize

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from tap import Tap

SKIPPED = {".git", "build", "lab-results", "corpus", "__pycache__"}
OPENERS = {"who", "what", "of", "those", "it", "that"}
MOST_OPENERS = 0.01
MEMBER = re.compile(r"^\s*\*\s*@[\w.]+:\s*of\s", re.M | re.I)

# A private word, and the term to write instead.
WORDS = [(re.compile(rf"(?<![-\w])(?:{pattern})(?![-\w])", re.I), term) for pattern, term in (
    (r"hears?|heard|hearing", "receive, received, feedback"),
    (r"told|is told|are told", "reported, echoed, configured"),
    (r"judges?|judged|judging", "decide, check"),
    (r"greets?|greeters?|greeted|greetings?", "negotiate, handshake"),
    (r"reckon(?:s|ed|ing)?", "compute, estimate"),
    (r"patience|impatient", "timeout"),
    (r"doubts?|doubted", "unanswered count"),
    (r"crowds?", "flow count, senders that start together"),
    (r"super[- ]?packets?", "GSO packet"),
    (r"reactors?", "congestion control"),
    (r"signallers?", "switch qdisc"),
    (r"dues", "pending feedback"),
    (r"owed|owes", "pending"),
    (r"dress(?:es|ed|ing)?", "build the header"),
    (r"silent (?:peer|host|tunnel|destination)s?", "peer without support"),
    (r"mails?", "probe, answer, control packet"),
    (r"(?:network )?cards?", "NIC"),
    (r"weather", "conditions"),
    (r"begins", "starts"),
    (r"(?:a|one) (?:tenth|hundredth|thousandth)", "10 %, 1 %, 0.1 %"),
    (r"its least", "its minimum"),
    (r"Returns?:? whether", "Return: true if"),
    (r"stack's Reno rules", "falls back to Reno"),
)]

# Words that are ordinary in text, but private in a name.
NAMES = WORDS + [(re.compile(rf"\b(?:{pattern})\b", re.I), term) for pattern, term in (
    (r"pays?|paid", "fill in, take"),
    (r"owe", "pending"),
    (r"silent", "unsupported, unanswered"),
    (r"ways?", "path, direction"),
    (r"look(?:s|ed)? at", "read, check, examine"),
    (r"wish(?:es)?", "request"),
)]

# A word in its ordinary sense: the text around it.
ALLOWED = re.compile(r"hearing-aid|\blab judge\b|\"judge\"|`judge`", re.I)


def c_texts(text):
    """(line, text, is a comment) of each comment and string of a C source."""
    for match in re.finditer(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', text, re.S):
        if match.group()[0] != "'":
            yield text.count("\n", 0, match.start()) + 1, match.group(), match.group()[0] == "/"


def c_names(text):
    """(line, its words) of each name of a C source, where it stands first."""
    code = re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*|^#\s*include[^\n]*',
                  lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.S | re.M)
    seen = set()
    for number, line in enumerate(code.splitlines(), 1):
        for name in re.findall(r"\b[A-Za-z_]\w*", line):
            if name not in seen:
                seen.add(name)
                yield number, re.sub(r"_+", " ", name).strip()


def python_texts(text):
    """The same of Python; consecutive lines of comments are one comment."""
    comments, strings = {}, []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments[token.start[0]] = token.string, token.line.lstrip().startswith("#")
        elif token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            strings.append((token.start[0], token.string))
    docstrings = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and \
           isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
            docstrings.add(body[0].value.lineno)
    yield from runs(comments)
    for line, string in strings:
        yield line, string, line in docstrings


def runs(comments):
    """Comments by line, {line: (text, stands alone)}: joined where consecutive lines are one comment."""
    start, lines = 0, []
    for line, (text, alone) in sorted(comments.items()):
        if lines and alone and line == start + len(lines) and comments[start][1]:
            lines.append(text)
            continue
        if lines:
            yield start, "\n".join(lines), True
        start, lines = line, [text]
    if lines:
        yield start, "\n".join(lines), True


def shell_texts(text):
    """The same of a shell script, a Makefile or TOML: comments, and the rest of each line."""
    comments = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = re.search(r"(?:^|(?<=\s))#(?:\s.*|$)", line)
        code = line[:match.start()] if match else line
        if match:
            comments[number] = match.group(), not code.strip()
        yield number, code, False
    yield from runs(comments)


def page_texts(text):
    """The lines of a page or manual page that are not code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if not fenced and not line.startswith(("    ", "\t")):
            yield number, re.sub(r"`[^`]*`", "", line), False


def reader_of(path, text):
    if path.endswith((".c", ".h")):
        return c_texts
    if path.endswith((".md", ".8")):
        return page_texts
    if path.endswith(".py") or re.match(r"#! *\S*(?:/env )?\S*python3", text):
        return python_texts
    if path.endswith((".sh", ".t", ".toml", "Makefile", "Kbuild")) or re.match(r"#! *\S*sh\b", text):
        return shell_texts
    return None


def files(root):
    """(place, path, text) of each file of the tree but this one, which quotes the faults."""
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(set(subfolders) - SKIPPED)
        for path in (os.path.join(folder, name) for name in sorted(names)):
            try:
                with open(path, encoding="utf-8") as file:
                    text = file.read()
            except (UnicodeDecodeError, OSError):
                continue
            if not os.path.samefile(path, __file__):
                yield os.path.relpath(path, root), path, text


def texts(root):
    """(place, text, is a comment) of the whole tree."""
    for place, path, text in files(root):
        reader = reader_of(path, text)
        if reader:
            yield from ((f"{place}:{line}", part, is_comment) for line, part, is_comment in reader(text))


def private_names(root):
    """Complaints about the names of C code."""
    return [f"{place}:{line}: \"{name.replace(' ', '_')}\": write {term}" for place, path, text in files(root)
            if path.endswith((".c", ".h")) for line, name in c_names(text)
            for pattern, term in NAMES if pattern.search(name)]


def first_word(comment):
    """The first word of a one-line comment, in lower case; None of any other comment."""
    words = re.sub(r'^(?:/\*+|//|#+!?|[rf]*"+)\s*|\s*(?:\*/|"+)$', "", comment).split()
    if "\n" in comment or not words or words[0].startswith(("SPDX", "/", "shellcheck", "noqa", "type:")):
        return None
    return words[0].lower().strip(",:;")


def faults(root):
    """(number of one-line comments, their bad openers, bad members, private words, private names)."""
    count, openers, members, words = 0, [], [], []
    for place, text, is_comment in texts(root):
        first = first_word(text) if is_comment else None
        count += first is not None
        if first in OPENERS:
            openers.append(f"{place}: {text}")
        if is_comment:
            members += [f"{place}: {match.group().strip()}" for match in MEMBER.finditer(text)]
        flat = ALLOWED.sub(" ", re.sub(r"\n\s*(?:\*|#)?\s*", " ", text))
        for pattern, term in WORDS:
            words += [f"{place}: \"{match.group()}\": write {term}" for match in pattern.finditer(flat)]
    return count, openers, members, words, private_names(root)


# One fault of each kind in each kind of file, and beside it what is no fault.
PLANTED = {
    "a.c": '/* Of the last packet. */\nint a; /* The rate. */\n/**\n * struct b - a\n * @c: of the port\n'
           ' * @d: rate of the port\n * Return: whether it fits\n */\nstatic int A_GREETING, on_heard_way, away;\n'
           '/*\n * What spans\n * two lines.\n */\nvoid look_at(void) { g("the packet is judged"); g(heard_at); }\n',
    "b.py": '"""Those that count."""\n# The first\n# who counts.\nreactor = "a super-\\\npacket"\n'
            'x = 1  # it counts\nprint("the crowd")\n',
    "c.sh": '#!/bin/sh\n# That counts.\necho "${a#b}" heard # The last.\n',
    "d.md": "The reactor.\n\n    dues heard\n\nIts `dues`.\n",
}
EXPECTED = ["a.c:1", "b.py:1", "b.py:6", "c.sh:2"], ["a.c:3"], \
    ["a.c:3", "a.c:14", "b.py:7", "c.sh:3", "d.md:1"], ["a.c:9", "a.c:9", "a.c:9", "a.c:14", "a.c:14"]


def planted_are_found():
    with tempfile.TemporaryDirectory() as root:
        for name, text in PLANTED.items():
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write(text)
        count, *found = faults(root)
    found = [sorted((complaint.split(": ")[0] for complaint in kind),
                    key=lambda place: (place.split(":")[0], int(place.split(":")[1]))) for kind in found]
    good = count == 6 and found == list(EXPECTED)
    return [] if good else [f"{count} one-line comments, {found}"]


def main():
    if len(sys.argv) > 1:
        complaints = sum(faults(sys.argv[-1])[1:], [])
        print("\n".join(complaints))
        return int(bool(complaints))
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    count, openers, members, words, names = faults(".")
    share = len(openers) / max(count, 1)
    tap = Tap()
    for claim, complaints in (
            ("planted faults of each kind are found, and nothing else", planted_are_found()),
            (f"{share:.2%} of {count} one-line comments open with who, what, of, those, it or that; "
             f"less than {MOST_OPENERS:.0%} may", openers if share >= MOST_OPENERS else []),
            ("no kernel-doc member opens with \"of\"", members),
            ("no private word stands where the field has a term", words),
            ("no name of C code has a private word", names)):
        tap.claim(claim, not complaints, "\n".join(complaints))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
