# Flags every target of ours takes: `target_link_libraries(x PRIVATE tessera_options)`.
add_library(tessera_options INTERFACE)
target_compile_options(tessera_options INTERFACE -Wall -Wextra -Wpedantic -Wno-unused-parameter)
# __int128 in the ABI header.
target_compile_options(tessera_options INTERFACE -Wno-pedantic)
# GCC 12 sees overlaps in std::string operator+ that are not there.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tessera_options INTERFACE -Wno-restrict)
endif()
target_include_directories(tessera_options INTERFACE ${PROJECT_SOURCE_DIR}
                                                     ${PROJECT_SOURCE_DIR}/runtime/abi)
# The build type of the presets with sanitizers: a third of the time that -O2 -g takes to compile, and
# reports still name lines. Assertions of libraries are on.
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1")
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
