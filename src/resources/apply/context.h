// SPDX-License-Identifier: Apache-2.0
// The state of one run that all parts share: the machine, the log, and the settings of the engine.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/config/compatibility.h"
#include "core/sys/system.h"
#include "core/value/value.h"
#include "resources/apply/content_source.h"
#include "resources/apply/provider.h"
#include "resources/apply/secrets.h"

namespace bunraku::restype {
struct Attribute;
struct TypeSpec;
}  // namespace bunraku::restype

namespace bunraku::apply {

using base::Level;
using value::Value;

/// The settings that the engine reads, with Puppet's names and defaults.
struct Options {
    bool noop = false;
    bool show_diff = false;
    bool ignoreschedules = false;
    bool default_schedules = true;
    bool evaltrace = false;
    bool graph = false;
    bool merge_dependency_warnings = false;
    bool exclude_unchanged_resources = true;
    bool preprocess_deferred = false;
    config::Compatibility level = config::kDefaultLevel;
    std::vector<std::string> tags, skip_tags;
    std::string digest_algorithm = "sha256";
    std::string diff = "diff", diff_args = "-u";
    std::string environment = "production";
    std::string statefile, graphdir, clientbucketdir;
    /// Folders of outside providers, in addition to those of modules (outside.h).
    std::vector<std::string> provider_folders;
    /// File in which digests of contents are cached between runs (content_memory.h). Empty for no
    /// cache.
    std::string contentsfile;
    std::int64_t full_check_interval = 24L * 3600;  ///< seconds after which a digest is recomputed
    /// If empty, corrective changes are not distinguished (as in `puppet apply`).
    std::string transactionstorefile;
    std::int64_t statettl = 32L * 24 * 3600;  ///< seconds; 0 keeps all entries
    std::uint32_t maximum_uid = 4294967290U;
};

/// A system failure during the change of a property, like Puppet's ResourceError. The log includes
/// the text of the wrapped error.
class WrappedError : public base::PuppetError {
public:
    WrappedError(std::string message, std::string original, base::Location where)
        : PuppetError(std::move(message), "RESOURCE_ERROR", Class::Plain),
          original_(std::move(original)) {
        at(std::move(where));
    }
    const std::string& original() const { return original_; }

private:
    std::string original_;
};
/// Returns the message, with the source location if the error has one.
std::string error_text(const base::PuppetError& error);
/// Returns the text that Puppet logs for an exception: error_text, followed by the wrapped error on
/// separate lines.
std::string error_log_text(const base::PuppetError& error);
/// Throws the error of a system call.
[[noreturn]] void throw_system(const base::Error& error);
template <class T>
T unwrap(base::Result<T> result) {
    if (!result) throw_system(result.error());
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Runs `f` and converts every other exception to a PuppetError. Code outside a resource or a run
/// therefore only has to catch PuppetError.
template <class F>
auto guarded(F&& f) {
    try {
        return f();
    } catch (const base::PuppetError&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw base::PuppetError("failed to allocate memory", {}, base::PuppetError::Class::Plain);
    } catch (const std::exception& e) {
        throw base::PuppetError(e.what(), {}, base::PuppetError::Class::Plain);
    }
}

class BucketServer;
class ContentMemory;
class Resource;
class RubyTypes;
class OutsideProviders;
struct Param;

/// The number of requests to stop the run, and the signal of the first.
struct StopRequest {
    int times = 0;
    int signal = 0;
    explicit operator bool() const { return times > 0; }
};
/// Returns the name of a signal, for example "SIGTERM".
std::string signal_name(int signal);
/// Thrown when a signal stops the run or one of its commands. The message is that of Ruby: "exit"
/// for SIGINT, otherwise the name of the signal.
class Stopped : public base::PuppetError {
public:
    explicit Stopped(int signal);
    int signal() const { return signal_; }

private:
    int signal_;
};

class TransactionStore;

/// The order of a type's attributes, and the defaults that its resources share
/// (Resource::shares_defaults).
struct TypePlan {
    const restype::Attribute* namevar = nullptr;   ///< null if it is not an attribute
    const restype::Attribute* provider = nullptr;  ///< null if the type has none
    std::vector<const restype::Attribute*> order;  ///< name variables, properties, parameters
    struct Default {
        bool known = false;
        Param* param = nullptr;  ///< null if the attribute has no default
        bool none() const { return known && !param; }
    };
    std::vector<Default> defaults;  ///< by the position of the attribute in its type
};

/// One run. Everything in `arena` lives as long as the run.
struct Context {
    sys::System& system;
    base::LogSink& log;
    Options options;
    ContentMemory* contents = nullptr;         ///< null if every content is to be read
    TransactionStore* transactions = nullptr;  ///< null if the option transactionstorefile is empty
    base::Arena arena{64 * 1024};
    /// Source of `puppet:` content. If null, only local paths work.
    ContentSource* content = nullptr;
    /// Source of content from the web; null if not available.
    ContentSource* web_content = nullptr;
    /// Stores files for filebuckets on other machines; null if not available.
    BucketServer* bucket_server = nullptr;
    /// The source of `file:` URIs, created at the first use.
    std::unique_ptr<ContentSource> local_content;
    /// Resolves a Deferred. If not set, Deferred values cannot be resolved.
    std::function<Value(const Value&)> resolve_deferred;
    /// Polled between resources and while commands run. If not set, the run cannot be stopped.
    std::function<StopRequest()> stop;
    StopRequest stop_request() const { return stop ? stop() : StopRequest{}; }
    /// Number of changes made to the machine. After a change, cached results may be outdated.
    std::uint64_t actions = 0;
    /// The result of `default_provider` for each type, and the value of `actions` at that time.
    struct KnownProvider {
        const ProviderClass* provider = nullptr;
        std::uint64_t actions = 0;
    };
    std::map<std::string, KnownProvider, std::less<>> default_providers;
    /// The plan of each type, computed for its first resource.
    std::unordered_map<const restype::TypeSpec*, TypePlan> type_plans;
    /// Returns a shared copy, which lives as long as the run, of a value that many resources have
    /// in common.
    const std::string& shared(std::string_view text);
    const std::vector<std::string>& shared(std::span<const std::string> tags);
    /// The resource that is being evaluated.
    const Resource* current = nullptr;
    /// Variables that every command gets in addition to its own, while a resource with the
    /// attribute `environment` is changed (execution.h).
    std::span<const std::pair<std::string, std::string>> command_environment;
    std::set<std::string> warned_once;
    /// Cached ids of users and groups, because every file needs them.
    std::map<std::string, std::uint32_t, std::less<>> uids, gids;
    /// Types that modules implement in Ruby. If null, only their names are known.
    RubyTypes* ruby_types = nullptr;
    /// Created at the first use.
    std::shared_ptr<OutsideProviders> outside;
    /// The cached result of `platform`.
    std::optional<Platform> platform;
    /// State of the types whose resources are records of text files (parsed_file.h).
    std::map<std::string, std::shared_ptr<void>, std::less<>> parsed_types;

    std::set<std::string, std::less<>> texts;
    std::set<std::vector<std::string>> tag_lists;
    const std::string* last_text = nullptr;
    const std::vector<std::string>* last_tags = nullptr;

    /// Long secrets of all resources, which no message may contain.
    Secrets secrets;
    /// Secrets of the resource that is being created or evaluated; null if it has none.
    const Secrets* own_secrets = nullptr;
    /// Returns the text without secrets. Every message, error and event passes through this
    /// function.
    std::string redact(std::string text, const Secrets* own) const {
        if (own) text = own->hide(std::move(text));
        return secrets.empty() ? text : secrets.hide(std::move(text));
    }

    bool enabled(Level level) const { return log.enabled(level); }
    /// Logs a message without a resource; its source is "Puppet".
    void message(Level level, std::string text) {
        if (enabled(level)) log.log(level, redact(std::move(text), own_secrets));
    }
    Value string(std::string_view text) { return Value::string(arena.copy(text)); }
};

/// Sets the context's own secrets to those of a resource for the lifetime of this object.
class SecretsScope {
public:
    SecretsScope(Context& context, const Secrets* own)
        : context_(context), before_(std::exchange(context.own_secrets, own)) {}
    ~SecretsScope() { context_.own_secrets = before_; }
    SecretsScope(const SecretsScope&) = delete;
    SecretsScope& operator=(const SecretsScope&) = delete;

private:
    Context& context_;
    const Secrets* before_;
};

/// Returns the value as in Puppet's change messages: 'text', 12, ['a', 'b'].
std::string display(const Value& v);
/// Returns a scalar as plain text, and an array as its elements separated by spaces.
std::string plain(const Value& v);
inline bool is_absent(const Value& v) { return v.is_string() && v.as_string() == "absent"; }
inline bool is_word(const Value& v, std::string_view text) {
    return v.is_string() && v.as_string() == text;
}
/// Compares values as text if one is a number and the other a string, otherwise with value::equal.
bool same(const Value& a, const Value& b);
bool is_deferred(const Value& v);
/// Reports whether the value contains a Sensitive at any depth.
bool holds_sensitive(const Value& v);

}  // namespace bunraku::apply
