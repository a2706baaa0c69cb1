#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A comment that says which lock a function's caller holds is paired with an assertion in the function,
which lockdep checks in the debug kernel: "Context: socket lock held" with sock_owned_by_me(), and so on.
The words are those of the kind's pattern below, after "Context:" or in a sentence "... lock is held" of a
comment directly before the function. The comment at the head of a file speaks for all functions of the
file, and one before a structure for its function pointers: each function that calls them asserts it.
Where a pointer is read without any lock, a comment that begins with "No lock:" says why."""
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
    (r"(qdisc|tree|port|flow|cache)('s)? lock|its lock|\w+(->|')\w*lock\b|"
     r"(?<!socket )(?<!socket's )(?<!read )\b\w*lock (is )?held",
     r"lockdep_assert_held|hop_assert_qdisc_lock\("),
)
CONTEXT = re.compile(r"Context:\s*(.*?)(?:\. [A-Z]|; (?:takes|may|the|called)|\.?\s*(?:\*/|$)|\.?\s*(?:Return:|@))", re.S)
SENTENCE = re.compile(r"[^.;:]*(?<!while the )\b(?:\w*lock|RTNL) (?:is )?held\b[^.;:]*|[^.;:]*\bUnder RTNL\b[^.;:]*")
COMMENT = re.compile(r"/\*.*?\*/|^//[^\n]*", re.M | re.S)
HEAD = re.compile(r"\s*((?:[\w*]+[ \t\n*]+)+?)(\w+)\s*\(")
FUNCTION = re.compile(r"^(?![#\s}])[^\n;={}]*(?:\n[^\n;={}#]+)*?\)[ \w]*\n(?:\t__\w+\([^\n]*\)\n)*\{\n(.*?)^\}", re.M | re.S)
STRUCT = re.compile(r"\s*struct (\w+) \{\n(.*?)^\}", re.M | re.S)
UNLOCKED = re.compile(r"rcu_dereference_(?:protected|check)\([^;]*,\s*(?:true|1)\)")


def sources():
    for top in sorted(os.listdir(".")):
        if top.startswith(MODULES) and os.path.isdir(top):
            for folder, _, names in os.walk(top):
                yield from (os.path.join(folder, name) for name in sorted(names)
                            if name.endswith((".c", ".h")) and not name.endswith("_test.c"))


def code(text):
    """A text with blanks for its comments."""
    return COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def bodies(texts):
    """{name: {path: body}} of all functions of {path: text}."""
    found = {}
    for path, text in texts.items():
        for match in FUNCTION.finditer(code(text)):
            names = re.findall(r"(\w+)\s*\(", match.group()[:match.start(1) - match.start()])
            for name in names[:1]:
                found.setdefault(name, {})[path] = match.group()
    return found


def promises(text):
    """(line, words about locks, what they are about) of a file's comments. That is the name of a function;
    None: all functions of the file; the name of a structure and its pointers to functions; or "", unknown."""
    start = re.search(r"\S|$", code(text)).start()
    for match in COMMENT.finditer(text):
        flat = re.sub(r"[ \t]*\n[ \t]*\*[ \t]?", " ", match.group()).strip("/* ")
        all_of = re.findall(r"Context of [\w ]+:\s*(.*?)(?:\.\s|;|$)", flat)
        context = [part.partition(" takes ")[0] for part in CONTEXT.findall(flat + " */")]
        said = all_of or [words.strip() for words in context + SENTENCE.findall(flat)]
        function, struct = HEAD.match(text, match.end()), STRUCT.match(text, match.end())
        about = ""
        if match.end() <= start:
            about = None
        elif all_of and struct:
            about = struct[1], re.findall(r"\(\*(\w+)\)\(", struct[2])
        elif function and "\n\n" not in text[match.end():function.start(1)]:
            about = function[2]
        if all_of or context or said and about != "":
            yield text.count("\n", 0, match.start()) + 1, " / ".join(dict.fromkeys(said)), about


def callers(functions, struct, members):
    """{name: bodies} of the functions that call a structure's members by a pointer to it."""
    found = {}
    for name, there in functions.items():
        for body in there.values():
            pointers = re.findall(rf"struct {struct} \*(?:const )?(\w+)", body)
            if any(re.search(rf"\b{pointer}->(?:{'|'.join(members)})\(", body) for pointer in pointers):
                found[name] = [body]
    return found


def concerned(functions, path, about):
    """{name: bodies} of the functions that a comment is about; one of the bodies must have the assertion."""
    if about is None:
        return {name: [there[path]] for name, there in functions.items() if path in there}
    if not isinstance(about, str):
        return callers(functions, *about)
    there = functions.get(about, {})
    # A static function may have the name of one in another file.
    return {about: [there[path]] if path in there else there.values()} if there else {}


