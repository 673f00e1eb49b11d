// SPDX-License-Identifier: Apache-2.0
// Splits messages of failures into words that many nodes share and values that differ.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::console {

struct MessagePart {
    std::string text;
    /// "number", "version", "address", "hash", "path", "text" or "node"; empty for a fixed part.
    std::string_view kind = {};
    bool operator==(const MessagePart&) const = default;
};

/// Splits a message. The name of the node is a separate part.
std::vector<MessagePart> split_message(std::string_view message, std::string_view certname);
/// Returns the message with kinds in place of values, such as "version <version> is missing".
std::string pattern_of(const std::vector<MessagePart>& parts);

}  // namespace bunraku::console
