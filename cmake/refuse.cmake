# cmake -P refuse.cmake -- compiler... source: passes if the compiler refuses the source with the sentence of its
# "// error:" line. Only lines that report an error count: compilers also quote source, where the sentence may stand.
# For "// quoted:" any line will do: of what is no constant expression compilers quote the calls that led there.
cmake_minimum_required(VERSION 3.25)
foreach(i RANGE ${CMAKE_ARGC})
  if(after_dashes)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(after_dashes TRUE)
  endif()
endforeach()
list(REMOVE_ITEM command "")
list(GET command -1 source)

file(STRINGS ${source} sentences REGEX "^// (error|quoted): " ENCODING UTF-8)
if(NOT sentences)
  message(FATAL_ERROR "${source} has no '// error: <sentence>' or '// quoted: <words>' line; say what the compiler must print.")
endif()

set(ENV{LC_ALL} C)
execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "${source} compiled; it should be refused.")
endif()

# Semicolons and brackets are CMake's own, and clang prints quotes with a backslash.
function(simplify result text)
  string(REGEX REPLACE "[][;]" " " text "${text}")
  string(REPLACE "\\" "" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

simplify(plain "${output}")
string(REPLACE "\n" ";" errors "${plain}") # lines; a regular expression over those of macros takes half a minute
list(FILTER errors INCLUDE REGEX "error")
foreach(sentence IN LISTS sentences)
  set(where "${plain}")
  if(sentence MATCHES "^// error: ")
    set(where "${errors}")
  endif()
  string(REGEX REPLACE "^// (error|quoted): " "" sentence "${sentence}")
  simplify(sentence "${sentence}")
  string(STRIP "${sentence}" sentence)
  string(FIND "${where}" "${sentence}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${source} was refused, but without the sentence\n  ${sentence}\nThe compiler said:\n${output}")
  endif()
endforeach()
