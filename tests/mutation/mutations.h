// SPDX-License-Identifier: Apache-2.0
// Random changes of inputs: a character or a line of a file, or a value in the facts.
#pragma once

#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "core/value/value.h"

namespace bunraku::mutation {

using Random = std::mt19937_64;

/// Returns a random element, or "" if `from` is empty.
std::string pick(Random& random, const std::vector<std::string>& from);
/// Changes the text of the file at one random position. Returns a description of the change.
std::string edit(Random& random, std::string_view path, std::string& text);
/// Returns plausible content for a new file with that name.
std::string invented(Random& random, std::string_view path, const std::vector<std::string>& keys);
/// Returns the facts (JSON) with one value changed, added or removed. The value is at one of
/// `paths`, or at a random path. Sets `what` to a description of the change.
std::string change_facts(Random& random, std::string_view facts,
                         const std::vector<std::string>& paths, std::string& what);

/// Temporary changes of files on the disk; the destructor reverts them.
class Disturbed {
public:
    Disturbed() = default;
    Disturbed(const Disturbed&) = delete;
    Disturbed& operator=(const Disturbed&) = delete;
    ~Disturbed() { restore(); }

    /// Writes the file and creates its folders, or removes the file if `text` is null.
    void put(const std::string& path, const std::string* text);
    /// Reverts all changes in reverse order. A restored file gets its old modification time.
    void restore();
    /// Reverts only the last change.
    void restore_last();

private:
    struct Was {
        std::string path, text;
        bool there = false;
        std::int64_t seconds = 0, nanoseconds = 0;
        std::vector<std::string> made;  // created folders, outermost first
    };
    std::vector<Was> was_;
};

}  // namespace bunraku::mutation
