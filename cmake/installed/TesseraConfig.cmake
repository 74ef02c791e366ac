# find_package(Tessera): how programs are built in a project of one's own.
#
#   find_package(Tessera 0.1 REQUIRED)
#   tessera_add_program(heat heat.fa kernels.cpp)
#   add_test(NAME heat COMMAND heat 10)
#
# tessera_add_program(NAME PROGRAM.fa [KERNELS.cpp ...] [OPTIONS word ...]) builds PROGRAM.fa to the executable NAME in the current build
# folder. Without kernels all *.cpp beside the program are taken. OPTIONS are those of `tessera build`: -D N=5, -l fftw3. The command is
# asked in each build: it knows from which files a program is made, and does nothing when they are the same.
#
# Tessera::tessera is the library and its headers, for what includes them outside of kernels.
get_filename_component(TESSERA_PREFIX "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
cmake_path(GET TESSERA_PREFIX PARENT_PATH TESSERA_PREFIX)  # .../lib/cmake
cmake_path(GET TESSERA_PREFIX PARENT_PATH TESSERA_LIBDIR)
find_program(TESSERA_COMMAND tessera HINTS "${TESSERA_LIBDIR}/../bin" "${TESSERA_LIBDIR}/../../bin" NO_DEFAULT_PATH)
find_path(TESSERA_INCLUDE_DIR tessera.hpp HINTS "${TESSERA_LIBDIR}/../include/tessera" "${TESSERA_LIBDIR}/../../include/tessera" NO_DEFAULT_PATH)
mark_as_advanced(TESSERA_COMMAND TESSERA_INCLUDE_DIR)

if(NOT TESSERA_INCLUDE_DIR)
  set(Tessera_FOUND FALSE)
  set(Tessera_NOT_FOUND_MESSAGE "tessera.hpp is not where it was installed, near ${TESSERA_LIBDIR}")
  return()
endif()

if(NOT TARGET Tessera::tessera)
  add_library(Tessera::tessera SHARED IMPORTED)
  set_target_properties(Tessera::tessera PROPERTIES
    IMPORTED_LOCATION "${TESSERA_LIBDIR}/libtessera.so"
    INTERFACE_INCLUDE_DIRECTORIES "${TESSERA_INCLUDE_DIR}"
    INTERFACE_COMPILE_FEATURES cxx_std_20)
endif()

function(tessera_add_program name program)
  cmake_parse_arguments(PARSE_ARGV 2 given "" "" "OPTIONS")
  if(NOT TESSERA_COMMAND)
    message(FATAL_ERROR "tessera_add_program(${name}): the command `tessera` is not installed beside ${TESSERA_LIBDIR}")
  endif()
  set(sources "")
  foreach(file ${program} ${given_UNPARSED_ARGUMENTS})
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "tessera_add_program(${name}): there is no ${file}")
    endif()
    list(APPEND sources "${file}")
  endforeach()
  set(executable "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  add_custom_target(${name}_program ALL
    COMMAND ${CMAKE_COMMAND} -E env "CXX=${CMAKE_CXX_COMPILER}" "${TESSERA_COMMAND}" build ${sources} -o "${executable}" ${given_OPTIONS}
    BYPRODUCTS "${executable}"
    COMMENT "Building the Tessera program ${name}"
    VERBATIM)
  add_executable(${name} IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${executable}")
  add_dependencies(${name} ${name}_program)
endfunction()
