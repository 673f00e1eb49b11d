// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/forge_modules.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <utility>

#include "core/base/semver.h"
#include "modules/module/names.h"

namespace bunraku::lsp {

namespace {

using Modules = std::vector<OfferedModule>;

/// How long a completion waits for the forge before it answers with what it has.
constexpr std::chrono::milliseconds kCompletionTime{200};
/// Shorter words would find most of a forge.
constexpr std::size_t kMinWord = 3;
constexpr std::size_t kMaxModules = 500;

Modules offered(const std::vector<module::ForgeClient::Found>& found) {
    Modules out;
    for (const auto& each : found) out.push_back({each.full_name, each.version, each.summary});
    return out;
}

Modules newest_first(const std::vector<module::RemoteModule>& releases) {
    std::vector<std::pair<base::SemVer, std::string>> versions;
    for (const auto& release : releases)
        if (auto version = base::SemVer::parse(release.version))
            versions.emplace_back(std::move(*version), release.version);
    std::ranges::sort(versions, [](const auto& a, const auto& b) { return b.first < a.first; });
    Modules out;
    for (auto& [version, text] : versions) out.push_back({{}, std::move(text), {}});
    return out;
}

}  // namespace

ForgeModules::ForgeModules(module::ForgeClientOptions options, base::LogSink& log)
    : options_(std::move(options)), log_(log) {
    options_.stopped = [this] { return stop_.load(); };
}

ForgeModules::~ForgeModules() {
    stop_ = true;  // The future waits for its thread.
}

Offer ForgeModules::modules(std::string_view prefix) {
    const std::size_t cut = prefix.find_first_of("-/");
    if (cut != std::string_view::npos) {
        const std::string owner(prefix.substr(0, cut));
        return ask("owner " + owner, [owner](module::ForgeClient& client) -> Answer {
            return offered(BUNRAKU_TRY(client.modules_of(owner, kMaxModules)));
        });
    }
    if (prefix.size() < kMinWord) return {};
    const std::string word(prefix.substr(0, kMinWord));
    return ask("word " + word, [word](module::ForgeClient& client) -> Answer {
        return offered(BUNRAKU_TRY(client.search(word, kMaxModules)));
    });
}

Offer ForgeModules::releases(std::string_view name) {
    const auto parsed = module::parse_module_name(name);
    if (!parsed) return {};
    const std::string slug = parsed->slug();
    return ask("releases " + slug, [slug](module::ForgeClient& client) -> Answer {
        return newest_first(BUNRAKU_TRY(client.releases(slug, nullptr)));
    });
}

Offer ForgeModules::ask(const std::string& question,
                        std::function<Answer(module::ForgeClient&)> work) {
    if (options_.url.empty()) return {};
    collect();
    if (const auto known = answers_.find(question); known != answers_.end())
        return {.modules = known->second, .pending = false};
    if (!running_) {
        auto run = [options = options_, work = std::move(work)]() -> Answer {
            module::ForgeClient client(options);
            return work(client);
        };
        running_.emplace(Running{question, std::async(std::launch::async, std::move(run))});
    }
    if (running_->answer.wait_for(kCompletionTime) != std::future_status::ready)
        return {.modules = {}, .pending = true};
    const bool asked = running_->question == question;
    collect();
    const auto known = answers_.find(question);
    if (known == answers_.end()) return {.modules = {}, .pending = !asked};
    return {.modules = known->second, .pending = false};
}

/// Stores the response of a request that has ended. After a failure, logs it; the next completion
/// sends the request again.
void ForgeModules::collect() {
    if (!running_ ||
        running_->answer.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        return;
    Running done = std::move(*running_);
    running_.reset();
    auto answer = done.answer.get();
    if (answer) {
        answers_[done.question] = std::move(*answer);
    } else {
        log_.log(base::Level::Warning,
                 fmt::format("Cannot complete modules: {}", answer.error().message));
    }
}

}  // namespace bunraku::lsp
