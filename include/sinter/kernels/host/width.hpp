// The widest vectors that the machine has, for all code between the two macros: tuned for some processors with AVX-512,
// g++ makes loops of vectors half as wide, which take twice as many instructions. A function that is inlined takes the
// width of the one around it, so what runs a piece of work stays a function of its own.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define SINTER_WIDE_VECTORS _Pragma("GCC push_options") _Pragma("GCC target(\"prefer-vector-width=512\")")
#define SINTER_END_WIDE_VECTORS _Pragma("GCC pop_options")
#else
#define SINTER_WIDE_VECTORS
#define SINTER_END_WIDE_VECTORS
#endif
