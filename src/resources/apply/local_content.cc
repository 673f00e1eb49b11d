// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/local_content.h"

#include <cerrno>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/shown_url.h"
#include "resources/apply/types/file/checksum.h"
#include "resources/apply/types/file/fileset.h"

namespace bunraku::apply {

using sys::FileKind;

std::optional<std::string> LocalContent::local_path(std::string_view uri) {
    if (!uri.starts_with("file:")) return std::nullopt;
    uri.remove_prefix(5);
    if (uri.starts_with("//")) {
        uri.remove_prefix(2);
        std::size_t slash = uri.find('/');
        uri = slash == std::string_view::npos ? std::string_view("/") : uri.substr(slash);
    }
    return std::string(uri);
}

base::Result<std::optional<ContentMetadata>> LocalContent::look(const std::string& uri,
                                                                const std::string& path,
                                                                bool follow) {
    const auto status = BUNRAKU_TRY(files_.look(path, follow));
    if (!status) return std::nullopt;
    ContentMetadata out{uri, ".", *status, {}, {}};
    if (status->kind == FileKind::Link) out.destination = BUNRAKU_TRY(files_.read_link(path));
    return out;
}

base::Result<std::optional<ContentMetadata>> LocalContent::metadata(const std::string& uri,
                                                                    const ContentQuery& query) {
    const auto path = local_path(uri);
    if (!path) return std::nullopt;
    auto out = BUNRAKU_TRY(look(uri, *path, query.follow_links));
    // A dangling link is not a source, whether or not links are followed (DirectFileServer#find).
    if (out && out->status.kind == FileKind::Link && !BUNRAKU_TRY(files_.there(*path)))
        return std::nullopt;
    if (!out || query.checksum.empty()) return out;
    if (out->status.kind == FileKind::File) {
        out->checksum = checksum_of_file(context_, query.checksum, *path, out->status, {}, &files_);
    } else if (out->status.kind == FileKind::Directory) {
        out->checksum = "{ctime}" + sys::local_text(out->status.ctime_ns);
    }
    return out;
}

base::Result<std::optional<std::vector<ContentMetadata>>> LocalContent::search(
    const std::string& uri, const ContentSearch& search) {
    const auto path = local_path(uri);
    if (!path) return std::nullopt;
    if (!BUNRAKU_TRY(files_.there(*path))) return std::nullopt;
    auto found = walk_files(context_, files_, *path, search);
    if (!found) return std::nullopt;
    std::vector<ContentMetadata> out;
    for (std::string& relative : *found) {
        BUNRAKU_ASSERT(!relative.empty() && !relative.starts_with('/'));
        const bool top = relative == ".";
        const std::string file_path = top ? *path : sys::join(*path, relative);
        auto one = BUNRAKU_TRY(
            look(top ? uri : fmt::format("{}/{}", uri, relative), file_path, search.follow_links));
        // If the folder contains a dangling link, or a file disappears during the search, Puppet
        // fails the whole search (Metadata#collect, 8.11).
        if (!one) {
            (void)BUNRAKU_TRY(search.follow_links ? files_.stat(file_path)
                                                  : files_.lstat(file_path));
            continue;
        }
        one->relative = std::move(relative);
        out.push_back(std::move(*one));
    }
    return out;
}

base::Result<std::unique_ptr<sys::Reader>> LocalContent::open(const std::string& uri) {
    const auto path = local_path(uri);
    if (!path) {
        return base::failure(fmt::format("No such file or directory @ rb_sysopen - {}", uri),
                             ENOENT);
    }
    return files_.open(*path);
}

ContentSource& content_source(Context& context, const std::string& uri) {
    if (uri.starts_with("puppet:") && context.content) return *context.content;
    if (uri.starts_with("http:") || uri.starts_with("https:")) {
        if (context.web_content) return *context.web_content;
        throw base::plain_error(fmt::format(
            "Could not retrieve file metadata for {}: HTTP sources are not supported here",
            base::shown_text(uri)));
    }
    if (!context.local_content) context.local_content = std::make_unique<LocalContent>(context);
    return *context.local_content;
}

}  // namespace bunraku::apply
