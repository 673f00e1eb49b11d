// SPDX-License-Identifier: Apache-2.0
// ModuleSource by API v3 of a forge.
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/base/diagnostic.h"
#include "modules/module/forge_client.h"
#include "services/lsp/module_source.h"

namespace bunraku::lsp {

/// Asks one question at a time on a thread and caches the answers for the session.
class ForgeModules final : public ModuleSource {
public:
    /// `log` receives the failures. It must outlive the object.
    ForgeModules(module::ForgeClientOptions options, base::LogSink& log);
    ~ForgeModules() override;
    ForgeModules(const ForgeModules&) = delete;
    ForgeModules& operator=(const ForgeModules&) = delete;

    Offer modules(std::string_view prefix) override;
    Offer releases(std::string_view name) override;

private:
    using Answer = base::Result<std::vector<OfferedModule>>;
    struct Running {
        std::string question;
        std::future<Answer> answer;
    };
    Offer ask(const std::string& question, std::function<Answer(module::ForgeClient&)> work);
    void collect();

    module::ForgeClientOptions options_;
    base::LogSink& log_;
    std::atomic<bool> stop_ = false;
    std::map<std::string, std::vector<OfferedModule>> answers_;
    std::optional<Running> running_;
};

}  // namespace bunraku::lsp
