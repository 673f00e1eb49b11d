// SPDX-License-Identifier: Apache-2.0
#include "net/http/conf_files.h"

#include <cstdlib>
#include <fmt/format.h>
#include <optional>

#include "core/sys/disk.h"

namespace bunraku::http {

std::string puppetserver_conf(const config::Settings& settings, const std::string& name) {
    const auto confdir = settings.text("confdir");
    auto below = sys::expand_path("puppetserver/conf.d/" + name, confdir);
    if (sys::disk().exists(below)) return below;
    return sys::expand_path("../puppetserver/conf.d/" + name, confdir);
}

base::Result<std::string> puppetserver_section_file(const config::Settings& settings,
                                                    std::string_view section,
                                                    const std::string& usual) {
    const auto usual_path = puppetserver_conf(settings, usual);
    const std::string folder(sys::directory_name(usual_path));
    std::string found;
    for (const auto& name : sys::disk().list(folder).value_or(std::vector<std::string>())) {
        if (!name.ends_with(".conf") || name.starts_with(".")) continue;
        const auto path = sys::join(folder, name);
        const auto text = sys::disk().read(path);
        // The caller reports an unreadable usual file.
        if (!text || text->find(section) == std::string::npos) continue;
        const auto document = codec::parse_hocon(*text, hocon_context(path));
        if (!document) {
            if (path == usual_path) return usual_path;  // the caller reports the error
            return base::failure(fmt::format("{}: {}", path, document.error().message));
        }
        if (!codec::find_member(&*document, section)) continue;
        if (!found.empty()) {
            return base::failure(
                fmt::format("{} and {} both contain the section {}; puppetserver refuses this, too",
                            found, path, section));
        }
        found = path;
    }
    return found.empty() ? usual_path : found;
}

codec::HoconContext hocon_context(const std::string& file) {
    codec::HoconContext out;
    out.read = [folder = sys::directory_name(file)](
                   const std::string& path) -> std::optional<std::string> {
        const auto text = sys::disk().read(sys::expand_path(path, folder));
        return text ? std::optional(*text) : std::nullopt;
    };
    out.variable = [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value ? std::optional<std::string>(value) : std::nullopt;
    };
    out.relative = true;
    return out;
}

}  // namespace bunraku::http
