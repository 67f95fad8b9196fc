# Runs PROGRAM and compares what it prints with the lines under `// Prints:` at the head of SOURCE. Its exit code counts
# too.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed RESULT_VARIABLE code)
file(READ ${SOURCE} text)
if(NOT text MATCHES "// Prints:\n((//   [^\n]*\n)+)")
  message(FATAL_ERROR "${SOURCE} does not say what it prints")
endif()
string(REPLACE "//   " "" expected "${CMAKE_MATCH_1}")
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "${SOURCE} printed\n${printed}and not\n${expected}")
endif()
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${SOURCE} found something wrong: ${code}")
endif()
