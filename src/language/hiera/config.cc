// SPDX-License-Identifier: Apache-2.0
#include "language/hiera/config.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <optional>

#include "core/base/work_limit.h"
#include "core/regex/regex.h"
#include "core/value/build.h"
#include "language/hiera/errors.h"
#include "language/types/mismatch.h"

namespace bunraku::hiera {
namespace {

constexpr std::array<std::string_view, 4> kFunctionKeys = {"data_hash", "lookup_key", "data_dig",
                                                           "hiera3_backend"};
constexpr std::array<std::string_view, 5> kAllFunctionKeys = {"data_hash", "lookup_key", "data_dig",
                                                              "hiera3_backend", "v4_data_hash"};
constexpr std::array<std::string_view, 7> kLocationKeys = {"path", "paths", "glob",        "globs",
                                                           "uri",  "uris",  "mapped_paths"};

// The schema of version 5 in Puppet's type language (HieraConfigV5.config_type).
constexpr std::string_view kHierarchyType =
    "Array[Struct[{name => String[1], Optional[options] => "
    "Hash[Pattern[/\\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\\z/], Data], Optional[data_hash] => "
    "String[1], "
    "Optional[lookup_key] => String[1], Optional[hiera3_backend] => String[1], "
    "Optional[v4_data_hash] => String[1], "
    "Optional[data_dig] => String[1], Optional[path] => String[1], Optional[paths] => "
    "Array[String[1], 1], "
    "Optional[glob] => String[1], Optional[globs] => Array[String[1], 1], Optional[uri] => "
    "String[1], "
    "Optional[uris] => Array[String[1], 1], Optional[mapped_paths] => Array[String[1], 3, 3], "
    "Optional[datadir] => String[1]}]]";
constexpr std::string_view kDefaultsType =
    "Struct[{Optional[data_hash] => String[1], Optional[lookup_key] => String[1], "
    "Optional[data_dig] => String[1], "
    "Optional[datadir] => String[1], Optional[options] => "
    "Hash[Pattern[/\\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\\z/], Data]}]";
constexpr std::string_view kVersion4Type =
    "Struct[{version => Integer[4, 4], Optional[datadir] => String[1], Optional[hierarchy] => "
    "Array[Struct[{"
    "backend => String[1], name => String[1], Optional[datadir] => String[1], Optional[path] => "
    "String[1], "
    "Optional[paths] => Array[String[1]]}]]}]";

std::string quoted_list(std::span<const std::string_view> keys) {
    std::string out;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i > 0) out += i + 1 == keys.size() ? ", or " : ", ";
        out += keys[i];
    }
    return out;
}

class Maker {
public:
    Maker(types::Context& ctx, Config& config, std::string_view text, std::string_view codedir,
          std::string_view product)
        : ctx_(ctx), config_(config), text_(text), codedir_(codedir), product_(product) {}

    void read(const Value& data) {
        if (data.is_undef()) {  // Without a file: data/common.yaml below the root.
            config_.version = 5;
            Entry common;
            common.name = "Common";
            common.function = "yaml_data";
            common.datadir = "data";
            common.kind = LocationKind::Paths;
            common.locations = {"common.yaml"};
            config_.hierarchy.push_back(std::move(common));
            return;
        }
        if (!data.is_hash()) {
            throw base::PuppetError(fmt::format(
                "{}: File exists but does not contain a valid YAML hash", config_.path));
        }
        const Value hash = plain_keys(data);
        const Value* version = hash.as_hash().find("version");
        config_.version = !version || version->is_undef() ? 3 : to_int(*version);
        switch (config_.version) {
            case 5: read5(hash); break;
            case 4: read4(hash); break;
            case 3:
                config_.raw = data;
                read3(hash);
                break;
            default:
                fail("HIERA_UNSUPPORTED_VERSION",
                     fmt::format("This runtime does not support hiera.yaml version {}",
                                 config_.version));
        }
    }

private:
    [[noreturn]] void fail(std::string_view issue, std::string message, int line = 0) {
        throw LookupError(std::move(message), std::string(issue), {config_.path, line, 0});
    }

