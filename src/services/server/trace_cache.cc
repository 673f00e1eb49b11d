// SPDX-License-Identifier: Apache-2.0
#include "services/server/trace_cache.h"

#include <array>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/uuid.h"
#include "core/codec/digest.h"
#include "core/codec/packed.h"
#include "core/sys/clock.h"
#include "core/sys/disk.h"

namespace bunraku::server {

using codec::put_packed;
using environment::IdSet;
using environment::ReadId;
using environment::ReadTable;
using environment::Trace;

namespace {

/// Twice the maximum age of a cached catalog.
constexpr std::int64_t kTooOld = std::int64_t{2} * 86'400 * 1'000'000'000;
/// Length of the digest that precedes the content it covers.
constexpr std::size_t kSum = 16;

std::string sum_of(std::string_view text) { return codec::short_digest(text, kSum); }

}  // namespace

TraceCache::TraceCache(std::string folder, std::string program,
                       std::shared_ptr<store::Secrets> secrets)
    : folder_(std::move(folder)), program_(std::move(program)), secrets_(std::move(secrets)) {
    auto& disk = sys::disk();
    const auto now = sys::make_real_clock()->now_ns();
    const auto names = disk.list(folder_);
    if (!names) return;
    for (const auto& name : *names) {
        const auto path = folder_ + '/' + name;
        const auto status = disk.lstat(path);
        if (status && status->mtime_ns + kTooOld < now) (void)disk.remove(path);
    }
}

std::string TraceCache::file_of(std::string_view key) const {
    return fmt::format("{}/{}.trace", folder_, codec::short_digest(key));
}

void TraceCache::drop(const std::string& key) { (void)sys::disk().remove(file_of(key)); }

void TraceCache::drop_all() {
    const std::lock_guard lock(mutex_);
    written_.clear();
    texts_.clear();
    (void)sys::disk().remove_all(folder_);
}

/// Appends the ids that are not yet in the file. Returns false on failure.
bool TraceCache::write_texts(Written& written, const std::vector<ReadId>& ids) {
    BUNRAKU_ASSERT(written.table && !written.name.empty());
    std::string part;
    for (const ReadId id : ids) {
        if (written.ids.contains(id)) continue;
        const auto item = written.table->item(id);
        put_packed(part, id);
        put_packed(part, environment::read_name(item.kind));
        put_packed(part, item.name);
        put_packed(part, item.detail);
    }
    if (part.empty()) return true;
    std::string text;
    put_packed(text, part);
    text += sum_of(part);
    if (!sys::disk().append(folder_ + '/' + written.name, text, 0600)) return false;
    for (const ReadId id : ids) written.ids.add(id);
    return true;
}

void TraceCache::save(const std::string& key, const CachedCatalog& cached) {
    BUNRAKU_ASSERT(cached.trace != nullptr);
    const auto& trace = *cached.trace;
    const IdSet ids = trace.ids();
    std::vector<ReadId> needed;
    const auto need = [&](ReadId id) { needed.push_back(id); };
    ids.for_each(need);
    for (const auto& [file, keys] : trace.data()) {
        need(file);
        keys.for_each(need);
    }
    std::string name;
    {
        const std::lock_guard lock(mutex_);
        auto& written = written_[trace.table().get()];
        if (!written.table) {
            written.table = trace.table();
            written.name = base::random_uuid() + ".reads";
        }
        if (!write_texts(written, needed)) {
            // The content of the file is unknown after the failure, so the next trace begins a new
            // file.
            written_.erase(trace.table().get());
            return;
        }
        name = written.name;
    }
    std::string text;
    for (const std::string_view part :
         {std::string_view(program_), std::string_view(key), std::string_view(name),
          std::string_view(cached.etag), std::string_view(cached.digest),
          std::string_view(cached.fingerprint), std::string_view(cached.version),
          std::string_view(cached.text_digest)})
        put_packed(text, part);
    put_packed(text, static_cast<std::uint64_t>(cached.since_ns));
    put_packed(text, cached.world);
    put_packed(text, cached.of_node);
    put_packed(text, cached.facts.size());
    for (const auto& fact : cached.facts) put_packed(text, fact);
    put_packed(text, cached.seen.size());
    for (const auto& [path, stamp, content] : cached.seen) {
        put_packed(text, path);
        put_packed(text, content);
        put_packed(text, static_cast<std::uint64_t>(stamp.mtime_ns));
        put_packed(text, stamp.size);
        put_packed(text, stamp.inode);
        put_packed(
            text, (stamp.exists ? 1U : 0U) | (stamp.directory ? 2U : 0U) | (stamp.fresh ? 4U : 0U));
    }
    put_packed(text, ids.pack());
    put_packed(text, trace.data().size());
    for (const auto& [file, keys] : trace.data()) {
        put_packed(text, file);
        put_packed(text, keys.pack());
    }
    if (secrets_) {
        auto sealed = secrets_->seal(text, kTraceSealContext);
        if (!sealed) return;
        text = std::move(*sealed);
    }
    (void)sys::disk().replace(file_of(key), sum_of(text) + text, {.mode = 0600});
}

const TraceCache::Texts& TraceCache::texts(const std::string& name) {
    const auto [it, fresh] = texts_.try_emplace(name);
    // The name was read from a file and must not lead to another folder.
    if (!fresh || name.find('/') != std::string::npos) return it->second;
    const auto content = sys::disk().read(folder_ + '/' + name);
    if (!content) return it->second;
    codec::PackedReader whole(*content);
    while (!whole.ended()) {
        const auto part = whole.text();
        if (whole.take(kSum) != sum_of(part) || !whole.good()) break;
        codec::PackedReader reader(part);
        while (!reader.ended()) {
            const auto id = static_cast<ReadId>(reader.number());
            Text text;
            text.kind = environment::read_kind(reader.text());
            text.name = reader.text();
            text.detail = reader.text();
            if (reader.good()) it->second.insert_or_assign(id, std::move(text));
        }
    }
    return it->second;
}

std::optional<TraceCache::CachedCatalog> TraceCache::load(const std::string& key,
                                                          const std::shared_ptr<ReadTable>& table) {
    const auto content = sys::disk().read(file_of(key));
    if (!content || content->size() < kSum) return std::nullopt;
    std::string text = content->substr(kSum);
    if (content->substr(0, kSum) != sum_of(text)) return std::nullopt;
    if (secrets_) {
        auto opened = secrets_->open(std::move(text), kTraceSealContext);
        if (!opened) return std::nullopt;
        text = std::move(*opened);
    }
    codec::PackedReader reader(text);
    if (reader.text() != program_ || reader.text() != key) return std::nullopt;
    const std::string name(reader.text());
    CachedCatalog out;
    for (auto* part : {&out.etag, &out.digest, &out.fingerprint, &out.version, &out.text_digest})
        *part = reader.text();
    out.since_ns = static_cast<std::int64_t>(reader.number());
    out.world = reader.number();
    out.of_node = reader.number();
    for (auto n = reader.number(); n > 0 && reader.good(); --n)
        out.facts.emplace_back(reader.text());
    for (auto n = reader.number(); n > 0 && reader.good(); --n) {
        SeenPath one;
        one.path = reader.text();
        one.content = reader.text();
        one.stamp.mtime_ns = static_cast<std::int64_t>(reader.number());
        one.stamp.size = reader.number();
        one.stamp.inode = reader.number();
        const auto bits = reader.number();
        one.stamp.exists = bits & 1, one.stamp.directory = bits & 2, one.stamp.fresh = bits & 4;
        out.seen.push_back(std::move(one));
    }
    const std::lock_guard lock(mutex_);
    const Texts& known = texts(name);
    bool complete = true;
    const auto here = [&](ReadId id) -> ReadId {
        const auto it = known.find(id);
        if (it != known.end())
            return table->id(it->second.kind, it->second.name, it->second.detail);
        complete = false;
        return 0;
    };
    auto trace = std::make_shared<Trace>(table);
    IdSet::unpack(reader.text()).for_each([&](ReadId id) {
        const ReadId mine = here(id);
        if (complete) trace->note(mine);
    });
    for (auto n = reader.number(); n > 0 && reader.good(); --n) {
        const std::array file{here(static_cast<ReadId>(reader.number()))};
        IdSet::unpack(reader.text()).for_each([&](ReadId id) {
            const ReadId mine = here(id);
            if (complete) trace->note_data(file, mine);
        });
    }
    if (!complete || !reader.good() || !reader.ended()) return std::nullopt;
    out.trace = std::move(trace);
    return out;
}

}  // namespace bunraku::server
