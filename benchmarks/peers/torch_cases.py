#!/usr/bin/env python3
# The cases of benchmarks/cuda in PyTorch: eager, torch.compile and torch.compile with max-autotune, each call alone and
# inside a CUDA graph; compared with the eager result in f64 before they are timed. Timing, bytes and JSON are those of
# bench.cuh: inputs rotate over three times the L2, CUDA events, the median of seven.
# SPDX-License-Identifier: BSL-1.0
import argparse
import concurrent.futures
import datetime
import json
import multiprocessing
import os
import re
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

NOT_HERE = 77  # the exit status that CTest and ./dev bench take for: not on this machine
try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("PyTorch is not here.", file=sys.stderr)
    sys.exit(NOT_HERE)

MODES = {"eager": None, "default": "default", "max-autotune": "max-autotune-no-cudagraphs"}  # ours is the CUDA graph
# Of the largest; eager mode rounds after each operation.
TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-5, torch.float16: 8e-3, torch.bfloat16: 4e-2}
SMALL_EXTENT = 32


@dataclass(frozen=True)
class Tensor:
    """An input: values in [low, 1), or integers in [0, limit)."""

    dtype: torch.dtype
    extents: tuple[int, ...]
    low: float = -1.0
    limit: int = 0

    def make(self, device: str, small: bool) -> torch.Tensor:
        cap = (lambda n: min(n, SMALL_EXTENT)) if small else (lambda n: n)
        extents = tuple(map(cap, self.extents))
        if self.limit:
            return torch.randint(cap(self.limit), extents, dtype=self.dtype, device=device)
        return torch.empty(extents, dtype=self.dtype, device=device).uniform_(self.low, 1.0)


@dataclass(frozen=True)
class Case:
    name: str
    function: Callable
    inputs: tuple  # of Tensor, or of lists of Tensor


