# SPDX-License-Identifier: GPL-2.0
"""Everything a guest needs, built on demand and only when a source changed."""
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import LabError

TOP = Path(__file__).resolve().parents[3]
LAB = TOP / "tools/lab"
BUILD = TOP / "build"
KERNELS = ("release", "debug")
SOURCES = ("Kbuild", "include", "hop_core", "sch_*", "net_*", "tcp_*",
           "tools/lab/sch_link", "tools/lab/net_wire", "tools/build-modules.sh")


@contextlib.contextmanager
def lock(name: str, folder: Path = BUILD) -> Iterator[None]:
    """Held by one lab process at a time: of this checkout, or of all that share `folder`."""
    folder.mkdir(exist_ok=True)
    with open(folder / f".{name}.lock", "w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another lab command that holds {handle.name}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def say(text: str) -> None:
    print(f"[lab] {text}", file=sys.stderr, flush=True)


def scratch(prefix: str) -> Path:
    """A run directory. Those of failed runs are kept for a day."""
    root = BUILD / "run"
    root.mkdir(parents=True, exist_ok=True)
    for old in root.iterdir():
        # Another lab command may remove its own at any time.
        with contextlib.suppress(FileNotFoundError):
            if old.is_dir() and time.time() - old.stat().st_mtime > 86400:
                shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=prefix, dir=root))


def read(path: Path) -> str:
    """A file's text; nothing where there is none."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def run_quietly(command: Sequence[str | Path], log: Path, what: str | Path) -> None:
    """Run a build step; its output is shown only when it fails."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w") as out:
        code = subprocess.call([str(c) for c in command], stdout=out,
                               stderr=subprocess.STDOUT, cwd=TOP)
    if code:
        lines = log.read_text(errors="replace").splitlines()
        bad = [x for x in lines if re.search(r"error|Error|No rule|undefined", x)]
        for line in (bad or lines)[-15:]:
            print(line, file=sys.stderr)
        raise LabError(f"{what} did not build: all of it is in {log}")


@dataclass
class Built:
    """All that a guest boots with."""
    kernel: str             # release or debug
    kdir: Path              # the kernel's build directory, in the cache
    modules: Path           # folder of our .ko files
    kernel_modules: Path    # root of the kernel's own modules; absent unless they were asked for
    more_modules: Sequence[Path] = ()   # folders of .ko files from elsewhere, loaded, too


def kernel_script(kernel: str, *options: str) -> Path:
    """The path that kernel/build.sh prints; builds on first use (minutes, with progress)."""
    done = subprocess.run([LAB / "kernel/build.sh", kernel, *options], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise LabError(f"the {kernel} kernel could not be built")
    return Path(done.stdout.strip().splitlines()[-1])


def hash_files(digest: Any, files: Iterable[Path], top: Path) -> None:
    for path in sorted(files):
        digest.update(f"{path.relative_to(top)} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())


def modular(prefix: str) -> set[str]:
    """Lower-case names of the lab kernel's options that are modules: modular("NET_SCH") has "pie"."""
    config = (LAB / "kernel/lab.config").read_text()
    return {name.lower() for name in re.findall(rf"^CONFIG_{prefix}_(\w+)=m$", config, re.M)}


def kernel_identity(kdir: Path) -> str:
    """A name for the kernel itself, wherever it is: its code, its symbols, its configuration."""
    digest = hashlib.sha256()
    hash_files(digest, [kdir / name for name in ("linux", "Module.symvers", ".config")], kdir)
    return digest.hexdigest()


def sources_identity() -> str:
    """A name for the content of all module sources."""
    digest = hashlib.sha256()
    files: list[Path] = []
    for pattern in SOURCES:
        for root in TOP.glob(pattern):
            files += [root] if root.is_file() else list(root.rglob("*"))
    hash_files(digest, [f for f in files if f.suffix in (".c", ".h", ".sh") or f.name == "Kbuild"], TOP)
    return digest.hexdigest()


def build_modules(kernel: str, kdir: Path) -> Path:
    # Modules for another kernel source (kernel/build.sh) have a folder of their own.
    other = "-other" if os.environ.get("HOPLAB_KERNEL_SOURCE") else ""
    folder = BUILD / f"uml-{kernel}{other}"
    stamp = folder / ".stamp"
    now = f"{kernel_identity(kdir)} {sources_identity()}"
    old = read(stamp)
    if old == now:
        return folder
    say(f"building the modules for the {kernel} kernel")
    if old.partition(" ")[0] != now.partition(" ")[0]:
        # Make compares times: what was built for another kernel looks up to date.
        shutil.rmtree(folder, ignore_errors=True)
    run_quietly([TOP / "tools/build-modules.sh", folder.name, kdir, "ARCH=um",
                 # The option has an effect only in a kernel with UBSAN, which else does not instrument modules.
                 "UBSAN_SANITIZE=y", f"-j{len(os.sched_getaffinity(0))}"],
                BUILD / f"{folder.name}.log", f"the modules for the {kernel} kernel")
    stamp.write_text(now)
    return folder


def build_programs() -> None:
    """The guest's own programs: the tc plug-ins, the traffic generator, the sampler."""
    for folder, out in (("tools/tc", "tc"), ("tools/lab/traffic", "lab")):
        if (TOP / folder / "Makefile").exists():
            run_quietly(["make", "-s", "-C", TOP / folder, f"OUT={BUILD / out}"],
                        BUILD / f"{out}.log", folder)
        else:
            say(f"{folder} has no Makefile yet: going on without")
    build_guest_tools()


def build_guest_tools() -> None:
    out = BUILD / "guest"
    out.mkdir(parents=True, exist_ok=True)
    for name, target, flags in (("entropy", "entropy.so", ["-shared", "-fPIC"]),
                                ("each", "each.so", ["-shared", "-fPIC"]),
                                ("polls", "polls.so", ["-shared", "-fPIC"]),
                                ("init", "init", ["-static"]),
                                ("settings", "settings", ["-static"]), ("network", "network", ["-static"]), ("at", "at", ["-static"])):
        source = LAB / f"guest/{name}.c"
        if not newer(out / target, source):
            run_quietly(["gcc", "-O2", "-Wall", "-Wextra", *flags, "-o", out / target, source],
                        BUILD / "guest.log", source)


def newer(target: Path, source: Path) -> bool:
    return target.exists() and target.stat().st_mtime_ns >= source.stat().st_mtime_ns


def everything(kernel: str, modules: str | None = None, kernel_modules: bool = True) -> Built:
    """
    Bring all up to date.
    modules: a folder of .ko files instead of ours; kernel_modules: true if the kernel's own are needed
    """
    with lock("build"):
        kdir = kernel_script(kernel)
        root = kernel_script(kernel, "--modules", *([] if kernel_modules else ["--path"]))
        build_programs()
        return Built(kernel, kdir, Path(modules) if modules else build_modules(kernel, kdir), root)


def load_order(*folders: Path) -> list[Path]:
    """All modules of the folders but the test suites, each after the modules that it depends on."""
    found = {p.stem: p for folder in folders
             for p in sorted(folder.rglob("*.ko")) if not p.stem.endswith("_test")}
    order: list[Path] = []

    def add(name: str) -> None:
        if name in found and found[name] not in order:
            for other in dependencies(found[name]):
                add(other)
            order.append(found[name])

    for name in found:
        add(name)
    return order


def dependencies(module: Path) -> list[str]:
    match = re.search(rb"\0depends=([^\0]*)\0", module.read_bytes())
    return [x.replace("-", "_") for x in match.group(1).decode().split(",") if x] if match else []
