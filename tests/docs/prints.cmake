# prints: PROGRAM must succeed and print what the file EXPECTED holds.

execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
file(READ ${EXPECTED} expected)
if(NOT status EQUAL 0 OR NOT output STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} ended with ${status} and printed\n${output}${errors}\ninstead of\n${expected}")
endif()
