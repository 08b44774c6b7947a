"""Tail probabilities and quantiles of the normal, the chi-squared and Student's t distribution.

They are implemented here because scipy takes 140 MB and nothing else of it would be used. The tests
compare them with scipy.
"""

from math import erfc, exp, inf, isnan, lgamma, log, log1p, sqrt
from statistics import NormalDist

MAX_TERMS = 100_000
PRECISION = 1e-16
SMALLEST = 1e-300
QUANTILE_STEPS = 60


def normal_cdf(x: float) -> float:
    """Return the probability that a standard normal variable is at most x.

    >>> round(normal_cdf(1.96), 4)
    0.975
    """
    return erfc(-x / sqrt(2.0)) / 2.0


def chi_squared_tail(freedom: float, statistic: float) -> float:
    """Return the probability of a chi-squared statistic at least as large as this one.

    >>> round(chi_squared_tail(1, 3.841), 3)
    0.05
    """
    if isnan(statistic):
        return statistic
    shape, x = freedom / 2.0, statistic / 2.0
    if x <= 0.0:
        return 1.0
    if x == inf:
        return 0.0
    scale = exp(shape * log(x) - x - lgamma(shape))
    if x < shape + 1.0:
        return 1.0 - scale * _lower_gamma_series(shape, x)
    return scale * _upper_gamma_fraction(shape, x)


def student_t_cdf(freedom: float, t: float) -> float:
    """Return the probability that a variable of Student's t distribution is at most t.

    >>> round(student_t_cdf(4, 2.776), 3)
    0.975
    """
    square = t * t
    if square < SMALLEST:
        return 0.5
    tail = 0.0 if square == inf else _incomplete_beta(freedom / 2.0, 0.5, freedom, square) / 2.0
    return 1.0 - tail if t > 0.0 else tail


def student_t_quantile(freedom: float, probability: float) -> float:
    """Return the t whose cumulative probability is the one given, above one half.

    >>> round(student_t_quantile(4, 0.975), 3)
    2.776
    """
    low = 0.0
    high = 2.0 * NormalDist().inv_cdf(probability)
    while student_t_cdf(freedom, high) < probability:
        low, high = high, 2.0 * high
    for _ in range(QUANTILE_STEPS):
        middle = (low + high) / 2.0
        if student_t_cdf(freedom, middle) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def _lower_gamma_series(shape: float, x: float) -> float:
    """Return the series of the lower incomplete gamma function, without its leading factor."""
    term = total = 1.0 / shape
    for number in range(1, MAX_TERMS):
        term *= x / (shape + number)
        total += term
        if term < total * PRECISION:
            break
    return total


def _upper_gamma_fraction(shape: float, x: float) -> float:
    """Return the continued fraction of the upper incomplete gamma function (Lentz's method)."""
    step = x + 1.0 - shape
    c, d = 1.0 / SMALLEST, 1.0 / step
    value = d
    for number in range(1, MAX_TERMS):
        numerator = number * (shape - number)
        step += 2.0
        d = 1.0 / _nonzero(step + numerator * d)
        c = _nonzero(step + numerator / c)
        value *= c * d
        if abs(c * d - 1.0) < PRECISION * 4:
            break
    return value


def _incomplete_beta(a: float, b: float, freedom: float, square: float) -> float:
    """Return the regularised incomplete beta function at freedom / (freedom + square).

    Both sides of that fraction are given, so that neither loses digits near 0 or 1.
    """
    x, complement = freedom / (freedom + square), square / (freedom + square)
    log_x, log_complement = -log1p(square / freedom), -log1p(freedom / square)
    scale = exp(a * log_x + b * log_complement + lgamma(a + b) - lgamma(a) - lgamma(b))
    if x < (a + 1.0) / (a + b + 2.0):
        return scale * _beta_fraction(a, b, x) / a
    return 1.0 - scale * _beta_fraction(b, a, complement) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (Lentz's method)."""
    c, d = 1.0, 1.0 / _nonzero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for number in range(1, MAX_TERMS):
        even = number * (b - number) * x / ((a + 2 * number - 1) * (a + 2 * number))
        odd = -(a + number) * (a + b + number) * x / ((a + 2 * number) * (a + 2 * number + 1))
        for numerator in (even, odd):
            d = 1.0 / _nonzero(1.0 + numerator * d)
            c = _nonzero(1.0 + numerator / c)
            value *= c * d
        if abs(c * d - 1.0) < PRECISION * 4:
            break
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > SMALLEST else SMALLEST