    /// Puppet reports this error when it uses the hierarchy, not when it reads the file.
    void fail_later(std::string_view issue, std::string message, int line) {
        if (config_.fault.empty()) {
            config_.fault = std::move(message);
            config_.fault_issue = issue;
            config_.fault_line = line;
        }
    }

    static int to_int(const Value& v) {
        return v.is_integer() ? static_cast<int>(v.as_integer())
                              : std::atoi(value::to_text(v).c_str());
    }

    /// Keys that are Ruby symbols (":hierarchy:") lose their colon.
    Value plain_keys(const Value& v) {
        base::step();
        if (v.is_array()) {
            std::vector<Value> out;
            for (const Value& item : v.as_array()) out.push_back(plain_keys(item));
            return value::make_array(ctx_.arena, out);
        }
        if (!v.is_hash()) return v;
        value::HashBuilder out(ctx_.arena);
        for (const auto& [key, item] : v.as_hash()) {
            Value k = key;
            if (k.is_string() && k.as_string().starts_with(':') && k.as_string().size() > 1) {
                k = Value::string(k.as_string().substr(1));
            }
            out.set(k, plain_keys(item));
        }
        return out.build();
    }

    int line_matching(const std::string& pattern, int start = 1) {
        return hiera::line_matching(text_, pattern, start);
    }

    /// The type is made once and shared by all threads.
    static const types::Type* lasting_type(std::string_view text) {
        static auto* const arena = new base::Arena(16 * 1024);
        static std::mutex mutex;
        std::lock_guard lock(mutex);
        types::Context ctx{*arena, nullptr};
        return types::parse_type(ctx, text);
    }

    void check(const types::Type* type, const Value& data) {
        types::assert_instance(
            ctx_, fmt::format("The Lookup Configuration at '{}' has wrong type,", config_.path),
            type, data);
    }

    std::optional<std::string> text(const Value& hash, std::string_view key) {
        const Value* v = hash.is_hash() ? hash.as_hash().find(key) : nullptr;
        if (!v || v->is_undef()) return std::nullopt;
        return value::to_text(*v);
    }

    void read5(const Value& loaded) {
        static const types::Type* const kSchema = lasting_type(
            fmt::format("Struct[{{version => Integer[5, 5], Optional[defaults] => {0}, "
                        "Optional[hierarchy] => {1}, Optional[plan_hierarchy] => {1}, "
                        "Optional[default_hierarchy] => {1}}}]",
                        kDefaultsType, kHierarchyType));
        // A key without a value (followed by comments only) counts as absent.
        value::HashBuilder present(ctx_.arena);
        for (const auto& e : loaded.as_hash()) {
            const bool defaulted = e.key.is_string() && (e.key.as_string() == "defaults" ||
                                                         e.key.as_string() == "hierarchy");
            const bool absent = !e.value.truthy();
            if (!defaulted || !absent) present.set(e.key, e.value);
        }
        const Value hash = present.build();
        check(kSchema, hash);
        value::HashBuilder standard(ctx_.arena);
        standard.set("datadir", Value::string("data"));
        standard.set("data_hash", Value::string("yaml_data"));
        const Value* given = hash.as_hash().find("defaults");
        const Value defaults = given && given->is_hash() ? *given : standard.build();
        int functions = 0;
        for (auto key : kFunctionKeys) functions += defaults.as_hash().find(key) != nullptr;
        if (functions > 1) {
            fail("HIERA_MULTIPLE_DATA_PROVIDER_FUNCTIONS_IN_DEFAULT",
                 fmt::format("Only one of {} can be defined in defaults",
                             quoted_list(kFunctionKeys)));
        }
        reserved_options(defaults, "");
        const Value* hierarchy = hash.as_hash().find("hierarchy");
        if (hierarchy && hierarchy->is_array()) {
            read_entries(*hierarchy, defaults, config_.hierarchy);
        } else {
            Entry common;
            common.name = "Common";
            common.function = "yaml_data";
            common.datadir = text(defaults, "datadir").value_or("data");
            common.kind = LocationKind::Paths;
            common.locations = {"common.yaml"};
            config_.hierarchy.push_back(std::move(common));
        }
        if (const Value* fallback = hash.as_hash().find("default_hierarchy");
            fallback && fallback->is_array()) {
            if (config_.layer != Layer::Module) {
                fail("HIERA_DEFAULT_HIERARCHY_NOT_IN_MODULE",
                     "'default_hierarchy' is only allowed in the module layer",
                     line_matching("(?:^|\\s+)default_hierarchy:"));
            }
            config_.has_default_hierarchy = true;
            read_entries(*fallback, defaults, config_.default_hierarchy);
        }
    }

