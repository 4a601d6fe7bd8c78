"""The walls of the box: namespaces, a root of its own, no capabilities. Runs inside the box, before any student code.

Sent to a bare interpreter as text, so it imports the standard library only. What `unshare -rmnp --fork --kill-child`
does is done here by system calls, since the box has no programs; root first builds the view, whose files nobody may
not reach, and becomes nobody before it makes the namespaces.
"""

import ctypes
import os
import platform
import resource
import signal
from collections.abc import Iterable

NOBODY = 65534
# linux/sched.h, linux/mount.h, linux/prctl.h
NEW_MOUNTS, NEW_UTS, NEW_IPC, NEW_USER, NEW_PID, NEW_NET = (
    0x20000,
    0x4000000,
    0x8000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
READ_ONLY, NO_SUID, NO_DEV, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
NO_ATIME, NO_DIR_ATIME, RELATIVE_ATIME = 1024, 2048, 1 << 21
DETACH = 2
DEATH_SIGNAL, DUMPABLE, DROP_BOUND, NO_NEW_PRIVILEGES = 1, 4, 24, 38
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}
PLACES = ("/mnt", "/media", "/srv", "/opt", "/home")
DEVICES = ("/dev/null", "/dev/urandom", "/dev/zero")
WORK = "/own"  # the one folder that can be written, a few megabytes of memory

_libc = ctypes.CDLL(None, use_errno=True)


def _must(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    texts = [text.encode() if text is not None else None for text in (source, target, kind)]
    _must(_libc.mount(*texts, ctypes.c_ulong(flags), options.encode() if options else None), f"mount {target}")


def unshare(flags: int) -> None:
    _must(_libc.unshare(ctypes.c_int(flags)), "unshare")


def die_with_parent() -> None:
    _must(_libc.prctl(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0), "prctl")


def _read_only(path: str) -> None:
    """Flags that the mount already has are locked in a user namespace and must be repeated."""
    has = os.statvfs(path).f_flag
    locked = has & (NO_SUID | NO_DEV | NO_EXEC | NO_ATIME | NO_DIR_ATIME)
    if has & 4096:  # ST_RELATIME has another number than MS_RELATIME
        locked |= RELATIVE_ATIME
    mount("none", path, None, REMOUNT | BIND | READ_ONLY | NO_SUID | locked)


def _bind(source: str, root: str) -> None:
    target = root + source
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "a", encoding="ascii"):
            pass
    mount(source, target, None, BIND)
    _read_only(target)


def _outermost(paths: Iterable[str]) -> list[str]:
    """Paths that lie in no other path of the list."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not any(path == one or path.startswith(one + "/") for one in kept):
            kept.append(path)
    return kept


def build_view(visible: list[str], links: dict[str, str], hidden: list[str], *, as_root: bool) -> None:
    """A new root that holds the visible paths, read-only, and nothing else; empty folders lie over hidden ones."""
    mount("none", "/", None, RECURSIVE | PRIVATE)
    root = next(place for place in PLACES if os.path.isdir(place) and not any(_below(one, place) for one in visible))
    mount("tmpfs", root, "tmpfs", NO_SUID | NO_DEV, "size=64m,mode=755")
    for path in (*_outermost(visible), *DEVICES):
        _bind(path, root)
    for name, target in links.items():
        if not os.path.lexists(root + name):
            os.makedirs(os.path.dirname(root + name), exist_ok=True)
            os.symlink(target, root + name)
    for path in hidden:
        if os.path.isdir(root + path):
            mount("tmpfs", root + path, "tmpfs", NO_SUID | NO_DEV | READ_ONLY, "size=4k,mode=755")
    for folder in (WORK, "/.old"):
        os.mkdir(root + folder, 0o755)
    if as_root:
        os.chown(root + WORK, NOBODY, NOBODY)
    os.chdir(root)
    number = PIVOT_ROOT.get(platform.machine())
    if number is None:
        raise OSError(0, f"pivot_root is not known on {platform.machine()}")
    _must(_libc.syscall(number, b".", b".old"), "pivot_root")
    os.chdir("/")
    _must(_libc.umount2(b"/.old", DETACH), "umount")
    os.rmdir("/.old")


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def enter(visible: list[str], links: dict[str, str], hidden: list[str]) -> None:
    """Everything but the walls between tasks. Returns in the first process of the box; its parent waits outside."""
    processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    as_root = os.geteuid() == 0
    if as_root:
        unshare(NEW_MOUNTS)
        build_view(visible, links, hidden, as_root=True)
        become_nobody()
        # Whoever changes its user may not write its own map until it says that it has no secrets.
        _must(_libc.prctl(DUMPABLE, 1, 0, 0, 0), "prctl")
    user, group = os.geteuid(), os.getegid()
    unshare(NEW_USER | NEW_MOUNTS | NEW_PID | NEW_NET | NEW_IPC | NEW_UTS)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        handle = os.open(f"self/{name}", os.O_WRONLY, dir_fd=processes)
        os.write(handle, text.encode())
        os.close(handle)
    os.close(processes)
    if not as_root:
        build_view(visible, links, hidden, as_root=False)
    _fork_and_wait()
    die_with_parent()


def become_nobody() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def _fork_and_wait() -> None:
    """Returns in the child, which is the first process of a new process namespace; the parent ends when it does."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 255)


def task_walls(limits: dict[str, int]) -> None:
    """Walls between one task and the next: own processes, own folder, no capabilities, limits. Returns in the child."""
    die_with_parent()
    unshare(NEW_MOUNTS | NEW_PID | NEW_IPC | NEW_UTS)
    _fork_and_wait()
    die_with_parent()
    mount("tmpfs", WORK, "tmpfs", NO_SUID | NO_DEV, f"size={limits['disk']},mode=700")
    os.chdir(WORK)
    _read_only("/")
    drop_privileges()


def drop_privileges() -> None:
    """No capability now, none to be had later."""
    for capability in range(64):
        _libc.prctl(DROP_BOUND, capability, 0, 0, 0)  # numbers that this kernel does not know fail, and that is fine
    _must(_libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0), "prctl")
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _must(_libc.capset(header, nothing), "capset")


def limit(limits: dict[str, int]) -> None:
    """Memory, processor, file size, processes, open files; no core files."""
    wanted = {
        resource.RLIMIT_FSIZE: limits["disk"],
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: limits["processes"],
        resource.RLIMIT_AS: limits["memory"],
    }
    for name, value in wanted.items():
        _, hard = resource.getrlimit(name)
        capped = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(name, (capped, capped))
    # First a signal, which the child turns into a verdict; then the end, for those who do not listen.
    resource.setrlimit(resource.RLIMIT_CPU, (limits["seconds"], limits["seconds"] + 1))
