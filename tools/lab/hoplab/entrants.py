# SPDX-License-Identifier: GPL-2.0
"""Congestion controls for `lab judge`: from a module, from source, from the kernel's source, or known already."""
import hashlib
import re
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import LabError, build, kinds

FILE = build.LAB / "entrants.toml"


@dataclass
class Entrant:
    """One congestion control, and what its runs need."""
    cc: str                     # as TCP_CONGESTION has it
    port: str                   # the qdisc of a switch port at 1 Gbit/s
    ports: dict[str, str]       # the same in situations that need another one, by name
    modules: Path | None = None     # folder of its own modules


def settings() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text())


def ports_of(cc: str) -> tuple[str, dict[str, str]]:
    """The qdisc of a port, and those of situations that need another one."""
    found = settings()
    there = {name: those[cc] for name, those in found["situation"].items() if cc in those}
    return found["port"].get(cc, found["default"]["port"]), there


def resolve(word: str, kdir: Path, port: str | None = None, name: str | None = None) -> Entrant:
    """
    The entrant that a word names: a .ko file, a .c file, a folder with a Kbuild or Makefile, or the name of a
    congestion control of the lab or of the kernel's source.
    kdir: the lab kernel's build directory; name: of the congestion control, if it is not the module's without tcp_
    """
    path = Path(word)
    if path.suffix == ".o":
        raise LabError(f"{word}: User-Mode Linux has no BPF JIT, without which a kernel has no struct_ops: give a "
                       "kernel module; on a host, bpftool struct_ops register FILE")
    if path.suffix == ".ko":
        modules: Path | None = folder_of(path, kdir)
    elif path.suffix == ".c" or path.is_dir():
        modules = compiled(path, kdir)
    else:
        modules = None if word in kinds.ccs() else compiled(of_kernel(word, kdir), kdir)
    cc = name or (word if modules is None else name_of(modules, word))
    kinds.FOREIGN_CCS.add(cc)
    return Entrant(cc, *((port, {}) if port else ports_of(cc)), modules)


def of_kernel(word: str, kdir: Path) -> Path:
    """The source of a congestion control that the lab's kernel has not."""
    source = kdir / f"source/net/ipv4/tcp_{word}.c"
    if not re.fullmatch(r"[a-z0-9_]+", word) or not source.exists():
        there = sorted(p.stem[4:] for p in source.parent.glob("tcp_*.c")
                       if re.search(r"^static struct tcp_congestion_ops \w+ ", build.read(p), re.M))
        raise LabError(f"{word}: no such file, and no congestion control; there are: "
                       f"{' '.join(kinds.ccs()[1:])}; in the kernel's source: {' '.join(there)}")
    return source


def folder_of(module: Path, kdir: Path) -> Path:
    """A folder with the one module, which must be one for the lab's kernel."""
    if not module.exists():
        raise LabError(f"{module}: no such file")
    content = module.read_bytes()
    found = re.search(rb"\0vermagic=([^\0]*)\0", b"\0" + content)
    wanted = build.read(kdir / "include/config/kernel.release").strip()
    if not found or found[1].decode(errors="replace").split(" ")[0] != wanted:
        raise LabError(f"{module}: a module for {found[1].decode(errors='replace') if found else 'no kernel'}, and "
                       f"the lab has {wanted} for ARCH=um: give its source, or build it with make -C {kdir} ARCH=um M=...")
    folder = place(hashlib.sha256(content).hexdigest())
    if not (folder / module.name).exists():
        shutil.copy(module, folder / module.name)
    return folder


def compiled(source: Path, kdir: Path) -> Path:
    """Build a .c file or a folder for the lab's kernel, in a copy. Return: the folder with the modules."""
    files = [source] if source.is_file() else sorted(p for p in source.rglob("*") if p.is_file())
    if not any(f.suffix == ".c" for f in files):
        raise LabError(f"{source}: no C source there")
    digest = hashlib.sha256(build.kernel_identity(kdir).encode())
    build.hash_files(digest, files, source.parent)
    folder = place(digest.hexdigest())
    if not any(folder.rglob("*.ko")):
        shutil.rmtree(folder)
        if source.is_dir():
            shutil.copytree(source, folder)
        else:
            folder.mkdir()
            shutil.copy(source, folder)
        if not any((folder / name).exists() for name in ("Kbuild", "Makefile")):
            objects = " ".join(f"{p.stem}.o" for p in sorted(folder.glob("*.c")))
            # A congestion control of the kernel includes headers that are beside it.
            (folder / "Kbuild").write_text(f"obj-m := {objects}\nccflags-y := -I$(srctree)/net/ipv4\n")
        build.run_quietly(["make", "-C", kdir, f"M={folder}", "ARCH=um", "modules"],
                          build.BUILD / "referee.log", source)
    return folder


def place(digest: str) -> Path:
    folder = build.BUILD / "referee" / digest[:16]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def name_of(modules: Path, word: str) -> str:
    """The name of the one congestion control in a folder: that of its module tcp_NAME."""
    found = [p.stem.removeprefix("tcp_") for p in modules.rglob("*.ko")]
    named = [n for p, n in zip(modules.rglob("*.ko"), found) if p.stem.startswith("tcp_")] or found
    if len(named) != 1:
        raise LabError(f"{word}: modules {' '.join(sorted(found))}: say which congestion control by --cc-name")
    return named[0]
