// SPDX-License-Identifier: Apache-2.0
#include "core/sys/ruby_folders.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/text.h"
#include "core/sys/disk.h"

namespace bunraku::sys {

namespace {

// Folders of Ruby's libraries in distributions and in Puppet's packages.
constexpr const char* kLibraries[] = {
    "/usr/local/lib/site_ruby",
    "/usr/local/lib/ruby/site_ruby",
    "/usr/local/lib/ruby/vendor_ruby",
    "/usr/local/share/ruby/site_ruby",
    "/usr/lib/ruby/site_ruby",
    "/usr/lib/ruby/vendor_ruby",
    "/usr/share/ruby/vendor_ruby",
    "/opt/puppetlabs/puppet/lib/ruby/site_ruby",
    "/opt/puppetlabs/puppet/lib/ruby/vendor_ruby",
};
// Folders of gems, or their parents with one folder per Ruby version.
constexpr const char* kGems[] = {
    "/var/lib/gems",   "/usr/local/lib/ruby/gems", "/usr/share/rubygems-integration",
    "/usr/share/gems", "/usr/local/share/gems",    "/opt/puppetlabs/puppet/lib/ruby/gems",
};

std::vector<std::string> list(FileSystem& files, const std::string& folder) {
    return files.list(folder).value_or(std::vector<std::string>());
}

std::vector<std::string> paths_of(const char* variable) {
    std::vector<std::string> out;
    const char* given = std::getenv(variable);
    for (std::string_view path : base::split(std::string_view(given ? given : ""), ':'))
        if (path.starts_with('/')) out.emplace_back(path);
    return out;
}

/// Adds the lib folders of the gems in a gem path, which may contain one folder per Ruby version.
void add_gems(FileSystem& files, const std::string& path, std::vector<std::string>& out) {
    const auto add = [&](const std::string& root) {
        const std::string gems = join(root, "gems");
        for (const std::string& name : list(files, gems))
            out.push_back(join(join(gems, name), "lib"));
    };
    for (const std::string& name : list(files, path)) {
        if (name == "gems") add(path);
        if (name == "all" || (name[0] >= '0' && name[0] <= '9')) add(join(path, name));
    }
}

bool holds_plugins(FileSystem& files, const std::string& folder) {
    const bool any =
        files.is_directory(join(folder, "puppet")) || files.is_directory(join(folder, "facter"));
    return any && !files.is_file(join(folder, "puppet/version.rb")) &&
           !files.is_file(join(folder, "facter/version.rb"));
}

}  // namespace

std::vector<std::string> ruby_plugin_folders(FileSystem& files) {
    std::vector<std::string> all = paths_of("RUBYLIB");
    for (const char* library : kLibraries) {
        for (const std::string& name : list(files, library))
            if (name[0] >= '0' && name[0] <= '9') all.push_back(join(library, name));
        all.emplace_back(library);
    }
    for (const char* variable : {"GEM_HOME", "GEM_PATH"})
        for (const std::string& path : paths_of(variable)) add_gems(files, path, all);
    for (const char* path : kGems) add_gems(files, path, all);
    std::vector<std::string> out;
    for (std::string& folder : all) {
        if (std::ranges::find(out, folder) == out.end() && holds_plugins(files, folder))
            out.push_back(std::move(folder));
    }
    return out;
}

const std::vector<std::string>& ruby_plugin_folders() {
    static const std::vector<std::string> found = ruby_plugin_folders(disk());
    return found;
}

}  // namespace bunraku::sys
