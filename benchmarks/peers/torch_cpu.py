#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The host's cases in PyTorch on the CPU: torch.compile, 2 threads; prints JSON of Google Benchmark's shape.

The functions and shapes are those of host/functions.hpp and host/cases.hpp. Results are compared with eager ones in
double before they are timed; the time of a case is its fastest call. Compared with other programs, it takes turns with
them, as host/bench.hpp describes.
"""

import argparse
import json
import math
import os
import re
import sys
import time

NOT_HERE = 77  # the exit status that ./dev bench takes for: not on this machine
try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("PyTorch is not here.", file=sys.stderr)
    sys.exit(NOT_HERE)

THREADS = 2


def chain(x):
    return torch.relu(torch.tanh(x * 1.5 + 0.5) - torch.sigmoid(x)) * x


def bias_gelu(x, bias):
    return F.gelu(x + bias)


def swiglu(gate, up):
    return F.silu(gate) * up


def transpose_add(x, y):
    return x + y.t()


def rope(x, cosine, sine):
    rotated = torch.cat((-x[..., 64:], x[..., :64]), -1)
    return x * cosine + rotated * sine


def adam(p, g, m, v):
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    p.sub_(1e-3 * m / (v.sqrt() + 1e-8))


def softmax(x):
    return torch.softmax(x, -1)


def layernorm(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight, bias, 1e-5)


def rmsnorm(x, weight):
    return F.rms_norm(x, x.shape[-1:], weight, 1e-6)


def add_rmsnorm(x, residual, weight):
    total = x + residual
    return total, rmsnorm(total, weight)


def layernorm_gelu(x, weight, bias):
    return F.gelu(layernorm(x, weight, bias))


def cross_entropy(logits, targets):
    return F.cross_entropy(logits, targets)


def var_mean(x):
    return torch.var_mean(x, -1)


def colsum(x):
    return x.sum(0)


def fullsum_sq(x):
    return (x * x).sum()


def rowcol_sum(x):
    return x.sum(1), x.sum(0)


def cases():
    """(name, function, shapes of the inputs, element type); an integer instead of a shape: targets below it."""
    f32, bf16, mega = torch.float32, torch.bfloat16, 1 << 20
    yield "chain_f32_16M", chain, [(16 * mega,)], f32
    yield "chain_bf16_32M", chain, [(32 * mega,)], bf16
    yield "small_chain_f32_4096", chain, [(4096,)], f32
    yield "bias_gelu_f32_4096x4096", bias_gelu, [(4096, 4096), (4096,)], f32
    yield "bias_gelu_bf16_8192x4096", bias_gelu, [(8192, 4096), (4096,)], bf16
    yield "swiglu_f32_1024x11008", swiglu, [(1024, 11008)] * 2, f32
    yield "transpose_add_f32_4096", transpose_add, [(4096, 4096)] * 2, f32
    yield "rope_f32_4096x32x128", rope, [(4096, 32, 128), (4096, 1, 128), (4096, 1, 128)], f32
    yield "adam_f32_8M", adam, [(8 * mega,)] * 4, f32
    for kind, rows, width in (
        (f32, 16384, 1024),
        (f32, 4096, 4096),
        (f32, 1024, 16384),
        (f32, 256, 65536),
        (f32, 5003, 3001),
        (bf16, 8192, 4096),
    ):
        shape = f"{'f32' if kind is f32 else 'bf16'}_{rows}x{width}"
        yield f"softmax_{shape}", softmax, [(rows, width)], kind
        yield f"layernorm_{shape}", layernorm, [(rows, width), (width,), (width,)], kind
        yield f"rmsnorm_{shape}", rmsnorm, [(rows, width), (width,)], kind
    yield "add_rmsnorm_f32_4096x4096", add_rmsnorm, [(4096, 4096), (4096, 4096), (4096,)], f32
    yield "layernorm_gelu_f32_4096x4096", layernorm_gelu, [(4096, 4096), (4096,), (4096,)], f32
    yield "cross_entropy_f32_1024x32000", cross_entropy, [(1024, 32000), 32000], f32
    yield "var_mean_f32_4096x8192", var_mean, [(4096, 8192)], f32
    yield "colsum_f32_4096x8192", colsum, [(4096, 8192)], f32
    yield "fullsum_sq_f32_32M", fullsum_sq, [(32 * mega,)], f32
    yield "rowcol_sum_f32_4096x8192", rowcol_sum, [(4096, 8192)], f32


def make(shapes, kind):
    tensors = []
    for shape in shapes:
        if isinstance(shape, int):
            tensors.append(torch.randint(shape, (shapes[0][0],)))
        else:
            tensors.append((torch.rand(shape) * 2 - 1).to(kind))
    return tensors


def listed(results):
    """A function that assigns gives nothing."""
    return [] if results is None else list(results) if isinstance(results, tuple) else [results]


def into(function):
    """`function`, which then writes its results into tensors that it is given: no call pays for fresh memory."""

    def call(outputs, inputs):
        for output, result in zip(outputs, listed(function(*inputs))):
            output.copy_(result)

    return call


def check(function, fused, inputs, outputs, kind):
    """Compares all tensors after a call with those of an eager call in double."""
    wide = [x.double() if x.is_floating_point() else x.clone() for x in inputs]
    expected = listed(function(*wide)) + wide
    own = [x.clone() for x in inputs]
    fused(outputs, own)
    for found, wanted in zip(outputs + own, expected):
        difference = (found.double() - wanted).abs().max().item()
        if not difference <= (2e-5 if kind is torch.float32 else 2e-2) * wanted.abs().max().item():
            raise SystemExit(f"{function.__name__}: the result is wrong by {difference}")


def fastest(call, length=0.2, least=7):
    def timed(calls):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - start) / calls

    batch = max(1, min(1000, int(1e-4 / timed(1))))
    best, total, count = timed(batch), 0.0, 0
    while count < least or (total < length and count < 1000):
        one = timed(batch)
        best, total, count = min(best, one), total + one * batch, count + 1
    return best


def fastest_in_turns(name, call):
    print(f"@ {name}", flush=True)
    best = math.inf
    for line in sys.stdin:
        if line != "go\n":
            break
        time_of_turn = fastest(call, 0.01, 1)
        best = min(best, time_of_turn)
        print(f"@ {time_of_turn}", flush=True)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--benchmark_filter", default="", metavar="REGEX", help="only the cases whose names match")
    parser.add_argument("--benchmark_out", metavar="FILE", help="write the JSON there instead of printing it")
    parser.add_argument("--benchmark_out_format", choices=["json"], help="there is no other")
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    benchmarks = []
    with torch.no_grad():
        for name, function, shapes, kind in cases():
            if not re.search(options.benchmark_filter, name):
                continue
            inputs = make(shapes, kind)
            if function is adam:
                inputs[3].abs_()
            torch._dynamo.reset()
            outputs = [torch.empty_like(x) for x in listed(function(*[x.clone() for x in inputs]))]
            fused = torch.compile(into(function), dynamic=False)
            check(function, fused, inputs, outputs, kind)

            def call():
                fused(outputs, inputs)

            in_turns = "SINTER_BENCH_TURNS" in os.environ
            seconds = fastest_in_turns(name, call) if in_turns else fastest(call)
            print(f"{name:40} {seconds * 1e6:10.1f} us", file=sys.stderr, flush=True)
            entry = {"name": name, "run_name": name, "run_type": "iteration", "label": "PyTorch default"}
            benchmarks.append(entry | {"real_time": seconds * 1e6, "time_unit": "us"})
    context = {"device": "cpu", "torch": torch.__version__, "num_cpus": THREADS}
    text = json.dumps({"context": context, "benchmarks": benchmarks}, indent=1)
    if options.benchmark_out:
        with open(options.benchmark_out, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    else:
        print(text)


if __name__ == "__main__":
    main()
