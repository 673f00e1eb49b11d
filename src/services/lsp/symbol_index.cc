// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/symbol_index.h"

#include <algorithm>
#include <numeric>

#include "core/base/assert.h"

namespace bunraku::lsp {

namespace {

/// Returns the positions of definitions or occurrences, ordered by their keys.
template <class Item>
std::vector<std::uint32_t> order_by_key(const std::vector<Item>& items) {
    std::vector<std::uint32_t> order(items.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, key_before,
                             [&](std::uint32_t i) -> const SymbolKey& { return items[i].key; });
    return order;
}

/// Returns the positions of the items with a key.
template <class Item>
auto with_key(const std::vector<std::uint32_t>& order, const std::vector<Item>& items,
              SymbolKey key) {
    return std::ranges::equal_range(
        order, key, key_before, [&](std::uint32_t i) -> const SymbolKey& { return items[i].key; });
}

/// Returns the distinct keys, without empty names and those of local variables, which no other file
/// can use.
template <class Item>
std::vector<SymbolKey> distinct_keys(const std::vector<std::uint32_t>& order,
                                     const std::vector<Item>& items) {
    std::vector<SymbolKey> keys;
    for (const std::uint32_t i : order) {
        const SymbolKey& key = items[i].key;
        const std::string_view name = key.name.view();
        if (name.empty() || name.front() == '~') continue;
        if (keys.empty() || keys.back() != key) keys.push_back(key);
    }
    keys.shrink_to_fit();
    return keys;
}

/// Returns a text that changes with the definitions as other files see them.
std::string definitions_signature(const FileSymbols& symbols) {
    std::string out;
    for (const Definition& definition : symbols.definitions) {
        out += static_cast<char>('a' + static_cast<int>(definition.kind));
        out.append(definition.key.name.view()).append("<").append(definition.parent);
        for (const ParameterInfo& parameter : definition.parameters) {
            out.append(",").append(parameter.name).append(":").append(parameter.type);
            if (parameter.required) out += '!';
        }
        out += '\n';
    }
    return out;
}

}  // namespace

bool key_before(const SymbolKey& a, const SymbolKey& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    return std::less<const char*>()(a.name.view().data(), b.name.view().data());
}

void SymbolIndex::post(Postings& postings, const std::vector<SymbolKey>& keys,
                       const IndexedFile* file) {
    for (const SymbolKey& key : keys) postings[key].push_back(file);
}

void SymbolIndex::unpost(Postings& postings, const std::vector<SymbolKey>& keys,
                         const IndexedFile* file) {
    for (const SymbolKey& key : keys) {
        const auto found = postings.find(key);
        BUNRAKU_ASSERT(found != postings.end());
        std::erase(found->second, file);
        if (found->second.empty()) postings.erase(found);
    }
}

bool SymbolIndex::put(const std::string& path, FileKind kind, Group group, FileSymbols symbols,
                      std::string_view text) {
    auto& slot = by_path_[path];
    const bool fresh = slot == nullptr;
    if (fresh) slot = std::make_unique<IndexedFile>();
    IndexedFile& file = *slot;
    const std::string before = fresh ? "" : definitions_signature(file.symbols);
    const auto replace = [&](Postings& postings, std::vector<SymbolKey>& old_keys,
                             std::vector<SymbolKey> new_keys) {
        if (new_keys == old_keys) return;
        unpost(postings, old_keys, &file);
        old_keys = std::move(new_keys);
        post(postings, old_keys, &file);
    };
    file.occurrences_by_key = order_by_key(symbols.occurrences);
    file.definitions_by_key = order_by_key(symbols.definitions);
    replace(uses_, file.keys, distinct_keys(file.occurrences_by_key, symbols.occurrences));
    replace(definitions_, file.defined,
            distinct_keys(file.definitions_by_key, symbols.definitions));
    file.path = path;
    file.kind = kind;
    file.group = group;
    file.symbols = std::move(symbols);
    file.symbols.occurrences.shrink_to_fit();
    file.lines = LineIndex(text);
    file.ascii = std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; });
    return definitions_signature(file.symbols) != before;
}

