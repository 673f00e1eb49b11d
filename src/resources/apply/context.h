// What one run passes around: the machine, the log, the settings the engine looks at.
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

/// The settings that the engine reads, by Puppet's names and defaults.
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
    std::vector<std::string> tags, skip_tags;
    std::string digest_algorithm = "sha256";
    std::string diff = "diff", diff_args = "-u";
    std::string environment = "production";
    std::string statefile, graphdir, clientbucketdir;
    /// Where outside providers stand, beside those of modules (outside.h).
    std::vector<std::string> provider_folders;
    /// Where digests of contents are kept between runs (content_memory.h). Empty: nowhere.
    std::string contentsfile;
    std::int64_t full_check_interval = 24L * 3600;  ///< seconds after which a digest is made anew
    /// Empty: corrective changes are not told apart (as in `puppet apply`).
    std::string transactionstorefile;
    std::int64_t statettl = 32L * 24 * 3600;  ///< seconds; 0: keeps everything
    std::uint32_t maximum_uid = 4294967290U;
};

/// A failure of the system below a property, as Puppet's ResourceError keeps it: logged with the
/// text of what it wraps.
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
/// The message, with the place where it has one.
std::string error_text(const base::PuppetError& error);
/// The same as Puppet logs an exception: what it wraps follows on lines of its own.
std::string error_log_text(const base::PuppetError& error);
/// Throws the error of a system call.
[[noreturn]] void throw_system(const base::Error& error);
template <class T>
T unwrap(base::Result<T> result) {
    if (!result) throw_system(result.error());
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Runs `f`. What it throws that is no PuppetError becomes one: at the border of a resource and of
/// a run nothing else is met.
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

/// How often the run was asked to end, and by which signal first.
struct StopRequest {
    int times = 0;
    int signal = 0;
    explicit operator bool() const { return times > 0; }
};
/// "SIGTERM".
std::string signal_name(int signal);
/// The run, or a command of it, was ended from outside. As Ruby has it: "exit" for SIGINT, else the
/// name of the signal.
class Stopped : public base::PuppetError {
public:
    explicit Stopped(int signal);
    int signal() const { return signal_; }

private:
    int signal_;
};

class TransactionStore;

/// How attributes of a type follow each other, and which defaults its resources share
/// (Resource::shares_defaults).
struct TypePlan {
    std::vector<const restype::Attribute*> order;  ///< name variables, properties, parameters
    struct Default {
        bool known = false;
        Param* param = nullptr;  ///< null: there is none
    };
    std::vector<Default> defaults;  ///< by the attribute's place in its type
};

/// One run. Everything in `arena` lives as long as the run.
struct Context {
    sys::System& system;
    base::LogSink& log;
    Options options;
    ContentMemory* contents = nullptr;         ///< null: every content is read
    TransactionStore* transactions = nullptr;  ///< null: the option transactionstorefile is empty
    base::Arena arena{64 * 1024};
    /// Where `puppet:` contents come from; null: only local paths work.
    ContentSource* content = nullptr;
    /// Where contents of the web come from; null: nowhere.
    ContentSource* web_content = nullptr;
    /// Keeps contents for filebuckets that are not of this machine; null: nobody does.
    BucketServer* bucket_server = nullptr;
    /// That of `file:` addresses, made when the first is met.
    std::unique_ptr<ContentSource> local_content;
    /// Gives the value of a Deferred; unset: they cannot be resolved.
    std::function<Value(const Value&)> resolve_deferred;
    /// Asked between two resources and while commands run; unset: nobody stops the run.
    std::function<StopRequest()> stop;
    StopRequest stop_request() const { return stop ? stop() : StopRequest{}; }
    /// Counts what was done to the machine: what was found out before may be wrong since.
    std::uint64_t actions = 0;
    /// What `default_provider` said, by type, and how many actions there had been.
    struct KnownProvider {
        const ProviderClass* provider = nullptr;
        std::uint64_t actions = 0;
    };
    std::map<std::string, KnownProvider, std::less<>> default_providers;
    /// What resources of a type are made by, found out by the first of them.
    std::unordered_map<const restype::TypeSpec*, TypePlan> type_plans;
    /// One copy of what many resources have alike, for as long as the run.
    const std::string& shared(std::string_view text);
    const std::vector<std::string>& shared(std::span<const std::string> tags);
    /// What is being evaluated.
    const Resource* current = nullptr;
    std::set<std::string> warned_once;
    /// Names of users and groups that were found once; asked for by every file.
    std::map<std::string, std::uint32_t, std::less<>> uids, gids;
    /// Types that modules bring in Ruby; null: they are known by name only.
    RubyTypes* ruby_types = nullptr;
    /// Made when the first is asked for.
    std::shared_ptr<OutsideProviders> outside;
    /// What `platform` found out.
    std::optional<Platform> platform;
    /// What the types whose resources are records of text files keep (parsed_file.h).
    std::map<std::string, std::shared_ptr<void>, std::less<>> parsed_types;

    std::set<std::string, std::less<>> texts;
    std::set<std::vector<std::string>> tag_lists;
    const std::string* last_text = nullptr;
    const std::vector<std::string>* last_tags = nullptr;

    /// Long secrets of all resources: they stand in no message at all.
    Secrets secrets;
    /// Those of the resource that is made or evaluated; null: there are none.
    const Secrets* own_secrets = nullptr;
    /// Returns a text as it may be shown. Every message, error and event passes it.
    std::string redact(std::string text, const Secrets* own) const {
        if (own) text = own->hide(std::move(text));
        return secrets.empty() ? text : secrets.hide(std::move(text));
    }

    bool enabled(Level level) const { return log.enabled(level); }
    /// A record without resource: source "Puppet".
    void message(Level level, std::string text) {
        if (enabled(level)) log.log(level, redact(std::move(text), own_secrets));
    }
    Value string(std::string_view text) { return Value::string(arena.copy(text)); }
};

/// Makes the secrets of a resource the context's own for as long as it lives.
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

/// The value as Puppet's change messages show it: 'text', 12, ['a', 'b'].
std::string display(const Value& v);
/// Plain text of a scalar; arrays joined by blanks.
std::string plain(const Value& v);
inline bool is_absent(const Value& v) { return v.is_string() && v.as_string() == "absent"; }
inline bool is_word(const Value& v, std::string_view text) {
    return v.is_string() && v.as_string() == text;
}
/// Both as text where one of them is a number and the other a string, else value::equal.
bool same(const Value& a, const Value& b);
bool is_deferred(const Value& v);
/// Whether there is something Sensitive in it, at any depth.
bool holds_sensitive(const Value& v);

}  // namespace bunraku::apply
