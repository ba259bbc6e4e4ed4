# refused: each file of FILES must not compile, and the compiler must print the lines "// expect: " of it.
# FILES, COMPILER, INCLUDES

file(GLOB sources ${FILES})
if(sources STREQUAL "")
  message(FATAL_ERROR "no file is like ${FILES}")
endif()
set(ENV{LC_ALL} C) # plain quotation marks
foreach(source IN LISTS sources)
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${INCLUDES} ${source} RESULT_VARIABLE status
    ERROR_VARIABLE output)
  if(status EQUAL 0)
    message(FATAL_ERROR "${source} compiles")
  endif()
  file(STRINGS ${source} expected REGEX "^// expect: ")
  foreach(line IN LISTS expected)
    string(REPLACE "// expect: " "" line "${line}")
    string(FIND "${output}" "${line}" found)
    if(found EQUAL -1)
      message(FATAL_ERROR "${source}: the compiler does not say '${line}':\n${output}")
    endif()
  endforeach()
endforeach()
