# What is installed. Nothing of it depends on the processor: all but the headers goes to share/.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/weir DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libweir-dev RENAME copyright)  # as Debian names it

# For find_package(weir).
set(config_dir ${CMAKE_INSTALL_DATADIR}/cmake/weir)
install(TARGETS weir weir_asio weir_boost_asio EXPORT weir-targets)
install(EXPORT weir-targets NAMESPACE weir:: DESTINATION ${config_dir})
configure_package_config_file(cmake/weir-config.cmake.in weir-config.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(weir-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/weir-config.cmake ${PROJECT_BINARY_DIR}/weir-config-version.cmake
  DESTINATION ${config_dir})

# For pkg-config. The headers are found from where the file lies, so that the tree can be moved.
file(RELATIVE_PATH headers_from_pc ${CMAKE_INSTALL_FULL_DATADIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
list(TRANSFORM CMAKE_DL_LIBS PREPEND -l OUTPUT_VARIABLE dl_options)
configure_file(cmake/weir.pc.in weir.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weir.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)

# For gdb: docs/debugging.md.
install(FILES tools/gdb/weir.py DESTINATION ${CMAKE_INSTALL_DATADIR}/weir/gdb)
