// Pointwise bodies whose chunks of `width` neighbours may begin anywhere in memory and whose rows may end inside of
// one: odd widths, broadcasts of them, slices, pointers into the middle of something. A chunk is simple if every access
// walks it in equal steps; it is then read in aligned words that are shifted into place (loose_words.cuh). The few
// others go element by element. Which chunks are which is decided here, what becomes of them is pointwise/loose.cuh's
// matter. No CUDA header is needed here. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/access.hpp"
#include "sinter/kernels/cuda/loose_terms.hpp"

namespace sinter::cuda::detail {

/// The aligned words that a load may read: those that lie inside of what it touches. If its index begins anew nowhere,
/// they are those of the chunks at x in [low, high].
struct loose_range {
  std::uintptr_t first = 0, end = 0;
  int low = 0, high = -1;
};
/// n / d, for n below 2^31 as a product, 2n * factor / 2^(32 + shift).
struct divisor {
  unsigned factor = 0;
  int shift = 0;
  divisor() = default;
  constexpr explicit divisor(std::int64_t d) {
    while (std::int64_t(1) << shift < d) ++shift;
    factor = static_cast<unsigned>((std::uint64_t(1) << (31 + shift)) / static_cast<std::uint64_t>(d) + 1);
  }
};

/// What a launch of N loose loads knows. Chunks begin `lead` elements early, so that stores are aligned. Rows end at
/// multiples of `period` only. Is it `possible` to go in chunks at all? Are those in which rows end walked, or are they
/// too few for that? And do all data lie so that shifts are known?
template <int N>
struct loose_plan {
  int lead = 0, period = 0;
  bool possible = false, walks = false, knows_shifts = false;
  divisor length;  // of a row, if there is one such number
  loose_range ranges[N > 0 ? N : 1];
};

/// What one statement asks of loose chunks. A load or index may go in steps; a store may not.
template <class S>
struct loose_access {
  static constexpr bool allowed = false, indexed = false, is_load = false, loads = false, stores = false;
  static constexpr bool leads = false, masked = false, breaks = false;
};
struct loose_always {
  static constexpr bool allowed = true, indexed = false, is_load = false, loads = false, stores = false;
  static constexpr bool leads = false, masked = false, breaks = false;
};
template <class At_, class T, int Slot, bool Loads, bool Stores>
struct loose_indexed {
  using at = At_;
  using element = T;
  static constexpr pattern where = at_pattern<At_>::of(loop_var::x, 1);
  static constexpr int bytes = sizeof(T), slot = Slot;
  /// Neighbours that a load of `width` reads, with those between its own.
  static constexpr long reach = where.kind == access::uniform ? 0 : where.step < 0 ? -where.step : where.step;
  /// ... and how many of them lie before the first.
  template <int Width>
  static constexpr long below = where.step < 0 ? (Width - 1) * reach : 0;
  static constexpr bool indexed = true, is_load = Loads, stores = Stores, masked = false;
  static constexpr bool breaks = loose_at<At_>::breaks, leads = Stores && !breaks;
  static constexpr bool loads = Loads && reach > 0;
  static constexpr bool allowed = where.kind != access::irregular && (!Loads || reach <= 4) && (!Stores || reach == 1);
};
template <int Slot, class T, class At, int Mask>
struct loose_access<load<Slot, T, At, Mask>> : loose_indexed<At, T, Slot, true, false> {
  static constexpr bool masked = Mask >= 0;
  static constexpr int mask = Mask;
};
template <int Slot, class T, int A, class At, int Mask>
struct loose_access<store<Slot, T, A, At, Mask>> : loose_indexed<At, T, Slot, false, true> {};
template <class At>
struct loose_access<index_value<At>> : loose_indexed<At, char, -1, false, false> {};
template <class At, long Low, long High>
struct loose_access<inside<At, Low, High>> : loose_indexed<At, char, -1, false, false> {};
template <int Slot, class T>
struct loose_access<scalar<Slot, T>> : loose_always {};
template <class T, long Bits>
struct loose_access<constant<T, Bits>> : loose_always {};
template <class Op, class T, class Result, int A, int B, int C>
struct loose_access<compute<Op, T, Result, A, B, C>> : loose_always {};
template <class From, class To, int A>
struct loose_access<cast_to<From, To, A>> : loose_always {};
template <class From, class To, int A>
struct loose_access<widen_to<From, To, A>> : loose_always {};

template <class S>
inline constexpr bool loose_negates = false;
template <class T, class Result, int A, int B, int C>
inline constexpr bool loose_negates<compute<ops::logical_not, T, Result, A, B, C>> = true;

template <class Body>
struct loose_facts;
template <class... S>
struct loose_facts<body<S...>> {
  using B = body<S...>;
  static constexpr int num_loads = (0 + ... + (loose_access<S>::loads ? 1 : 0));
  /// Which statements are shifted into place, and which stores' chunks are all aligned if one is.
  static constexpr bool shifts[] = {loose_access<S>::loads..., false}, leads[] = {loose_access<S>::leads..., false};
  static constexpr bool breaks[] = {loose_access<S>::breaks..., false};
  /// Does it read other memory for every element, not only a row and a column?
  static constexpr bool reads_all = [] {
    bool all = false;
    const auto take_in = [&]<class A>(A) {
      if constexpr (A::loads) all = all || !A::breaks || loose_at<typename A::at>::size > 1;
    };
    (take_in(loose_access<S>{}), ...);
    return all;
  }();
  /// Where a row is read again and again, chunks keep away from its ends by their own length: the words around them are
  /// its own. Others have to be looked at.
  static constexpr bool keeps_away = [] {
    bool any = false;
    const auto take_in = [&]<class A>(A) {
      if constexpr (A::loads) any = any || (A::breaks && loose_at<typename A::at>::size == 1);
    };
    (take_in(loose_access<S>{}), ...);
    return any && !(loose_access<S>::masked || ...);
  }();
  /// The number of statement I among the loose loads.
  template <int I>
  static constexpr int number = [] {
    int n = 0;
    for (int i = 0; i < I; ++i) n += shifts[i] ? 1 : 0;
    return n;
  }();

