"""What the process forbids itself before it runs code of a model: more memory, more processes, files outside, the network.

The interpreter of smolagents forbids most of it in the language already.
This holds where a module that the code may import does it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_FORBIDDEN = (
    *("socket.", "os.fork", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.startfile", "os.kill", "os.killpg"),
    *("subprocess.", "pty.", "ctypes.", "signal.pthread_kill", "urllib.", "http.client", "ftplib.", "smtplib.", "syslog."),
    *(
        "webbrowser.",
        "winreg.",
        "gc.",
        "sys._current_frames",
        "sys.addaudithook",
        "sys.setprofile",
        "sys.settrace",
        "resource.setrlimit",
    ),
)
_PATHS = (
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.link", "os.symlink", "os.truncate"),
    *("os.listdir", "os.scandir", "os.chdir", "os.utime", "os.setxattr", "os.removexattr", "glob.glob", "shutil.", "tempfile."),
)


_UNSEEN = ("mkfifo", "mknod", "chroot", "lchmod", "lchflags", "pidfd_open")
"""Functions of `os` that no audit event tells of, as far as they change or show something outside: they are taken away."""


def limit_memory(size: int) -> None:
    """Limit the memory of this process and the size of its files, and forbid dumps of its memory."""
    try:
        import resource  # not on Windows
    except ImportError:
        return
    for name, value in (("RLIMIT_AS", size), ("RLIMIT_FSIZE", 16 * 1024 * 1024), ("RLIMIT_CORE", 0), ("RLIMIT_NPROC", 0)):
        if hasattr(resource, name):
            limit = getattr(resource, name)
            _, most = resource.getrlimit(limit)
            least = value if most < 0 else min(value, most)
            resource.setrlimit(limit, (least, least))


def _take_away() -> None:
    for module in (sys.modules.get(name) for name in ("os", "posix", "nt")):
        for name in _UNSEEN:
            if module is not None and hasattr(module, name):
                delattr(module, name)


def forbid(folder: str) -> None:
    """Forbid what the code of a model does not need; files may be read where modules lie, and written in the folder."""
    own = Path(folder).resolve()
    _take_away()
    readable = tuple({str(Path(place).resolve()) for place in [sys.prefix, sys.base_prefix, *sys.path] if place})

    def inside(path: object) -> bool:
        if isinstance(path, int):
            return True  # it is open already
        if not isinstance(path, str | bytes | os.PathLike):
            return False
        try:
            return Path(os.fsdecode(path)).resolve().is_relative_to(own)
        except (TypeError, ValueError, OSError):
            return False

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments[0], arguments[1], arguments[2]
            reads = not (isinstance(flags, int) and flags & 3) if mode is None else not set(str(mode)) & set("wax+")
            if inside(path) or (reads and isinstance(path, str) and str(Path(path).resolve()).startswith(readable)):
                return
            message = f"the file `{path}` is outside of what this code may read and write"
            raise PermissionError(message)
        if event.startswith(_FORBIDDEN):
            message = f"this code may not do that: {event}"
            raise PermissionError(message)
        if event.startswith(_PATHS):
            for path in arguments[:2]:
                if isinstance(path, str | bytes) and not inside(path):
                    message = f"`{os.fsdecode(path)}` is outside of what this code may read and write"
                    raise PermissionError(message)

    sys.addaudithook(hook)
