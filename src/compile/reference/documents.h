// What a module's code documents: every class, define, function, type and plan with the text of its
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

/// What one way of calling a function takes.
struct DocSignature {
    std::string text;  ///< "abs(Numeric $value)"
    DocText doc;
};

/// Of a resource type.
struct DocAttribute {
    std::string name, doc, data_type, default_value, features;
    bool has_default = false, namevar = false;
    bool typed_default = false;  ///< it is no text, but JSON
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
        DataType,  ///< in Ruby
        Alias,     ///< in the language
        Task,
        Plan,
        Fact  ///< a custom one; in no reference of puppet-strings
    } kind{};
    std::string name, file;
    int line = 0;
    DocText doc;
    std::vector<std::pair<std::string, std::string>> defaults;  ///< of parameters, as written
    std::string source;
    std::string inherits;                  ///< of a class
    std::string alias_of;                  ///< of an alias
    std::string function_type;             ///< "puppet", "ruby4x", "ruby3x"
    std::vector<DocSignature> signatures;  ///< of a function
    std::vector<DocSignature> methods;     ///< of a data type in Ruby
    std::vector<std::string> method_names;
    std::vector<DocAttribute> properties, parameters, checks;  ///< of a resource type
    std::vector<std::pair<std::string, std::string>> features;
    std::string type_name;  ///< of a provider
    std::vector<std::pair<std::string, std::string>> confines, commands;
    std::vector<std::string> provider_features;
    std::vector<std::vector<std::pair<std::string, std::string>>> provider_defaults;
    bool supports_noop = false;  ///< of a task
    std::string input_method;

    const std::string* default_of(std::string_view parameter) const;
};

/// Everything in a module's (or an environment's) folder, sorted by kind and name; paths are
/// relative to it. What cannot be read is told to `log` and left out. `ruby` is the setting
/// ruby_program.
std::vector<DocItem> read_documents(const std::string& folder, const std::string& ruby,
                                    base::LogSink& log);
/// Files below `folder`/`part` with this end, relative to `folder`, sorted; links are not followed.
std::vector<std::string> files_below(const environment::Files& files, const std::string& folder,
                                     const std::string& part, std::string_view end);
/// What is written in one manifest.
std::vector<DocItem> documents_of_manifest(const std::string& name, std::string text);

/// As puppet-strings writes REFERENCE.md, and its JSON.
std::string reference_markdown(const std::vector<DocItem>& items);
value::Value reference_json(base::Arena& arena, const std::vector<DocItem>& items);

}  // namespace bunraku::reference
