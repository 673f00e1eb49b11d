// SPDX-License-Identifier: Apache-2.0
#include "services/server/allow_list.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"

namespace bunraku::server {

using base::Result;

Result<std::shared_ptr<const AllowList::Names>> AllowList::read_names(const std::string& path) {
    auto text = sys::disk().read(path);
    if (!text) {
        return base::failure(fmt::format("Could not read the certificate allow list {}: {}", path,
                                         text.error().message));
    }
    auto names = std::make_shared<Names>();
    for (const std::string_view line : base::lines(*text)) {
        const auto name = base::trim(line.substr(0, line.find('#')), " \t\r");
        if (!name.empty()) names->emplace(name);
    }
    return names;
}

Result<std::shared_ptr<AllowList>> AllowList::read(const std::string& path) {
    auto list = std::make_shared<AllowList>();
    list->path_ = path;
    list->names_ = BUNRAKU_TRY(read_names(path));
    return list;
}

Result<void> AllowList::reload() {
    auto names = BUNRAKU_TRY(read_names(path_));
    std::lock_guard lock(mutex_);
    names_ = std::move(names);
    return {};
}

std::optional<http::Response> AllowList::refusal(const http::Request& request) const {
    std::shared_ptr<const Names> names;
    {
        std::lock_guard lock(mutex_);
        names = names_;
    }
    const std::string name(request.peer.name());
    if (!name.empty() && names->contains(name)) return std::nullopt;
    // The text of puppetlabs.puppetdb.middleware (7.12).
    return http::Response::text(
        403, fmt::format("The client certificate name {} doesn't appear in the certificate "
                         "allowlist. Is your master's (or other PuppetDB client's) certname listed "
                         "in PuppetDB's certificate-allowlist file?",
                         name.empty() ? "null" : name));
}

}  // namespace bunraku::server
