# Sees the compiler refuse a file, and its first error say what the first line of the file says.
# cmake -DCOMPILE=the compiler and its options -DFILE=… -P test.cmake
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${FILE} says LIMIT_COUNT 1)
string(REGEX REPLACE "^// says: " "" says "${says}")
execute_process(COMMAND ${COMPILE} ${FILE} ERROR_VARIABLE told RESULT_VARIABLE failed)
string(REGEX MATCH "error: [^\n]*" first "${told}")
string(FIND "${first}" "${says}" at)
if(NOT failed OR at EQUAL -1)
  message(FATAL_ERROR "its first error should say '${says}'. The compiler said:\n${told}")
endif()
