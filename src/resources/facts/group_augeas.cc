// SPDX-License-Identifier: Apache-2.0
// The fact augeas: the version of the library. It is read from the library file, so usually no
// program is run.
#include <algorithm>
#include <fmt/format.h>

#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

bool is_version(std::string_view text) {
    return std::ranges::count(text, '.') == 2 && text.size() >= 5 && text.front() != '.' &&
           text.back() != '.' && text.find("..") == text.npos &&
           text.find_first_not_of("0123456789.") == text.npos;
}

/// Returns the only string of a library that is a version, or "" if there are none or several.
std::string version_inside(std::string_view bytes) {
    std::string found;
    for (std::size_t at = bytes.find('.'); at != bytes.npos; at = bytes.find('.', at + 1)) {
        const auto before = bytes.rfind('\0', at), end = bytes.find('\0', at);
        if (before == bytes.npos || end == bytes.npos || end - before > 16) continue;
        const auto text = bytes.substr(before + 1, end - before - 1);
        if (!is_version(text) || text == found) continue;
        if (!found.empty()) return {};
        found = text;
    }
    return found;
}

}  // namespace

Value resolve_augeas(Context& context) {
    std::string version;
    for (const char* folder :
         {"/opt/puppetlabs/puppet/lib/", "/usr/lib64/", "/usr/lib/x86_64-linux-gnu/",
          "/usr/lib/aarch64-linux-gnu/", "/usr/lib/"}) {
        const auto library = context.try_read(std::string(folder) + "libaugeas.so.0");
        if (!library) continue;
        version = version_inside(*library);
        break;
    }
    if (version.empty()) {
        for (const char* program : {"/opt/puppetlabs/puppet/bin/augparse", "augparse"}) {
            const auto found = context.system.processes.which(program);
            if (!found) continue;
            auto outcome = context.system.processes.run({.argv = {*found, "--version"},
                                                         .merge_errors = true,
                                                         .timeout = std::chrono::seconds(10)});
            if (!outcome || !outcome->output.starts_with("augparse ")) continue;
            const auto words = split_words(outcome->output);
            if (words.size() > 1) version = words[1];
            break;
        }
    }
    if (version.empty()) return Value::undef();
    return Fields(context).add("version", context.text(version)).build();
}

}  // namespace bunraku::facts
