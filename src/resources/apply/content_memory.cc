// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/content_memory.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <type_traits>

#include "core/base/assert.h"
#include "core/codec/digest.h"

namespace bunraku::apply {
namespace {

constexpr std::string_view kHeader = "bunraku contents 1 ";
constexpr std::size_t kSum = 32;
constexpr std::uint64_t kLargest = 256 * 1024 * 1024;
// Some file systems store change times with a resolution of only two seconds.
constexpr std::int64_t kStep_ns = 2'000'000'000;

std::string key_of(std::string_view path, std::string_view kind) {
    return fmt::format("{}\n{}", kind, path);
}

template <class T>
void put(std::string& out, T value) {
    static_assert(std::is_integral_v<T>);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out.append(bytes, sizeof value);
}
void put(std::string& out, std::string_view text) {
    BUNRAKU_ASSERT(text.size() <= UINT32_MAX);
    put(out, static_cast<std::uint32_t>(text.size()));
    out += text;
}

template <class T>
bool take(std::string_view& from, T& value) {
    if (from.size() < sizeof value) return false;
    std::memcpy(&value, from.data(), sizeof value);
    from.remove_prefix(sizeof value);
    return true;
}
bool take(std::string_view& from, std::string_view& text) {
    std::uint32_t size = 0;
    if (!take(from, size) || from.size() < size) return false;
    text = from.substr(0, size);
    from.remove_prefix(size);
    return true;
}

}  // namespace

bool ContentMemory::Entry::of(const sys::FileStatus& s) const {
    return s.kind == sys::FileKind::File && inode == s.inode && ctime_ns == s.ctime_ns &&
           mtime_ns == s.mtime_ns && size == s.size && device == s.device;
}

bool ContentMemory::good(const Entry& entry) const {
    const std::int64_t age = system_.clock.now_ns() - entry.read_ns;
    return age >= 0 && age < settings_.interval_ns;
}

void ContentMemory::load() {
    if (settings_.file.empty()) return;
    const auto status = system_.files.lstat(settings_.file);
    if (!status || status->kind != sys::FileKind::File || status->size > kLargest ||
        status->uid != system_.users.effective_uid() || (status->mode & 077) != 0)
        return;
    auto text = system_.files.read(settings_.file);
    if (!text) return;
    BUNRAKU_ASSERT(entries_.empty() && !indexed_);
    *text_ = std::move(*text);
    if (!parse(*text_)) {
        entries_.clear();
        changed_ = true;
    }
}

bool ContentMemory::parse(std::string_view text) {
    if (!text.starts_with(kHeader) || text.size() < kHeader.size() + kSum) return false;
    text.remove_prefix(kHeader.size());
    const auto sum = text.substr(0, kSum);
    text.remove_prefix(kSum);
    if (codec::short_digest(text, kSum) != sum) return false;
    entries_.reserve(text.size() / 160);
    while (!text.empty()) {
        Entry e;
        if (!take(text, e.path) || !take(text, e.kind) || !take(text, e.digest) ||
            !take(text, e.device) || !take(text, e.inode) || !take(text, e.size) ||
            !take(text, e.mtime_ns) || !take(text, e.ctime_ns) || !take(text, e.read_ns))
            return false;
        entries_.push_back(e);
    }
    return true;
}

void ContentMemory::save() {
    BUNRAKU_ASSERT(!indexed_ || index_.size() <= entries_.size());
    if (settings_.file.empty() || !changed_) return;
    std::string body;
    body.reserve(entries_.size() * 180);
    for (const Entry& e : entries_) {
        if (!good(e)) continue;
        put(body, e.path);
        put(body, e.kind);
        put(body, e.digest);
        put(body, e.device);
        put(body, e.inode);
        put(body, e.size);
        put(body, e.mtime_ns);
        put(body, e.ctime_ns);
        put(body, e.read_ns);
    }
    (void)system_.files.make_directories(std::string(sys::directory_name(settings_.file)), 0755);
    // If the file cannot be written, the next run reads all contents again.
    (void)system_.files.replace(
        settings_.file, fmt::format("{}{}{}", kHeader, codec::short_digest(body, kSum), body),
        {.mode = 0600});
    changed_ = false;
}

ContentMemory::Entry* ContentMemory::find(std::string_view path, std::string_view kind) {
    const auto is = [&](const Entry& e) { return e.path == path && e.kind == kind; };
    for (std::size_t ahead = next_; ahead < std::min(next_ + 4, entries_.size()); ++ahead) {
        if (!is(entries_[ahead])) continue;
        next_ = ahead + 1;
        BUNRAKU_ASSERT(next_ <= entries_.size());
        return &entries_[ahead];
    }
    if (!indexed_) {
        indexed_ = true;
        index_.reserve(entries_.size());
        for (std::size_t i = 0; i < entries_.size(); ++i)
            index_.emplace(key_of(entries_[i].path, entries_[i].kind), i);
    }
    const auto at = index_.find(key_of(path, kind));
    if (at == index_.end()) return nullptr;
    BUNRAKU_ASSERT(at->second < entries_.size());
    next_ = at->second + 1;
    return &entries_[at->second];
}

std::optional<std::string_view> ContentMemory::digest(std::string_view path, std::string_view kind,
                                                      const sys::FileStatus& now) {
    if (entries_.empty() || now.size < kLarge) return std::nullopt;
    const Entry* e = find(path, kind);
    if (!e || !e->of(now) || !good(*e)) return std::nullopt;
    return e->digest;
}

bool ContentMemory::trusts(const std::string& path, std::uint64_t device) {
    if (!settings_.preserves_change_times) return false;
    const auto [at, fresh] = devices_.try_emplace(device, false);
    if (fresh) at->second = settings_.preserves_change_times(path);
    return at->second;
}

void ContentMemory::remember(const std::string& path, std::string_view kind,
                             const sys::FileStatus& before, std::int64_t begun_ns,
                             std::string_view digest) {
    if (settings_.file.empty() || before.kind != sys::FileKind::File || before.size < kLarge)
        return;
    if (before.ctime_ns + kStep_ns >= begun_ns || !trusts(path, before.device)) return;
    const auto after = system_.files.stat(path);
    Entry e{.path = path,
            .kind = kind,
            .digest = digest,
            .device = before.device,
            .inode = before.inode,
            .size = before.size,
            .mtime_ns = before.mtime_ns,
            .ctime_ns = before.ctime_ns,
            .read_ns = begun_ns};
    if (!after || !e.of(*after)) return;
    changed_ = true;
    BUNRAKU_ASSERT(e.of(before));
    e.digest = arena_->copy(digest);
    if (Entry* old = find(path, kind)) {
        e.path = old->path;
        e.kind = old->kind;
        *old = e;
        return;
    }
    e.path = arena_->copy(path);
    e.kind = arena_->copy(kind);
    BUNRAKU_ASSERT(indexed_ && index_.size() <= entries_.size());
    index_.emplace(key_of(path, kind), entries_.size());
    entries_.push_back(e);
}

}  // namespace bunraku::apply
