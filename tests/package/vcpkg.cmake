# Runs the portfile with stand-ins that do what vcpkg's functions would, as far as a header-only port uses them.
# cmake -DCURRENT_PACKAGES_DIR=… -DPORT=… -DPORTFILE=… -P vcpkg.cmake
cmake_minimum_required(VERSION 3.25)

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "SOURCE_PATH" "OPTIONS")
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${ARG_SOURCE_PATH} -B ${CURRENT_PACKAGES_DIR}.build ${ARG_OPTIONS}
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_install)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${CURRENT_PACKAGES_DIR}.build --prefix ${CURRENT_PACKAGES_DIR}
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "PACKAGE_NAME;CONFIG_PATH" "")
  if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/${ARG_CONFIG_PATH}/${ARG_PACKAGE_NAME}-config.cmake)
    message(FATAL_ERROR "there is no config of ${ARG_PACKAGE_NAME} in ${ARG_CONFIG_PATH}")
  endif()
endfunction()

function(vcpkg_fixup_pkgconfig)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "" "FILE_LIST")
  file(INSTALL ${ARG_FILE_LIST} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT})
endfunction()

include(${PORTFILE})
