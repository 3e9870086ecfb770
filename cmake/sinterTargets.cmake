# The words in which tests/, examples/ and benchmarks/ are written.
#
#   sinter_program(name source...)                one program of the project's compilers, warnings being errors
#   sinter_foreign_program(name source command)   one program of a compiler that CMake does not drive: foreign/name
#   sinter_test(name LABELS ... COMMAND ...)      one test; with GPU it is skipped where there is no device
#   sinter_check(name source compiler LABELS ...) one test: the compiler accepts the source
#   sinter_precompile(compiler)                   its checks begin with all headers read
#
# SINTER_COMPILERS lists the compilers every check runs on; SINTER_COMMAND_<compiler> is its command line for a look at
# one file, without optimisation and without linking; nvcc's is the device pass, one of the two in which it reads a file.

cmake_host_system_information(RESULT SINTER_CORES QUERY NUMBER_OF_LOGICAL_CORES)
set(SINTER_NVCC_JOBS ${SINTER_CORES} CACHE STRING "How many nvcc run at once")
set_property(GLOBAL APPEND PROPERTY JOB_POOLS nvcc=${SINTER_NVCC_JOBS})

set(SINTER_WARNINGS -Wall -Wextra -Werror)
set(SINTER_CUDA_WARNINGS -Werror=all-warnings -Xcompiler=-Wall,-Wextra)
option(SINTER_SPILLS_ARE_ERRORS "No kernel may spill registers" ON)
if(SINTER_SPILLS_ARE_ERRORS)
  list(APPEND SINTER_CUDA_WARNINGS -Xptxas=--warn-on-spills)
endif()
set(SINTER_FLAGS -std=c++20 -I${PROJECT_SOURCE_DIR}/include)

string(TOLOWER ${CMAKE_CXX_COMPILER_ID} SINTER_HOST_COMPILER) # gnu or clang
set(SINTER_COMPILERS ${SINTER_HOST_COMPILER})
set(SINTER_COMMAND_${SINTER_HOST_COMPILER} ${CMAKE_CXX_COMPILER} -fsyntax-only ${SINTER_FLAGS} ${SINTER_WARNINGS})
if(SINTER_CROSS_CHECK AND NOT SINTER_HOST_COMPILER STREQUAL "clang")
  find_program(SINTER_CLANG NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14)
  mark_as_advanced(SINTER_CLANG)
  if(SINTER_CLANG)
    list(APPEND SINTER_COMPILERS clang)
    set(SINTER_COMMAND_clang ${SINTER_CLANG} -fsyntax-only ${SINTER_FLAGS} ${SINTER_WARNINGS})
  endif()
endif()
if(SINTER_CROSS_CHECK AND SINTER_HAS_CUDA)
  list(GET CMAKE_CUDA_ARCHITECTURES 0 architecture)
  string(REGEX REPLACE "^([0-9]+[a-z]?).*" "sm_\\1" architecture ${architecture})
  set(SINTER_NVCC_COMMAND ${CMAKE_CUDA_COMPILER_LAUNCHER} ${CMAKE_CUDA_COMPILER} -arch=${architecture} ${SINTER_FLAGS})
  list(APPEND SINTER_COMPILERS nvcc)
  set(SINTER_COMMAND_nvcc ${SINTER_NVCC_COMMAND} -ptx -o nvcc.out -x cu)
  set(SINTER_COMMAND_ptxas ${SINTER_NVCC_COMMAND} ${SINTER_CUDA_WARNINGS} -c -o ptxas.out -x cu)
endif()

function(sinter_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE sinter::sinter)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${SINTER_WARNINGS}>)
  if(SINTER_HAS_CUDA AND "${ARGN}" MATCHES "\\.cu(;|$)")
    target_link_libraries(${name} PRIVATE sinter::cuda)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:${SINTER_CUDA_WARNINGS}>)
    set_target_properties(${name} PROPERTIES JOB_POOL_COMPILE nvcc)
  endif()
endfunction()

function(sinter_foreign_program name source)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/foreign/${name})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/foreign)
  set(pool "")
  if("${ARGN}" MATCHES "nvcc")
    set(pool JOB_POOL nvcc)
  endif()
  add_custom_command(OUTPUT ${program} COMMAND ${ARGN} -MD -MT ${program} -MF ${program}.d -o ${program} ${source}
                     DEPENDS ${source} DEPFILE ${program}.d COMMENT "Building ${name}" VERBATIM ${pool})
  add_custom_target(${name} ALL DEPENDS ${program})
endfunction()

function(sinter_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GPU" "" "LABELS;COMMAND")
  if(arg_GPU)
    list(POP_FRONT arg_COMMAND program)
    list(PREPEND arg_COMMAND ${PROJECT_SOURCE_DIR}/cmake/on_gpu.sh $<TARGET_FILE:${program}>)
    list(APPEND arg_LABELS gpu)
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77 TIMEOUT 600)
  if(arg_GPU)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK gpu)
  endif()
endfunction()

function(sinter_precompile compiler)
  set(header ${PROJECT_BINARY_DIR}/precompiled/${compiler}/sinter.hpp)
  file(CONFIGURE OUTPUT ${header} CONTENT "#include <sinter/sinter.hpp>\n")
  set(command ${SINTER_COMMAND_${compiler}})
  list(REMOVE_ITEM command -fsyntax-only)
  add_custom_command(OUTPUT ${header}.gch
                     COMMAND ${command} -MD -MT ${header}.gch -MF ${header}.d -o ${header}.gch -x c++-header ${header}
                     DEPENDS ${header} DEPFILE ${header}.d COMMENT "Precompiling for ${compiler}" VERBATIM)
  add_custom_target(precompiled.${compiler} ALL DEPENDS ${header}.gch)
  set(SINTER_PRECOMPILED_${compiler} -include ${header} PARENT_SCOPE)
endfunction()

# nvcc writes beside itself: each check has a folder of its own.
function(sinter_check name source compiler)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir)
  file(MAKE_DIRECTORY ${folder})
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "LABELS;DRIVER")
  set(command ${SINTER_COMMAND_${compiler}} ${SINTER_PRECOMPILED_${compiler}} ${source})
  add_test(NAME ${name} COMMAND ${arg_DRIVER} ${command} WORKING_DIRECTORY ${folder})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 600)
endfunction()
