// SPDX-License-Identifier: Apache-2.0
// Parts that several pages share: state marks, panels, tables, links to nodes and times.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "services/console/html.h"
#include "services/console/state.h"
#include "services/console/url.h"

namespace bunraku::console {

/// Writes the mark of a state without a word. The caller adds the word.
void state_mark(Html& h, State state);
/// Writes mark and word, for tables.
void state_word(Html& h, State state);
/// The same with another word, such as "skipped".
void state_word(Html& h, State state, std::string_view word);
/// Writes mark and word in a frame, for titles.
void state_pill(Html& h, State state, std::string_view word);
/// Writes the marks of `states` with their words.
void state_legend(Html& h, std::span<const State> states);

/// Writes a time as "4 min ago" with the absolute time as its title.
void time_ago(Html& h, std::int64_t time_ms, std::int64_t now_ms);
/// Writes a time in UTC. times.js shows it in the viewer's zone.
void time_at(Html& h, std::int64_t time_ms);
/// Writes a link to a node.
void node_link(Html& h, std::string_view certname);
/// Writes "File[/x]".
void resource_name(Html& h, std::string_view type, std::string_view title);
/// Writes a number that links to the list that it counts. Zero has no link.
void count_link(Html& h, std::int64_t number, std::string_view href);

/// A panel with a title: `auto panel = open_panel(h, "Facts");`.
struct Panel {
    Html::Element section;
};
[[nodiscard]] Panel open_panel(Html& h, std::string_view title);
/// The same with markup at the right of the title.
[[nodiscard]] Panel open_panel(Html& h, std::string_view title, const Markup& beside);

/// A column of a table.
struct Column {
    std::string_view title;
    bool right = false;          ///< for numbers
    std::string_view href = {};  ///< a link that sorts by this column; may be empty
    std::string_view sort = {};  ///< "ascending" or "descending" if the table is sorted by it
    bool wide_only = false;      ///< hidden on narrow screens
};
/// A table with its head, inside a box that scrolls sideways. Rows follow.
struct Table {
    Html::Element box, table, body;
};
[[nodiscard]] Table open_table(Html& h, std::span<const Column> columns, std::string_view label);
/// Writes a cell with text.
void cell(Html& h, std::string_view text);
void number_cell(Html& h, std::int64_t number);

/// Writes what is missing, why, and what helps. `help` may be empty.
void empty_state(Html& h, std::string_view what, std::string_view why, const Markup& help = {});

/// Writes values as a line of bars, oldest first, scaled to the largest. `label` says what they
/// are.
void sparkline(Html& h, std::span<const double> values, std::string_view label);

/// A tab of a page.
struct Tab {
    std::string_view title;
    std::string href;
    std::int64_t count = -1;  ///< shown after the title unless negative
};
/// Writes tabs; `current` is the title of the current one.
void tabs(Html& h, std::string_view label, std::span<const Tab> all, std::string_view current);

/// Writes a chip: a link that is one of several choices.
void chip(Html& h, std::string_view text, std::string_view href, bool current,
          std::int64_t count = -1);

/// Writes the last runs as bars, oldest first. Height and a notch repeat the meaning of the colour.
void run_strip(Html& h, std::span<const State> runs);
/// The same as a wide strip in which each bar links to its run.
struct StripBar {
    State state;
    std::string href;
    std::int64_t time_ms;
    std::string title;  ///< begins with the time in UTC
};
void linked_strip(Html& h, std::span<const StripBar> bars);

/// Writes a unified diff, whose lines begin with " ", "+", "-" or "@".
void diff_block(Html& h, std::string_view diff, std::size_t most_lines = 400);

}  // namespace bunraku::console
