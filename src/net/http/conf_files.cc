// SPDX-License-Identifier: Apache-2.0
#include "net/http/conf_files.h"

#include <cstdlib>
#include <optional>

#include "core/sys/file_system.h"

namespace bunraku::http {

std::string puppetserver_conf(const config::Settings& settings, const std::string& name) {
    const auto confdir = settings.text("confdir");
    auto below = sys::expand_path("puppetserver/conf.d/" + name, confdir);
    if (sys::make_real_file_system()->exists(below)) return below;
    return sys::expand_path("../puppetserver/conf.d/" + name, confdir);
}

codec::HoconContext hocon_context(const std::string& file) {
    codec::HoconContext out;
    out.read = [folder = sys::directory_name(file)](
                   const std::string& path) -> std::optional<std::string> {
        const auto text = sys::make_real_file_system()->read(sys::expand_path(path, folder));
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
