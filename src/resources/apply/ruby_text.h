// SPDX-License-Identifier: Apache-2.0
// Ruby's text and file operations, including their errors, for native implementations of modules'
// providers. Also the base class of these types.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/regex/regex.h"
#include "resources/apply/resource.h"

namespace bunraku::apply {

/// A resource of a built-in type that a module provides (module_releases.h).
class ModuleResource : public Resource {
public:
    using Resource::Resource;
    /// Called before `initialize`: reports whether the native implementation behaves exactly like
    /// the module's Ruby code for these attributes. `given` returns undef for attributes that are
    /// not in the catalog, and the resource's title for "title".
    using Given = std::function<Value(std::string_view)>;
    virtual bool does(const Given& given) const = 0;
};

/// Runs `f` as the value `word` of a property. Formats and logs errors other than Puppet's own as
/// Property#call_valuemethod does.
void call_value(const Resource& resource, std::string_view word, std::string_view property,
                const std::function<void()>& method);

using Pattern = std::shared_ptr<const regex::Regex>;

/// Throws a Ruby error other than Puppet's own: ArgumentError, RegexpError, ..
[[noreturn]] void ruby_error(std::string text);
/// An error raised by Ruby's C code. Its text is binary, so events of reports contain it in base64.
class BytesError : public base::PuppetError {
public:
    explicit BytesError(std::string text) : PuppetError(std::move(text), "SYSTEM_CALL") {}
};
/// Regexp.new.
Pattern pattern_of(std::string_view source);
/// Regexp#match. Throws if the text is not UTF-8.
std::optional<regex::Match> match_of(const Pattern& pattern, std::string_view text);

std::string_view chomped(std::string_view line BUNRAKU_LIFETIMEBOUND);
/// String#strip, which also removes a trailing NUL.
std::string_view stripped(std::string_view text BUNRAKU_LIFETIMEBOUND);
/// IO#puts.
void put_line(std::string& out, std::string_view line);

/// Returns the lines of a file with their line ends.
std::vector<std::string> file_lines(Context& context, const std::string& path);
/// File.open(path, 'w'), except that readers see either the old or the new content. A regular file
/// with a single link is replaced by a file with the same mode and owner. All other files are
/// written in place.
void rewrite(Context& context, const std::string& path, std::string_view text);

/// Puppet::Util.absolute_path?; throws the error message of types if it is false.
void check_absolute(const Value& path);
/// Puppet::Coercion.boolean, which munges parameters of the class Boolean.
Value coerced(const Value& v);
/// Returns the Boolean that a word stands for, in any case, as Puppet::Coercion.boolean does, or
/// nullopt for other values.
std::optional<bool> boolean_word(const Value& v);
/// Munges a switch whose values Puppet does not check before. Throws for other values.
Value munged_switch(const restype::Attribute& a, const Value& v);

// Reports whether the value is a string or undef; for ModuleResource::does.
bool text_or_nothing(const Value& v);
bool all_texts_or_nothing(const ModuleResource::Given& given,
                          std::initializer_list<std::string_view> names);

}  // namespace bunraku::apply
