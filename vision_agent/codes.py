"""One-time codes (TOTP, RFC 6238), made of a secret's key when one is typed."""

from __future__ import annotations

import time

from pyotp import parse_uri
from pyotp.totp import TOTP

from vision_agent.errors import UsageError
from vision_agent.types import Secret

_BEFORE, _AFTER = 10, 1
"""Periods around a moment whose codes are still, or already, worth hiding: what was typed is recorded within them."""


def typed(secret: Secret) -> str:
    """What is typed for a secret: its value, or the code of this moment.

    Raises:
        UsageError: it is to give codes, and its value is no key for them.
    """
    return _totp(secret).now() if secret.is_code else secret.value.get_secret_value()


def recent(secret: Secret, at: float | None = None) -> tuple[str, ...]:
    """The codes that were good in the last minutes before a moment, in seconds of the clock, and the next one."""
    totp, now = _totp(secret), int(time.time() if at is None else at)
    periods = range(-_BEFORE, _AFTER + 1)
    return tuple(totp.at(now, counter_offset=each) for each in periods)


def keys_of(secret: Secret) -> tuple[str, ...]:
    """The key that codes are made of, as people and pages write it."""
    key = _totp(secret).secret.rstrip("=")
    spaced = " ".join(key[at : at + 4] for at in range(0, len(key), 4))
    return tuple(dict.fromkeys(form for each in (key, spaced) for form in (each, each.upper(), each.lower())))


def _totp(secret: Secret) -> TOTP:
    key = secret.value.get_secret_value().strip()
    try:
        made = parse_uri(key) if key.startswith("otpauth:") else TOTP(key.replace(" ", ""))
        made.generate_otp(0)  # what is no base32 is noticed only here
    except ValueError as error:
        raise UsageError(
            f"The value of secret {secret.name!r} is no key for one-time codes: {error}",
            "give the key in base32, or the otpauth:// address that is behind the QR code",
        ) from error
    if not isinstance(made, TOTP):
        raise UsageError(f"Secret {secret.name!r} counts its codes, and only codes by time can be made", "use TOTP")
    return made
