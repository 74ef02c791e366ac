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
if(TESSERA_SANITIZE)
  add_compile_options(-fsanitize=${TESSERA_SANITIZE} -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${TESSERA_SANITIZE})
endif()

# Every *.cpp of a folder is part of its target: no hand-kept lists.
function(tessera_sources out)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(${out} ${found} PARENT_SCOPE)
endfunction()