    void reserved_options(const Value& from, std::string_view name) {
        const Value* options = from.as_hash().find("options");
        if (!options || !options->is_hash()) return;
        for (std::string_view key : {"path", "uri"}) {
            if (!options->as_hash().find(key)) continue;
            if (name.empty()) {
                fail("HIERA_DEFAULT_OPTION_RESERVED_BY_PUPPET",
                     fmt::format("Option key '{}' used in defaults is reserved by {}", key,
                                 product_));
            }
            fail("HIERA_OPTION_RESERVED_BY_PUPPET",
                 fmt::format("Option key '{}' used in hierarchy '{}' is reserved by {}", key, name,
                             product_));
        }
    }

    void unique_name(const std::vector<Entry>& entries, const std::string& name) {
        if (std::none_of(entries.begin(), entries.end(), [&](auto& e) { return e.name == name; }))
            return;
        const std::string pattern = fmt::format("\\s+name:\\s+['\"]?{}(?:[^\\w]|$)", name);
        int first = line_matching(pattern);
        int line = first ? line_matching(pattern, first + 1) : 0;
        if (line == 0) std::swap(line, first);
        std::string message = fmt::format("Hierarchy name '{}' defined more than once.", name);
        if (first) message += fmt::format(" First defined at (line: {})", first);
        fail_later("HIERA_HIERARCHY_NAME_MULTIPLY_DEFINED", std::move(message), line);
    }

    void read_entries(const Value& list, const Value& defaults, std::vector<Entry>& out) {
        for (const Value& item : list.as_array()) {
            Entry entry;
            entry.name = *text(item, "name");
            int functions = 0;
            for (std::size_t i = kAllFunctionKeys.size(); i-- > 0;) {
                if (auto function = text(item, kAllFunctionKeys[i])) {
                    ++functions;
                    entry.access = static_cast<Access>(i);
                    entry.tag = kAllFunctionKeys[i];
                    entry.function = *function;
                }
            }
            if (functions > 1) {
                fail("HIERA_MULTIPLE_DATA_PROVIDER_FUNCTIONS",
                     fmt::format("Only one of {} can be defined in hierarchy '{}'",
                                 quoted_list(kFunctionKeys), entry.name));
            }
            if (functions == 0) {
                for (std::size_t i = 0; i < kFunctionKeys.size(); ++i) {
                    if (auto function = text(defaults, kFunctionKeys[i])) {
                        entry.access = static_cast<Access>(i);
                        entry.tag = kFunctionKeys[i];
                        entry.function = *function;
                        functions = 1;
                        break;
                    }
                }
            }
            if (functions == 0) {
                fail("HIERA_MISSING_DATA_PROVIDER_FUNCTION",
                     fmt::format("One of {} must be defined in hierarchy '{}'",
                                 quoted_list(kFunctionKeys), entry.name));
            }
            if (entry.access == Access::Hiera3Backend) {
                if (config_.layer != Layer::Global) {
                    fail("HIERA_V3_BACKEND_NOT_GLOBAL",
                         "'hiera3_backend' is only allowed in the global layer",
                         line_matching("\\s+hiera3_backend:"));
                }
                for (std::string_view known : {"json", "yaml", "hocon"}) {
                    if (entry.function != known) continue;
                    fail("HIERA_V3_BACKEND_REPLACED_BY_DATA_HASH",
                         fmt::format(
                             "Use \"data_hash: {0}_data\" instead of \"hiera3_backend: {0}\"",
                             known),
                         line_matching(
                             fmt::format("\\s+hiera3_backend:\\s*['\"]?{}(?:[^\\w]|$)", known)));
                }
            }
            read_locations(item, entry);
            reserved_options(item, entry.name);
            const Value* options = item.as_hash().find("options");
            if (!options || options->is_undef()) options = defaults.as_hash().find("options");
            if (options && options->is_hash()) entry.options = *options;
            entry.datadir =
                text(item, "datadir").value_or(text(defaults, "datadir").value_or("data"));
            unique_name(out, entry.name);
            out.push_back(std::move(entry));
        }
    }

