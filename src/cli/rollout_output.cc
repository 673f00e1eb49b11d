// SPDX-License-Identifier: Apache-2.0
#include "cli/rollout_output.h"

#include <fmt/format.h>

#include "core/value/hash_access.h"

namespace bunraku::cli {

using value::text_at;
using value::Value;

namespace {

std::int64_t number_at(const Value& hash, std::string_view key) {
    const Value* found = value::at(hash, key);
    return found && found->is_integer() ? found->as_integer() : 0;
}

template <class Each>
void each_item(const Value& list, Each&& each) {
    if (!list.is_array()) return;
    for (const Value& item : list.as_array()) each(item);
}

std::string leftover_line(const Value& one) {
    const auto command = text_at(one, "command");
    return fmt::format("{} {}: {}{}{}\n", text_at(one, "node"), text_at(one, "resource"),
                       text_at(one, "what"), command.empty() ? "" : "; to undo: ", command);
}

}  // namespace

std::string rollout_list_text(const Value& list) {
    std::string out;
    each_item(list, [&](const Value& r) {
        const auto reason = text_at(r, "reason");
        out +=
            fmt::format("{}\t{}\t{}\twave {}\t{} -> {}{}{}\n", number_at(r, "id"),
                        text_at(r, "environment"), text_at(r, "state"), number_at(r, "wave"),
                        text_at(r, "from"), text_at(r, "to"), reason.empty() ? "" : "\t", reason);
    });
    return out;
}

std::string rollout_text(const Value& r) {
    std::string out = fmt::format("Rollout {} of environment {}: {} -> {}\n", number_at(r, "id"),
                                  text_at(r, "environment"), text_at(r, "from"), text_at(r, "to"));
    const auto reason = text_at(r, "reason"), waiting = text_at(r, "waiting");
    out += fmt::format("{}, wave {}, since {}{}{}\n", text_at(r, "state"), number_at(r, "wave"),
                       text_at(r, "since"), reason.empty() ? "" : ": ", reason);
    if (!waiting.empty()) out += fmt::format("waits for {}\n", waiting);
    std::int64_t number = 0;
    const Value* waves = value::at(r, "waves");
    if (!waves) return out;
    each_item(*waves, [&](const Value& wave) {
        out +=
            fmt::format("wave {} ({}): {} of {} nodes moved, {} proved, {} bad\n", number++,
                        text_at(wave, "name"), number_at(wave, "moved"), number_at(wave, "nodes"),
                        number_at(wave, "proved"), number_at(wave, "bad"));
    });
    return out;
}

std::string rollout_nodes_text(const Value& nodes) {
    std::string out;
    each_item(nodes, [&](const Value& node) {
        const auto verdict = text_at(node, "verdict");
        if (verdict.empty() || verdict == "proved") return;
        out += fmt::format("{} {}: {}\n", text_at(node, "node"), verdict, text_at(node, "detail"));
    });
    return out;
}

std::string rollout_events_text(const Value& events) {
    std::string out;
    each_item(events, [&](const Value& event) {
        const Value* detail = value::at(event, "detail");
        const auto reason = detail ? text_at(*detail, "reason") : std::string();
        const auto state = detail ? text_at(*detail, "state") : std::string();
        out += fmt::format("{} {} by {}, now {}{}{}\n", text_at(event, "time"),
                           text_at(event, "event"), text_at(event, "actor"), state,
                           reason.empty() ? "" : ": ", reason);
    });
    return out;
}

std::string rollout_leftovers_text(const Value& leftovers) {
    std::string out;
    each_item(leftovers, [&](const Value& one) { out += leftover_line(one); });
    return out;
}

std::string rollout_leftovers_summary(const Value& leftovers) {
    constexpr std::size_t kMost = 20;
    std::string out;
    std::size_t number = 0;
    each_item(leftovers, [&](const Value& one) {
        if (number++ < kMost) out += "  " + leftover_line(one);
    });
    if (number == 0) return out;
    if (number > kMost) out += fmt::format("  and {} more (see --leftovers)\n", number - kMost);
    return "A return does not undo:\n" + out;
}

}  // namespace bunraku::cli
