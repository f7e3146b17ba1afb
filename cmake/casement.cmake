# Targets of this project: our warnings are on for them, and for nothing that
# is generated or comes from a package.
set(CASEMENT_WARNINGS -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror)

function(casement_target name)
  target_compile_options(${name} PRIVATE ${CASEMENT_WARNINGS})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()

# casement_library(NAME LIBS...): all .cc files of the folder, linked with what
# the folder may depend on and nothing else.
function(casement_library name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ${ARGN})
  casement_target(${name})
endfunction()

# casement_tests(PREFIX LIBS...): one test binary for each *_test.cc of the
# folder; the target tests_PREFIX builds them, `ctest -L PREFIX` runs them.
function(casement_tests prefix)
  add_custom_target(tests_${prefix})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc)
  foreach(source ${sources})
    get_filename_component(stem ${source} NAME_WE)
    set(name ${prefix}_${stem})
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE ${ARGN} GTest::gmock GTest::gtest_main)
    casement_target(${name})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_dependencies(tests_${prefix} ${name})
    # A suite named ...Child is what a test runs as its child process.
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_FILTER "-*Child.*"
                         PROPERTIES TIMEOUT 300 LABELS ${prefix})
  endforeach()
endfunction()
