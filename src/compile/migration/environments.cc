// SPDX-License-Identifier: Apache-2.0
#include "compile/migration/environments.h"

#include <algorithm>

#include "compile/site/site.h"

namespace bunraku::migration {

std::vector<std::string> environment_folders(const config::Settings& settings,
                                             sys::FileSystem& files) {
    std::vector<std::string> out;
    for (const auto& path : settings.list("environmentpath")) {
        const auto names = files.list(path);
        if (!names) continue;
        for (const auto& name : *names)
            if (files.is_directory(sys::join(path, name)) && !name.starts_with('.'))
                out.push_back(sys::join(path, name));
    }
    std::ranges::sort(out);
    return out;
}

std::shared_ptr<const environment::Environment> open_environment(const config::Settings& settings,
                                                                 const std::string& folder,
                                                                 base::LogSink& log) {
    site::NodeRequest request;
    request.sources.directory = folder;
    request.overlay.set("environment", std::string(sys::base_name(folder)));
    site::Options options;
    options.log = &log;
    options.explain_errors = true;
    return site::Site(settings, options).environment(request);
}

}  // namespace bunraku::migration
