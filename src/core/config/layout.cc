// SPDX-License-Identifier: Apache-2.0
#include "core/config/layout.h"

#include <fmt/format.h>
#include <initializer_list>

#include "core/config/settings.h"

namespace bunraku::config {

namespace {

/// Returns the first of these folders that contains a CA or parts of one. Returns an empty text if
/// none does.
std::string authority_in(sys::FileSystem& files, std::initializer_list<const char*> folders) {
    for (const std::string folder : folders)
        for (const char* file : {"/ca_key.pem", "/ca_crt.pem"})
            if (files.stat(folder + file)) return folder;
    return {};
}

bool has_entries(sys::FileSystem& files, const std::string& folder) {
    const auto names = files.list(folder);
    return names && !names->empty();
}

bool same_file(sys::FileSystem& files, const std::string& one, const std::string& other) {
    const auto a = files.stat(one), b = files.stat(other);
    return a && b && a->inode == b->inode && a->device == b->device;
}

}  // namespace

Layout find_layout(sys::FileSystem& files) {
    Layout out;
    const bool debians_file = files.stat("/etc/puppet/puppet.conf").has_value();
    out.debian = debians_file && !files.stat("/etc/puppetlabs/puppet") &&
                 !files.stat("/etc/puppetlabs/code");
    const auto here =
        authority_in(files, {"/etc/puppetlabs/puppet/ssl/ca", "/etc/puppetlabs/puppetserver/ca"});
    const auto debians =
        authority_in(files, {"/var/lib/puppet/ssl/ca", "/etc/puppet/puppetserver/ca"});
    if (here.empty() != debians.empty()) {
        out.debian = here.empty();
    } else if (here.empty()) {
        const bool key_here = has_entries(files, "/etc/puppetlabs/puppet/ssl/private_keys");
        const bool other_file = files.stat("/etc/puppetlabs/puppet/puppet.conf").has_value();
        if (key_here != has_entries(files, "/var/lib/puppet/ssl/private_keys")) {
            out.debian = !key_here;
        } else if (debians_file && !other_file && has_entries(files, "/etc/puppet/code") &&
                   !has_entries(files, "/etc/puppetlabs/code")) {
            out.debian = true;
        }
    } else if (!same_file(files, here, debians)) {
        out.conflicting_folders = {debians, here};
    }
    return out;
}

std::string authority_problem(const Settings& settings, sys::FileSystem& files) {
    if (settings.is_set("cadir")) return {};
    const auto conflicting_folders = find_layout(files).conflicting_folders;
    const auto cadir = settings.text("cadir");
    for (const auto& folder : conflicting_folders) {
        if (folder != cadir) continue;
        return fmt::format(
            "There are two certificate authorities on this machine, {} and {}. Set cadir in "
            "puppet.conf to the one in use, or move the other one away.",
            conflicting_folders[0], conflicting_folders[1]);
    }
    return {};
}

}  // namespace bunraku::config
