// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/commands.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include "core/value/hash_access.h"
#include "services/lsp/describe.h"
#include "services/lsp/uri.h"

namespace bunraku::lsp {

std::expected<void, RpcError> start_command(State& state, const Message& message) {
    const std::string name = value::text_at(message.params, "command");
    if (name != kImpactCommand && name != kReadersCommand)
        return invalid_params(fmt::format("Unknown command '{}'", name));
    const auto* arguments = value::at(message.params, "arguments");
    const std::size_t wanted = name == kReadersCommand ? 2 : 1;
    if (!arguments || !arguments->is_array() || arguments->as_array().size() < wanted)
        return invalid_params(fmt::format("{} expects {} arguments", name, wanted));
    const auto argument = [&](std::size_t i) {
        const value::Value& each = arguments->as_array()[i];
        return each.is_string() ? std::string(each.as_string()) : std::string();
    };
    const auto path = path_of_uri(argument(0));
    if (!path) return invalid_params("The first argument must be the URI of a file");
    if (!state.fleet || state.facts_source.empty())
        return request_failed("No source of facts is set: see factsFrom in docs/editor.md");
    if (state.command) return request_failed("Another command is still running");
    FleetWork::Question question;
    question.environment = state.workspace.lookup_environment(*path);
    question.facts = state.facts_source;
    question.unsaved = unsaved_texts(state.workspace);
    if (name == kReadersCommand) question.input = argument(1);
    state.command.emplace(RunningCommand{
        message.id, std::async(std::launch::async,
                               [fleet = state.fleet, question] { return fleet->ask(question); })});
    return {};
}

std::vector<std::string> finished_commands(State& state) {
    if (!state.command ||
        state.command->result.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        return {};
    const std::string id = state.command->id;
    const auto result = state.command->result.get();
    state.command.reset();
    if (!result) return {error_text({ErrorCode::RequestFailed, result.error().message, id})};
    JsonWriter shown, answer;
    shown.object().member("type", 3).member("message", *result).end_object();
    answer.object().member("markdown", *result).end_object();
    return {notification_text("window/showMessage", shown.text()),
            response_text(id, answer.text())};
}

const FleetWork::Usage* counted_usage(State& state, const std::string& path) {
    if (!state.fleet || state.facts_source.empty()) return nullptr;
    const auto now = std::chrono::steady_clock::now();
    const std::string environment = state.workspace.lookup_environment(path);
    if (environment.empty()) return nullptr;
    CountedUsage& usage = state.usage[environment];
    if (usage.stale && !is_counting(state) && now >= usage.not_before) {
        FleetWork::Question question;
        question.environment = environment;
        question.facts = state.facts_source;
        question.unsaved = unsaved_texts(state.workspace);
        usage.stale = false;
        usage.began = now;
        usage.result = std::async(
            std::launch::async, [fleet = state.fleet, question] { return fleet->usage(question); });
    }
    return usage.known ? &usage.counts : nullptr;
}

bool finish_counts(State& state) {
    bool found = false;
    for (auto& [environment, usage] : state.usage) {
        if (!usage.result.valid() ||
            usage.result.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
            continue;
        // Counting may take a tenth of the time at most.
        const auto now = std::chrono::steady_clock::now();
        usage.not_before = now + 9 * (now - usage.began);
        auto counts = usage.result.get();
        if (!counts) continue;
        usage.counts = std::move(*counts);
        usage.known = found = true;
    }
    return found;
}

bool is_counting(const State& state) {
    return std::ranges::any_of(state.usage,
                               [](const auto& each) { return each.second.result.valid(); });
}

}  // namespace bunraku::lsp
