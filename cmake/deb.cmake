# The Debian package of what is installed: cpack -G DEB, or ./dev package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libweir-dev)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The weir maintainers <maintainers@weir.invalid>")  # dpkg wants an address: this is nobody's
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION} (headers)")
set(CPACK_PACKAGE_DESCRIPTION "Semaphore, mutex, event, queue and select, on which coroutines, blocked
threads, callbacks and Asio's handlers wait in one fair queue. Header-only,
C++20.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libasio-dev, libboost-dev")
include(CPack)
