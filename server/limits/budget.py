"""What a user may use in a day: tokens and dollars, counted in UTC."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from decimal import Decimal

from runtime.usage.log import UsageLog
from server.errors import ApiError
from server.limits.settings import LimitSettings


async def tokens_left(log: UsageLog, settings: LimitSettings, user: str) -> int | None:
    """How many tokens a user may still use today; None for any number.

    Turns and runs are counted when they end, so what goes on at the same time may exceed the limits together.

    Args:
        log: knows what was used.
        settings: the limits.
        user: the user's id.

    Raises:
        ApiError: 429, nothing is left; `Retry-After` says when the next day begins.
        StoreUnavailable: what was used cannot be read.
    """
    if settings.day_tokens is None and settings.day_cost is None:
        return None
    used = await log.today(user)
    if settings.day_cost is not None and used.dollars >= Decimal(str(settings.day_cost)):
        raise _used_up("cost_used_up", f"Today's ${settings.day_cost:g} are spent.", log.clock())
    if settings.day_tokens is None:
        return None
    if used.tokens >= settings.day_tokens:
        raise _used_up("tokens_used_up", f"Today's {settings.day_tokens:,} tokens are used.", log.clock())
    return settings.day_tokens - used.tokens


def _used_up(code: str, message: str, now: datetime) -> ApiError:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    seconds = max(1, math.ceil((midnight - now).total_seconds()))
    return ApiError(
        429, code, message, "The next day begins at midnight in UTC.", headers={"Retry-After": str(seconds)}
    )
