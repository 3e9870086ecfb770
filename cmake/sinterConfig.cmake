# find_package(sinter): sinter::sinter, and sinter::cuda where the CUDA toolkit is found (COMPONENTS cuda demands it).
include(${CMAKE_CURRENT_LIST_DIR}/sinterExports.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/sinterDependencies.cmake)
if("cuda" IN_LIST sinter_FIND_COMPONENTS)
  if(TARGET sinter::cuda)
    set(sinter_cuda_FOUND TRUE)
  elseif(sinter_FIND_REQUIRED_cuda)
    set(sinter_FOUND FALSE)
    set(sinter_NOT_FOUND_MESSAGE "sinter::cuda needs the CUDA toolkit; install it, or say where it is with CUDAToolkit_ROOT.")
  endif()
endif()

