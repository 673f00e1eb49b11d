// SPDX-License-Identifier: Apache-2.0
#include "services/console/event_parts.h"

#include <fmt/format.h>

#include "core/base/arena.h"
#include "core/value/rich_data.h"
#include "services/console/parts.h"

namespace bunraku::console {

namespace {

constexpr std::size_t kMostValue = 200;

/// Reports whether the values add information to the message. Checksums of contents do not.
bool shows_values(const store::RunEvent& event) {
    return event.property != "content" && event.status != "skipped" &&
           !(event.old_value.empty() && event.new_value.empty());
}

}  // namespace

EventWord word_of(const store::RunEvent& event) {
    if (event.status == "failure") return {State::Failed, "failed"};
    if (event.status == "skipped") return {State::Never, "skipped"};
    if (event.status == "noop") return {State::Noop, "would change"};
    if (event.corrective) return {State::Corrected, "corrected"};
    return {State::Changed, "changed"};
}

std::string value_text(std::string_view json) {
    base::Arena arena;
    const auto value = value::parse_json(arena, json);
    if (!value || value->is_undef()) return {};
    return value->is_string() ? std::string(value->as_string()) : value::to_json(*value);
}

void write_event(Html& h, const store::RunEvent& event, std::string_view certname,
                 std::string_view diff) {
    const auto resource = Url({"nodes", certname, "catalog"})
                              .with("resource", fmt::format("{}[{}]", event.type, event.title));
    const auto box = h.in("div", {{"class", "ev"}});
    {
        const auto line = h.in("div", {{"class", "l"}});
        const auto word = word_of(event);
        state_word(h, word.state, word.word);
        {
            const auto link = h.in("a", {{"class", "res b n"}, {"href", resource}});
            resource_name(h, event.type, event.title);
        }
        if (!event.property.empty()) {
            const auto property = h.in("span", {{"class", "m"}});
            h.foreign(event.property, 100);
        }
        if (shows_values(event)) {
            const auto values = h.in("span", {{"class", "mono"}});
            h.foreign(value_text(event.old_value), kMostValue).text(" → ");
            h.foreign(value_text(event.new_value), kMostValue);
        }
        if (event.status != "skipped") {
            // Properties such as `returns` of an exec are no parameters.
            const bool whole = event.property.empty() || event.property == "returns";
            h.leaf(
                "a",
                {{"class", "why-link"},
                 {"href", Url(resource).with("why", whole ? "*" : event.property).text() + "#why"},
                 {"aria-label",
                  fmt::format("Why {} of {}[{}] is as it is", whole ? "the state" : event.property,
                              event.type, event.title)}},
                "why");
        }
        if (!event.file.empty()) {
            const auto place = h.in("span", {{"class", "push sm mono m"}});
            h.foreign(event.line > 0 ? fmt::format("{}:{}", event.file, event.line) : event.file,
                      300);
        }
    }
    if (!event.message.empty() && diff.empty()) {
        const auto message = h.in("p");
        h.foreign(event.message);
    }
    if (!diff.empty()) diff_block(h, diff);
}

}  // namespace bunraku::console
