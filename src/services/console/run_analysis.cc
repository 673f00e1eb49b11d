// SPDX-License-Identifier: Apache-2.0
#include "services/console/run_analysis.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <optional>

#include "core/value/hash_access.h"

namespace bunraku::console {

namespace {

bool is_type_name(std::string_view text) {
    const auto is_word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == ':';
    };
    return !text.empty() && text[0] >= 'A' && text[0] <= 'Z' && std::ranges::all_of(text, is_word);
}

/// Returns what is between the two texts, or nullopt.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view after) {
    if (!text.starts_with(before) || !text.ends_with(after) ||
        text.size() < before.size() + after.size())
        return std::nullopt;
    return text.substr(before.size(), text.size() - before.size() - after.size());
}

}  // namespace

std::string_view resource_of_source(std::string_view source) {
    if (!source.ends_with(']')) return {};
    // Titles may contain slashes and brackets, so the last one that looks like a reference counts.
    for (auto open = source.rfind('['); open != std::string_view::npos && open > 0;
         open = source.rfind('[', open - 1)) {
        const auto slash = source.rfind('/', open);
        const auto begin = slash == std::string_view::npos ? 0 : slash + 1;
        if (is_type_name(source.substr(begin, open - begin))) return source.substr(begin);
    }
    return {};
}

std::vector<SkipCause> skip_causes(const Rows& logs) {
    std::vector<SkipCause> out;
    for (const auto& log : logs) {
        const auto message = value::text_at(log, "message");
        auto cause = between(message, "Dependency ", " has failures: true");
        if (!cause) cause = between(message, "Class dependency ", " has failures: true");
        const auto source = value::text_at(log, "source");
        const auto resource = resource_of_source(source);
        if (!cause || resource.empty()) continue;
        auto it = std::ranges::find(out, *cause, &SkipCause::cause);
        if (it == out.end()) it = out.insert(it, {std::string(*cause), {}});
        if (std::ranges::find(it->skipped, resource) == it->skipped.end())
            it->skipped.emplace_back(resource);
    }
    return out;
}

ResourceTimes resource_times(const Rows& logs) {
    ResourceTimes out;
    for (const auto& log : logs) {
        const auto message = value::text_at(log, "message");
        const auto text = between(message, "Evaluated in ", " seconds");
        const auto source = value::text_at(log, "source");
        const auto resource = resource_of_source(source);
        if (!text || resource.empty()) continue;
        double seconds = 0;
        const auto [end, error] =
            std::from_chars(text->data(), text->data() + text->size(), seconds);
        if (error == std::errc() && end == text->data() + text->size() && seconds >= 0)
            out[std::string(resource)] += seconds;
    }
    return out;
}

/// The longest path through the points of the catalog, see CatalogGraph::path().
CriticalPath critical_path(const CatalogGraph& graph, const ResourceTimes& times) {
    const auto size = graph.size();
    std::vector<double> weight(size, 0);
    for (std::size_t i = 0; i < size; ++i)
        if (const auto it = times.find(graph[i].reference()); it != times.end())
            weight[i] = it->second;
    const auto begin_of = [](std::size_t i) { return 2 * i; };
    const auto end_of = [](std::size_t i) { return 2 * i + 1; };
    std::vector<std::vector<std::uint32_t>> next(2 * size);
    std::vector<std::uint32_t> waits_for(2 * size, 0);
    const auto add = [&](std::size_t from, std::size_t to) {
        next[from].push_back(static_cast<std::uint32_t>(to));
        ++waits_for[to];
    };
    for (std::size_t i = 0; i < size; ++i) {
        add(begin_of(i), end_of(i));
        for (const auto child : graph.children(i)) {
            add(begin_of(i), begin_of(child));
            add(end_of(child), end_of(i));
        }
        for (const auto& link : graph.after(i)) add(end_of(i), begin_of(link.other));
    }
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<double> longest(2 * size, 0);
    std::vector<std::uint32_t> by(2 * size, kNone);
    std::deque<std::uint32_t> ready;
    for (std::uint32_t point = 0; point < 2 * size; ++point)
        if (waits_for[point] == 0) ready.push_back(point);
    std::uint32_t last = kNone;
    // Points of a cycle are never ready; no catalog that was applied has one.
    while (!ready.empty()) {
        const auto point = ready.front();
        ready.pop_front();
        if (last == kNone || longest[point] > longest[last]) last = point;
        for (const auto to : next[point]) {
            const bool through = point % 2 == 0 && to == point + 1;
            const auto length = longest[point] + (through ? weight[point / 2] : 0);
            if (by[to] == kNone || length > longest[to]) {
                longest[to] = length;
                by[to] = point;
            }
            if (--waits_for[to] == 0) ready.push_back(to);
        }
    }
    CriticalPath out;
    if (last == kNone) return out;
    out.seconds = longest[last];
    for (auto point = last; by[point] != kNone; point = by[point])
        if (point % 2 == 1 && by[point] == point - 1 && weight[point / 2] > 0)
            out.resources.push_back(point / 2);
    std::ranges::reverse(out.resources);
    return out;
}

}  // namespace bunraku::console
