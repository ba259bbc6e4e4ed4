# reject: compiles SOURCE twice, fixed and broken; the broken one must fail with one error that holds its expected
# words. A line "// options: " in it gives further options.

file(STRINGS ${SOURCE} options REGEX "^// options: " LIMIT_COUNT 1)
string(REPLACE "// options: " "" options "${options}")
set(command ${COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic ${options} ${INCLUDES} ${SOURCE})

execute_process(COMMAND ${command} -Werror RESULT_VARIABLE status ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the fixed form does not compile:\n${output}")
endif()

execute_process(COMMAND ${command} -DBROKEN RESULT_VARIABLE status ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "the broken form compiles")
endif()

file(STRINGS ${SOURCE} expected REGEX "^// expect: " LIMIT_COUNT 1)
string(REPLACE "// expect: " "" expected "${expected}")
string(FIND "${output}" "${expected}" found)
if(expected STREQUAL "" OR found EQUAL -1)
  message(FATAL_ERROR "the diagnostic lacks '${expected}':\n${output}")
endif()
string(REGEX MATCHALL "error:" errors "${output}")
list(LENGTH errors count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${count} errors instead of one:\n${output}")
endif()
