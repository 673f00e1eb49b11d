// SPDX-License-Identifier: Apache-2.0
#include "services/console/module_job.h"

#include "compile/insight/inputs.h"
#include "language/environment/environment.h"

namespace bunraku::console {

base::Result<void> ModuleJob::run(const std::stop_token& stop) {
    base::NullSink log;
    const auto site = states_.background_site(log);
    std::size_t done = 0;
    for (const auto& name : environments_) {
        if (stop.stop_requested()) return {};
        progress(done++, environments_.size());
        site::NodeRequest request;
        request.overlay.set("environment", name);
        try {
            const auto environment = site->environment(request);
            for (const auto& module : environment->modules()) {
                std::string slug = module.forge_name.empty() ? module.name : module.forge_name;
                if (const auto slash = slug.find('/'); slash != std::string::npos)
                    slug[slash] = '-';
                modules_[slug].push_back(
                    {name, module.version, insight::below(module.path, environment->directory())});
            }
        } catch (const base::PuppetError&) {
            // The environment is broken, or was removed just now. The page of its code shows the
            // reason.
        }
    }
    return {};
}

}  // namespace bunraku::console