    void read_locations(const Value& item, Entry& entry) {
        int locations = 0;
        for (auto key : kLocationKeys) {
            const Value* v = item.as_hash().find(key);
            if (!v || v->is_undef()) continue;
            ++locations;
            entry.kind = key.starts_with("path")   ? LocationKind::Paths
                         : key.starts_with("glob") ? LocationKind::Globs
                         : key.starts_with("uri")  ? LocationKind::Uris
                                                   : LocationKind::MappedPaths;
            entry.locations.clear();
            if (v->is_array()) {
                for (const Value& l : v->as_array()) entry.locations.push_back(value::to_text(l));
            } else {
                entry.locations.push_back(value::to_text(*v));
            }
        }
        if (locations > 1) {
            fail("HIERA_MULTIPLE_LOCATION_SPECS",
                 fmt::format("Only one of {} can be defined in hierarchy '{}'",
                             quoted_list(kLocationKeys), entry.name));
        }
    }

    void read4(const Value& hash) {
        if (config_.layer == Layer::Global) {
            fail("HIERA_UNSUPPORTED_VERSION_IN_GLOBAL",
                 "hiera.yaml version 4 cannot be used in the global layer");
        }
        static const types::Type* const kSchema = lasting_type(kVersion4Type);
        check(kSchema, hash);
        const std::string datadir = text(hash, "datadir").value_or("data");
        const Value* hierarchy = hash.as_hash().find("hierarchy");
        if (!hierarchy || !hierarchy->is_array()) {
            Entry common;
            common.name = "common";
            common.function = "yaml_data";
            common.datadir = datadir;
            common.kind = LocationKind::Paths;
            common.locations = {"common"};
            common.extension = ".yaml";
            config_.hierarchy.push_back(std::move(common));
            return;
        }
        for (const Value& item : hierarchy->as_array()) {
            Entry entry;
            entry.name = *text(item, "name");
            unique_name(config_.hierarchy, entry.name);
            const std::string backend = *text(item, "backend");
            if (backend != "yaml" && backend != "json" && backend != "hocon") {
                fail_later("HIERA_NO_PROVIDER_FOR_BACKEND",
                           fmt::format("No data provider is registered for backend '{}'", backend),
                           line_matching(fmt::format("[^\\w]{}(?:[^\\w]|$)", backend)));
            }
            entry.function = backend + "_data";
            entry.extension = backend == "hocon" ? ".conf" : "." + backend;
            entry.datadir = text(item, "datadir").value_or(datadir);
            entry.kind = LocationKind::Paths;
            if (const Value* paths = item.as_hash().find("paths"); paths && paths->is_array()) {
                for (const Value& p : paths->as_array())
                    entry.locations.push_back(value::to_text(p));
            } else {
                entry.locations.push_back(text(item, "path").value_or(entry.name));
            }
            config_.hierarchy.push_back(std::move(entry));
        }
    }

    std::vector<std::string> texts(const Value* v, std::vector<std::string> otherwise) {
        if (!v || v->is_undef()) return otherwise;
        std::vector<std::string> out;
        if (v->is_array()) {
            for (const Value& item : v->as_array()) out.push_back(value::to_text(item));
        } else {
            out.push_back(value::to_text(*v));
        }
        return out;
    }

