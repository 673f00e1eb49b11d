// SPDX-License-Identifier: Apache-2.0
// The documentation in a module's code: every class, define, function, type and plan with its
// comment, as puppet-strings finds them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/reference/doc_text.h"
#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/value/value.h"
#include "language/environment/files.h"

namespace bunraku::reference {

/// One signature of a function.
struct DocSignature {
    std::string text;  ///< such as "abs(Numeric $value)"
    DocText doc;
};

/// A property, parameter or check of a resource type.
struct DocAttribute {
    std::string name, doc, data_type, default_value, features;
    bool has_default = false, namevar = false;
    bool typed_default = false;  ///< True if `default_value` is JSON instead of text.
    std::vector<std::string> values;
    std::vector<std::pair<std::string, std::string>> aliases;
};

struct DocItem {
    enum class Kind : unsigned char {
        Class,
        Define,
        Type,
        Provider,
        Function,
        DataType,  ///< defined in Ruby
        Alias,     ///< defined in Puppet
        Task,
        Plan,
        Fact  ///< a custom fact; not in the references of puppet-strings
    } kind{};
    std::string name, file;
    int line = 0;
    DocText doc;
    /// of parameters, as written in the code
    std::vector<std::pair<std::string, std::string>> defaults;
    std::string source;
    std::string inherits;                  ///< for classes
    std::string alias_of;                  ///< for aliases
    std::string function_type;             ///< "puppet", "ruby4x" or "ruby3x"
    std::vector<DocSignature> signatures;  ///< for functions
    std::vector<DocSignature> methods;     ///< for data types in Ruby
    std::vector<std::string> method_names;
    std::vector<DocAttribute> properties, parameters, checks;  ///< for resource types
    std::vector<std::pair<std::string, std::string>> features;
    std::string type_name;  ///< for providers
    std::vector<std::pair<std::string, std::string>> confines, commands;
    std::vector<std::string> provider_features;
    std::vector<std::vector<std::pair<std::string, std::string>>> provider_defaults;
    bool supports_noop = false;  ///< for tasks
    std::string input_method;

    const std::string* default_of(std::string_view parameter) const;
};

/// Returns all items in the folder of a module or environment, sorted by kind and name. Paths are
/// relative to the folder. Logs and skips files that cannot be read. `ruby` is the setting
/// ruby_program.
std::vector<DocItem> read_documents(const std::string& folder, const std::string& ruby,
                                    base::LogSink& log);
/// Returns the files below `folder`/`part` whose names end with `end`, relative to `folder` and
/// sorted. Does not follow links.
std::vector<std::string> files_below(const environment::Files& files, const std::string& folder,
                                     const std::string& part, std::string_view end);
/// Returns the items in one manifest.
std::vector<DocItem> documents_of_manifest(const std::string& name, std::string text);

/// Returns the items as the REFERENCE.md and the JSON of puppet-strings.
std::string reference_markdown(const std::vector<DocItem>& items);
value::Value reference_json(base::Arena& arena, const std::vector<DocItem>& items);

}  // namespace bunraku::reference