bool SymbolIndex::remove(const std::string& path) {
    const auto found = by_path_.find(path);
    if (found == by_path_.end()) return false;
    const IndexedFile& file = *found->second;
    unpost(uses_, file.keys, &file);
    unpost(definitions_, file.defined, &file);
    const bool defined = !file.symbols.definitions.empty();
    by_path_.erase(found);
    return defined;
}

const IndexedFile* SymbolIndex::file(const std::string& path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : found->second.get();
}

void SymbolIndex::each_file(const std::function<void(const IndexedFile&)>& f) const {
    for (const auto& [path, file] : by_path_) f(*file);
}

void SymbolIndex::each_file_below(const std::string& folder,
                                  const std::function<void(const IndexedFile&)>& f) const {
    const std::string prefix = folder.ends_with('/') ? folder : folder + "/";
    for (auto at = by_path_.lower_bound(prefix);
         at != by_path_.end() && at->first.starts_with(prefix); ++at)
        f(*at->second);
}

std::vector<const IndexedFile*> SymbolIndex::files_with(const Postings& postings, SymbolKey key,
                                                        Group group) {
    std::vector<const IndexedFile*> out;
    const auto found = postings.find(key);
    if (found == postings.end()) return out;
    for (const IndexedFile* file : found->second)
        if (sees(group, file->group)) out.push_back(file);
    std::ranges::sort(out,
                      [](const IndexedFile* a, const IndexedFile* b) { return a->path < b->path; });
    return out;
}

std::vector<DefinitionPlace> SymbolIndex::definitions(SymbolKey key, Group group) const {
    std::vector<DefinitionPlace> out;
    for (const bool others : {false, true}) {
        for (const IndexedFile* file : files_with(definitions_, key, others ? 0 : group)) {
            const auto& all = file->symbols.definitions;
            for (const std::uint32_t i : with_key(file->definitions_by_key, all, key))
                out.push_back({file, &all[i]});
        }
        if (!out.empty() || group == 0) break;
    }
    return out;
}

std::vector<OccurrencePlace> SymbolIndex::defining(SymbolKey key, Group group) const {
    std::vector<OccurrencePlace> out = occurrences(key, group);
    std::erase_if(
        out, [](const OccurrencePlace& place) { return place.occurrence->role != Role::Define; });
    return out;
}

std::vector<OccurrencePlace> SymbolIndex::occurrences(SymbolKey key, Group group) const {
    std::vector<OccurrencePlace> out;
    for (const IndexedFile* file : files_with(uses_, key, group)) {
        const auto& all = file->symbols.occurrences;
        for (const std::uint32_t i : with_key(file->occurrences_by_key, all, key))
            out.push_back({file, &all[i]});
    }
    return out;
}

std::size_t SymbolIndex::count_uses(SymbolKey key, Group group) const {
    std::size_t count = 0;
    for (const IndexedFile* file : files_with(uses_, key, group)) {
        const auto& all = file->symbols.occurrences;
        for (const std::uint32_t i : with_key(file->occurrences_by_key, all, key))
            count += all[i].role == Role::Use;
    }
    return count;
}

bool SymbolIndex::occurs(SymbolKey key, Group group) const {
    const auto found = uses_.find(key);
    return found != uses_.end() && std::ranges::any_of(found->second, [&](const IndexedFile* file) {
               return sees(group, file->group);
           });
}

void SymbolIndex::each_definition(Group group,
                                  const std::function<void(const DefinitionPlace&)>& f) const {
    each_file([&](const IndexedFile& file) {
        if (!sees(group, file.group)) return;
        for (const Definition& definition : file.symbols.definitions) f({&file, &definition});
    });
}

}  // namespace bunraku::lsp
