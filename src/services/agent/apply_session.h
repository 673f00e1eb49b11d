// SPDX-License-Identifier: Apache-2.0
// Creates the apply engine for this machine from the settings. `apply`, `agent`, `resource` and the
// other commands that read or change the machine use it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/site/session.h"
#include "core/sys/guarded_file_system.h"
#include "core/sys/system.h"
#include "language/environment/environment.h"
#include "resources/apply/local_content.h"
#include "resources/apply/ruby_types.h"
#include "resources/apply/run.h"
#include "services/server/file_serving.h"

namespace bunraku::agent {

/// The context of the apply engine on the real machine.
class ApplySession {
public:
    /// If `applies` is true, also creates the folders that an apply run needs.
    ApplySession(const config::Settings& settings, base::LogSink& log, bool applies = true);
    apply::Context& context() { return context_; }
    apply::ReportSink& sink() { return sink_; }
    const apply::RunSettings& run_settings() const { return run_settings_; }

private:
    sys::RealSystem real_;
    std::unique_ptr<sys::FileSystem> files_ = sys::make_guarded_file_system();
    sys::System system_{*files_, real_.system().processes, real_.system().clock,
                        real_.system().users};
    apply::ReportSink sink_;
    apply::Context context_;
    apply::RunSettings run_settings_;
};

/// Serves puppet:///modules/NAME/PATH from the modules of an environment, and the other mounts that
/// a server would have.
class ModuleContent final : public apply::LocalContent {
public:
    /// `files` follows all links, because the owner of a module controls the whole run anyway.
    ModuleContent(apply::Context& context, sys::FileSystem& files, const config::Settings& settings,
                  std::string node, std::shared_ptr<const environment::Environment> environment)
        : LocalContent(context, files),
          mounts_(settings),
          node_(std::move(node)),
          environment_(std::move(environment)) {}

protected:
    std::optional<std::string> local_path(std::string_view uri) override;

private:
    server::FileMounts mounts_;
    std::string node_;
    std::shared_ptr<const environment::Environment> environment_;
};

/// Returns the names in the setting `reports`, or nothing if reports are off.
std::vector<std::string> report_processors(const config::Settings& settings);
/// Returns the options of the Ruby child that runs the types and providers of the environment's
/// modules. An apply run has no tight limits of time and memory, because its commands may be slow.
apply::RubyTypes::Parts ruby_parts(const site::Session& session, const config::Settings& settings);

}  // namespace bunraku::agent
