# A room is a static library whose headers are visible only to rooms that declare a dependency on
# it: each room gets an include directory of its own that holds one symbolic link, so that
# `#include "packet/engine.h"` fails to compile in a room that does not depend on `packet`.

add_library(fabricast_flags INTERFACE)
target_compile_options(fabricast_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wnon-virtual-dtor -Wold-style-cast)
if(FABRICAST_WERROR)
  target_compile_options(fabricast_flags INTERFACE -Werror)
endif()
if(FABRICAST_SANITIZE)
  target_compile_options(fabricast_flags INTERFACE -fsanitize=address,undefined
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(fabricast_flags INTERFACE -fsanitize=address,undefined)
endif()

if(FABRICAST_FUZZ)
  target_compile_options(fabricast_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(fabricast_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# fabricast_room(NAME <name> [SOURCES <files...>] [DEPENDS <rooms...>] [LIBRARIES <targets...>])
# LIBRARIES are private: no third-party header appears in a room's own headers.
function(fabricast_room)
  cmake_parse_arguments(ROOM "" "NAME" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  set(door ${CMAKE_BINARY_DIR}/rooms/${ROOM_NAME})
  file(MAKE_DIRECTORY ${door})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${ROOM_NAME} ${door}/${ROOM_NAME} SYMBOLIC)
  if(ROOM_SOURCES)
    add_library(fabricast_${ROOM_NAME} STATIC ${ROOM_SOURCES})
    target_link_libraries(fabricast_${ROOM_NAME} PRIVATE fabricast_flags ${ROOM_LIBRARIES})
    set(scope PUBLIC)
  else()
    add_library(fabricast_${ROOM_NAME} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(fabricast_${ROOM_NAME} ${scope} ${door})
  foreach(dependency ${ROOM_DEPENDS})
    target_link_libraries(fabricast_${ROOM_NAME} ${scope} fabricast_${dependency})
  endforeach()
endfunction()

# fabricast_test(ROOM <room> SOURCES <files...> [DEPENDS <rooms...>] [LABEL fast|slow])
# One executable per room and label; test names read Suite.sentence.
function(fabricast_test)
  cmake_parse_arguments(TEST "" "ROOM;LABEL" "SOURCES;DEPENDS" ${ARGN})
  if(NOT TEST_LABEL)
    set(TEST_LABEL fast)
  endif()
  set(target test_${TEST_ROOM})
  if(NOT TEST_LABEL STREQUAL fast)
    set(target ${target}_${TEST_LABEL})
  endif()
  add_executable(${target} ${TEST_SOURCES})
  target_link_libraries(${target} PRIVATE fabricast_flags fabricast_${TEST_ROOM}
                        GTest::gtest GTest::gtest_main)
  foreach(dependency ${TEST_DEPENDS})
    target_link_libraries(${target} PRIVATE fabricast_${dependency})
  endforeach()
  target_compile_definitions(${target} PRIVATE
                             FABRICAST_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                             FABRICAST_PROGRAM="${CMAKE_BINARY_DIR}/fabricast")
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS ${TEST_LABEL} TIMEOUT 600)
endfunction()
