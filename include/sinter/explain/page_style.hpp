// The style and the script of to_html's page: light and dark, wide and narrow, and complete without the script.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace sinter::detail::views {

inline constexpr const char* style = R"css(
:root { color-scheme: light dark; --paper: #fcfcfa; --card: #fff; --ink: #1c2127; --soft: #59626e; --line: #dcdfe3;
  --link: #1f5fa8; --poi: #2f6db3; --red: #197565; --tem: #a85a14; --for: #68717d; --com: #7a55a8; --no: #b3402f;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --card: #1c2026; --ink: #e4e7ea; --soft: #9ba5b1;
  --line: #343b44; --link: #86b7f0; --poi: #7db0ea; --red: #5cc4ae; --tem: #e6a560; --for: #a3adb8; --com: #bc9fe6;
  --no: #f0907f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", sans-serif; }
main, header, footer { max-width: 68rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 3rem; }
footer { padding-top: 3rem; padding-bottom: 3rem; }
h1 { font-size: 2rem; line-height: 1.2; font-weight: 650; letter-spacing: -.015em; margin: 0 0 .6rem; }
h2 { font-size: 1.25rem; font-weight: 650; letter-spacing: -.01em; margin: 3.2rem 0 .4rem; }
h3 { font: 600 .95rem/1.4 var(--mono); margin: 0; overflow-wrap: anywhere; }
p { margin: .4rem 0; max-width: 44rem; }
.note { color: var(--soft); font-size: .92rem; }
.shape { white-space: nowrap; }
code { font: .92em var(--mono); overflow-wrap: anywhere; }
a { color: var(--link); text-underline-offset: .2em; text-decoration-thickness: 1px; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .4rem; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; padding: 0; margin: 1.2rem 0 0; }
.figures { display: flex; flex-wrap: wrap; gap: 0 2.6rem; margin: 1.4rem 0 .4rem; }
.figures div { display: flex; flex-direction: column-reverse; padding: .4rem 0; }
.figures dt { color: var(--soft); font-size: .85rem; }
.figures dd { margin: 0; font-size: 1.5rem; font-weight: 600; letter-spacing: -.01em; }
figure { margin: 1rem 0 0; }
.wide { overflow-x: auto; padding: .2rem 0; }

svg { display: block; font: 11px var(--mono); }
svg text { fill: var(--ink); }
svg .shape, svg .axis { fill: var(--soft); font-size: 10px; }
.axis { text-anchor: end; }
svg .tick { fill: var(--link); }
.node text, .buffer text, .tick { text-anchor: middle; }
.node rect { fill: var(--card); stroke: var(--line); }
.argument rect { fill: var(--paper); }
.result rect { stroke: var(--ink); }
.poi { color: var(--poi); } .red, .per, .spl { color: var(--red); } .tem { color: var(--tem); } .for { color: var(--for); }
.com { color: var(--com); } .refusal { color: var(--no); }
.kernel rect, .buffer rect { fill: currentColor; fill-opacity: .09; stroke: currentColor; stroke-opacity: .75; }
a.kernel:hover rect { fill-opacity: .16; }
.kernel text { fill: currentColor; font-weight: 600; paint-order: stroke; stroke: var(--paper); stroke-width: 3px;
  pointer-events: none; white-space: pre; }
.edge { fill: none; stroke: var(--soft); stroke-opacity: .8; }
.arrow { marker-end: url(#head); }
.head { fill: var(--soft); }
.grid { stroke: var(--line); }
.refused { fill: none; stroke: var(--no); stroke-opacity: .55; stroke-dasharray: 4 4; }
.refused:hover { stroke-opacity: 1; stroke-width: 2.5; stroke-dasharray: none; }
.lit .edge { stroke-opacity: .2; }
.lit .edge.on { stroke: var(--link); stroke-opacity: 1; stroke-width: 1.8; }
.kinds { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; padding: 0; margin: .8rem 0;
  font-size: .85rem; }
.kinds li::before { content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .45em;
  border-radius: 3px; background: currentColor; opacity: .7; }
.kinds .refusal::before { width: 1.4em; height: 0; border-top: 2px dashed; border-radius: 0; vertical-align: middle; }
.switch { font-size: .9rem; padding-left: .4rem; }
#refused:not(:checked) ~ .wide .refusals { display: none; }

.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(26rem, 100%), 1fr)); gap: .8rem;
  margin-top: 1rem; }
article { background: var(--card); border: 1px solid var(--line); border-left: 4px solid; border-radius: 6px;
  padding: .8rem 1.1rem; }
article h3, article dd { color: var(--ink); }
article .note { margin: .1rem 0 .5rem; }
article dl { display: grid; grid-template-columns: 6rem 1fr; gap: .15rem 1rem; margin: 0; font-size: .92rem; }
article dt { color: var(--soft); }
article dd { margin: 0; }
article:target, tr:target { outline: 2px solid var(--link); outline-offset: 1px; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; margin-top: .6rem; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: .82rem; }
th, td { padding: .4rem 1.4rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
td .number { display: block; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td code { white-space: nowrap; overflow-wrap: normal; }
.fused { color: var(--red); } .undone { color: var(--no); }
details { border-top: 1px solid var(--line); padding: .5rem 0; }
details details { border: 0; padding: .2rem 0 0; }
summary { cursor: pointer; }
.pairs { columns: 20rem; padding-left: 1.2rem; margin: .3rem 0 .6rem; font-size: .88rem; }
.filter { display: block; margin: .8rem 0 0; font-size: .9rem; }
.filter input { font: inherit; color: inherit; width: 16rem; max-width: 100%; background: var(--card);
  border: 1px solid var(--line); border-radius: 5px; padding: .3rem .6rem; margin-left: .3rem; }
[hidden] { display: none; }
@media (max-width: 40rem) {
  main, header, footer { padding-left: 1rem; padding-right: 1rem; }
  header { padding-top: 1.6rem; }
  h1 { font-size: 1.6rem; }
  article dl { grid-template-columns: 1fr; gap: 0; }
  article dd { margin-bottom: .4rem; }
  th.long { min-width: 16rem; }
}
@media print { .switch, .filter, nav, input { display: none; } article { break-inside: avoid; } }
)css";

// Lights up the lines of the node under the pointer, and offers a filter over everything that names a pair.
inline constexpr const char* script = R"js(
for (const svg of document.querySelectorAll("svg.graph"))
  for (const node of svg.querySelectorAll(".node")) {
    const mark = on => {
      svg.classList.toggle("lit", on);
      for (const edge of svg.querySelectorAll(".edge"))
        edge.classList.toggle("on", [edge.dataset.from, edge.dataset.to].includes(node.dataset.item));
    };
    node.addEventListener("pointerenter", () => mark(true));
    node.addEventListener("pointerleave", () => mark(false));
  }
const places = document.querySelectorAll("[data-pair]");
if (places.length !== 0) {
  const label = document.createElement("label"), field = document.createElement("input");
  label.className = "filter";
  field.type = "search";
  field.placeholder = "mm_0";
  label.append("Show only pairs that name ", field);
  document.querySelector("[data-filter]").append(label);
  field.addEventListener("input", () => {
    for (const place of places) place.hidden = !place.dataset.pair.includes(field.value.trim());
  });
}
)js";

}  // namespace sinter::detail::views
