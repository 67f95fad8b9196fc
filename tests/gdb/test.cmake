# Runs the program under gdb with commands.gdb, and compares what is said after the marker with expected.txt.
# cmake -DPROGRAM=… -DSCRIPT=weir.py -P test.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(
  COMMAND gdb -nx -batch -iex "set debuginfod enabled off" -ex "set width 0" -ex "source ${SCRIPT}"
          -x ${CMAKE_CURRENT_LIST_DIR}/commands.gdb ${PROGRAM}
  OUTPUT_VARIABLE told ERROR_VARIABLE errors COMMAND_ERROR_IS_FATAL ANY)
file(READ ${CMAKE_CURRENT_LIST_DIR}/expected.txt expected)
string(REGEX REPLACE ".*-- what gdb says of weir begins here --\n" "" said "${told}")
if(NOT said STREQUAL expected)
  message(FATAL_ERROR "gdb said:\n${told}${errors}")
endif()
