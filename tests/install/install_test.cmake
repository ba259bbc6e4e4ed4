# install_test: installs BUILD_DIR below WORK_DIR, builds SOURCE_DIR against it in every documented way, and runs it.

function(run)
  cmake_parse_arguments(PARSE_ARGV 0 R "" "RESULT" "COMMAND")
  list(JOIN R_COMMAND " " shown)
  message(STATUS "${shown}")
  execute_process(COMMAND ${R_COMMAND} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status STREQUAL "0")
    message(FATAL_ERROR "${shown}\nended with ${status}:\n${output}")
  endif()
  set(${R_RESULT} "${output}" PARENT_SCOPE)
endfunction()

# The prefix has a space in its name, as a user's may.
set(prefix "${WORK_DIR}/a prefix")
file(REMOVE_RECURSE ${WORK_DIR})
run(RESULT log COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})

# 1. find_package
run(RESULT log COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE_DIR} -B ${WORK_DIR}/cmake
  -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_CXX_FLAGS=${FLAGS} -D CMAKE_PREFIX_PATH=${prefix})
run(RESULT log COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/cmake)
run(RESULT printed COMMAND ${WORK_DIR}/cmake/consumer)
message(STATUS "${printed}")

# 2. pkg-config
find_program(PKG_CONFIG pkg-config)
set(flags "")
if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  run(RESULT flags COMMAND ${PKG_CONFIG} --cflags ricci)
  run(RESULT libraries COMMAND ${PKG_CONFIG} --libs ricci)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  separate_arguments(libraries UNIX_COMMAND "${libraries}")
  run(RESULT log COMMAND ${CXX} -std=c++20 -O2 -Wall -Wextra -Wpedantic -Werror ${FLAGS} -I${SOURCE_DIR}
    ${SOURCE_DIR}/main.cpp -o ${WORK_DIR}/consumer ${flags}
    ${libraries})
  run(RESULT printed COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${prefix}/${LIBDIR} ${WORK_DIR}/consumer)
  message(STATUS "${printed}")
else()
  message(STATUS "no pkg-config: not tried")
endif()

# 3. a project in C alone
run(RESULT log COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE_DIR}/c -B ${WORK_DIR}/cmake_c
  -D CMAKE_BUILD_TYPE=Release -D CMAKE_C_COMPILER=${CC} -D CMAKE_C_FLAGS=${FLAGS} -D CMAKE_CXX_COMPILER=${CXX}
  -D CMAKE_CXX_FLAGS=${FLAGS} -D CMAKE_PREFIX_PATH=${prefix})
run(RESULT log COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/cmake_c)
run(RESULT printed COMMAND ${WORK_DIR}/cmake_c/consumer)
message(STATUS "${printed}")
if(PKG_CONFIG)
  run(RESULT log COMMAND ${CC} -std=c99 -O2 -Wall -Wextra -pedantic -Werror ${FLAGS} ${SOURCE_DIR}/c/main.c
    -o ${WORK_DIR}/consumer_c ${flags} ${libraries})
  run(RESULT printed COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${prefix}/${LIBDIR} ${WORK_DIR}/consumer_c)
  message(STATUS "${printed}")
endif()

# 4. nvcc, compile only
if(NVCC)
  run(RESULT log COMMAND ${NVCC} -std=c++20 -c ${SOURCE_DIR}/kernel.cu -o ${WORK_DIR}/kernel.o
    -I${prefix}/include)
else()
  message(STATUS "no nvcc: not tried")
endif()

# 5. add_subdirectory: compiled only. RICCI_BLAS=OFF leaves a BLAS that is there alone.
run(RESULT log COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE_DIR} -B ${WORK_DIR}/subproject
  -D CMAKE_CXX_COMPILER=${CXX} -D RICCI_SOURCE=${RICCI_SOURCE} -D RICCI_BLAS=OFF -D RICCI_CUDA=OFF -D
  RICCI_INSTALL=ON)
run(RESULT log COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/subproject --target objects)
file(STRINGS ${WORK_DIR}/subproject/ricci/ricci.pc libraries REGEX "^Libs")
if(libraries MATCHES "blas")
  message(FATAL_ERROR "RICCI_BLAS=OFF links a BLAS: ${libraries}")
endif()

# 6. the command
run(RESULT printed COMMAND ${prefix}/bin/ricci --help)
