// SPDX-License-Identifier: Apache-2.0
// A parsed format of String.new ("%#-10.3x"), and maps from types to formats.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text_view.h"
#include "language/types/type.h"

namespace bunraku::types {

struct FormatMap;

struct Format {
    /// Throws PuppetError if the text is not a valid format.
    explicit Format(std::string_view text);

    std::string original;
    char letter = 's';
    bool left = false, alt = false, zero = false, space = false, plus = false;
    char delimiter = '\0';  ///< one of [ { ( < |
    std::optional<int> width, precision;
    std::optional<std::string> separator, separator2;
    std::shared_ptr<const FormatMap> inner;  ///< formats for the elements of a container

    std::pair<std::string_view, std::string_view> delimiters(
        base::TextView open BUNRAKU_LIFETIMEBOUND, std::string_view close) const;
    /// Returns `text` with width and precision applied.
    std::string pad(std::string text) const;
    /// Throws if Ruby's own `format` does not accept the flags.
    void check_ruby() const;
};

/// The entries are tried in order.
struct FormatMap {
    std::vector<std::pair<const Type*, Format>> entries;
    const Format* find(Context& ctx, const Value& v) const;
};

/// Returns the formats of a hash of type => format, merged over the default formats.
std::shared_ptr<const FormatMap> merged_formats(Context& ctx, const value::HashRep& formats);
/// The formats of String($v), and the formats inside containers.
const std::shared_ptr<const FormatMap>& default_formats();
const std::shared_ptr<const FormatMap>& default_container_formats();

/// Returns Ruby's String#inspect.
std::string ruby_inspect(std::string_view text);
[[noreturn]] void illegal_format(std::string_view type, char letter, std::string_view expected);

/// Formats types and objects with line breaks and indentation. A negative `level` means a single
/// line.
void print_indented(std::string& out, const Value& v, int level);

}  // namespace bunraku::types
