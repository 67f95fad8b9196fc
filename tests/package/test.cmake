# Installs weir into an empty folder, then builds and runs a user's project against it.
# cmake -DBUILD=… -DSOURCE=… -DWORK=… -DCOMPILER=… -P test.cmake
file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
                        -DCMAKE_CXX_COMPILER=${COMPILER} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/uses_weir COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/uses_weir_asio COMMAND_ERROR_IS_FATAL ANY)
