# cmake -DINCLUDE=folder -P loads.cmake: kernels load plainly. See include/sinter/kernels/cuda/overlap.cuh.
# SPDX-License-Identifier: BSL-1.0
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/sinter/*.cuh)
foreach(header IN LISTS headers)
  file(STRINGS ${INCLUDE}/${header} lines REGEX "^([^/]|/[^/])*(__ldg|__restrict__|global\\.nc)")
  foreach(line IN LISTS lines)
    string(STRIP "${line}" line)
    list(APPEND wrong "${header}: ${line}")
  endforeach()
endforeach()

list(LENGTH headers count)
if(wrong)
  list(JOIN wrong "\n" wrong)
  message(FATAL_ERROR "A load that says that the kernel only reads may come before the wait for the kernel in front; "
                      "load plainly.\n${wrong}")
endif()
message(STATUS "${count} CUDA headers load plainly.")
