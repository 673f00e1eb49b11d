// Changes of the world at random: a letter or line of a file, a value somewhere in the facts.
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

/// One of them; "" of none.
std::string pick(Random& random, const std::vector<std::string>& from);
/// Changes the text of the file in one place; says how.
std::string edit(Random& random, std::string_view path, std::string& text);
/// What may stand in a file of that name that was not there.
std::string invented(Random& random, std::string_view path, const std::vector<std::string>& keys);
/// The facts (JSON) with one value changed, added or gone: of those paths or of any. Says which in
/// `what`.
std::string change_facts(Random& random, std::string_view facts,
                         const std::vector<std::string>& paths, std::string& what);

/// Files on a disk as they are meant to be but for one moment.
class Disturbed {
public:
    Disturbed() = default;
    Disturbed(const Disturbed&) = delete;
    Disturbed& operator=(const Disturbed&) = delete;
    ~Disturbed() { restore(); }

    /// Writes the file, or removes it (null). Folders are made for it.
    void put(const std::string& path, const std::string* text);
    /// All that was put, the last first; a file has the time it had.
    void restore();
    /// The last alone.
    void restore_last();

private:
    struct Was {
        std::string path, text;
        bool there = false;
        std::int64_t seconds = 0, nanoseconds = 0;
        std::vector<std::string> made;  // folders, outermost first
    };
    std::vector<Was> was_;
};

}  // namespace bunraku::mutation
