// SPDX-License-Identifier: Apache-2.0
// The symbols of all files of the workspace, with the files in which each occurs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "services/lsp/analyze.h"
#include "services/lsp/symbols.h"

namespace bunraku::lsp {

/// Files of one environment see each other and the files of group 0, which belong to no
/// environment.
using Group = std::uint32_t;

struct IndexedFile {
    std::string path;
    FileKind kind{};
    Group group = 0;
    FileSymbols symbols;
    std::vector<SymbolKey> keys;     ///< distinct keys of the occurrences, ordered
    std::vector<SymbolKey> defined;  ///< distinct keys of the definitions, ordered
    /// The positions of the occurrences and of the definitions in `symbols`, ordered by key.
    std::vector<std::uint32_t> occurrences_by_key, definitions_by_key;
    LineIndex lines;
    /// True if columns are the same in every encoding, so that ranges need no text.
    bool ascii = true;
};

struct DefinitionPlace {
    const IndexedFile* file = nullptr;
    const Definition* definition = nullptr;
};
struct OccurrencePlace {
    const IndexedFile* file = nullptr;
    const Occurrence* occurrence = nullptr;
};

/// The order of the keys of a file.
bool key_before(const SymbolKey& a, const SymbolKey& b);

class SymbolIndex {
public:
    /// Adds or replaces a file. Returns true if the names that the file defines changed, so that
    /// the diagnostics of other files may change.
    bool put(const std::string& path, FileKind kind, Group group, FileSymbols symbols,
             std::string_view text);
    bool remove(const std::string& path);

    const IndexedFile* file(const std::string& path) const;
    /// Calls `f` for every file, ordered by path.
    void each_file(const std::function<void(const IndexedFile&)>& f) const;
    void each_file_below(const std::string& folder,
                         const std::function<void(const IndexedFile&)>& f) const;
    std::size_t size() const { return by_path_.size(); }

    /// Returns the definitions of a class, type, function and so on that the group sees, or those
    /// of other groups if it sees none. Ordered by path.
    std::vector<DefinitionPlace> definitions(SymbolKey key, Group group) const;
    bool defined(SymbolKey key, Group group) const { return !definitions(key, group).empty(); }
    /// Returns the occurrences that define a name, which include variables.
    std::vector<OccurrencePlace> defining(SymbolKey key, Group group) const;
    /// Returns all occurrences that the group sees, ordered by path and offset.
    std::vector<OccurrencePlace> occurrences(SymbolKey key, Group group) const;
    /// Returns the number of occurrences with Role::Use.
    std::size_t count_uses(SymbolKey key, Group group) const;
    bool occurs(SymbolKey key, Group group) const;

    /// Calls `f` for all definitions whose name begins with `prefix` and that the group sees.
    void each_definition(Group group, const std::function<void(const DefinitionPlace&)>& f) const;

private:
    static bool sees(Group group, Group other) {
        return group == other || group == 0 || other == 0;
    }
    using Postings = std::unordered_map<SymbolKey, std::vector<const IndexedFile*>>;
    static std::vector<const IndexedFile*> files_with(const Postings& postings, SymbolKey key,
                                                      Group group);
    static void post(Postings& postings, const std::vector<SymbolKey>& keys,
                     const IndexedFile* file);
    static void unpost(Postings& postings, const std::vector<SymbolKey>& keys,
                       const IndexedFile* file);

    std::map<std::string, std::unique_ptr<IndexedFile>> by_path_;
    Postings uses_;         ///< the files in which a name occurs
    Postings definitions_;  ///< the files that define it
};

}  // namespace bunraku::lsp
