// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/file/checksum.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text_view.h"
#include "core/sys/clock.h"
#include "resources/apply/content_memory.h"

namespace bunraku::apply {
namespace {

constexpr std::size_t kLite = 512;

bool lite(std::string_view kind) { return kind.ends_with("lite"); }
std::string_view base_kind(base::TextView kind BUNRAKU_LIFETIMEBOUND) {
    return lite(kind) ? kind.substr(0, kind.size() - 4) : kind;
}

}  // namespace

Checksum::Checksum(std::string kind)
    : kind_(std::move(kind)), left_(lite(kind_) ? kLite : static_cast<std::size_t>(-1)) {
    if (auto k = codec::digest_kind(base_kind(kind_))) digest_.emplace(*k);
}

bool Checksum::update(std::string_view bytes) {
    if (!digest_) return false;
    bytes = bytes.substr(0, left_);
    digest_->update(bytes);
    BUNRAKU_ASSERT(bytes.size() <= left_);
    left_ -= bytes.size();
    return left_ > 0;
}

std::string Checksum::text() { return "{" + kind_ + "}" + (digest_ ? digest_->hex() : ""); }

std::string checksum_of_text(std::string_view kind, std::string_view text) {
    if (const auto whole = codec::digest_kind(kind))
        return fmt::format("{{{}}}{}", kind, codec::hex_digest(*whole, text));
    Checksum sum{std::string(kind)};
    sum.update(text);
    return sum.text();
}

std::string checksum_of_file(Context& context, std::string_view kind, const std::string& path,
                             sys::FileSystem* from) {
    sys::FileSystem& files = from ? *from : context.system.files;
    Checksum sum{std::string(kind)};
    if (kind == "mtime" || kind == "ctime") {
        auto status = unwrap(files.stat(path));
        return sum.text() + sys::local_text(kind == "mtime" ? status.mtime_ns : status.ctime_ns);
    }
    if (kind == "none") return sum.text();
    unwrap(files.read_chunks(path, [&](std::string_view chunk) { return sum.update(chunk); }));
    return sum.text();
}

std::string checksum_of_file(Context& context, std::string_view kind, const std::string& path,
                             const sys::FileStatus& status, std::string_view expected,
                             sys::FileSystem* from) {
    ContentMemory* memory = context.contents;
    if (!memory || !codec::digest_kind(base_kind(kind)))
        return checksum_of_file(context, kind, path, from);
    if (auto known = memory->digest(path, kind, status);
        known && (expected.empty() || expected == *known))
        return std::string(*known);
    const std::int64_t begun = context.system.clock.now_ns();
    std::string sum = checksum_of_file(context, kind, path, from);
    BUNRAKU_ASSERT(checksum_kind(sum) == kind && valid_checksum(kind, checksum_data(sum)));
    memory->remember(path, kind, status, begun, sum);
    return sum;
}

bool same_content(Context& context, const std::string& path, std::string_view text) {
    bool same = true;
    unwrap(context.system.files.read_chunks(path, [&](std::string_view chunk) {
        same = text.starts_with(chunk);
        if (same) text.remove_prefix(chunk.size());
        return same;
    }));
    return same && text.empty();
}

bool remembered(Context& context, std::string_view kind, std::string_view path,
                const sys::FileStatus& status, std::string_view expected) {
    ContentMemory* memory = context.contents;
    return memory && codec::digest_kind(base_kind(kind)) &&
           memory->digest(path, kind, status) == expected;
}

bool looks_like_checksum(std::string_view text) {
    // In Ruby, ^ matches at the start of any line.
    while (!text.empty()) {
        if (text[0] == '{') {
            std::size_t close = text.find('}');
            if (close != std::string_view::npos && close >= 4 && close <= 11 &&
                close + 1 < text.size() &&
                !std::isspace(static_cast<unsigned char>(text[close + 1])) &&
                std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(close),
                            [](char c) {
                                return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
                            })) {
                return true;
            }
        }
        std::size_t nl = text.find('\n');
        if (nl == std::string_view::npos) break;
        text.remove_prefix(nl + 1);
    }
    return false;
}

std::string checksum_kind(std::string_view checksum) {
    std::size_t close = checksum.find('}');
    if (checksum.empty() || checksum[0] != '{' || close == std::string_view::npos) return {};
    return std::string(checksum.substr(1, close - 1));
}

std::string checksum_data(std::string_view checksum) {
    std::size_t close = checksum.find('}');
    if (checksum.empty() || checksum[0] != '{' || close == std::string_view::npos) return {};
    return std::string(checksum.substr(close + 1));
}

bool valid_checksum(std::string_view kind, std::string_view text) {
    if (kind == "none") return true;
    if (kind == "mtime" || kind == "ctime") return text.size() >= 8;
    std::string_view base = base_kind(kind);
    std::size_t length = base == "md5"      ? 32
                         : base == "sha1"   ? 40
                         : base == "sha224" ? 56
                         : base == "sha256" ? 64
                         : base == "sha384" ? 96
                         : base == "sha512" ? 128
                                            : 0;
    return length != 0 && text.size() == length &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return std::isxdigit(static_cast<unsigned char>(c)); });
}

}  // namespace bunraku::apply
