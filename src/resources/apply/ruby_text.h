// What the Ruby of modules' providers does with the text of files, failures included, and what the
// types share that stand for it.
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

/// A resource of a type that a module brings and that is built in (module_releases.h).
class ModuleResource : public Resource {
public:
    using Resource::Resource;
    /// Asked before `initialize`: whether what is built in does for these attributes just what the
    /// module's Ruby does, oddities included. `given` is undef where the catalog says nothing; of
    /// "title" it gives the resource's.
    using Given = std::function<Value(std::string_view)>;
    virtual bool does(const Given& given) const = 0;
};

/// Runs what a word stands for as the value of a property. Failures that are none of Puppet's own
/// are worded and logged as Property#call_valuemethod does.
void call_value(const Resource& resource, std::string_view word, std::string_view property,
                const std::function<void()>& method);

using Pattern = std::shared_ptr<const regex::Regex>;

/// An error that is none of Puppet's own: ArgumentError, RegexpError, ..
[[noreturn]] void ruby_error(std::string text);
/// One that Ruby's C code words: its text is bytes, which events of reports have in base64.
class BytesError : public base::PuppetError {
public:
    explicit BytesError(std::string text) : PuppetError(std::move(text), "SYSTEM_CALL") {}
};
/// Regexp.new.
Pattern pattern_of(std::string_view source);
/// Regexp#match. Text that is not UTF-8 is refused.
std::optional<regex::Match> match_of(const Pattern& pattern, std::string_view text);

std::string_view chomped(std::string_view line BUNRAKU_LIFETIMEBOUND);
/// String#strip: a NUL at the end goes as well.
std::string_view stripped(std::string_view text BUNRAKU_LIFETIMEBOUND);
/// IO#puts.
void put_line(std::string& out, std::string_view line);

/// The lines of a file with their ends.
std::vector<std::string> file_lines(Context& context, const std::string& path);
/// File.open(path, 'w'), but that readers see the old or the new: a regular file that has one name
/// is replaced by one of its mode and owner, all others are written in place.
void rewrite(Context& context, const std::string& path, std::string_view text);

/// Puppet::Util.absolute_path?, and what types say where it is not.
void check_absolute(const Value& path);
/// Puppet::Coercion.boolean, as a parameter of the class Boolean munges.
Value coerced(const Value& v);

// For ModuleResource::does.
bool text_or_nothing(const Value& v);
bool all_texts_or_nothing(const ModuleResource::Given& given,
                          std::initializer_list<std::string_view> names);

}  // namespace bunraku::apply
