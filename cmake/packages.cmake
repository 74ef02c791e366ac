# What is installed, in five components, and `cpack`, which makes a Debian package of each:
#   tessera         the commands, the standard library, manual pages, completion
#   libtesseraN     the runtime, which built programs need; N is the version of the interface (abi.hpp)
#   libtessera-dev  headers, the CMake package, pkg-config
#   tessera-doc     the documentation and the examples
#   python3-tessera the Python module (python/CMakeLists.txt), where it is built
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(commands COMPONENT command)
install(TARGETS tessera luna RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} ${commands})
install(TARGETS tessera_tools RUNTIME DESTINATION libexec ${commands})  # cli/tools.cpp looks there
install(DIRECTORY ${PROJECT_SOURCE_DIR}/stdlib/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/stdlib ${commands})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/configs ${commands})
install(FILES ${PROJECT_SOURCE_DIR}/cli/completion/tessera.bash RENAME tessera
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions ${commands})
install(FILES ${PROJECT_SOURCE_DIR}/cli/completion/_tessera DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions ${commands})
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/manual/tessera.1
  COMMAND ${PROJECT_SOURCE_DIR}/cli/manual.sh $<TARGET_FILE:tessera> ${PROJECT_BINARY_DIR}/manual
  DEPENDS tessera tessera_tools ${PROJECT_SOURCE_DIR}/cli/manual.sh
  COMMENT "Making manual pages of the help")
add_custom_target(tessera_manual ALL DEPENDS ${PROJECT_BINARY_DIR}/manual/tessera.1)
add_custom_target(tessera_installed DEPENDS tessera luna tessera_tools tessera_manual)
if(TARGET tessera_python)
  add_dependencies(tessera_installed tessera_python)
endif()
install(DIRECTORY ${PROJECT_BINARY_DIR}/manual/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 ${commands})

# Programs are linked with libtessera.so.N.
install(TARGETS tessera_runtime
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT headers)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/abi/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera COMPONENT headers)
# For balancers in files of their own (balancer/plugin/plugin.hpp).
install(DIRECTORY ${PROJECT_SOURCE_DIR}/balancer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera COMPONENT headers
        FILES_MATCHING PATTERN "*.hpp" PATTERN simulator EXCLUDE)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/installed/TesseraConfig.cmake ${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera COMPONENT headers)
configure_file(${PROJECT_SOURCE_DIR}/cmake/installed/tessera.pc.in ${PROJECT_BINARY_DIR}/tessera.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT headers)

# The pages, and what their links lead to.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tessera COMPONENT documentation)
foreach(folder docs examples packaging configs cli/editor bench/programs bench/published tests/program/programs tests/program/faults)
  cmake_path(GET folder PARENT_PATH parent)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tessera/${parent} COMPONENT documentation)
endforeach()
set(packages command:tessera library:libtessera${TESSERA_ABI} headers:libtessera-dev documentation:tessera-doc)
if(TESSERA_PYTHON_FOLDER)
  list(APPEND packages python:python3-tessera)
endif()
foreach(pair ${packages})
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 component)
  list(GET pair 1 package)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
endforeach()
# Up to 0.2.0 an installation had precompiled headers, 317 MB of them.
install(CODE "file(REMOVE_RECURSE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/tessera/precompiled\")" ${commands})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_CONTACT "the maintainers of Tessera <maintainers@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs fragmented programs on threads and MPI ranks, evenly loaded")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command library headers documentation)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(same "(= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "libtessera${TESSERA_ABI} ${same}, libtessera-dev ${same}, g++, openmpi-bin")
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "libopenblas-dev, libcereal-dev")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "tessera-doc")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_HEADERS_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_HEADERS_PACKAGE_DEPENDS "libtessera${TESSERA_ABI} ${same}")
set(CPACK_DEBIAN_HEADERS_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_SHLIBDEPS OFF)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "The tessera and luna commands, and the standard library.")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The runtime that built programs are linked with.")
set(CPACK_COMPONENT_HEADERS_DESCRIPTION "Headers of kernels, the CMake package and pkg-config.")
set(CPACK_COMPONENT_DOCUMENTATION_DESCRIPTION "The documentation and the examples.")
if(TESSERA_PYTHON_FOLDER)
  list(APPEND CPACK_COMPONENTS_ALL python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "tessera ${same}, libtessera${TESSERA_ABI} ${same}, python3 (>= ${TESSERA_PYTHON_VERSION}), python3 (<< ${TESSERA_PYTHON_NEXT}), python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-pandas")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-mpi4py")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/installed/debian/prerm)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Fragmented programs compiled and run from Python, with NumPy arrays.")
endif()
include(CPack)