def unpaired(texts):
    """Complaints about the comments of {path: text}, and the number of those that have their assertions."""
    functions, complaints, paired = bodies(texts), [], 0
    for path, text in texts.items():
        for line, words, about in promises(text):
            kinds = [assertion for pattern, assertion in KINDS if re.search(pattern, words)]
            found = concerned(functions, path, about) if kinds else {}
            if not found and (kinds or re.search(r"\bheld\b", words)):
                complaints.append(f"{path}:{line}: {about}: \"{words}\": no lock or no function is found")
            for name, there in found.items():
                lacks = sum(not any(re.search(assertion, body) for body in there) for assertion in kinds)
                complaints += [f"{path}:{line}: {name}(): \"{words}\" without an assertion"] * bool(lacks)
                paired += len(kinds) - lacks
    return complaints, paired


def unexplained(texts):
    """Complaints about pointers that are read without a lock, and without a reason."""
    return [f"{path}:{text.count(chr(10), 0, match.start()) + 1}: no \"No lock:\" says why"
            for path, text in texts.items() for match in UNLOCKED.finditer(text)
            if not re.search(r"/\* No lock: [^/]+\*/\n[^\n]*$", text[:match.start()])]


# Functions of which those whose names begin with "bad" lack an assertion.
PLANTED = {"a.c": """// SPDX
/* A head that speaks of no lock. */
#include <a.h>

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
static void bad_b(struct sock *sk)
{
	c(sk);
}

/* Context: process; takes RTNL. */
static void d(void)
{
	rtnl_lock();
}

/* Sets the value, as ops.set() does. @f's lock is held. */
static void bad_e(struct f *f)
{
	f->a = 1;	/* lockdep_assert_held(&f->lock) */
}

/* Context: RCU read lock; f->lock is held. */
static int bad_g(struct f *f)
{
	lockdep_assert_held(&f->lock);
	return f->a;
}

/* RTNL is held. */
static void bad_h(void)
{
	f(1);
}

/* Context: other_start_lock held. */
static void bad_i(void)
	__releases(&other_start_lock)
{
	f(1);
}
""", "head.h": """/* SPDX */
/* Changes. Context of all functions: socket lock held. */
#ifndef HEAD_H
static inline void of_head(struct sock *sk)
{
	sock_owned_by_me(sk);
}

/* Sets another value. */
static inline void bad_of_head(struct sock *sk)
{
	sk->a = 1;
}
""", "skb.h": """/* Tags, where the qdisc's lock is held. */
#ifndef SKB_H
static inline void bad_tag(struct sk_buff *skb)
{
	skb->a = 1;
}
""", "ops.c": """#include <a.h>
/**
 * struct ops - functions
 * @run: runs
 *
 * Context of both functions: RCU read lock.
 */
struct ops {
	void (*run)(int a);
	void (*stop)(int a);
};

static void bad_run(const struct ops *o, const struct other *b)
{
	o->run(1);
}

static void calls_others(const struct ops *o, const struct other *b)
{
	b->run(1);
}
""", "lost.h": """#include <a.h>
/* Context: RTNL held. */
void bad_lost(void);

/* Context: mmap_sem held. */
void bad_unknown(void);

/* Context: RTNL held. */
#define bad_macro(a)	f(a)
"""}
FOUND = ["bad_b", "bad_e", "bad_g", "bad_h", "bad_i", "bad_of_head", "bad_tag", "bad_run", "bad_lost", "bad_unknown", ""]
READ = """
	/* No lock: nobody else is left. */
	kfree(rcu_dereference_protected(a->b, true));
	/* The lock is held. */
	kfree(rcu_dereference_protected(a->c, lockdep_is_held(&lock)));
	kfree(rcu_dereference_check(a->d, true));

	/* No lock is needed. */
	kfree(rcu_dereference_protected(a->e,
					1));
"""


def planted_are_found():
    complaints, paired = unpaired(PLANTED)
    found = [complaint.split(": ")[1].removesuffix("()") for complaint in complaints]
    read = [complaint.split(":")[1] for complaint in unexplained({"read.c": READ})]
    return [] if (found, paired, read) == (FOUND, 3, ["6", "9"]) else [*complaints, f"{paired} paired", str(read)]


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    texts = {}
    for path in sources():
        with open(path, encoding="utf-8") as file:
            texts[path] = file.read()
    complaints, paired = unpaired(texts)
    bare = unexplained(texts)
    tap = Tap()
    tap.claim("planted comments without an assertion are found, and nothing else", not planted_are_found(),
              "\n".join(planted_are_found()))
    tap.claim("each comment that says which lock is held is paired with an assertion", not complaints,
              "\n".join(complaints))
    tap.claim("a pointer is read under a lock, or a comment says why there is none", not bare, "\n".join(bare))
    tap.claim(f"there are such comments: {paired} pairs", paired > 200)
    return tap.done()


sys.exit(main())
