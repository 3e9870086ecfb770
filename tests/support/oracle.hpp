// Rows of the oracle, as static assertions: a plan under its name, with the kernels it has and the elements it moves.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#define SINTER_KERNELS(ID, KERNELS, ...) \
  constexpr auto ID = __VA_ARGS__;       \
  static_assert(ID.kernel_count() == KERNELS, #ID ": kernels")

#define SINTER_ROW(ID, KERNELS, ELEMENTS, ...) \
  SINTER_KERNELS(ID, KERNELS, __VA_ARGS__);    \
  static_assert(ID.numel_accessed() == ELEMENTS, #ID ": elements moved")
