// SPDX-License-Identifier: Apache-2.0
// lookup and the older hiera functions. All of them use the lookup host.
#include "language/function/support.h"

namespace bunraku::function {
namespace {

evaluator::LookupHost& host(const Call& call) {
    auto* h = call.interpreter.hosts().lookup;
    if (!h) {
        base::PuppetError error("Function lookup() did not find a value for the name '" +
                                ruby_to_s(call.at(0)) + "'");
        error.verbatim = true;
        throw error;
    }
    return *h;
}

Value lookup(const Call& call) {
    return host(call).lookup(call.interpreter, call.scope, call.args, call.block);
}

Value hiera(const Call& call) {
    return host(call).hiera(call.interpreter, call.scope, "first", call.args, call.block);
}
Value hiera_array(const Call& call) {
    return host(call).hiera(call.interpreter, call.scope, "unique", call.args, call.block);
}
Value hiera_hash(const Call& call) {
    return host(call).hiera(call.interpreter, call.scope, "hash", call.args, call.block);
}
Value hiera_include(const Call& call) {
    const Value classes =
        host(call).hiera(call.interpreter, call.scope, "include", call.args, call.block);
    if (classes.is_undef()) argument_error("Could not find data item {}", ruby_to_s(call.at(0)));
    if (classes.is_array() && classes.as_array().empty()) return Value::undef();
    const Value args[] = {classes};
    return call.interpreter.call_function("include", args, call.scope, nullptr, call.site);
}

template <const char* kName>
Value data_function(const Call& call) {
    return host(call).data_function(call.interpreter, call.scope, kName, call.args);
}
constexpr char kYaml[] = "yaml_data", kJson[] = "json_data", kHocon[] = "hocon_data",
               kEyaml[] = "eyaml_lookup_key";

Value missing_path(const Call& call) {
    return text(call,
                "one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in "
                "hiera.yaml when using this data_hash function");
}

#define BUNRAKU_DATA(NAME, FORMAT)                                                    \
    {                                                                                 \
        #NAME, "A data_hash function of Hiera: the hash in a file of " #FORMAT ".", { \
            {"Struct[{path=>String[1]}] options, Puppet::LookupContext context",      \
             data_function<k##FORMAT>},                                               \
                {"Hash options, Puppet::LookupContext context", missing_path, true},  \
        }                                                                             \
    }

#define BUNRAKU_HIERA(NAME, DOC)                                                \
    {                                                                           \
        #NAME, DOC " Replaced by `lookup`.", {                                  \
            {"Tuple[String, Any, Any, 1, 3] args", NAME}, {"String key", NAME}, \
                {"String key, Any default, Any override?", NAME},               \
                {"String key, Callable[1,1] &default_block", NAME}, {           \
                "String key, Any override, Callable[1,1] &default_block", NAME  \
            }                                                                   \
        }                                                                       \
    }

constexpr std::string_view kLookupTypes =
    "NameType = Variant[String, Array[String]]\n"
    "ValueType = Type\n"
    "DefaultValueType = Any\n"
    "MergeType = Variant[String[1], Hash[String, Scalar]]\n"
    "BlockType = Callable[NameType]\n"
    "OptionsWithName = Struct[{name => NameType, value_type => Optional[ValueType], default_value "
    "=> "
    "Optional[DefaultValueType], override => Optional[Hash[String,Any]], default_values_hash => "
    "Optional[Hash[String,Any]], merge => Optional[MergeType]}]\n"
    "OptionsWithoutName = Struct[{value_type => Optional[ValueType], default_value => "
    "Optional[DefaultValueType], "
    "override => Optional[Hash[String,Any]], default_values_hash => Optional[Hash[String,Any]], "
    "merge => "
    "Optional[MergeType]}]";

const Builtin kFunctions[] = {
    {"lookup",
     "Looks up data by key through Hiera.",
     {{"NameType name, ValueType value_type?, MergeType merge?", lookup},
      {"NameType name, Optional[ValueType] value_type, Optional[MergeType] merge, DefaultValueType "
       "default_value",
       lookup},
      {"NameType name, ValueType value_type?, MergeType merge?, BlockType &block", lookup},
      {"OptionsWithName options_hash, BlockType &block?", lookup},
      {"Variant[String,Array[String]] name, OptionsWithoutName options_hash, BlockType &block?",
       lookup}},
     false,
     evaluator::kTyped,
     kLookupTypes},
    BUNRAKU_HIERA(hiera, "The first value found."),
    BUNRAKU_HIERA(hiera_array, "All values found, as one array."),
    BUNRAKU_HIERA(hiera_hash, "All values found, as one hash."),
    BUNRAKU_HIERA(hiera_include, "Includes the classes found."),
    BUNRAKU_DATA(yaml_data, Yaml),
    BUNRAKU_DATA(json_data, Json),
    BUNRAKU_DATA(hocon_data, Hocon),
    {"eyaml_lookup_key",
     "A lookup_key function of Hiera that reads a key of a YAML file and decrypts its values.",
     {{"String[1] key, Hash[String[1],Any] options, Puppet::LookupContext context",
       data_function<kEyaml>}}},
};

}  // namespace

std::span<const Builtin> lookup_functions() { return kFunctions; }

}  // namespace bunraku::function
