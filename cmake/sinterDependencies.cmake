# What sinter stands on: threads and, for the target sinter::cuda, the CUDA toolkit. Read by the project itself and by the
# installed package, so both look for the same things.
find_package(Threads REQUIRED)

# Adds the CUDA runtime and cuBLASLt, which run matmuls that no kernel of ours takes.
if(NOT TARGET sinter::cuda AND NOT "${SINTER_CUDA}" STREQUAL "OFF")
  find_package(CUDAToolkit QUIET)
  if(TARGET CUDA::cudart AND TARGET CUDA::cublasLt)
    add_library(sinter::cuda INTERFACE IMPORTED GLOBAL)
    target_link_libraries(sinter::cuda INTERFACE sinter::sinter CUDA::cudart CUDA::cublasLt)
    if("cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
      target_compile_features(sinter::cuda INTERFACE cuda_std_20)
    endif()
  endif()
endif()