  /// What masks of loads follow from; and may be known before anything is loaded.
  struct mask_table {
    bool needed[sizeof...(S) + 1]{}, known = true;
  };
  static constexpr mask_table masks = [] {
    mask_table t{};
    const auto& info = body_facts<B>::facts.info;
    const bool masked[] = {loose_access<S>::masked..., false}, loads[] = {loose_access<S>::is_load..., false};
    for (int s = static_cast<int>(sizeof...(S)) - 1; s >= 0; --s) {
      if (masked[s]) t.needed[info[s].operands[0]] = true;
      if (!t.needed[s]) continue;
      t.known = t.known && !loads[s];
      for (int operand : info[s].operands)
        if (operand >= 0) t.needed[operand] = true;
    }
    return t;
  }();

  /// Calls f(number) for each at whose multiples an index begins anew.
  template <class Function>
  static constexpr void each_number(const Function& f) {
    const auto numbers_of = [&]<class A>(A) {
      if constexpr (A::indexed)
        for (const long n : loose_at<typename A::at>::numbers)
          if (n != 0) f(n);
    };
    (numbers_of(loose_access<S>{}), ...);
  }
  /// The number of which all others are multiples; 0 if none is.
  template <class Value>
  static constexpr std::int64_t period_of(const Value& value) {
    constexpr std::int64_t never = 0x7fffffff;
    std::int64_t least = never;
    bool multiples = true;
    each_number([&](long n) { least = value(n) > 0 && value(n) < least ? value(n) : least; });
    each_number([&](long n) { multiples = multiples && (value(n) <= 0 || value(n) % least == 0); });
    return multiples ? least : 0;
  }
  static constexpr std::int64_t static_period = period_of([](long n) { return is_dynamic(n) ? 0 : std::int64_t(n); });
  static constexpr bool has_static_rows = [] {
    bool known = true;
    each_number([&](long n) { known = known && !is_dynamic(n); });
    return known;
  }();
  /// Chunks in which rows end are walked, element by element where an index begins anew; but not loads with masks.
  static constexpr bool masked = (loose_access<S>::masked || ...);
  static constexpr bool loads_break = ((loose_access<S>::loads && loose_access<S>::breaks) || ...);
  static constexpr bool walks = (loose_access<S>::breaks || ...) && !(masked && loads_break);

  /// Are enough chunks of rows of such a period simple? Of what is masked all are if none has a row's end. Otherwise
  /// three of four shall be; but all of a warp except one where the others are walked for a single mask, which costs
  /// little, or where elements have four bytes and none are walked: a warp moves those well one by one. Of what is not
  /// masked two of three warps: walking costs all of a warp, but little; of elements of 16 bits, where memory leaves
  /// the least time because hardly anything is read, it costs more than that.
  static constexpr bool is_long(std::int64_t period, int width, int lead = 0) {
    if (!masked) return period >= (reads_all || width <= 4 ? 96 : 32) * width;
    if (lead == 0 && period > 0 && period % width == 0) return true;
    constexpr int masks = (0 + ... + (loose_access<S>::masked ? 1 : 0));
    return period >= ((walks ? masks < 2 : width <= 4) ? 32 : 4) * width;
  }

