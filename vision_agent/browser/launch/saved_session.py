"""Signed-in sessions kept for later runs: cookies and storage, encrypted on disk.

    FOLDER/<name>.session    JSON: version, when it was saved, how its key is found, and the encrypted state

The key is a random one in the system's keyring; where there is none, it is made from a passphrase (scrypt, RFC 7914)
that the variable VISION_AGENT_SESSION_PASSPHRASE holds. The state is encrypted with Fernet: AES in CBC mode and an
HMAC, so a changed file is noticed. Needs the extra `sessions`.
"""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

import platformdirs
from pydantic import ValidationError

from vision_agent.base_model import FrozenModel
from vision_agent.errors import Unavailable, UsageError
from vision_agent.settings import BrowserSettings

PASSPHRASE = "VISION_AGENT_SESSION_PASSPHRASE"  # noqa: S105 - the name of a variable
_NO_KEYRING = "This machine has no keyring to keep the key of a saved sign-in in"
_SERVICE = "vision-agent session"
_ENDING = ".session"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SCRYPT = {"n": 2**15, "r": 8, "p": 1}
"""32 MB and about a tenth of a second, as OWASP's Password Storage Cheat Sheet advises for files at rest."""
_MOST_BYTES = 64_000_000


class SessionInfo(NamedTuple):
    """What can be said of a saved session without its key."""

    name: str
    saved_at: datetime
    key: Literal["keyring", "passphrase"]


class _SavedSession(FrozenModel):
    version: Literal[1] = 1
    saved_at: datetime
    key: Literal["keyring", "passphrase"]
    salt: str = ""
    state: str


def sessions_folder(settings: BrowserSettings) -> Path:
    """The folder of saved sessions."""
    return settings.sessions_folder or Path(platformdirs.user_data_dir("vision-agent")) / "sessions"


