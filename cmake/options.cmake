# Flags every target of ours takes: `target_link_libraries(x PRIVATE tessera_options)`.
add_library(tessera_options INTERFACE)
target_compile_options(tessera_options INTERFACE -Wall -Wextra -Wpedantic -Wno-unused-parameter)
# __int128 in the ABI header.
target_compile_options(tessera_options INTERFACE -Wno-pedantic)
# GCC 12 sees overlaps in std::string operator+ that are not there.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tessera_options INTERFACE -Wno-restrict)
endif()
# What CI has; other versions warn of other things.
if(TESSERA_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
  target_compile_options(tessera_options INTERFACE -Werror)
endif()
# GCC looks for garbage whenever its memory has grown by half, 5 to 9 % of its time. A unit takes up to 2 GB without that.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)  # MB
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR needed "2000 * ${cores} + 2000")
  if(memory GREATER needed)
    target_compile_options(tessera_options INTERFACE --param=ggc-min-heapsize=1500000)
  endif()
endif()
target_include_directories(tessera_options INTERFACE ${PROJECT_SOURCE_DIR}
                                                     ${PROJECT_SOURCE_DIR}/runtime/abi)
# What is linked is resolved at once and can't be written to later.
if(NOT TESSERA_SANITIZE)
  add_link_options(-Wl,-z,relro -Wl,-z,now)
endif()

# TESSERA_AROUND: the flags of what does not run beside fragments; a folder takes them with add_compile_options. Guards
# against mistakes with memory; -O2, which takes a seventh less to compile than -O3; and TESSERA_THIN, for tests and tools, a third less.
# TESSERA_FIRST: what the first result waits for and few programs do, another fifth less.
if(TESSERA_HARDENED AND NOT TESSERA_SANITIZE)
  set(TESSERA_AROUND -fstack-protector-strong -O2 -D_FORTIFY_SOURCE=2)
  set(TESSERA_THIN -O1)
  set(TESSERA_FIRST -Og)
endif()

# The build type of the presets with sanitizers: a third of the time that -O2 -g takes to compile, and
# reports still name lines. Assertions of libraries are on.
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(CMAKE_CXX_FLAGS_SANITIZE "-O0 -g1")
  if(TESSERA_SANITIZE MATCHES address)
    add_compile_definitions(__SANITIZE_ADDRESS__=1)  # as GCC says it
  endif()
endif()
if(TESSERA_SANITIZE)
  # Undefined behaviour ends the program, so that a test with a report fails; by default it would go on.
  set(sanitizers -fsanitize=${TESSERA_SANITIZE} -fno-sanitize-recover=all)
  add_compile_options(${sanitizers} -fno-omit-frame-pointer)
  add_link_options(${sanitizers})
endif()

# Every *.cpp of a folder is part of its target: no hand-kept lists.
function(tessera_sources out)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# version.hpp: a new version compiles the few files that name it, not all.
set(TESSERA_GENERATED ${PROJECT_BINARY_DIR}/generated)
file(CONFIGURE OUTPUT ${TESSERA_GENERATED}/version.hpp CONTENT "#pragma once\n#define TESSERA_VERSION \"@PROJECT_VERSION@\"\n" @ONLY)
