"""The cost of replies, from a library of all providers' prices. Unknown prices are not guessed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from genai_prices import calc_price, extract_usage
from genai_prices.types import AbstractUsage


def reply_cost(provider: str, model: str, usages: Sequence[dict[str, Any]]) -> float | None:
    """The cost of replies in US dollars, given the provider's usage data for each; None if the price is unknown.

    Prices come from the list in the installed `genai-prices`; nothing is fetched.
    """
    try:
        parts = [extract_usage({"model": model, "usage": usage}, provider_id=provider) for usage in usages]
    except (LookupError, ValueError, TypeError, ArithmeticError):
        return None  # an unknown model, or usage data without a known field or with an impossible number
    return usage_price(provider, model, [part.usage for part in parts])


def usage_price(provider: str, model: str, usages: Sequence[AbstractUsage]) -> float | None:
    """The cost in US dollars of usages that are already parsed; None if the price is unknown."""
    try:
        return float(sum(calc_price(each, model, provider_id=provider).total_price for each in usages))
    except (LookupError, ValueError, TypeError, ArithmeticError):
        return None  # an unknown model, or usage data without a known field or with an impossible number
