# Checked for syntax only: tests/package runs it with stand-ins for vcpkg's functions, no vcpkg has.
# A port of the tree that it stands in: vcpkg install weir --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release)  # headers only: there is nothing to build twice

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DWEIR_BUILD_TESTS=OFF -DWEIR_BUILD_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME weir CONFIG_PATH share/cmake/weir)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
