// SPDX-License-Identifier: Apache-2.0
#include "services/console/parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/base/text.h"
#include "services/console/format.h"

namespace bunraku::console {

namespace {

/// Returns the classes of an element that has the colour of a state.
std::string class_of(std::string_view name, State state) {
    return fmt::format("{} {}", name, text_of(state).id);
}

struct BarShape {
    int top, height;
};
BarShape bar_of(State state) {
    switch (state) {
        case State::Failed: return {2, 18};
        case State::Corrected: return {6, 14};
        case State::Changed: return {10, 10};
        case State::Noop: return {13, 7};
        default: return {16, 4};
    }
}

/// Writes a bar of `width` at `x`, with the slit of a failure or the notch of a correction.
void run_bar(Html& h, State state, int x, int width) {
    const auto shape = bar_of(state);
    h.empty("rect", {{"class", fmt::format("f-{}", text_of(state).id)},
                     {"x", x},
                     {"y", shape.top},
                     {"width", width},
                     {"height", shape.height},
                     {"rx", 1}});
    if (state == State::Failed) {
        h.empty("path", {{"class", "f-bg"},
                         {"d", fmt::format("M{} 6h{}v2h-{}z", x + 2, width - 4, width - 4)}});
    } else if (state == State::Corrected) {
        h.empty("path",
                {{"class", "f-bg"}, {"d", fmt::format("M{} 6l{} 4H{}z", x, width / 2.0, x)}});
    }
}

}  // namespace

void state_mark(Html& h, State state) {
    const auto svg = h.in("svg", {{"class", class_of("s", state)}, {"aria-hidden", "true"}});
    h.empty("use", {{"href", fmt::format("#{}", text_of(state).id)}});
}

void state_word(Html& h, State state) { state_word(h, state, text_of(state).label); }

void state_word(Html& h, State state, std::string_view word) {
    const auto span = h.in("span", {{"class", class_of("st", state)}});
    state_mark(h, state);
    h.text(word);
}

void state_pill(Html& h, State state, std::string_view word) {
    const auto span = h.in("span", {{"class", class_of("pill", state)}});
    state_mark(h, state);
    h.text(word);
}

void state_legend(Html& h, std::span<const State> states) {
    const auto legend = h.in("div", {{"class", "legend"}});
    for (const State state : states) state_word(h, state);
}

void time_ago(Html& h, std::int64_t time_ms, std::int64_t now_ms) {
    h.leaf("time",
           {{"datetime", machine_time(time_ms)}, {"title", time_text(time_ms)}, {"data-ago", ""}},
           ago_text(time_ms, now_ms));
}

void time_at(Html& h, std::int64_t time_ms) {
    const auto time = machine_time(time_ms);
    h.leaf("time", {{"datetime", time}, {"data-at", time}}, time_text(time_ms));
}

void node_link(Html& h, std::string_view certname) {
    const auto link = h.in("a", {{"href", Url({"nodes", certname})}});
    h.foreign(certname);
}

void resource_name(Html& h, std::string_view type, std::string_view title) {
    h.text(type).text("[").foreign(title, 300).text("]");
}

void count_link(Html& h, std::int64_t number, std::string_view href) {
    if (number == 0) {
        h.text("0");
    } else {
        h.leaf("a", {{"class", "n"}, {"href", href}}, number_text(number));
    }
}

Panel open_panel(Html& h, std::string_view title) { return open_panel(h, title, {}); }

Panel open_panel(Html& h, std::string_view title, const Markup& beside) {
    Panel out{h.in("section", {{"class", "panel"}})};
    const auto header = h.in("header");
    h.leaf("h2", title);
    if (!beside.empty()) {
        const auto push = h.in("span", {{"class", "push"}});
        h.raw(beside);
    }
    return out;
}

Table open_table(Html& h, std::span<const Column> columns, std::string_view label) {
    auto box = h.in(
        "div", {{"class", "scroll"}, {"role", "region"}, {"aria-label", label}, {"tabindex", "0"}});
    auto table = h.in("table");
    {
        const auto head = h.in("thead");
        const auto row = h.in("tr");
        for (const Column& column : columns) {
            const auto classes =
                fmt::format("{}{}", column.right ? "r " : "", column.wide_only ? "wide" : "");
            const auto th = h.in("th", {{"scope", "col"},
                                        {"class", base::trim(classes), !classes.empty()},
                                        {"aria-sort", column.sort, !column.sort.empty()}});
            if (column.href.empty()) {
                h.text(column.title);
            } else {
                const auto link = h.in("a", {{"href", column.href}});
                h.text(column.title);
                if (!column.sort.empty()) h.text(column.sort == "ascending" ? " ▴" : " ▾");
            }
        }
    }
    auto body = h.in("tbody");
    return {std::move(box), std::move(table), std::move(body)};
}

void cell(Html& h, std::string_view text) {
    const auto td = h.in("td");
    h.foreign(text);
}

void number_cell(Html& h, std::int64_t number) {
    h.leaf("td", {{"class", "r"}}, number_text(number));
}

void empty_state(Html& h, std::string_view what, std::string_view why, const Markup& help) {
    const auto box = h.in("div", {{"class", "empty"}});
    h.leaf("b", what);
    h.leaf("p", {{"class", "m"}}, why);
    h.raw(help);
}

void sparkline(Html& h, std::span<const double> values, std::string_view label) {
    constexpr std::size_t kBars = 60;
    constexpr int kStep = 2;
    if (values.size() > kBars) values = values.last(kBars);
    const double most = values.empty() ? 0 : std::ranges::max(values);
    const auto svg = h.in("svg", {{"class", "spark"},
                                  {"viewBox", fmt::format("0 0 {} 18", kBars * kStep)},
                                  {"role", "img"},
                                  {"aria-label", label}});
    std::string bars;
    auto x = static_cast<int>(kBars - values.size()) * kStep;
    for (const double value : values) {
        const auto height = most > 0 ? std::ceil(17 * value / most) : 0.0;
        if (height > 0) bars += fmt::format("M{} 18v-{}h{}v{}z", x, height, kStep, height);
        x += kStep;
    }
    h.empty("path", {{"class", "grid"}, {"d", fmt::format("M0 17.5H{}", kBars * kStep)}});
    if (!bars.empty()) h.empty("path", {{"class", "f-accent"}, {"d", bars}});
}

void tabs(Html& h, std::string_view label, std::span<const Tab> all, std::string_view current) {
    const auto nav = h.in("nav", {{"class", "tabs"}, {"aria-label", label}});
    for (const Tab& tab : all) {
        const auto link =
            h.in("a", {{"href", tab.href}, {"aria-current", "page", tab.title == current}});
        h.text(tab.title);
        if (tab.count >= 0) h.text(" ").leaf("span", {{"class", "c"}}, number_text(tab.count));
    }
}

void chip(Html& h, std::string_view text, std::string_view href, bool current, std::int64_t count) {
    const auto link =
        h.in("a", {{"class", "chip"}, {"href", href}, {"aria-current", "true", current}});
    h.text(text);
    if (count >= 0) h.text(" ").leaf("span", {{"class", "m"}}, number_text(count));
}

void run_strip(Html& h, std::span<const State> runs) {
    constexpr int kStep = 6, kBar = 5;
    std::string label = fmt::format("last {} runs, oldest first:", runs.size());
    for (const State state : runs) label += fmt::format(" {},", text_of(state).label);
    label.pop_back();
    const auto svg =
        h.in("svg",
             {{"class", "strip small"},
              {"viewBox", fmt::format("0 0 {} 20", std::max<std::size_t>(20, runs.size()) * kStep)},
              {"role", "img"},
              {"aria-label", label}});
    int x = 0;
    for (const State state : runs) {
        run_bar(h, state, x, kBar);
        x += kStep;
    }
}

void linked_strip(Html& h, std::span<const StripBar> bars) {
    constexpr int kStep = 14, kBar = 11;
    const auto svg =
        h.in("svg",
             {{"class", "strip"},
              {"viewBox", fmt::format("0 0 {} 20", std::max<std::size_t>(50, bars.size()) * kStep)},
              {"role", "group"},
              {"aria-label", "Last runs, oldest first"}});
    int x = 0;
    for (const StripBar& bar : bars) {
        const auto link = h.in("a", {{"href", bar.href}});
        h.leaf("title", {{"data-at", machine_time(bar.time_ms)}}, bar.title);
        run_bar(h, bar.state, x, kBar);
        x += kStep;
    }
}

void diff_block(Html& h, std::string_view diff, std::size_t most_lines) {
    const auto pre = h.in("pre", {{"class", "diff"}, {"tabindex", "0"}});
    const auto code = h.in("code");
    std::size_t number = 0;
    for (const auto line : base::lines(diff)) {
        if (++number > most_lines) {
            h.leaf("span", {{"class", "h"}}, "… more lines are not shown");
            return;
        }
        const char sign = line.empty() ? ' ' : line[0];
        const char* kind = sign == '+' ? "a" : sign == '-' ? "d" : sign == '@' ? "h" : "c";
        h.leaf("span", {{"class", kind}}, line);
    }
}

}  // namespace bunraku::console
