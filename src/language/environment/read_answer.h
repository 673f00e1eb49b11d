// What the world answers to reads that need no compile to be asked: files, and facts at a path.
#pragma once

#include <string>
#include <string_view>

#include "core/value/value.h"
#include "language/environment/files.h"
#include "language/environment/trace.h"

namespace bunraku::environment {

/// The answer to a read of files or of the environment's variables, in a text that is equal for
/// equal answers; empty for other kinds.
std::string files_answer(const Files& files, Read kind, const std::string& name);

/// The detail of a Read::File that asks for the time and size of what is there, not its content.
inline constexpr std::string_view kStatDetail = "stat";
std::string stat_answer(const Files& files, const std::string& name);

/// The last segment of a path that reads of a hash its keys, their order and which values are
/// hashes. No key is like it: facts have no control characters in their names.
inline constexpr std::string_view kKeysSegment = "\x01";
/// Returns a path for people: "mountpoints (keys)".
std::string shown_fact_path(std::string_view path);

/// The same of facts (or of $trusted, $server_facts) at a path. How far the path leads is part of
/// the answer: `$facts['a']['b']` fails where `a` is missing and is undef where only `b` is.
std::string facts_answer(const value::Value& root, std::string_view path);

/// The program of a command line where `listed` (the setting pure_commands: paths with commas) has
/// it: its output depends on its arguments alone. Empty: it is not.
std::string_view pure_program(std::string_view listed, std::string_view command);

}  // namespace bunraku::environment
