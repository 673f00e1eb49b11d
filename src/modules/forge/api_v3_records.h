// SPDX-License-Identifier: Apache-2.0
// The objects of API v3 as JSON: releases, modules and users, with the fields that a request
// excludes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text_view.h"
#include "modules/forge/api.h"
#include "modules/forge/downloads.h"

namespace bunraku::forge {

inline constexpr std::array<std::string_view, 26> kReleaseFields = {"uri",
                                                                    "slug",
                                                                    "module",
                                                                    "version",
                                                                    "metadata",
                                                                    "tags",
                                                                    "supported",
                                                                    "pdk",
                                                                    "validation_score",
                                                                    "file_uri",
                                                                    "file_size",
                                                                    "file_md5",
                                                                    "file_sha256",
                                                                    "downloads",
                                                                    "readme",
                                                                    "changelog",
                                                                    "license",
                                                                    "reference",
                                                                    "docs",
                                                                    "pe_compatibility",
                                                                    "tasks",
                                                                    "plans",
                                                                    "created_at",
                                                                    "updated_at",
                                                                    "deleted_at",
                                                                    "deleted_for"};
inline constexpr std::array<std::string_view, 19> kModuleFields = {
    "uri",         "slug",           "name",           "downloads",     "created_at",
    "updated_at",  "deprecated_at",  "deprecated_for", "superseded_by", "supported",
    "endorsement", "module_group",   "premium",        "owner",         "current_release",
    "releases",    "feedback_score", "homepage_url",   "issues_url"};
inline constexpr std::array<std::string_view, 9> kUserFields = {
    "uri",           "slug",         "gravatar_id", "username",  "display_name",
    "release_count", "module_count", "created_at",  "updated_at"};

/// Returns the words of a list parameter. Puppet separates them with commas; g10k and the
/// documentation use spaces.
std::vector<std::string_view> words_of(base::TextView text BUNRAKU_LIFETIMEBOUND);

/// Returns a mask with one bit for each omitted field.
template <std::size_t N>
std::uint64_t excluded(const Call& call, const std::array<std::string_view, N>& fields) {
    const std::string* list = call.query("exclude_fields");
    std::uint64_t mask = 0;
    if (!list) return mask;
    for (std::string_view word : words_of(*list)) {
        for (std::size_t i = 0; i < N; ++i) {
            if (fields[i] == word) mask |= std::uint64_t{1} << i;
        }
    }
    return mask;
}

/// Options for the output.
struct OutputOptions {
    std::uint64_t mask = 0;  ///< fields to omit
    bool html = false;       ///< true to render READMEs and similar texts as HTML
    DownloadCounts* downloads = nullptr;
};

template <std::size_t N>
OutputOptions output_options_of(const Call& call, const std::array<std::string_view, N>& fields) {
    return {excluded(call, fields), call.flag("with_html"), &call.service.downloads()};
}

/// A release found in a selection.
struct Hit {
    const Snapshot* snapshot = nullptr;
    const Release* release = nullptr;
    const SnapshotModule& module() const { return snapshot->module_at(release->module); }
};

void append_release(std::string& out, const Hit& hit, const OutputOptions& how);
void append_module(std::string& out, const Snapshot& s, const SnapshotModule& m,
                   const OutputOptions& how);

/// An author with the totals of the visible modules.
struct Author {
    std::string_view name;
    std::uint64_t releases = 0, modules = 0, downloads = 0;
    std::int64_t newest = 0;  ///< newest time of a release that is not deleted
    std::int64_t first = INT64_MAX, last = 0;
};

/// Appends a user; `mask` has a bit for each field of kUserFields to omit.
void append_user(std::string& out, const Author& u, std::uint64_t mask);

}  // namespace bunraku::forge
