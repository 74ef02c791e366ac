# find_package(Tessera): how programs are built in a project of one's own.
#
#   find_package(Tessera 0.2 REQUIRED)
#   tessera_add_program(heat heat.fa kernels.cpp)
#   add_test(NAME heat COMMAND heat 10)
#   install(IMPORTED_RUNTIME_ARTIFACTS heat)
#
# tessera_add_program(NAME PROGRAM.fa [KERNELS.cpp ...] [OPTIONS word ...]) builds PROGRAM.fa to the executable NAME in the current build
# folder. Without kernels all *.cpp beside the program are taken. OPTIONS are those of `tessera build`: -D N=5, -l fftw3. The command is
# asked in each build: it knows from which files a program is made, and does nothing when they are the same.
#
# tessera_add_library(NAME PROGRAM.fa [KERNELS.cpp ...] [OPTIONS word ...]) makes libNAME.so of it in the same way, which C++ programs call:
#
#   tessera_add_library(smooth smooth.fa)
#   target_link_libraries(solver PRIVATE smooth)      # TESSERA_PROGRAM(smooth); ... tessera::run(smooth(), {...})
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

# tessera_build_target makes NAME_program, which asks the command; `function` is for messages.
function(tessera_build_target function name output flags)
  cmake_parse_arguments(PARSE_ARGV 4 given "" "" "OPTIONS")
  if(NOT TESSERA_COMMAND)
    message(FATAL_ERROR "${function}(${name}): the command `tessera` is not installed beside ${TESSERA_LIBDIR}")
  endif()
  set(sources "")
  foreach(file ${given_UNPARSED_ARGUMENTS})
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "${function}(${name}): there is no ${file}")
    endif()
    list(APPEND sources "${file}")
  endforeach()
  add_custom_target(${name}_program ALL
    COMMAND ${CMAKE_COMMAND} -E env "CXX=${CMAKE_CXX_COMPILER}" "${TESSERA_COMMAND}" build ${flags} ${sources} -o "${output}" ${given_OPTIONS}
    BYPRODUCTS "${output}"
    COMMENT "Building the Tessera program ${name}"
    VERBATIM)
endfunction()

function(tessera_add_program name program)
  set(executable "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  tessera_build_target(tessera_add_program ${name} "${executable}" "" "${program}" ${ARGN})
  add_executable(${name} IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${executable}")
  add_dependencies(${name} ${name}_program)
endfunction()

function(tessera_add_library name program)
  set(library "${CMAKE_CURRENT_BINARY_DIR}/lib${name}.so")
  tessera_build_target(tessera_add_library ${name} "${library}" --library "${program}" ${ARGN})
  add_library(${name} SHARED IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${library}" INTERFACE_LINK_LIBRARIES Tessera::tessera)
  add_dependencies(${name} ${name}_program)
endfunction()
