// SPDX-License-Identifier: Apache-2.0
// How pages show events of runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "services/console/html.h"
#include "services/console/state.h"
#include "services/console/visit.h"
#include "store/engine/runs.h"

namespace bunraku::console {

/// The state and the word of an event, such as "corrected" for a corrective success.
struct EventWord {
    State state;
    std::string_view word;
};
EventWord word_of(const store::RunEvent& event);

/// Returns a JSON value as text: a text without quotes, an object as JSON, null as an empty text.
std::string value_text(std::string_view json);

/// Writes an event: what happened to which property, the message, and the place in the manifest.
/// `diff` is a unified diff of the content, or empty. The resource and "why" are links to the
/// catalog of `certname`.
void write_event(Html& h, const store::RunEvent& event, std::string_view certname,
                 std::string_view diff);

}  // namespace bunraku::console
