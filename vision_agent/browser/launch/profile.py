"""Browser profiles that runs share: checks whether a folder can serve as one.

Knows the files of Chromium by which a profile and its lock are recognized. Nothing in the folder is read.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from vision_agent.errors import UsageError
from vision_agent.settings import BrowserSettings

HEADLESS_NAMES = ("chromium-headless-shell", "chrome-headless-shell", "headless_shell")
"""Chromium without a user interface. It keeps another kind of profile, and takes one that another browser uses."""
IN_USE = "in use by another instance"
"""Part of what Chromium says about a profile with a lock."""

_LOCK = "SingletonLock"
"""A link to `host-process` while a browser uses the profile; not on Windows."""
_NOT_WITH = {"cdp_url": "--cdp", "session": "--session", "storage_state": "--storage-state"}


def require_profile(settings: BrowserSettings) -> None:
    """Checks that the folder of the settings is a profile or can become one, whether or not it is in use.

    Raises:
        UsageError: it is neither, or other settings contradict it.
    """
    folder = settings.profile
    if folder is None:
        return
    if other := next((option for name, option in _NOT_WITH.items() if getattr(settings, name)), None):
        raise UsageError(f"--profile and {other} cannot be combined", "leave out one of them")
    if settings.executable_path is not None and settings.executable_path.name in HEADLESS_NAMES:
        raise UsageError(
            f"{settings.executable_path.name} keeps no profile that other browsers can use", "name a whole Chromium"
        )
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"The profile {folder} is a file", "give a folder; an empty or missing one becomes a profile")
    if folder.resolve() in _everyday_profiles():
        raise UsageError(
            f"{folder} is a person's everyday profile, and Chrome lets no program drive it",
            "give a new folder, and sign in there once with --headed",
        )
    try:
        names = {each.name for each in folder.iterdir()} if folder.exists() else set()
    except OSError as error:
        raise UsageError(
            f"The profile {folder} cannot be read: {error.strerror}", "give a folder of your own"
        ) from error
    if "Preferences" in names and "Local State" not in names:
        raise UsageError(f"{folder} is only part of a profile", f"give the folder around it: {folder.parent}")
    if names and "Local State" not in names:
        raise UsageError(
            f"The folder {folder} has files in it, but is not a browser profile",
            "give one that a browser made, or an empty or missing folder, which becomes one",
        )
    above = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not os.access(above, os.W_OK | os.X_OK):
        raise UsageError(f"The profile {folder} cannot be written to", "give a folder of your own")


def require_free_profile(settings: BrowserSettings) -> None:
    """Checks that no browser uses the profile now.

    Raises:
        UsageError: one does, or seems to.
    """
    folder = settings.profile
    if folder is None:
        return
    try:
        host, _, process = str((folder / _LOCK).readlink()).rpartition("-")
    except OSError:
        return  # no lock, as far as can be seen
    if host != socket.gethostname():
        raise UsageError(
            f"The profile {folder} is in use by a browser on {host}",
            f"close it; if it is gone, delete {folder / _LOCK}",
        )
    if process.isdecimal() and _is_running(int(process)):
        raise UsageError(
            f"The profile {folder} is in use by another browser (process {process})",
            "close it, or give each browser a profile of its own",
        )


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's
    return True


def _everyday_profiles() -> set[Path]:
    home = Path.home()
    if sys.platform == "darwin":
        root, names = home / "Library/Application Support", ("Google/Chrome", "Chromium", "Microsoft Edge")
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", home))
        names = ("Google/Chrome/User Data", "Chromium/User Data", "Microsoft/Edge/User Data")
    else:
        root = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        names = ("google-chrome", "chromium", "microsoft-edge")
    return {(root / name).resolve() for name in names}
