# Several files of a library compiled as one (BUNRAKU_UNITY): half the time of a build without a cache.
# The sanitizer builds do so; the release build and the linter see every file by itself.
#
# What does not go together is named here. Names of tables that many files use for their own are told
# apart by file; a file whose other local names clash with a neighbour's is compiled alone.
set(unity_tables kAttributes kEntities kFunctions kKeys kParsed kPosix kProviders kUpdate)
set(unity_alone
  apply/providers/package/pip3 apply/providers/package/puppet_gem apply/providers/package/rpm
  apply/providers/package/xbps apply/providers/service/openrc apply/providers/service/redhat
  apply/providers/service/systemd apply/types/cron/cron apply/types/file/file
  apply/types/mailalias/mailalias apply/types/mount/mount apply/types/package/versions_rpm apply/types/schedule/schedule apply/types/sshkey/sshkey
  base/semver
  catalog/content_hash catalog/json_text catalog/wire_write
  compiler/finish
  config/settings
  environment/files
  erb/literal erb/parser erb/string
  evaluator/compare
  function/stdlib_releases function/stdlib_resources function/stdlib_strings function/text
  hiera/explain hiera/merge
  http/outgoing
  module/tool
  query/conditions query/conditions_in query/conditions_json query/event_counts query/field_path query/from
  query/pql query/select
  store/packed store/replace store/statistics
  types/factory types/new_number types/new_text types/new_uri types/normalize types/time_format types/time_strftime
  types/time_strptime types/time_zone types/type_parser)

set(unity_before "#define BUNRAKU_PASTE2(a, b) a##_##b\n#define BUNRAKU_PASTE(a, b) BUNRAKU_PASTE2(a, b)\n")
set(unity_after "#undef BUNRAKU_PASTE2\n#undef BUNRAKU_PASTE\n")
foreach(table ${unity_tables})
  string(APPEND unity_before "#define ${table} BUNRAKU_PASTE(local_${table}, BUNRAKU_UNIT)\n")
  string(APPEND unity_after "#undef ${table}\n")
endforeach()

# To be called in the folder that made the target. CMake's own UNITY_BUILD names the files by absolute
# paths, so that no clone could use what a compiler cache has of another.
function(bunraku_unity target)
  get_target_property(sources ${target} SOURCES)
  set(text "")
  set(count 0)
  set(batch 0)
  foreach(source ${sources})
    string(REGEX REPLACE "^.*/src/(.+)[.]cc$" "\\1" name ${source})
    if(name STREQUAL source OR name IN_LIST unity_alone OR name MATCHES "^cli/cmd_")
      continue()
    endif()
    set_source_files_properties(${source} PROPERTIES HEADER_FILE_ONLY ON)
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