    void read3(const Value& hash) {
        const auto backends = texts(hash.as_hash().find("backends"), {"yaml"});
        std::string type =
            "Struct[{Optional[version] => Integer[3, 3], Optional[backends] => Variant[String[1], "
            "Array[String[1]]], "
            "Optional[logger] => String[1], Optional[merge_behavior] => Enum['deep', 'deeper', "
            "'native'], "
            "Optional[deep_merge_options] => Hash[String[1], Variant[String, Boolean]], "
            "Optional[hierarchy] => Variant[String[1], Array[String[1]]]";
        for (const auto& backend : backends)
            type += fmt::format(", Optional['{}'] => Hash[String[1], Any]", backend);
        check(types::parse_type(ctx_, type + "}]"), hash);
        const auto hierarchy =
            texts(hash.as_hash().find("hierarchy"), {"nodes/%{::trusted.certname}", "common"});
        for (const auto& backend : backends) {
            if (std::any_of(config_.hierarchy.begin(), config_.hierarchy.end(),
                            [&](auto& e) { return e.name == backend; })) {
                const std::string pattern = fmt::format("[^\\w]{}(?:[^\\w]|$)", backend);
                int first = line_matching(pattern);
                int line = first ? line_matching(pattern, first + 1) : 0;
                if (line == 0) std::swap(line, first);
                std::string message =
                    fmt::format("Backend '{}' is defined more than once.", backend);
                if (first) message += fmt::format(" First defined at (line: {})", first);
                fail_later("HIERA_BACKEND_MULTIPLY_DEFINED", std::move(message), line);
            }
            const Value* settings = hash.as_hash().find(backend);
            const Value own = settings && settings->is_hash()
                                  ? *settings
                                  : value::HashBuilder(ctx_.arena).build();
            Entry entry;
            entry.name = backend;
            entry.datadir =
                text(own, "datadir")
                    .value_or(std::string(codedir_) + "/environments/%{::environment}/hieradata");
            entry.extension = text(own, "extension") ? "." + *text(own, "extension")
                              : backend == "hocon"   ? ".conf"
                                                     : "." + backend;
            entry.kind = LocationKind::Paths;
            entry.locations = hierarchy;
            if (backend == "yaml" || backend == "json" || backend == "hocon") {
                entry.tag = "v3_data_hash";
                entry.function = backend + "_data";
            } else if (backend == "eyaml") {
                entry.access = Access::LookupKey;
                entry.tag = "v3_lookup_key";
                entry.function = "eyaml_lookup_key";
                value::HashBuilder rest(ctx_.arena);
                for (const auto& e : own.as_hash()) {
                    if (value::to_text(e.key) != "datadir") rest.set(e.key, e.value);
                }
                entry.options = rest.build();
            } else {
                entry.access = Access::Hiera3Backend;
                entry.tag = "hiera3_backend";
                entry.function = backend;
                entry.options = own;
            }
            config_.hierarchy.push_back(std::move(entry));
        }
        const std::string behavior = text(hash, "merge_behavior").value_or("native");
        if (behavior == "deep" || behavior == "deeper") {
            value::HashBuilder merge(ctx_.arena);
            merge.set("strategy",
                      Value::string(behavior == "deep" ? "reverse_deep" : "unconstrained_deep"));
            if (const Value* more = hash.as_hash().find("deep_merge_options");
                more && more->is_hash()) {
                merge.merge(more->as_hash());
            }
            config_.merge_behavior = merge.build();
        }
    }

    types::Context& ctx_;
    Config& config_;
    std::string_view text_;
    std::string_view codedir_;
    std::string_view product_;
};

}  // namespace

int line_matching(std::string_view text, const std::string& pattern, int start) {
    auto re = regex::Regex::cached(pattern);
    if (!re) return 0;
    for (int number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (number >= start && (*re)->matches(line.substr(0, line.find('#')))) return number;
    }
    return 0;
}

Config legacy_function_config(Layer layer, std::string root, const std::string& function) {
    Config config;
    config.layer = layer;
    config.root = std::move(root);
    config.legacy = true;
    Entry entry;
    entry.name = "Legacy function '" + function + "'";
    entry.access = Access::V4DataHash;
    entry.tag = "v4_data_hash";
    entry.function = function;
    config.hierarchy.push_back(std::move(entry));
    return config;
}

Config make_config(Layer layer, std::string path, std::string root, const Value& data,
                   std::string_view text, std::string_view codedir, config::Compatibility level) {
    Config config;
    config.layer = layer;
    config.path = std::move(path);
    config.root = std::move(root);
    types::Context ctx{*config.arena, nullptr};
    Maker(ctx, config, text, codedir, config::product(level)).read(data);
    return config;
}

}  // namespace bunraku::hiera
