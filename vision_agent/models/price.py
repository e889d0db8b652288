"""What replies cost, by a library that keeps the prices of all providers. What it does not know, nobody guesses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from genai_prices import calc_price, extract_usage
from genai_prices.types import AbstractUsage


def cost_of(provider: str, model: str, usages: Sequence[dict[str, Any]]) -> float | None:
    """US dollars for replies with these usages, each as the provider said it; None where the price is not known.

    The source of the prices is the list that the installed `genai-prices` carries; nothing is fetched.
    """
    try:
        parts = [extract_usage({"model": model, "usage": usage}, provider_id=provider) for usage in usages]
    except (LookupError, ValueError, TypeError):
        return None  # a model it does not know, or a usage that says nothing it knows
    return price_of(provider, model, [part.usage for part in parts])


def price_of(provider: str, model: str, usages: Sequence[AbstractUsage]) -> float | None:
    """The same for usages that were counted already."""
    try:
        return float(sum(calc_price(each, model, provider_id=provider).total_price for each in usages))
    except (LookupError, ValueError, TypeError):
        return None  # a model it does not know, or a usage that says nothing it knows
