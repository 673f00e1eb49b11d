# Compiles several files of a library as one unit (BUNRAKU_UNITY), which halves the time of a build
# without a cache. The sanitizer builds use it; the release build and the linter compile every file
# separately.
#
# The lists below resolve conflicts. Local table names that many files use get a different name in
# each unit. A file whose other local names clash with a neighbour's is compiled alone.
set(unity_tables kAttributes kEntities kFunctions kKeys kParsed kPosix kProviders kUpdate)
set(unity_alone
  resources/apply/providers/package/pip3 resources/apply/providers/package/puppet_gem resources/apply/providers/package/rpm
  resources/apply/providers/package/xbps resources/apply/providers/service/openrc resources/apply/providers/service/redhat
  resources/apply/providers/service/systemd resources/apply/types/cron/cron resources/apply/types/file/file
  resources/apply/types/mailalias/mailalias resources/apply/types/mount/mount resources/apply/types/package/versions_rpm resources/apply/types/schedule/schedule resources/apply/types/sshkey/sshkey
  core/base/semver
  resources/catalog/content_hash resources/catalog/json_text resources/catalog/wire_write
  compile/compiler/finish
  core/config/settings
  language/environment/files
  language/erb/literal language/erb/parser language/erb/string
  language/evaluator/compare
  language/function/stdlib_releases language/function/stdlib_resources language/function/stdlib_strings language/function/text
  language/hiera/explain language/hiera/merge
  net/http/outgoing
  modules/module/tool
  store/query/conditions store/query/conditions_in store/query/conditions_json store/query/event_counts store/query/field_path store/query/from
  store/query/pql store/query/select
  store/db/packed store/engine/replace store/db/statistics
  language/types/factory language/types/new_number language/types/new_text language/types/new_uri language/types/normalize language/types/time_format language/types/time_strftime
  language/types/time_strptime language/types/time_zone language/types/type_parser)

set(unity_before "#define BUNRAKU_PASTE2(a, b) a##_##b\n#define BUNRAKU_PASTE(a, b) BUNRAKU_PASTE2(a, b)\n")
set(unity_after "#undef BUNRAKU_PASTE2\n#undef BUNRAKU_PASTE\n")
foreach(table ${unity_tables})
  string(APPEND unity_before "#define ${table} BUNRAKU_PASTE(local_${table}, BUNRAKU_UNIT)\n")
  string(APPEND unity_after "#undef ${table}\n")
endforeach()

# Call it in the folder that creates the target. CMake's own UNITY_BUILD uses absolute paths, so
# that clones could not share a compiler cache.
function(bunraku_unity target)
  get_target_property(sources ${target} SOURCES)
  set(text "")
  set(count 0)
  set(batch 0)
  set(folder "")
  foreach(source ${sources})
    string(REGEX REPLACE "^.*/src/(.+)[.]cc$" "\\1" name ${source})
    if(name STREQUAL source OR name IN_LIST unity_alone OR name MATCHES "^cli/cmd_")
      continue()
    endif()
    set_source_files_properties(${source} PROPERTIES HEADER_FILE_ONLY ON)
    # A unit never spans two folders of a module: their local names may clash.
    string(REGEX MATCH "^[a-z]+/[a-z]+" next_folder ${name})
    if(text AND NOT next_folder STREQUAL folder)
      bunraku_unity_file(${target} ${batch} "${text}")
      math(EXPR batch "${batch} + 1")
      set(text "")
      set(count 0)
    endif()
    set(folder ${next_folder})
    string(APPEND text "#define BUNRAKU_UNIT unit_${count}\n${unity_before}#include \"${name}.cc\"\n"
      "${unity_after}#undef BUNRAKU_UNIT\n")
    math(EXPR count "${count} + 1")
    math(EXPR left "${count} % 8")
    if(left EQUAL 0)
      bunraku_unity_file(${target} ${batch} "${text}")
      math(EXPR batch "${batch} + 1")
      set(text "")
    endif()
  endforeach()
  if(text)
    bunraku_unity_file(${target} ${batch} "${text}")
  endif()
endfunction()

function(bunraku_unity_file target number text)
  set(file ${CMAKE_BINARY_DIR}/unity/${target}_${number}.cc)
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
  target_sources(${target} PRIVATE ${file})
endfunction()