  /// Bytes of the elements that are loaded or stored; all loads and stores can be done in chunks.
  struct element_sizes {
    int smallest = 16, largest = 0, stored = 0;  // 16: none is larger
    long reach = 1;
    bool regular = true;
  };
  static constexpr element_sizes sizes = [] {
    element_sizes e;
    const auto take_in = [&]<class A>(A) {
      e.regular = e.regular && A::allowed;
      if constexpr (A::loads || A::stores) {
        if (A::bytes < e.smallest) e.smallest = A::bytes;
        if (A::bytes > e.largest) e.largest = A::bytes;
        if (A::loads && A::reach > e.reach) e.reach = A::reach;
        if (A::stores && A::bytes > e.stored) e.stored = A::bytes;
      }
    };
    (take_in(loose_access<S>{}), ...);
    return e;
  }();
  static constexpr bool mixed = sizes.smallest != sizes.largest;

  /// Elements of a chunk: the smallest type fills 16 bytes, the largest at most 32, and none that is stored more than
  /// 16: neighbours that write half of each sector cost memory twice. 0: this body has none.
  static constexpr int width = [] {
    if (!sizes.regular || sizes.stored == 0 || !masks.known) return 0;
    const int smallest = sizes.smallest, largest = sizes.largest;
    int w = 16 / smallest;
    while (w * largest > 32 || w * sizes.reach * largest > 64 || w * sizes.stored > 16) w /= 2;
    return w * smallest < 4 || w < 2 || (!walks && !is_long(static_period, w)) ? 0 : w;
  }();
  /// May there be rows long enough for simple chunks? And may there be others, or data for which the same are not?
  static constexpr bool may_be_simple = width > 0 && is_long(static_period, width);
  static constexpr bool may_walk =
      walks && width > 0 && !(may_be_simple && has_static_rows && is_long(static_period, width, 1));

  /// Are shifts known where all data lie alike? And is anything shifted then?
  static constexpr bool may_know_shifts = [] {
    bool known = true, any = false;
    const auto take_in = [&]<class A>(A) {
      if constexpr (A::loads) {
        constexpr long offset = loose_at<typename A::at>::offset;
        known = known && !A::breaks && A::where.step == 1 && !is_dynamic(offset);
        any = any || offset % width != 0;
      }
    };
    if constexpr (width > 0) (take_in(loose_access<S>{}), ...);
    return known && any;
  }();

  /// May masks let in part of a chunk? Of loads that exclude each other, as those of joined tensors do, one is read
  /// where they may not; then such chunks are left, if there are no more than two in a warp.
  static constexpr bool masks_may_differ = [] {
    bool exclude = false;
    const bool negates[] = {loose_negates<S>..., false};
    for (int s = 0; s < static_cast<int>(sizeof...(S)); ++s) exclude = exclude || (masks.needed[s] && negates[s]);
    return !exclude || static_period < 16 * width;
  }();

  /// Are all launches so?
  static constexpr bool is_certain = (0 + ... + (loose_access<S>::leads ? 1 : 0)) < 2 && !masked;

  /// Where rows end: the only such number of the body, or the one of which all are known to be multiples, or no_period,
  /// or at the launch's plan.
  static constexpr long no_period = 0, planned_period = -1;
  static constexpr long period = [] {
    long one = no_period;
    each_number([&](long n) { one = one == no_period || one == n ? n : planned_period; });
    return one == planned_period && has_static_rows && static_period > 0 ? static_cast<long>(static_period) : one;
  }();

  /// Would chunks that begin at multiples of the width still read element by element?
  static constexpr bool wanted(int aligned_width) {
    const auto loosely = [&]<class A>(A) {
      if constexpr (A::loads) {
        const pattern p = at_pattern<typename A::at>::of(loop_var::x, aligned_width);
        return p.kind != access::contiguous && p.kind != access::uniform &&
               (may_be_simple || (A::masked && !A::breaks));
      } else {
        return false;
      }
    };
    return width > 0 && (loosely(loose_access<S>{}) || ...);
  }

