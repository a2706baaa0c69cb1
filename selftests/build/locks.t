#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A comment that says which lock a function's caller holds is paired with an assertion in the function,
which lockdep checks in the debug kernel: "Context: socket lock held" with sock_owned_by_me(), and so on.
The words are those of the kind's pattern below, after "Context:" or in a sentence "... lock is held" of a
comment directly before the function."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from tap import Tap

MODULES = ("hop_core", "net_", "sch_", "tcp_", "include")
# Words in a comment, and the assertions that say the same to lockdep.
KINDS = (
    (r"socket('s)? lock|lock of the socket", r"sock_owned_by_me\(|lockdep_sock_is_held\("),
    (r"RTNL", r"ASSERT_RTNL\(|lockdep_rtnl_is_held\("),
    (r"RCU read", r"lockdep_assert_in_rcu_read|rcu_read_lock_(any_)?held\("),
    (r"(qdisc|tree|port|flow|cache)('s)? lock|its lock|\w+(->|')\w*lock\b|(?<!socket )(?<!socket's )\block (is )?held",
     r"lockdep_assert_held|hop_assert_qdisc_lock\(|__must_hold"),
)
CONTEXT = re.compile(r"Context:\s*(.*?)(?:\. [A-Z]|; (?:takes|may|the|called)|\.?\s*(?:\*/|$)|\.?\s*(?:Return:|@))", re.S)
SENTENCE = re.compile(r"[^.;:]*(?<!while the )\block (?:is )?held\b[^.;:]*")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
HEAD = re.compile(r"\s*((?:[\w*]+[ \t\n*]+)+?)(\w+)\s*\(")


def sources():
    for top in sorted(os.listdir(".")):
        if top.startswith(MODULES) and os.path.isdir(top):
            for folder, _, names in os.walk(top):
                yield from (os.path.join(folder, name) for name in sorted(names)
                            if name.endswith((".c", ".h")) and not name.endswith("_test.c"))


def bodies(texts):
    """{name: {path: body}} of all functions of {path: text}."""
    found = {}
    for path, text in texts.items():
        for match in re.finditer(r"^(?![#\s}])[^\n;={}]*(?:\n[^\n;={}#]+)*?\)[ \w]*\n\{\n(.*?)^\}", text, re.M | re.S):
            names = re.findall(r"(\w+)\s*\(", match.group()[:match.start(1) - match.start()])
            for name in names[:1]:
                found.setdefault(name, {})[path] = match.group()
    return found


def promises(text):
    """(line, function, words about locks) of the comments before functions."""
    for match in COMMENT.finditer(text):
        flat = re.sub(r"\s*\n\s*\*\s?", " ", match.group())
        said = [part.partition(" takes ")[0] for part in CONTEXT.findall(flat)] + SENTENCE.findall(flat)
        head = HEAD.match(text, match.end())
        if said and head and "\n\n" not in text[match.end():head.start(1)]:
            yield text.count("\n", 0, match.start()) + 1, head[2], " / ".join(said)


def unpaired(texts):
    """Complaints about the comments of {path: text}, and the number of those that have their assertions."""
    functions, complaints, paired = bodies(texts), [], 0
    for path, text in texts.items():
        for line, name, words in promises(text):
            if name not in functions:
                continue
            for pattern, assertion in KINDS:
                if re.search(pattern, words):
                    # A static function may have the name of one in another file.
                    there = functions[name]
                    there = [there[path]] if path in there else there.values()
                    lacks = not any(re.search(assertion, body) for body in there)
                    complaints += [f"{path}:{line}: {name}(): \"{words.strip()}\" without an assertion"] * lacks
                    paired += not lacks
    return complaints, paired


PLANTED = """
/**
 * a() - a
 * @sk: the socket
 *
 * Context: socket lock held.
 */
static void a(struct sock *sk)
{
	sock_owned_by_me(sk);
}

/* Context: socket lock held. Return: nothing. */
static void b(struct sock *sk)
{
	c(sk);
}

/* Context: process; takes RTNL. */
static void d(void)
{
	rtnl_lock();
}

/* Sets the value. @f's lock is held. */
static void e(struct f *f)
{
	f->a = 1;
}

/* Context: RCU read lock; f->lock is held. */
static int g(struct f *f)
{
	lockdep_assert_held(&f->lock);
	return f->a;
}
"""


def planted_are_found():
    complaints, paired = unpaired({"a.c": PLANTED})
    found = [complaint.split(": ")[1] for complaint in complaints]
    return [] if found == ["b()", "e()", "g()"] and paired == 2 else [*complaints, f"{paired} paired"]


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    texts = {}
    for path in sources():
        with open(path, encoding="utf-8") as file:
            texts[path] = file.read()
    complaints, paired = unpaired(texts)
    tap = Tap()
    tap.claim("planted comments without an assertion are found, and nothing else", not planted_are_found(),
              "\n".join(planted_are_found()))
    tap.claim("each comment that says which lock is held is paired with an assertion", not complaints,
              "\n".join(complaints))
    tap.claim(f"there are such comments: {paired} pairs", paired > 100)
    return tap.done()


sys.exit(main())
