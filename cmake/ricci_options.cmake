# ricci_options: warnings, sanitizers and include folders that every target of the project shares.

if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12) OR
   (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14))
  message(FATAL_ERROR "ricci needs g++ >= 12 or clang++ >= 14; "
    "${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
endif()

set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# <ricci/ricci.hpp> and <ricci/ricci.h> in the build tree. Here `ricci` is a folder of links to the sources, as the
# tests include both ways; in another project's build it holds what is installed, so that nothing but <ricci/...> is on
# that project's path.
set(RICCI_PUBLIC_FOLDERS dsl lowering runtime)
include(ricci_headers)
if(PROJECT_IS_TOP_LEVEL OR RICCI_TESTS)
  set(RICCI_INCLUDE_DIRS ${PROJECT_BINARY_DIR}/include ${PROJECT_SOURCE_DIR})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/ricci)
  foreach(entry IN ITEMS ricci.hpp ricci.h ${RICCI_PUBLIC_FOLDERS})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${entry} ${PROJECT_BINARY_DIR}/include/ricci/${entry} SYMBOLIC)
  endforeach()
else()
  set(RICCI_INCLUDE_DIRS ${PROJECT_BINARY_DIR}/headers)
  ricci_copy_headers(${PROJECT_SOURCE_DIR} ${RICCI_INCLUDE_DIRS} "${RICCI_PUBLIC_FOLDERS}")
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*/*.hpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/ricci.hpp ${PROJECT_SOURCE_DIR}/ricci.h ${headers})
endif()

add_library(ricci_options INTERFACE)
target_compile_features(ricci_options INTERFACE cxx_std_20)
target_include_directories(ricci_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(ricci_options INTERFACE -Wall -Wextra -Wpedantic $<$<BOOL:${RICCI_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(ricci_options INTERFACE -Wno-restrict) # false for "text" + std::string: GCC bug 105651
endif()
if(RICCI_SANITIZE)
  target_compile_options(ricci_options INTERFACE -fsanitize=${RICCI_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer)
  # A third of the compilation goes into these: ASan sees a null or a wrapped pointer at the access itself, and
  # alignment matters to kernels, which the emulator compiles with its check.
  if(RICCI_SANITIZE MATCHES "undefined")
    target_compile_options(ricci_options INTERFACE -fno-sanitize=null,alignment,pointer-overflow)
  endif()
  target_link_options(ricci_options INTERFACE -fsanitize=${RICCI_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(ricci_options INTERFACE -Wno-maybe-uninitialized) # g++'s manual: sanitizers make it false
  endif()
endif()

# One folder, one library: ricci_<name>, exported as ricci::<name>.
function(ricci_library name)
  add_library(ricci_${name} ${ARGN})
  add_library(ricci::${name} ALIAS ricci_${name})
  set_property(GLOBAL APPEND PROPERTY RICCI_LIBRARIES ricci_${name})
  set_target_properties(ricci_${name} PROPERTIES
    EXPORT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    INSTALL_RPATH "$ORIGIN")
  target_link_libraries(ricci_${name} PRIVATE $<BUILD_INTERFACE:ricci_options>)
  target_include_directories(ricci_${name} PUBLIC "$<BUILD_INTERFACE:${RICCI_INCLUDE_DIRS}>"
                                                  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(ricci_${name} PUBLIC cxx_std_20)
endfunction()

# For a program that only reads its arguments, calls libraries and waits for kernels: -Og compiles in half of -O3's
# time (g++ 12).
function(ricci_compile_fast target)
  target_compile_options(${target} PRIVATE -Og)
endfunction()

# A Catch2 test program of tests/<folder>.
function(ricci_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 T "" "" "SOURCES;LINK")
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE ricci_options ricci_test_main ${T_LINK})
  ricci_compile_fast(${name})
endfunction()

# One that ctest runs as it is; LABELS are given to ctest. Its own sources are compiled without optimization, in a half
# of the time and under sanitizers in a third: what they wait for is in libraries and kernels.
function(ricci_test name)
  cmake_parse_arguments(PARSE_ARGV 1 T "" "" "SOURCES;LINK;LABELS;ARGUMENTS")
  ricci_test_program(${name} SOURCES ${T_SOURCES} LINK ${T_LINK})
  target_compile_options(${name} PRIVATE -O0)
  add_test(NAME ${name} COMMAND ${name} ${T_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 4 LABELS "${T_LABELS}" TIMEOUT 900)
endfunction()
