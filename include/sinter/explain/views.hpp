// The views of a plan, declared. nvcc's device pass reads no more of them: only host code calls them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/string.hpp"

namespace sinter {

enum class verbosity : unsigned char {
  kernels,  ///< only the kernels and the workspace
  plan,     ///< also why what is apart is apart
  log       ///< instead, round by round: each pair, its score, what was fused, and what that undid
};

/// The plan of a fused function as text: one paragraph per kernel, then the refusals.
template <class Fused>
string explain(const Fused&);
/// The same in as many words as wanted. A function of its own because the log costs the compiler another evaluation.
template <class Fused>
string explain(const Fused&, verbosity how_much);
/// The graph and plan of a fused function in Graphviz's language: `dot -Tsvg`.
template <class Fused>
string to_dot(const Fused&);
/// The plan of a fused function as one page of HTML that needs nothing else: write it to a file and open it.
template <class Fused>
string to_html(const Fused&, string_view title = "Fusion plan");

}  // namespace sinter