def leaves(tree) -> list[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        return [tree]
    return [leaf for part in tree for leaf in leaves(part)]


def each(tree, f):
    """The same lists and tuples with f of each tensor."""
    return [each(part, f) for part in tree] if isinstance(tree, (list, tuple)) else f(tree)


def copy(x):
    return x.clone()


def chain(x):
    return torch.relu(torch.tanh(x * 1.5 + 0.5) - torch.sigmoid(x)) * x


def bias_gelu(x, bias):
    return F.gelu(x + bias)


def swiglu(gate, up):
    return F.silu(gate) * up


def transpose_add(x, y):
    return x + y.T


def rope(x, cosine, sine):
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat((-second, first), dim=-1) * sine


def adam(p, g, m, v):
    first = 0.9 * m + 0.1 * g
    second = 0.999 * v + 0.001 * g * g
    return p.copy_(p - 1e-3 * first / (second.sqrt() + 1e-8)), m.copy_(first), v.copy_(second)


def foreach_scale_add(xs, ys):
    return torch._foreach_add(torch._foreach_mul(xs, 2.0), ys)


def softmax(x):
    return F.softmax(x, dim=-1)


def layer_norm(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight, bias, 1e-5)


def rms_norm(x, weight):
    return F.rms_norm(x, x.shape[-1:], weight, 1e-6)


def add_rms_norm(x, residual, weight):
    total = x + residual
    return total, rms_norm(total, weight)


def layer_norm_gelu(x, weight, bias):
    return F.gelu(layer_norm(x, weight, bias))


def cross_entropy(logits, targets):
    return F.cross_entropy(logits, targets)


def var_mean(x):
    return torch.var_mean(x, dim=-1)


def cumsum(x):
    return torch.cumsum(x, dim=-1)


def cumsum_columns(x):
    return torch.cumsum(x, dim=0)


def column_sum(x):
    return x.sum(dim=0)


def sum_of_squares(x):
    return (x * x).sum()


def row_and_column_sums(x):
    return x.sum(dim=1), x.sum(dim=0)


def all_cases() -> list[Case]:
    f32, bf16, mebi = torch.float32, torch.bfloat16, 1 << 20
    t = lambda dtype, *extents, **more: Tensor(dtype, extents, **more)
    cases = [
        Case("copy_f32_256M", copy, (t(f32, 64 * mebi),)),
        Case("chain_f32_64M", chain, (t(f32, 64 * mebi),)),
        Case("chain_bf16_128M", chain, (t(bf16, 128 * mebi),)),
        Case("bias_gelu_bf16_16384x8192", bias_gelu, (t(bf16, 16384, 8192), t(bf16, 8192))),
        Case("swiglu_bf16_16384x11008", swiglu, (t(bf16, 16384, 11008), t(bf16, 16384, 11008))),
    ]
    for rows, width in (65536, 1024), (16384, 4096), (4096, 16384), (2048, 65536):
        shape, x, w = f"bf16_{rows}x{width}", t(bf16, rows, width), t(bf16, width)
        cases += [
            Case("softmax_" + shape, softmax, (x,)),
            Case("layernorm_" + shape, layer_norm, (x, w, w)),
            Case("rmsnorm_" + shape, rms_norm, (x, w)),
        ]
    x, w = t(bf16, 16384, 4096), t(bf16, 4096)
    cases.append(Case("add_rmsnorm_bf16_16384x4096", add_rms_norm, (x, x, w)))
    x, w = t(f32, 16384, 4096), t(f32, 4096)
    cases.append(Case("layernorm_gelu_f32_16384x4096", layer_norm_gelu, (x, w, w)))
    logits, targets = t(bf16, 8192, 32000), t(torch.int64, 8192, limit=32000)
    cases.append(Case("cross_entropy_bf16_8192x32000", cross_entropy, (logits, targets)))
    x, square, p = t(f32, 16384, 8192), t(f32, 8192, 8192), t(f32, 32 * mebi)
    positive, cosine = t(f32, 32 * mebi, low=0.0), t(bf16, 4096, 1, 128)
    return cases + [
        Case("colsum_f32_16384x8192", column_sum, (x,)),
        Case("fullsum_sq_f32_128M", sum_of_squares, (t(f32, 128 * mebi),)),
        Case("var_mean_f32_16384x8192", var_mean, (t(f32, 16384, 8192, low=0.0),)),  # means are not near zero
        Case("transpose_add_f32_8192", transpose_add, (square, square)),
        Case("rowcol_sum_f32_8192", row_and_column_sums, (square,)),
        Case("adam_f32_32M", adam, (p, p, p, positive)),
        Case("foreach_scale_add_64x1M_f32", foreach_scale_add, ([t(f32, mebi)] * 64, [t(f32, mebi)] * 64)),
        Case("rope_bf16_4x4096x32x128", rope, (t(bf16, 4, 4096, 32, 128), cosine, cosine)),
        Case("cumsum_f32_16384x4096", cumsum, (t(f32, 16384, 4096),)),
        Case("cumsum_columns_f32_16384x4096", cumsum_columns, (t(f32, 16384, 4096),)),
        Case("cumsum_f32_64M", cumsum, (t(f32, 64 * mebi),)),
        Case("small_chain_f32_4096", chain, (t(f32, 4096),)),
    ]


def compiled(case: Case, mode: str) -> Callable:
    if MODES[mode] is None:
        return case.function
    torch._dynamo.reset()  # functions are shared by cases; what one compiled must not guard the next
    return torch.compile(case.function, dynamic=False, mode=MODES[mode])


def forget_choices() -> None:
    """Kernels are cached, autotuning's choices are not: those made while other processes use the GPU are not fair."""
    import torch._inductor.config as config

    config.autotune_local_cache = False


def warm(name: str, mode: str, small: bool) -> None:
    """Compiles one case in a process of its own, so that its kernels are in the caches."""
    forget_choices()
    torch._inductor.config.compile_threads = 1
    case = next(c for c in all_cases() if c.name == name)
    compiled(case, mode)(*each(case.inputs, lambda t: t.make("cpu" if small else "cuda", small)))
    if not small:
        torch.cuda.synchronize()


def warm_all(cases: list[Case], modes: list[str], jobs: int, small: bool) -> None:
    work = [(c.name, m, small) for m in reversed(modes) if MODES[m] for c in cases]  # max-autotune takes longest
    if not work or jobs <= 1:
        return
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(min(jobs, len(work)), mp_context=spawn) as pool:
        for item, future in [(item, pool.submit(warm, *item)) for item in work]:
            if future.exception():
                print(f"{item}: {future.exception()}", file=sys.stderr)  # its turn alone will tell


def complaint(function: Callable, case: Case, inputs: list) -> str:
    """What is wrong with the function's results, in a sentence; empty if nothing is."""
    exact = each(inputs, lambda x: x.double() if x.is_floating_point() else x)
    expected = leaves(case.function(*exact))
    found = leaves(function(*inputs))
    for reference, result in zip(expected, found, strict=True):
        difference = (reference - result).abs().max().item()
        largest = reference.abs().max().item()
        if not difference <= TOLERANCE[result.dtype] * largest:
            return f"the result differs from that of f64 by {difference:.3g} of {largest:.3g}"
    return ""


def events_us(run: Callable, count: int) -> float:
    """Microseconds of one of the `count` calls that run() makes: the median of seven, once the clocks are up."""
    times = []
    while len(times) < 9 or sum(times[:-7]) < 20 and len(times) < 100:
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return 1000 * statistics.median(times[-7:]) / count


def graph_us(function: Callable, sets: list, count: int) -> float:
    graph, results = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        for i in range(count):
            results.append(function(*sets[i % len(sets)]))  # kept: each call writes memory of its own
    return events_us(graph.replay, count)


def plain_us(function: Callable, sets: list, count: int) -> float:
    return events_us(lambda: [function(*sets[i % len(sets)]) for i in range(count)], count)


def host_us(function: Callable, sets: list) -> float:
    """Host time of a call: a batch that the stream can queue, without waiting for the device."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for i in range(40):
        function(*sets[i % len(sets)])
    elapsed = time.perf_counter() - start
    torch.cuda.synchronize()
    return 1e6 * elapsed / 40


def copy_speed() -> float:
    """Bytes per microsecond, read and written, of a copy of 256 MB: the memory's speed in this run."""
    a = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    b = torch.empty_like(a)
    return 2 * a.numel() / graph_us(lambda x: b.copy_(x), [[a]], 4)


def measure(case: Case, mode: str, small: bool, speed: float) -> dict:
    device = "cpu" if small else "cuda"
    entry = {"name": case.name, "run_name": case.name, "run_type": "iteration", "label": f"PyTorch {mode}"}
    inputs = each(case.inputs, lambda t: t.make(device, small))
    function = compiled(case, mode)
    wrong = complaint(function, case, inputs)
    if wrong:
        return entry | {"error_occurred": True, "error_message": wrong}
    size = sum(x.numel() * x.element_size() for x in leaves(inputs) + leaves(function(*inputs)))
    if small:
        start = time.perf_counter()
        function(*inputs)
        return entry | {"real_time": 1e6 * (time.perf_counter() - start), "time_unit": "us", "MB": size * 1e-6}
    num_sets = min(64, 1 + 3 * torch.cuda.get_device_properties(0).L2_cache_size // size)
    sets = [inputs] + [each(inputs, torch.clone) for _ in range(num_sets - 1)]
    count = max(num_sets, 8)
    plain, host = plain_us(function, sets, count), host_us(function, sets)
    best = graph_us(function, sets, count)
    counters = {"copy_%": 100 * size / best / speed, "TB/s": size / best * 1e-6, "MB": size * 1e-6}
    return entry | {"real_time": best, "time_unit": "us", "plain_us": plain, "host_us": host} | counters


def context(small: bool, speed: float) -> dict:
    facts = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "executable": "torch_cases.py",
        "device": "cpu" if small else "cuda",
        "torch": torch.__version__,
    }
    if not small:
        facts |= {"gpu": torch.cuda.get_device_name(), "cuda": torch.version.cuda, "copy_TB/s": speed * 1e-6}
    return facts


def write(path: str, facts: dict, results: list[dict]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"context": facts, "benchmarks": results}, file, indent=1)


