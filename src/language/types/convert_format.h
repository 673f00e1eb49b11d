// One parsed format of String.new ("%#-10.3x") and maps from types to formats.
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
    explicit Format(std::string_view text);  ///< throws PuppetError for what is no format

    std::string original;
    char letter = 's';
    bool left = false, alt = false, zero = false, space = false, plus = false;
    char delimiter = '\0';  ///< one of [ { ( < |
    std::optional<int> width, precision;
    std::optional<std::string> separator, separator2;
    std::shared_ptr<const FormatMap> inner;  ///< for what a container holds

    std::pair<std::string_view, std::string_view> delimiters(
        base::TextView open BUNRAKU_LIFETIMEBOUND, std::string_view close) const;
    /// `text` with width and precision, nothing else.
    std::string pad(std::string text) const;
    /// Throws where Ruby's own `format` would not take the flags.
    void check_ruby() const;
};

/// In the order in which they are tried.
struct FormatMap {
    std::vector<std::pair<const Type*, Format>> entries;
    const Format* find(Context& ctx, const Value& v) const;
};

/// The formats of a hash of type => format, over the default ones.
std::shared_ptr<const FormatMap> merged_formats(Context& ctx, const value::HashRep& formats);
/// What String($v) uses, and what is inside of containers.
const std::shared_ptr<const FormatMap>& default_formats();
const std::shared_ptr<const FormatMap>& default_container_formats();

/// Ruby's String#inspect.
std::string ruby_inspect(std::string_view text);
[[noreturn]] void illegal_format(std::string_view type, char letter, std::string_view expected);

/// The formatter of types and objects with line breaks and indentation; `level` < 0: in one line.
void print_indented(std::string& out, const Value& v, int level);

}  // namespace bunraku::types