def require_session_name(name: str) -> str:
    """The name, if it can be that of a session.

    Raises:
        UsageError: it cannot.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"A saved sign-in cannot be called {name!r}", "use letters, digits, dots and dashes")
    return name


def saved_state(settings: BrowserSettings) -> dict[str, Any] | None:
    """The cookies and storage of the session that the settings name, as Playwright takes them.

    None if they name none, or if it is yet to be saved for the first time.

    Raises:
        UsageError: there is no such session, it has expired, or the passphrase is wrong.
        Unavailable: its key is not in the keyring.
    """
    if settings.session is None:
        return None
    path = _path(settings.session, settings)
    if not path.exists():
        if settings.save_session:
            return None
        known = ", ".join(each.name for each in saved_sessions(settings))
        raise UsageError(
            f"There is no saved sign-in {settings.session!r}",
            f"saved are {known}" if known else f"sign in once: vision-agent login {settings.session} https://…",
        )
    kept = _read(path)
    state = json.loads(_decrypted(kept, settings.session))
    if _has_expired(state):
        raise UsageError(
            f"The saved sign-in {settings.session!r} of {kept.saved_at:%Y-%m-%d} has expired",
            f"sign in again: vision-agent login {settings.session} https://…",
        )
    return dict(state)


def save_state(state: Mapping[str, Any], settings: BrowserSettings) -> Path:
    """Writes the state of the session that the settings name, encrypted, and returns its file.

    Raises:
        UsageError: the settings name none, or it cannot be written or encrypted.
    """
    name = require_session_name(settings.session or "")
    key, how, salt = _new_key(name)
    text = json.dumps(state, ensure_ascii=False).encode()
    kept = _SavedSession(saved_at=datetime.now(UTC), key=how, salt=salt, state=_fernet(key).encrypt(text).decode())
    path = _path(name, settings)
    part = path.with_name(f".{name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(kept.model_dump_json())
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise UsageError(f"The saved sign-in {name!r} cannot be saved in {path}: {error.strerror}") from error
    return path


def saved_sessions(settings: BrowserSettings) -> tuple[SessionInfo, ...]:
    """The saved sessions, by name; a file that cannot be read is left out."""
    found = []
    for path in sorted(sessions_folder(settings).glob(f"*{_ENDING}")):
        try:
            kept = _read(path)
        except UsageError:
            continue
        found.append(SessionInfo(path.name.removesuffix(_ENDING), kept.saved_at, kept.key))
    return tuple(found)


def forget_session(name: str, settings: BrowserSettings) -> None:
    """Deletes a saved session, and its key from the keyring.

    Raises:
        UsageError: there is none.
    """
    path = _path(name, settings)
    try:
        path.unlink()
    except FileNotFoundError as error:
        raise UsageError(f"There is no saved sign-in {name!r}") from error
    except OSError as error:
        raise UsageError(f"The saved sign-in {name!r} cannot be deleted: {error.strerror}") from error
    if find_spec("keyring") is not None:
        import keyring
        from keyring.errors import KeyringError

        try:
            keyring.delete_password(_SERVICE, name)
        except (KeyringError, RuntimeError):
            return


def require_session_packages() -> None:
    """Checks that what encrypts sessions is installed.

    Raises:
        UsageError: it is not.
    """
    if find_spec("cryptography") is None:
        raise UsageError("Saved sign-ins need the extra `sessions`", "pip install 'vision-agent[sessions]'")


def require_key_place() -> None:
    """Checks, before anybody signs in, that the key of a session can be kept: by passphrase, or in a keyring.

    Raises:
        UsageError: it cannot.
    """
    require_session_packages()
    if os.environ.get(PASSPHRASE):
        return
    if find_spec("keyring") is not None:
        import keyring
        from keyring.errors import KeyringError

        with suppress(KeyringError, RuntimeError):
            keyring.get_password(_SERVICE, "")
            return
    raise UsageError(_NO_KEYRING, f"set {PASSPHRASE}")


def expired_note(settings: BrowserSettings) -> str:
    """A sentence if cookies of the session that the settings name are out of date, else nothing.

    Raises:
        UsageError: there is no such session, it has expired, or the passphrase is wrong.
        Unavailable: its key is not in the keyring.
    """
    cookies = (saved_state(settings) or {}).get("cookies", ())
    old = sum(0 < each.get("expires", -1) < time.time() for each in cookies)
    if not old:
        return ""
    some = "A cookie" if old == 1 else f"{old} cookies"
    how = f"if the site asks to sign in: vision-agent login {settings.session} https://…"
    return f"{some} of the saved sign-in {settings.session!r} {'has' if old == 1 else 'have'} expired ({how})"


def _path(name: str, settings: BrowserSettings) -> Path:
    return sessions_folder(settings) / f"{require_session_name(name)}{_ENDING}"


def _read(path: Path) -> _SavedSession:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{path} is too large for a saved sign-in", "delete it, and sign in again")
        return _SavedSession.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise UsageError(f"{path} is not a saved sign-in", "delete it, and sign in again") from error


def _has_expired(state: Mapping[str, Any]) -> bool:
    """Whether the state has cookies only, and all are out of date; those without a date end with a browser."""
    cookies = state.get("cookies", ())
    if not cookies or state.get("origins"):
        return False
    now = time.time()
    return all(0 < each.get("expires", -1) < now for each in cookies)


# --- keys -------------------------------------------------------------------------------------------------------------


def _new_key(name: str) -> tuple[bytes, Literal["keyring", "passphrase"], str]:
    """A key, where it is kept, and its salt."""
    require_session_packages()
    if passphrase := os.environ.get(PASSPHRASE):
        salt = secrets.token_bytes(16)
        return _stretched(passphrase, salt), "passphrase", base64.b64encode(salt).decode()
    if find_spec("keyring") is not None:
        import keyring
        from keyring.errors import KeyringError

        # With a key that it has, a sign-in that is already saved stays readable if the new one cannot be written.
        with suppress(KeyringError, RuntimeError):  # no keyring on this machine
            kept = keyring.get_password(_SERVICE, name)
            if kept is None or not _is_key(kept):
                kept = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
                keyring.set_password(_SERVICE, name, kept)
            return kept.encode(), "keyring", ""
    raise UsageError(_NO_KEYRING, f"set {PASSPHRASE}")


def _decrypted(kept: _SavedSession, name: str) -> bytes:
    require_session_packages()
    from cryptography.fernet import InvalidToken

    try:
        return bytes(_fernet(_key_of(kept, name)).decrypt(kept.state.encode()))
    except (InvalidToken, ValueError) as error:
        what = f"{PASSPHRASE} is not its passphrase, or the file" if kept.key == "passphrase" else "the file"
        raise UsageError(
            f"The saved sign-in {name!r} cannot be decrypted", f"{what} was changed; sign in again"
        ) from error


def _key_of(kept: _SavedSession, name: str) -> bytes:
    if kept.key == "passphrase":
        passphrase = os.environ.get(PASSPHRASE)
        if not passphrase:
            raise UsageError(f"The saved sign-in {name!r} is kept with a passphrase", f"set {PASSPHRASE}")
        return _stretched(passphrase, base64.b64decode(kept.salt))
    if find_spec("keyring") is None:
        raise UsageError(
            f"The key of the saved sign-in {name!r} is in a keyring", "pip install 'vision-agent[sessions]'"
        )
    import keyring
    from keyring.errors import KeyringError

    try:
        key = keyring.get_password(_SERVICE, name)
    except (KeyringError, RuntimeError) as error:
        raise Unavailable(
            f"The keyring with the key of the saved sign-in {name!r} cannot be opened: {error}"
        ) from error
    if key is None:
        raise Unavailable(f"The keyring has no key for the saved sign-in {name!r}", "was it saved on another machine?")
    return key.encode()


def _stretched(passphrase: str, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return base64.urlsafe_b64encode(Scrypt(salt=salt, length=32, **_SCRYPT).derive(passphrase.encode()))


def _is_key(text: str) -> bool:
    try:
        _fernet(text.encode())
    except ValueError:
        return False
    return True


def _fernet(key: bytes) -> Any:
    from cryptography.fernet import Fernet

    return Fernet(key)
