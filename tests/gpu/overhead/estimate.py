# SPDX-License-Identifier: Apache-2.0
"""What a coin that was tossed for every step made of the steps, and how sure that is."""

import math
import statistics

NEAR = 25  # steps to each side that a step is compared with
TRIM = 0.25  # share of the shortest and of the longest steps that is left out
SURE = 1.96  # standard deviations, for 95 %


def shares_of_neighbours(times):
    """Each step as a share of the median of those around it, of both sides of the coin: what drifts is left out."""
    return [t / statistics.median(times[max(0, i - NEAR):i + NEAR + 1]) for i, t in enumerate(times)]


def trimmed(values):
    """Mean without the extremes, and its standard error: Yuen's, from what is left and its ends."""
    values = sorted(values)
    n, cut = len(values), int(TRIM * len(values))
    kept = values[cut:n - cut]
    wide = [kept[0]] * cut + kept + [kept[-1]] * cut
    return statistics.mean(kept), statistics.stdev(wide) * math.sqrt(n - 1) / math.sqrt(len(kept) * (len(kept) - 1))


def effect(shares, coins):
    """(per cent by which steps with heads take longer, half of the 95 % interval)"""
    heads, heads_error = trimmed([s for s, c in zip(shares, coins) if c])
    tails, tails_error = trimmed([s for s, c in zip(shares, coins) if not c])
    return 100 * (heads - tails) / tails, 100 * SURE * math.hypot(heads_error, tails_error) / tails
