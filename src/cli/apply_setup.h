// What the commands that change this machine have in common: the engine's context out of the
// settings.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "compile/site/session.h"
#include "core/sys/guarded_file_system.h"
#include "core/sys/system.h"
#include "language/environment/environment.h"
#include "resources/apply/local_content.h"
#include "resources/apply/ruby_types.h"
#include "resources/apply/run.h"
#include "services/server/file_serving.h"

namespace bunraku::cli {

/// The engine's context on the real machine.
class ApplySession {
public:
    /// `applies`: a run will follow, whose folders are made.
    ApplySession(Invocation& invocation, base::LogSink& log, bool applies = true);
    apply::Context& context() { return context_; }
    apply::ReportSink& sink() { return sink_; }
    apply::RunSettings run_settings();

private:
    Invocation& invocation_;
    sys::RealSystem real_;
    std::unique_ptr<sys::FileSystem> files_ = sys::make_guarded_file_system();
    sys::System system_{*files_, real_.system().processes, real_.system().clock,
                        real_.system().users};
    apply::ReportSink sink_;
    apply::Context context_;
};

/// puppet:///modules/NAME/PATH out of the environment's modules, and what other mounts a server
/// would have.
class ModuleContent final : public apply::LocalContent {
public:
    /// `files` follows all links: whoever owns a module is trusted with the whole run.
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

/// The names in the setting `reports`; none without reports.
std::vector<std::string> report_processors(const config::Settings& settings);
/// What the types of the modules of a session's environment need: a run takes the time and memory
/// that its commands take.
apply::RubyTypes::Parts ruby_parts(const site::Session& session, const config::Settings& settings);

/// Applies a catalog in an agent's form and prints the report, as `puppet catalog apply` does.
/// Gives the exit code.
int apply_found_catalog(Invocation& invocation, std::string json, base::LogSink& log);

}  // namespace bunraku::cli
