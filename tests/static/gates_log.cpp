// The log of the rounds: what was asked, what it was worth, what was done, and what that undid.
#include <string_view>
#include <tuple>

#include <sinter/sinter.hpp>

#include "../support/with.hpp"

namespace si = sinter;
using si::log_event;
using si::refusal;
using std::tuple;

using X = si::tensor<float, 32, 64>;

// How many lines say this of a pair.
template <class Log>
constexpr int lines(const Log& log, std::string_view first, std::string_view second, log_event event, refusal reason) {
  int n = 0;
  for (const si::fusion_entry& e : log)
    n += e.first == first && e.second == second && e.event == event && e.reason == reason;
  return n;
}

// A pair that is fused is a line when it is found and one when it is done; then nothing is left to ask.
constexpr auto pair = si::fuse<X>([](auto x) { return tuple(si::sin(x), si::sum(x, si::axis<-1>)); }).fusion_log();
static_assert(pair.size() == 2);
static_assert(pair[0].event == log_event::considered && pair[0].first == "sin_0" && pair[0].second == "sum_0");
static_assert(pair[0].reason == refusal::none && pair[0].shared_bytes == 32 * 64 * 4 && pair[0].round == 0);
static_assert(pair[1].event == log_event::fused && pair[1].round == 0);
static_assert(pair[0].score.weight == 32 * 64 * 4 && !pair[0].score.same_kind && pair[0].score.proximity == -1);

// A refused pair has a score as well, and is asked again by the round that reorders loops.
constexpr auto apart =
    si::fuse<X>([](auto x) { return tuple(si::sum(x, si::axis<0>), si::amax(x, si::axis<1>)); }).fusion_log();
static_assert(lines(apart, "sum_0", "amax_0", log_event::considered, apart[0].reason) == 2 && apart.size() == 2);
static_assert(apart[0].reason != refusal::none && apart[1].round > apart[0].round - 1);

// Three siblings and room for two: the best pair is fused, and that refuses the others.
constexpr si::options two_nodes = with<&si::options::max_fusion_size, 2>;
constexpr auto siblings = [](auto x) { return tuple(si::sin(x), si::cos(x), si::exp(x)); };
constexpr auto crowded = si::fuse<two_nodes, X>(siblings).fusion_log();
static_assert(lines(crowded, "sin_0", "cos_0", log_event::fused, refusal::none) == 1);
static_assert(lines(crowded, "cos_0", "exp_0", log_event::considered, refusal::none) == 1);
static_assert(lines(crowded, "cos_0", "exp_0", log_event::invalidated, refusal::too_many_nodes) == 1);
static_assert(lines(crowded, "sin_0", "exp_0", log_event::invalidated, refusal::too_many_nodes) == 1);
// Without the limit the second pair is made as well, and the third is one kernel by then.
constexpr auto roomy = si::fuse<X>(siblings).fusion_log();
static_assert(lines(roomy, "cos_0", "exp_0", log_event::fused, refusal::none) == 1);
static_assert(lines(roomy, "sin_0", "exp_0", log_event::invalidated, refusal::same_kernel) == 1);

// One node: nothing to tell.
static_assert(si::fuse<X>([](auto x) { return si::exp(x); }).fusion_log().empty());

// ---- the order in which candidates are applied
template <class Log>
constexpr int place_of(const Log& log, std::string_view first, std::string_view second) {
  int n = 0;
  for (const si::fusion_entry& e : log) {
    if (e.event != log_event::fused) continue;
    if (e.first == first && e.second == second) return n;
    ++n;
  }
  return -1;
}
using Y = si::tensor<float, 64, 32>;
constexpr auto busy = [](auto x, auto y, auto z) {
  return tuple(si::exp(si::matmul(si::relu(x), y)), si::matmul(si::sin(z), y), si::tanh(y), si::square(y));
};
// Ordinary pairs, then epilogues, then prologues; last those whose matmul also has an epilogue.
constexpr auto usual = si::fuse<si::max_autotune, X, Y, X>(busy).fusion_log();
static_assert(place_of(usual, "tanh_0", "square_0") == 0);
static_assert(place_of(usual, "mm_0", "exp_0") == 1);
static_assert(place_of(usual, "sin_0", "mm_1") == 2);
static_assert(place_of(usual, "relu_0", "mm_0") == 3);
constexpr si::options epilogues_first = with<&si::options::epilogue_fusion_first, true, si::max_autotune>;
constexpr auto turned = si::fuse<epilogues_first, X, Y, X>(busy).fusion_log();
static_assert(place_of(turned, "mm_0", "exp_0") == 0 && place_of(turned, "tanh_0", "square_0") == 1);
