// SPDX-License-Identifier: Apache-2.0
#include "modules/module/module_paths.h"

#include <fmt/format.h>

namespace bunraku::module {

using base::failure;
using base::Result;

bool is_within(std::string_view path, std::string_view base) {
    return path == base || base == "/" ||
           (path.starts_with(base) && path.substr(base.size()).starts_with('/'));
}

namespace {

/// Resolves the links in the existing part of a path.
Result<std::string> real_location(sys::FileSystem& files, const std::string& path) {
    std::string there = path, rest;
    while (!files.lstat(there) && there != "/") {
        rest.insert(0, "/" + std::string(sys::base_name(there)));
        there = sys::directory_name(there);
    }
    std::string real = BUNRAKU_TRY(files.real_path(there));
    if (real == "/" && !rest.empty()) real.clear();
    return real + rest;
}

}  // namespace

Result<ModulePaths> find_module_paths(const Puppetfile& file, const std::string& puppetfile,
                                      const std::string& moduledir, sys::FileSystem& files) {
    ModulePaths out;
    const std::string home(sys::directory_name(sys::expand_path(puppetfile)));
    out.base = BUNRAKU_TRY(files.real_path(home));
    for (const PuppetfileModule& m : file.modules) {
        // The user may select any folder on the command line. The Puppetfile may not, because its
        // author may be untrusted.
        const bool redirected = !moduledir.empty() && !m.own_folder;
        const std::string folder = sys::expand_path(redirected            ? moduledir
                                                    : m.moduledir.empty() ? "modules"
                                                                          : m.moduledir,
                                                    home);
        std::string real = BUNRAKU_TRY(real_location(files, folder));
        if (!redirected && !is_within(real, out.base)) {
            return failure(
                fmt::format("Puppetfile cannot manage content '{}' outside of containing "
                            "environment: {} is not within {}{}",
                            m.name, real, out.base,
                            m.own_folder ? "" : " (--moduledir may name another folder)"));
        }
        out.targets.push_back(real + "/" + m.folder());
        out.folders.push_back(std::move(real));
    }
    for (std::size_t i = 0; i < out.targets.size(); ++i) {
        for (std::size_t k = 0; k < out.targets.size(); ++k) {
            if (i == k || file.modules[i].local()) continue;
            if (is_within(out.folders[k], out.targets[i]) || out.targets[i] == out.targets[k]) {
                return failure(fmt::format("'{}' would be installed to {}, where '{}' stands",
                                           file.modules[i].name, out.targets[i],
                                           file.modules[k].name));
            }
        }
        if (is_within(out.base, out.targets[i])) {
            return failure(fmt::format("'{}' would be installed over the Puppetfile's own folder",
                                       file.modules[i].name));
        }
    }
    return out;
}

}  // namespace bunraku::module
