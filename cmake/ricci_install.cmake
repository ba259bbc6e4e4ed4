# ricci_install: headers, libraries and the command; ricciConfig.cmake for find_package and ricci.pc for pkg-config.

include(CMakePackageConfigHelpers)

get_property(ricci_libraries GLOBAL PROPERTY RICCI_LIBRARIES)
install(TARGETS ricci ${ricci_libraries} EXPORT ricciTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET ricci_command)
  file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(ricci_command PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  install(TARGETS ricci_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(CODE "include([[${PROJECT_SOURCE_DIR}/cmake/ricci_headers.cmake]])
ricci_copy_headers([[${PROJECT_SOURCE_DIR}]] [[${PROJECT_BINARY_DIR}/headers]] [[${RICCI_PUBLIC_FOLDERS}]])")
install(DIRECTORY ${PROJECT_BINARY_DIR}/headers/ricci DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ricci)
foreach(flag IN ITEMS BUILD_SHARED_LIBS BLAS_FOUND)
  if(${flag})
    set(config_${flag} TRUE)
  else()
    set(config_${flag} FALSE)
  endif()
endforeach()
install(EXPORT ricciTargets NAMESPACE ricci:: DESTINATION ${package})
configure_package_config_file(cmake/ricciConfig.cmake.in ricciConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(ricciConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ricciConfig.cmake ${PROJECT_BINARY_DIR}/ricciConfigVersion.cmake
  DESTINATION ${package})

# What the libraries themselves link: a static one leaves it to the user's link, a shared one has done it.
# And the C++ compiler's own, for who links <ricci/ricci.h>'s functions with a C compiler.
set(cxx_libraries ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER cxx_libraries INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|c\\+\\+abi|m)$")
list(REMOVE_DUPLICATES cxx_libraries)
set(dependencies -pthread ${CMAKE_DL_LIBS} ${BLAS_LIBRARIES} ${cxx_libraries})
list(TRANSFORM dependencies REPLACE "^([A-Za-z0-9_+]+)$" "-l\\1")
list(JOIN dependencies " " dependencies)
if(BUILD_SHARED_LIBS)
  set(pc_dependencies "Requires: fmt\nRequires.private: libcrypto tbb\nLibs.private: ${dependencies}")
  set(dependencies "")
else()
  set(pc_dependencies "Requires: fmt libcrypto tbb")
endif()
list(TRANSFORM ricci_libraries PREPEND "-l" OUTPUT_VARIABLE pc_libraries)
list(REVERSE pc_libraries)
list(APPEND pc_libraries ${dependencies})
list(JOIN pc_libraries " " pc_libraries)
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
configure_file(cmake/ricci.pc.in ricci.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ricci.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
