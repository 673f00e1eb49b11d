// SPDX-License-Identifier: Apache-2.0
#include "language/environment/trace.h"

#include <algorithm>
#include <array>

#include "core/base/assert.h"
#include "core/codec/digest.h"

namespace bunraku::environment {

thread_local constinit Trace* Trace::current_ = nullptr;
thread_local constinit DependencyRecorder* DependencyRecorder::collecting_ = nullptr;

namespace {

constexpr auto kNames = std::to_array<std::string_view>(
    {"file",  "exists",  "folder",      "glob",      "names",   "definition", "data",
     "fact",  "trusted", "server_fact", "parameter", "setting", "variable",   "command",
     "query", "export",  "clock",       "random",    "host",    "opaque"});

}  // namespace

std::string_view read_name(Read kind) {
    BUNRAKU_ASSERT(static_cast<std::size_t>(kind) < kNames.size());
    return kNames[static_cast<std::size_t>(kind)];
}

Read read_kind(std::string_view name) {
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == name) return static_cast<Read>(i);
    return Read::Opaque;
}

std::size_t ReadTable::Hash::operator()(const Item& item) const {
    const std::hash<std::string_view> hash;
    return hash(item.name) * 31 + hash(item.detail) * 7 + static_cast<std::size_t>(item.kind);
}

ReadTable::ReadTable() : arena_(64 * 1024) {}

ReadId ReadTable::id(Read kind, std::string_view name, std::string_view detail) {
    const Item wanted{kind, name, detail};
    {
        std::shared_lock lock(mutex_);
        if (auto it = ids_.find(wanted); it != ids_.end()) return it->second;
    }
    std::unique_lock lock(mutex_);
    if (auto it = ids_.find(wanted); it != ids_.end()) return it->second;
    const Item kept{kind, arena_.copy(name), arena_.copy(detail)};
    const auto id = static_cast<ReadId>(items_.size());
    items_.push_back(kept);
    ids_.emplace(kept, id);
    BUNRAKU_ASSERT(id == items_.size() - 1);
    BUNRAKU_ASSERT(items_.size() == ids_.size() + groups_.size());
    return id;
}

ReadTable::Item ReadTable::item(ReadId id) const {
    std::shared_lock lock(mutex_);
    return items_.at(id);
}

ReadId ReadTable::together(std::vector<ReadId> ids) {
    BUNRAKU_ASSERT(!ids.empty());
    std::unique_lock lock(mutex_);
    std::vector<ReadId> parts;
    for (const ReadId id : ids) {
        if (auto it = parts_.find(id); it != parts_.end())
            parts.insert(parts.end(), it->second->begin(), it->second->end());
        else
            parts.push_back(id);
    }
    std::ranges::sort(parts);
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    BUNRAKU_ASSERT(!parts.empty() && parts.back() < items_.size());
    if (parts.size() == 1) return parts[0];
    const auto [it, fresh] =
        groups_.try_emplace(std::move(parts), static_cast<ReadId>(items_.size()));
    if (fresh) {
        items_.emplace_back();
        parts_.emplace(it->second, &it->first);
    }
    BUNRAKU_ASSERT(parts_.size() == groups_.size());
    BUNRAKU_ASSERT(items_.size() == ids_.size() + groups_.size());
    return it->second;
}

IdSet ReadTable::expand_groups(const IdSet& ids) const {
    IdSet out;
    std::shared_lock lock(mutex_);
    ids.for_each([&](ReadId id) {
        const auto it = parts_.find(id);
        if (it == parts_.end()) return out.add(id);
        for (const ReadId part : *it->second) out.add(part);
    });
    return out;
}

std::vector<ReadTable::Item> ReadTable::items(const IdSet& ids) const {
    std::vector<Item> out;
    std::shared_lock lock(mutex_);
    ids.for_each([&](ReadId id) { out.push_back(items_.at(id)); });
    return out;
}

std::size_t ReadTable::size() const {
    std::shared_lock lock(mutex_);
    return items_.size();
}

DependencyRecorder::ReadGroup::~ReadGroup() {
    collecting_ = outer_;
    if (into_.ids_.empty()) return;
    into_.ids_ = {table_.together(std::move(into_.ids_))};
    BUNRAKU_ASSERT(into_.ids_.size() == 1);
    const Trace::Recording aloud(trace_);
    into_.note();
}

void Trace::note_answer(Read kind, std::string_view name, std::string_view answer) {
    const ReadId id = table_->id(kind, name);
    note(id);
    constexpr std::size_t kDigits = 16;
    auto digest = codec::short_digest(answer, kDigits);
    BUNRAKU_ASSERT(digest.size() == kDigits);
    auto [it, fresh] = answers_.emplace(id, digest);
    // Several calls may return different answers; the digest then covers all of them.
    if (!fresh && it->second != digest)
        it->second = codec::short_digest(it->second + digest, kDigits);
}

std::vector<std::pair<ReadTable::Item, std::string>> Trace::items() const {
    std::vector<std::pair<ReadTable::Item, std::string>> out;
    const IdSet all = ids();
    for (const auto& item : table_->items(all)) out.emplace_back(item, "");
    std::size_t at = 0;
    auto answer = answers_.begin();
    all.for_each([&](ReadId id) {
        BUNRAKU_ASSERT(at < out.size());
        if (answer != answers_.end() && answer->first == id) out[at].second = answer++->second;
        ++at;
    });
    // Every id of an answer is among the reads, so each answer was assigned.
    BUNRAKU_ASSERT(at == out.size() && answer == answers_.end());
    for (const auto& [file, keys] : data_) {
        const auto name = table_->item(file).name;
        for (const auto& key : table_->items(keys))
            out.emplace_back(ReadTable::Item{Read::Data, name, key.detail}, "");
    }
    return out;
}

std::string Trace::pack() const {
    std::string out;
    auto part = [&](std::string_view text) {
        out += static_cast<char>(text.size() & 255);
        out += static_cast<char>(text.size() >> 8 & 255);
        out += static_cast<char>(text.size() >> 16 & 255);
        out += text;
    };
    part(ids_.pack());
    // Most keys are in no file of the hierarchy, so many files have the same set of keys. Each set
    // is stored once.
    std::map<std::string, IdSet> files;
    for (const auto& [file, keys] : data_) files[keys.pack()].add(file);
    for (const auto& [keys, names] : files) {
        part(names.pack());
        part(keys);
    }
    for (const auto& [id, digest] : answers_) out += digest;
    return out;
}

void append_segment(std::string& path, std::string_view segment) {
    if (!path.empty()) path += '.';
    if (segment.find('.') == std::string_view::npos) {
        path += segment;
    } else {
        path += '\'';
        path += segment;
        path += '\'';
    }
}

}  // namespace bunraku::environment