def main() -> int:
    parser = argparse.ArgumentParser(description="The cases of benchmarks/cuda in PyTorch.")
    parser.add_argument(
        "--cases", "--benchmark_filter", default="", metavar="REGEX", help="only cases that have a match"
    )
    parser.add_argument("--modes", nargs="+", choices=MODES, help="eager alone with --small, else all")
    parser.add_argument("--out", "--benchmark_out", default="torch_cases.json", metavar="FILE")
    parser.add_argument("--benchmark_out_format", choices=["json"], help="there is no other")
    parser.add_argument("--jobs", type=int, default=min(16, os.cpu_count() or 1), help="processes that compile at once")
    parser.add_argument("--budget", type=float, default=600, metavar="SECONDS", help="start nothing after that long")
    parser.add_argument("--small", action="store_true", help="tiny extents on the CPU: a test of this program")
    options = parser.parse_args()
    start = time.monotonic()
    cases = [c for c in all_cases() if re.search(options.cases, c.name)]
    if not cases:
        print(f"No case has a match of '{options.cases}'.", file=sys.stderr)
        return NOT_HERE
    modes = options.modes or (["eager"] if options.small else list(MODES))
    if not options.small and not torch.cuda.is_available():
        print("There is no CUDA device; --small runs on the CPU.", file=sys.stderr)
        return NOT_HERE
    forget_choices()
    warm_all(cases, modes, options.jobs, options.small)
    speed = 0.0 if options.small else copy_speed()
    if speed:
        print(f"compiled in {time.monotonic() - start:.0f} s; a copy moves {speed * 1e-6:.2f} TB/s", flush=True)
    facts, results, failed = context(options.small, speed), [], False
    for case in cases:
        for mode in modes:
            if time.monotonic() - start > options.budget:
                print(f"{case.name}, {mode}: not run, the budget is spent.", file=sys.stderr)
                failed = True
                continue
            try:
                entry = measure(case, mode, options.small, speed)
            except Exception as error:  # one case that PyTorch cannot run must not cost the others
                entry = {
                    "name": case.name,
                    "label": f"PyTorch {mode}",
                    "error_occurred": True,
                    "error_message": str(error).splitlines()[0] if str(error) else repr(error),
                }
            results.append(entry)
            failed = failed or "error_message" in entry
            said = entry.get("error_message") or f"{entry['real_time']:9.1f} us {entry.get('copy_%', 0):6.1f} % of copy"
            print(f"{case.name:32} {mode:13} {said}", flush=True)
            write(options.out, facts, results)  # after each: a run that is stopped keeps what it has
            torch.cuda.empty_cache()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
