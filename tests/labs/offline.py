"""Commands without a network: in a namespace of their own, in which nothing but the machine's own loopback is up."""

import subprocess
import sys

_NAMESPACE = ("unshare", "--map-root-user", "--net")
# Kernels of notebooks talk over the loopback. 0x8914 is SIOCSIFFLAGS, 1 is IFF_UP.
_LOOPBACK = (
    "import fcntl, os, socket, struct, sys\n"
    "fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh', b'lo', 1))\n"
    "os.execvp(sys.argv[1], sys.argv[1:])\n"
)
ADVICE = (
    "This machine allows no namespaces, so nothing shows that the labs need no network; grading refuses here, too. "
    "Run as root, or allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 "
    "kernel.apparmor_restrict_unprivileged_userns=0 user.max_user_namespaces=10000 (those that this kernel has); "
    "in a container: --security-opt seccomp=unconfined."
)


def offline(*command: object) -> list[str]:
    """The command as it is run without a network."""
    return [*_NAMESPACE, sys.executable, "-c", _LOOPBACK, *map(str, command)]


def refusal() -> str:
    """Why nothing can be run so, with what to do; empty where it can."""
    try:
        tried = subprocess.run(offline("true"), capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "unshare is missing: install util-linux."
    return f"{ADVICE}\n{tried.stderr.strip()}" if tried.returncode else ""
