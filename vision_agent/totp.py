"""Generates one-time codes (TOTP, RFC 6238) from a secret's key when the secret is typed."""

from __future__ import annotations

import time

from pyotp import parse_uri
from pyotp.totp import TOTP

from vision_agent.errors import UsageError
from vision_agent.types import Secret

_BEFORE, _AFTER = 10, 1
"""The periods before and after a moment whose codes are redacted; a typed code is recorded within them."""


def current_text(secret: Secret) -> str:
    """The text to type for a secret: its value, or the current code.

    Raises:
        UsageError: the secret should give codes, but its value is not a valid key.
    """
    return _totp(secret).now() if secret.is_code else secret.value.get_secret_value()


def recent_codes(secret: Secret, at: float | None = None) -> tuple[str, ...]:
    """The codes of the last minutes, and the next one.

    `at` is the moment in seconds since the epoch; None is now.
    """
    totp, now = _totp(secret), int(time.time() if at is None else at)
    periods = range(-_BEFORE, _AFTER + 1)
    return tuple(totp.at(now, counter_offset=each) for each in periods)


def key_forms(secret: Secret) -> tuple[str, ...]:
    """The key of the codes in every form in which people and pages write it."""
    key = _totp(secret).secret.rstrip("=")
    spaced = " ".join(key[at : at + 4] for at in range(0, len(key), 4))
    return tuple(dict.fromkeys(form for each in (key, spaced) for form in (each, each.upper(), each.lower())))


def _totp(secret: Secret) -> TOTP:
    key = secret.value.get_secret_value().strip()
    try:
        generator = parse_uri(key) if key.startswith("otpauth:") else TOTP(key.replace(" ", ""))
        generator.generate_otp(0)  # only this detects invalid base32
    except ValueError as error:
        raise UsageError(
            f"The value of secret {secret.name!r} is not a valid key for one-time codes: {error}",
            "give the key in base32, or the otpauth:// address from the QR code",
        ) from error
    if not isinstance(generator, TOTP):
        raise UsageError(
            f"Secret {secret.name!r} uses counter-based codes; only time-based codes are supported", "use TOTP"
        )
    return generator
