#!/usr/bin/env python3
# Reads what the benchmark programs wrote (Google Benchmark's JSON; the label is the implementation) and compares sinter
# with its peers: a table in Markdown, and a picture of the percent of the copy speed, for each device.
# SPDX-License-Identifier: BSL-1.0
import argparse
import json
import math
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

OURS = "sinter"
MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
LOW_PERCENT = 85  # of the copy speed; slower shapes are listed
SMALLEST_PICTURED_MB = 4  # less is launch time, not memory
DAY = len("2026-11-21")
FACTS = ("date", "gpu", "cpu", "cores", "driver", "clocks", "cuda", "nvcc", "compiler", "torch", "copy_TB/s")


@dataclass(frozen=True)
class Result:
    implementation: str  # "PyTorch default"
    us: float
    megabytes: float  # that must move; 0 when not said
    percent: float  # of the copy speed in the same process; 0 when not said
    host_us: float

    @property
    def family(self) -> str:
        return self.implementation.split(" ")[0]

    @property
    def mode(self) -> str:
        return self.implementation.partition(" ")[2]


@dataclass
class Device:
    facts: dict[str, list[str]] = field(default_factory=dict)
    cases: dict[str, list[Result]] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)

    def families(self) -> list[str]:
        """The peers; who has most cases first."""
        count = Counter(f for results in self.cases.values() for f in {r.family for r in results} if f != OURS)
        return sorted(count, key=lambda f: (-count[f], f))

    def best(self, case: str, family: str) -> Result | None:
        return min((r for r in self.cases[case] if r.family == family), key=lambda r: r.us, default=None)

    def compared(self) -> list[str]:
        return sorted(c for c in self.cases if self.best(c, OURS) and {r.family for r in self.cases[c]} != {OURS})

    def ratio(self, case: str, family: str) -> float | None:
        """How many times as long the family's best takes."""
        ours, theirs = self.best(case, OURS), self.best(case, family)
        return theirs.us / ours.us if ours and theirs else None

    def least_ratio(self, case: str) -> float:
        return min(r for f in self.families() if (r := self.ratio(case, f)))


def read_runs(paths: list[Path]) -> tuple[list[dict], list[Path]]:
    """What each process wrote, one or a list of them in a file; and the files of processes that broke off."""
    runs, broken = [], []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        if not text.strip():  # no case of the program was asked for
            continue
        try:
            content = json.loads(text)
        except json.JSONDecodeError:
            broken.append(path)
            continue
        runs += content if isinstance(content, list) else [content]
    return runs, broken


def by_device(runs: list[dict]) -> dict[str, Device]:
    devices: dict[str, Device] = {}
    for run in runs:
        context = run["context"]
        device = devices.setdefault(context.get("device", "cuda"), Device())
        for fact in FACTS:
            text = str(context.get(fact, ""))[: DAY if fact == "date" else None]
            if text and text not in device.facts.setdefault(fact, []):
                device.facts[fact].append(text)
        for entry in run["benchmarks"]:
            case, implementation = entry["name"].split("/")[0], entry.get("label") or OURS
            if message := entry.get("error_message") or entry.get("skip_message"):
                device.complaints.append(f"{case}, {implementation}: {message}")
            elif entry.get("run_type", "iteration") == "iteration":
                us = entry["real_time"] * MICROSECONDS[entry["time_unit"]]
                figures = (entry.get(name, 0.0) for name in ("MB", "copy_%", "host_us"))
                device.cases.setdefault(case, []).append(Result(implementation, us, *figures))
    return {name: device for name, device in devices.items() if device.cases or device.complaints}


def check_bytes(device: Device) -> None:
    """A percentage means the same for all only if all count the same bytes."""
    for case in device.compared():
        megabytes = device.best(case, OURS).megabytes
        for r in device.cases[case]:
            if r.megabytes and megabytes and abs(r.megabytes / megabytes - 1) > 0.01:
                device.complaints.append(
                    f"{case}, {r.implementation}: counts {r.megabytes:.1f} MB where {OURS} counts {megabytes:.1f}"
                )


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def table(device: Device) -> list[str]:
    families = device.families()
    head = ["case", f"{OURS}, us", "% of copy"]
    for f in families:
        head += [f"{f}, us", f"{f} / {OURS}"]
    lines = [row(*head), row("---", *["---:"] * (len(head) - 1))]
    for case in device.compared():
        ours = device.best(case, OURS)
        cells = [case, f"{ours.us:.1f}", f"{ours.percent:.0f}" if ours.percent else ""]
        for f in families:
            theirs = device.best(case, f)
            mode = f" ({theirs.mode})" if theirs and theirs.mode else ""
            cells += [f"{theirs.us:.1f}{mode}", f"{device.ratio(case, f):.2f}"] if theirs else ["", ""]
        lines.append(row(*cells))
    means = ["geometric mean", "", ""]
    for f in families:
        ratios = [r for c in device.compared() if (r := device.ratio(c, f))]
        means += ["", f"**{geometric_mean(ratios):.2f}**" if ratios else ""]
    return lines + [row(*means)]


