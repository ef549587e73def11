"""The formulas behind the numbers in the chapter's text. `facts.yml` names them; a test recomputes every fact.

Plain SI units: bytes, seconds, bytes per second, floating-point operations.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence

from pixelbank.chapters.cores import difference_error
from pixelbank.chapters.cores.ring_allreduce import bytes_per_device, example_gradients, ring_allreduce


def ring_share(devices: int) -> float:
    """Bytes that one device sends, as a multiple of its buffer; counted by running the ring on 240 values."""
    frames = ring_allreduce(example_gradients(devices))
    return frames[-1].sent[0] / len(frames[0].buffers[0])


def ring_bytes(params: float, bytes_each: float, devices: int) -> float:
    """Bytes that one device sends to all-reduce its gradients."""
    return bytes_per_device(devices, params * bytes_each)


def gradient_bytes(params: float, bytes_each: float) -> float:
    """Size of one device's gradient buffer in bytes."""
    return params * bytes_each


def state_bytes(params: float) -> float:
    """What a device of plain data parallelism keeps for Adam in mixed precision, without activations.

    BF16 weights and gradients, and in FP32 the weights and Adam's two moments (ZeRO, section 3.1).
    """
    return params * (2 + 2 + 4 + 4 + 4)


def ring_seconds(params: float, bytes_each: float, devices: int, bytes_per_second: float) -> float:
    """Time of the all-reduce when bandwidth alone counts."""
    return ring_bytes(params, bytes_each, devices) / bytes_per_second


def step_seconds(params: float, tokens: float, flop_per_second: float, utilisation: float) -> float:
    """Forward and backward pass on one device: 6 operations per parameter and token (2 forward, 4 backward)."""
    return 6 * params * tokens / (flop_per_second * utilisation)


def backward_seconds(params: float, tokens: float, flop_per_second: float, utilisation: float) -> float:
    """The backward pass alone: two thirds of the step."""
    return step_seconds(params, tokens, flop_per_second, utilisation) * 2 / 3


def exposed_seconds(
    params: float,
    bytes_each: float,
    devices: int,
    bytes_per_second: float,
    tokens: float,
    flop_per_second: float,
    utilisation: float,
) -> float:
    """The part of the all-reduce that the backward pass cannot hide."""
    communication = ring_seconds(params, bytes_each, devices, bytes_per_second)
    return max(0.0, communication - backward_seconds(params, tokens, flop_per_second, utilisation))


def mean_of_means(means: Sequence[float], counts: Sequence[float]) -> float:
    """What averaging the devices' means gives; the counts play no part in it."""
    if len(means) != len(counts):
        raise ValueError("one count for each mean")
    return sum(means) / len(means)


def weighted_mean(means: Sequence[float], counts: Sequence[float]) -> float:
    """The mean over all examples."""
    return sum(m * c for m, c in zip(means, counts, strict=True)) / sum(counts)


def derivative(f: str, x: float) -> float:
    """The exact slope of one of the figure's functions."""
    return difference_error.FUNCTIONS[f].derivative(x)


def difference(method: str, f: str, x: float, h: float) -> float:
    """The forward or central difference, as float64 computes it."""
    estimate = difference_error.estimate(f, x, h)
    return estimate.forward if method == "forward" else estimate.central


def difference_off(method: str, f: str, x: float, h: float) -> float:
    """Absolute error of the forward or central difference."""
    estimate = difference_error.estimate(f, x, h)
    return estimate.forward_error if method == "forward" else estimate.central_error


def relative_off(method: str, f: str, x: float, h: float) -> float:
    """Error of a difference as a share of the true slope."""
    return difference_off(method, f, x, h) / abs(derivative(f, x))


def rounding_limit(f: str, x: float, h: float) -> float:
    """What rounding can add to the error of a central difference, to first order, if f itself rounds once.

    Both values are off by up to eps|f|/2 each, both points by up to eps|x|/2, which moves a value by |f'| times that.
    """
    function = difference_error.FUNCTIONS[f]
    return float64_epsilon() / (2 * h) * (abs(function.f(x)) + abs(x * function.derivative(x)))


def real_distance_off(f: str, x: float, h: float) -> float:
    """Absolute error of the central difference when divided by the distance of the two rounded points."""
    function = difference_error.FUNCTIONS[f]
    right, left = x + h, x - h
    return abs((function.f(right) - function.f(left)) / (right - left) - function.derivative(x))


def cube_truncation(method: str, x: float, h: float) -> float:
    """The exact truncation error for x cubed: h squared (central), 3xh + h squared (forward)."""
    return h * h if method == "central" else 3 * x * h + h * h


def spacing(x: float) -> float:
    """Distance from x to the next larger float64 number."""
    return math.ulp(x)


def float64_epsilon() -> float:
    """Distance from 1 to the next larger float64 number, 2 to the power -52."""
    return sys.float_info.epsilon


def float32_epsilon() -> float:
    """Distance from 1 to the next larger float32 number: 23 bits are stored after the point."""
    return 2.0**-23


def epsilon_root(degree: int) -> float:
    """The degree-th root of float64's epsilon."""
    return float(float64_epsilon() ** (1 / degree))


def gradient_calls(params: float) -> float:
    """Calls of f for a central-difference gradient: two for every parameter."""
    return 2 * params


FORMULAS: dict[str, Callable[..., float]] = {
    formula.__name__: formula
    for formula in (
        ring_share,
        ring_bytes,
        gradient_bytes,
        state_bytes,
        ring_seconds,
        step_seconds,
        backward_seconds,
        exposed_seconds,
        mean_of_means,
        weighted_mean,
        derivative,
        difference,
        difference_off,
        relative_off,
        rounding_limit,
        real_distance_off,
        cube_truncation,
        spacing,
        float64_epsilon,
        float32_epsilon,
        epsilon_root,
        gradient_calls,
    )
}