  template <class Args>
  static loose_plan<num_loads> plan(const Args& args) {
    loose_plan<num_loads> p;
    if constexpr (is_dynamic(period)) {
      const std::int64_t length = sinter::detail::resolve(period, args.sizes);
      if (length > 0) p.length = divisor(length);
    }
    const std::int64_t shortest = period_of([&](long n) { return sinter::detail::resolve(n, args.sizes); });
    int n = 0, known = 1;  // the lead is known modulo this
    bool agree = true;     // do all stores want the same lead?
    bool readable = true;
    const auto take_in = [&]<class A>(A) {
      if constexpr (A::loads) {
        p.ranges[n] = range_of(A{}, args);
        // What a mask keeps out is read from there.
        if (A::masked && p.ranges[n].end < p.ranges[n].first + width * A::reach * A::bytes + 16) readable = false;
        ++n;
      }
      if constexpr (A::leads) {
        constexpr int unit = width * A::bytes < 16 ? width : 16 / A::bytes;
        const int lead = static_cast<int>(address_of(A{}, args) / A::bytes % unit), both = unit < known ? unit : known;
        agree = agree && lead % both == p.lead % both && address_of(A{}, args) % A::bytes == 0;
        if (unit > known) p.lead = lead, known = unit;
      }
    };
    (take_in(loose_access<S>{}), ...);
    const auto lies_alike = [&]<class A>(A) {
      if constexpr (A::loads)
        return reinterpret_cast<std::uintptr_t>(args.pointers[A::slot]) % 16 ==
               static_cast<unsigned>(p.lead * A::bytes) % 16;
      else return true;
    };
    const bool is_simple = is_long(shortest, width, p.lead);
    p.period = static_cast<int>(shortest);
    p.walks = may_walk && !is_simple;
    p.knows_shifts = may_know_shifts && (lies_alike(loose_access<S>{}) && ...);
    p.possible = agree && readable && (walks || is_simple);
    return p;
  }

 private:
  template <class A, class Args>
  static std::uintptr_t address_of(A, const Args& args) {
    const std::int64_t offset = loose_at<typename A::at>::resolve_in(args).offset;
    return reinterpret_cast<std::uintptr_t>(args.pointers[A::slot]) + static_cast<std::uintptr_t>(offset * A::bytes);
  }
  template <class A, class Args>
  static loose_range range_of(A, const Args& args) {
    using at = loose_at<typename A::at>;
    auto t = at::resolve_in(args);
    if constexpr (A::masked) {
      // What one half of a mask says may let the other say more, but not for long.
      bool same = false;
      for (int turn = 0; turn < 8 && !same; ++turn) {
        const auto before = t;
        if (!mask_of<B, A::mask>::narrow(false, t, at::size, args)) return {};
        same = true;
        for (int i = 0; i < at::size; ++i) same = same && t.of[i].values == before.of[i].values;
      }
      if (!same) return {};
    }
    std::int64_t first = t.offset, last = t.offset;
    for (int i = 0; i < at::size; ++i) {
      const loose_term& now = t.of[i];
      if (now.values.low >= now.values.high) return {};
      (now.coef < 0 ? last : first) += now.coef * now.values.low;
      (now.coef < 0 ? first : last) += now.coef * (now.values.high - 1);
    }
    const auto base = reinterpret_cast<std::uintptr_t>(args.pointers[A::slot]);
    constexpr std::uintptr_t unit = 16;
    loose_range range{(base + static_cast<std::uintptr_t>(first * A::bytes) + unit - 1) / unit * unit,
                      (base + static_cast<std::uintptr_t>((last + 1) * A::bytes)) / unit * unit};
    if constexpr (!A::breaks) {
      // The first element that a chunk reads, at x = 0, and those that it may be.
      const std::int64_t start = t.offset - A::template below<width>;
      const std::int64_t least = (static_cast<std::int64_t>(range.first - base) + A::bytes - 1) / A::bytes;
      const std::int64_t most = static_cast<std::int64_t>(range.end - base) / A::bytes - width * A::reach;
      const std::int64_t near = A::where.step > 0 ? least - start : start - most;
      const std::int64_t far = A::where.step > 0 ? most - start : start - least;
      range.low = near <= 0 ? 0 : static_cast<int>((near + A::reach - 1) / A::reach);
      const std::int64_t chunks = far / A::reach;
      range.high = far < 0 ? -1 : static_cast<int>(chunks < args.numel ? chunks : args.numel);
    }
    return range;
  }
};

}  // namespace sinter::cuda::detail