def summary(device: Device) -> list[str]:
    lines = []
    compared = device.compared()
    if compared:
        worst = min(compared, key=device.least_ratio)
        mean = geometric_mean([device.least_ratio(c) for c in compared])
        lines += [
            f"The best peer of each case takes {mean:.2f} times as long (geometric mean of {len(compared)} cases), "
            f"at least {device.least_ratio(worst):.2f} times ({worst}).",
            "",
        ]
        smallest = min(compared, key=lambda c: device.best(c, OURS).megabytes)
        hosts = ", ".join(f"{r.implementation} {r.host_us:.1f}" for r in device.cases[smallest] if r.host_us)
        if hosts:
            lines += [f"Host time of one call of {smallest}, us: {hosts}.", ""]
    alone = [
        (device.best(c, OURS).percent, c)
        for c in device.cases
        if c not in compared and device.best(c, OURS) and device.best(c, OURS).percent
    ]
    if alone:
        low = sorted((p, c) for p, c in alone if p < LOW_PERCENT)
        lines += [
            f"Other shapes: {len(alone)} cases, {len(alone) - len(low)} of them at {LOW_PERCENT} % of the copy "
            f"speed or more{'; the others:' if low else '.'}",
            "",
        ]
        if low:
            lines += [row("case", "MB", f"{OURS}, us", "% of copy"), row("---", *["---:"] * 3)]
            for percent, c in low:
                ours = device.best(c, OURS)
                lines.append(row(c, f"{ours.megabytes:.0f}", f"{ours.us:.1f}", f"{percent:.0f}"))
            lines.append("")
    if device.complaints:
        lines += ["Not measured, or not comparable:", "", *(f"- {c}" for c in device.complaints), ""]
    return lines


def report(name: str, device: Device) -> str:
    facts = [f"{fact.replace('_', ' ')}: {'; '.join(values)}" for fact in FACTS if (values := device.facts.get(fact))]
    lines = [f"# Benchmarks, {name}", "", *(f"- {fact}" for fact in facts), ""]
    if device.compared():
        lines += table(device) + [""]
    return "\n".join(lines + summary(device))


def draw(device: Device, path: Path) -> bool:
    """A row per case, a dot per implementation at its percent of the copy speed; the largest gain on top."""
    cases = [
        c
        for c in device.compared()
        if device.best(c, OURS).percent and device.best(c, OURS).megabytes >= SMALLEST_PICTURED_MB
    ]
    if not cases:
        return False
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cases.sort(key=device.least_ratio)  # the axis points up
    grey, colours = "#808080", ["#4285c9", "#3a9d6a", "#9467bd", "#b58900"]  # legible on light and on dark
    plt.rcParams.update(
        {
            "svg.fonttype": "none",
            "font.size": 9,
            "text.color": grey,
            "axes.labelcolor": grey,
            "xtick.color": grey,
            "ytick.color": grey,
            "svg.hashsalt": "sinter",
        }
    )
    figure, axes = plt.subplots(figsize=(8.5, 1.3 + 0.24 * len(cases)))
    series = [(f, colours[i % len(colours)], 26) for i, f in enumerate(device.families())] + [(OURS, "#d9541e", 48)]
    most = 100.0
    for y, case in enumerate(cases):
        percents = [r.percent for f, *_ in series if (r := device.best(case, f)) and r.percent]
        axes.plot([min(percents), max(percents)], [y, y], color=grey, alpha=0.35, linewidth=1.5, zorder=1)
        most = max(most, *percents)
    for z, (family, colour, size) in enumerate(series):
        dots = [(r.percent, y) for y, c in enumerate(cases) if (r := device.best(c, family)) and r.percent]
        if dots:
            axes.scatter(*zip(*dots), s=size, color=colour, label=family, zorder=2 + z, linewidths=0)
    axes.axvline(100, color=grey, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    axes.set_yticks(range(len(cases)), cases)
    axes.set_ylim(-0.7, len(cases) - 0.3)
    axes.set_xlim(0, most * 1.03)
    axes.set_xlabel("percent of the speed of a plain copy of the same bytes, in the same run")
    axes.grid(axis="x", color=grey, alpha=0.2)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(series), frameon=False)
    figure.savefig(
        path, transparent=True, bbox_inches="tight", metadata={"Date": None} if path.suffix == ".svg" else None
    )
    plt.close(figure)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares what the benchmark programs wrote.")
    parser.add_argument("results", nargs="+", type=Path, help="JSON files, or folders of them")
    parser.add_argument(
        "--out", type=Path, default=Path("."), help="folder for <device>.md, <device>.svg, results.json"
    )
    parser.add_argument("--format", choices=("svg", "png"), default="svg", help="of the picture")
    options = parser.parse_args()
    paths = [f for p in options.results for f in (sorted(p.glob("*.json")) if p.is_dir() else [p])]
    if not paths:
        parser.error("there are no JSON files in " + ", ".join(map(str, options.results)))
    runs, broken = read_runs(paths)
    for path in broken:
        print(f"{path} is not whole: its program broke off.", file=sys.stderr)
    devices = by_device(runs)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "results.json").write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
    for name, device in devices.items():
        check_bytes(device)
        text = report(name, device)
        (options.out / f"{name}.md").write_text(text + "\n", encoding="utf-8")
        print(text)
        try:
            draw(device, options.out / f"{name}.{options.format}")
        except ImportError:
            print("matplotlib is not here; there is no picture.", file=sys.stderr)
    return int(bool(broken) or any(device.complaints for device in devices.values()))


if __name__ == "__main__":
    sys.exit(main())
