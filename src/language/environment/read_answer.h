// SPDX-License-Identifier: Apache-2.0
// Returns the answers to reads that can be repeated without a compile: reads of files, and of facts
// at a path.
#pragma once

#include <string>
#include <string_view>

#include "core/value/value.h"
#include "language/environment/files.h"
#include "language/environment/trace.h"

namespace bunraku::environment {

/// Returns the answer to a read of files or environment variables as a text. Equal answers give
/// equal texts. Empty for other kinds of reads.
std::string files_answer(const Files& files, Read kind, const std::string& name);

/// The detail of a Read::File that depends on the modification time and size of a file, not on its
/// content.
inline constexpr std::string_view kStatDetail = "stat";
std::string stat_answer(const Files& files, const std::string& name);

/// The last path segment of a read that depends only on a hash's keys, their order, and which
/// values are hashes. Names of facts contain no control characters, so no key equals it.
inline constexpr std::string_view kKeysSegment = "\x01";
/// Returns a readable form of a path: "mountpoints (keys)".
std::string shown_fact_path(std::string_view path);

/// Returns the answer to a read of facts (or of $trusted or $server_facts) at a path. The answer
/// includes how far the path leads: `$facts['a']['b']` fails if `a` is missing, and is undef if
/// only `b` is missing.
std::string facts_answer(const value::Value& root, std::string_view path);

/// Returns the program of a command line if `listed` contains it; otherwise empty. `listed` is the
/// setting pure_commands, a list of paths separated by commas. The output of these programs depends
/// on their arguments only.
std::string_view pure_program(std::string_view listed, std::string_view command);

}  // namespace bunraku::environment
