# ricci_cuda: decides whether the CUDA backend is built. It needs the toolkit's headers only (cuda.h, nvrtc.h,
# cublas_v2.h, 12.4 or newer): driver, NVRTC and cuBLAS are loaded at run time. The headers are looked for in a
# toolkit, in RICCI_CUDA_INCLUDE, then in the Python wheels nvidia-cuda-runtime, -nvrtc, -crt and nvidia-cublas.
#
# Sets RICCI_WITH_CUDA, and CUDAToolkit_INCLUDE_DIRS where it is true.

if(NOT RICCI_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "RICCI_CUDA is '${RICCI_CUDA}'; it must be ON, OFF or AUTO")
endif()
set(RICCI_CUDA_INCLUDE "" CACHE STRING "Folders with CUDA's headers, where no toolkit is found")

# Fills CUDAToolkit_INCLUDE_DIRS with the folders of the three headers, and `problem` with what is wrong, if anything.
function(ricci_find_cuda_headers problem)
  set(${problem} "" PARENT_SCOPE)
  find_package(CUDAToolkit QUIET)
  file(GLOB wheels $ENV{VIRTUAL_ENV}/lib/python3*/site-packages/nvidia/*/include
                   $ENV{CONDA_PREFIX}/lib/python3*/site-packages/nvidia/*/include
                   $ENV{HOME}/.local/lib/python3*/site-packages/nvidia/*/include)
  set(folders)
  foreach(header IN ITEMS cuda.h nvrtc.h cublas_v2.h)
    find_path(RICCI_FOLDER_OF_${header} ${header} NO_CACHE
              HINTS ${RICCI_CUDA_INCLUDE} ${CUDAToolkit_INCLUDE_DIRS}
              PATHS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include /usr/local/cuda/include /opt/cuda/include
              ${wheels})
    if(NOT RICCI_FOLDER_OF_${header})
      set(${problem} "${header} was not found" PARENT_SCOPE)
      return()
    endif()
    list(APPEND folders ${RICCI_FOLDER_OF_${header}})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  file(STRINGS ${RICCI_FOLDER_OF_cuda.h}/cuda.h version REGEX "^#define CUDA_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" version "${version}")
  if(version LESS 12040)
    set(${problem} "${RICCI_FOLDER_OF_cuda.h}/cuda.h is of version ${version}, older than 12040" PARENT_SCOPE)
    return()
  endif()
  # The wheels split the toolkit: a header that another one includes may be missing.
  file(WRITE ${PROJECT_BINARY_DIR}/ricci_cuda.cpp
    "#include <cuda.h>\n#include <nvrtc.h>\n#include <cublas_v2.h>\nint main() {}\n")
  try_compile(compiles ${PROJECT_BINARY_DIR}/ricci_cuda ${PROJECT_BINARY_DIR}/ricci_cuda.cpp
              CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${folders}"
              OUTPUT_VARIABLE log)
  if(NOT compiles)
    set(${problem} "the headers in ${folders} do not compile:\n${log}" PARENT_SCOPE)
    return()
  endif()
  set(CUDAToolkit_INCLUDE_DIRS ${folders} PARENT_SCOPE)
endfunction()

set(RICCI_WITH_CUDA OFF)
if(NOT RICCI_CUDA STREQUAL "OFF")
  ricci_find_cuda_headers(problem)
  if(NOT problem)
    set(RICCI_WITH_CUDA ON)
  elseif(RICCI_CUDA STREQUAL "ON")
    message(FATAL_ERROR "RICCI_CUDA is ON, but ${problem}\n"
      "Install a CUDA toolkit of 12.4 or newer, or let RICCI_CUDA_INCLUDE name the headers' folders.")
  else()
    message(STATUS "ricci: no CUDA headers: ${problem}")
  endif()
endif()
message(STATUS "ricci: CUDA backend: ${RICCI_WITH_CUDA}")
