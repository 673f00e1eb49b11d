// SPDX-License-Identifier: Apache-2.0
#include "services/server/content_mark.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/codec/digest.h"
#include "core/sys/disk.h"
#include "services/server/file_serving.h"

namespace bunraku::server {

namespace {

/// Returns nullopt if the content cannot be read.
std::optional<std::string> content_of(Digests& digests, const std::string& path,
                                      const sys::FileStatus& status) {
    if (status.kind == sys::FileKind::File) {
        auto digest = digests.of("sha256", path, status);
        return digest ? std::optional(std::move(*digest)) : std::nullopt;
    }
    if (status.kind != sys::FileKind::Directory) return std::string();
    const auto names = sys::disk().list(path);
    if (!names) return std::nullopt;
    return codec::short_digest(fmt::format("{}", fmt::join(*names, "/")));
}

}  // namespace

std::string content_mark(Digests& digests, const std::string& path) {
    auto& disk = sys::disk();
    const auto own = disk.lstat(path);
    if (!own) return sys::is_absence(own.error().code) ? "absent" : "";
    std::string out;
    if (own->kind == sys::FileKind::Link) {
        const auto target = disk.read_link(path);
        if (!target) return {};
        out = fmt::format("link {} ", *target);
    }
    const auto status = disk.stat(path);
    if (!status) return sys::is_absence(status.error().code) ? out + "absent" : "";
    const auto content = content_of(digests, path, *status);
    if (!content) return {};
    return fmt::format("{}{} {:o} {} {} {}", out, sys::file_kind_name(status->kind), status->mode,
                       status->uid, status->gid, *content);
}

}  // namespace bunraku::server
