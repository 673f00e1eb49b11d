# Compiles several files of a library as one unit (BUNRAKU_UNITY), which halves the time of a build
# without a cache. The sanitizer builds use it; the release build and the linter compile every file
# separately.
#
# tools/unity_batches.py decides which files share a unit, so that no local names clash. Local table
# names that many files use get a different name in each unit.
set(unity_tables kAttributes kEntities kFunctions kKeys kParsed kPosix kProviders kUpdate)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(unity_before "#define BUNRAKU_PASTE2(a, b) a##_##b\n#define BUNRAKU_PASTE(a, b) BUNRAKU_PASTE2(a, b)\n")
set(unity_after "#undef BUNRAKU_PASTE2\n#undef BUNRAKU_PASTE\n")
foreach(table ${unity_tables})
  string(APPEND unity_before "#define ${table} BUNRAKU_PASTE(local_${table}, BUNRAKU_UNIT)\n")
  string(APPEND unity_after "#undef ${table}\n")
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/unity_batches.py)

# Call it in the folder that creates the target. CMake's own UNITY_BUILD uses absolute paths, so
# that clones could not share a compiler cache.
function(bunraku_unity target)
  get_target_property(sources ${target} SOURCES)
  # A change of a file may make its names clash. This runs CMake again, and leaves the units of which
  # the files stay the same untouched.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  list(TRANSFORM sources REPLACE "^.*/src/(.+)[.]cc$" "\\1" OUTPUT_VARIABLE names)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tools/unity_batches.py ${CMAKE_SOURCE_DIR}/src ${names}
    OUTPUT_VARIABLE batches OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" batches "${batches}")
  foreach(batch ${batches})
    string(REPLACE " " ";" batch "${batch}")
    list(LENGTH batch count)
    if(count EQUAL 1)
      continue()
    endif()
    set(text "")
    set(number 0)
    foreach(name ${batch})
      set_source_files_properties(${CMAKE_SOURCE_DIR}/src/${name}.cc PROPERTIES HEADER_FILE_ONLY ON)
      string(APPEND text "#define BUNRAKU_UNIT unit_${number}\n${unity_before}#include \"${name}.cc\"\n"
        "${unity_after}#undef BUNRAKU_UNIT\n")
      math(EXPR number "${number} + 1")
    endforeach()
    # The first file names the unit, so that a new file changes few other units.
    list(GET batch 0 first)
    string(REPLACE "/" "_" first "${first}")
    set(file ${CMAKE_BINARY_DIR}/unity/${first}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
    target_sources(${target} PRIVATE ${file})
  endforeach()
endfunction()
