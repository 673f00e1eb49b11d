// Ruby code of modules, run in a process of its own (DESIGN.md decision 6).
//
// A Pool belongs to one environment and keeps its children; a compile takes a Host out of it, on
// its first need, and gives it back at its end. While Ruby runs it may ask back (Callbacks), nested
// as deep as Puppet calls Ruby calls Puppet. Everything throws base::PuppetError, in Puppet's
// words.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/value/encoding.h"
#include "core/value/value.h"
#include "language/ruby/marshal.h"

namespace bunraku::ruby {

using value::Value;

/// A block that Ruby passed along, as Callbacks::call_function gets it: good for Host::call_proc
/// while that call lasts. The handle carries Ruby's Proc#arity.
constexpr std::uint64_t proc_handle(std::uint64_t id, int arity) {
    return id << 8 | static_cast<std::uint8_t>(arity);
}
constexpr int proc_arity(std::uint64_t handle) { return static_cast<std::int8_t>(handle & 0xff); }

/// Thrown out of Callbacks::yield and call_function where a completion of the language (break,
/// return, next) is to leave the Ruby code: it unwinds Ruby (a StopIteration there) and leaves
/// Host::call_function as itself.
struct Unwind {};

/// What Ruby code asks of the compile that called it. PuppetErrors thrown here are raised in Ruby
/// as Puppet::Error (and may be rescued there); what Ruby lets through comes back unchanged.
/// template/ruby_session.h has the one of a compile.
class Callbacks : public ValueHooks {
public:
    /// call_function, scope.call_function, function_NAME, scope.function_NAME. `block` is a handle
    /// for the host's call_proc; 0: none.
    virtual Value call_function(std::string_view name, std::span<const Value> args,
                                std::uint64_t block) = 0;
    /// The lambda that was passed to the Ruby function, called with `args`.
    virtual Value yield(std::uint64_t block, std::span<const Value> args) = 0;
    /// lookupvar, scope['x'], closure_scope['x']; nullopt: not set (Ruby sees nil; `include?`
    /// false).
    virtual std::optional<Value> variable(std::string_view name) = 0;
    virtual void set_variable(std::string_view name, const Value& value) = 0;
    virtual void log(base::Level level, std::string_view message) = 0;
    /// The same from a part of Ruby code that has a name of its own: a resource, a provider.
    virtual void log_from(base::Level level, std::string_view message, std::string_view) {
        log(level, message);
    }
    /// Everything rarer, by name: "variables" (a hash of all of the scope), "setting" [name],
    /// "find_file" [reference, folder], "tags", "all_tags", "classes", "class_name",
    /// "module_name", "environment", "source_place" ([file, line]), "resource" [reference],
    /// "known_resource_type" [name], "lookup" [..] .. The list stands in ruby/protocol.h.
    virtual Value request(std::string_view what, std::span<const Value> args,
                          base::Arena& arena) = 0;
    /// Where what Ruby asks with is read to. The compile may keep it after the call (a variable
    /// that a template changed, parameters of a resource that it declares), so this is the
    /// compile's own arena; nullptr: nothing is kept, the call's will do.
    virtual base::Arena* keeper() { return nullptr; }
};

/// Something that Ruby code has read. By kind, `name` is
///   "file"      the path of a file whose content was read (or was missing);
///   "exists"    a path that was looked at (File.exist?, stat, realpath ..);
///   "folder"    a path that was listed;
///   "glob"      the absolute pattern of a Dir.glob;
///   "code"      the path of a file of Ruby code, run now or before: a child loads it once;
///   "feature"   what `require` and its kin looked for in the load path ("a/b", without ending;
///               "a/b/*" for all files in it): candidates() gives the paths;
///   "variable"  a name of the environment; "*": all of them;
///   "fact", "trusted"  the dotted path of what was read of them; "": all;
///   "command"   a program that was run, with its arguments;
///   "clock", "random"  by which door;
///   "library"   a file that comes with Ruby, or stands in RUBYLIB, and was required;
///   "host"      something of this machine or its network;
///   "opaque"    what cannot be seen, and why.
/// Paths are absolute, as the code wrote them.
struct ReadNote {
    std::string kind, name;
    bool operator==(const ReadNote&) const = default;
};

/// One signature of a Ruby function, in Puppet's own type language.
struct Signature {
    struct Parameter {
        std::string type;  ///< "String[1]"
        std::string name;
        enum class Form : std::uint8_t { Required, Optional, Repeated, RequiredRepeated } form{};
    };
    std::string dispatch_name;  ///< the Ruby method
    std::vector<Parameter> parameters;
    std::string block_type;  ///< empty: takes no block
    std::string block_name;
    bool block_required = false;
    std::string return_type;  ///< empty: not declared
    bool mismatch = false;    ///< argument_mismatch
};

/// What is known of a Ruby function without calling it.
struct FunctionInfo {
    std::string name;
    std::string file;
    bool legacy = false;     ///< Puppet::Parser::Functions (3.x)
    bool statement = false;  ///< 3.x type :statement
    int arity = -1;          ///< 3.x
    bool internal = false;
    std::vector<Signature> signatures;                             ///< 4.x
    std::vector<std::pair<std::string, std::string>> local_types;  ///< "Name = Type" aliases
    std::string doc;
    std::vector<ReadNote> reads;  ///< while the file was loaded; itself too
};

/// What is known of a resource type written in Ruby.
struct TypeInfo {
    struct Attribute {
        std::string name;
        enum class Kind : std::uint8_t { Property, Parameter, Metaparameter } kind{};
        bool namevar = false;
        std::string doc;
        std::vector<std::string> values;    ///< "present", "present=installed"
        std::vector<std::string> patterns;  ///< as Ruby's inspect: "/^a/"
        bool array_matching_all = false;
        bool validates = false;  ///< has Ruby code that checks or munges
        std::string feature;
        std::string default_text;  ///< where it is a plain value
    };
    struct TitlePattern {
        std::string regexp;  ///< Ruby source
        std::uint32_t options = 0;
        std::vector<std::string> attributes;
        bool transforms = false;  ///< has Ruby code that changes the text
    };
    std::string name;
    std::string doc;
    std::string file;
    std::vector<Attribute> attributes;
    std::vector<TitlePattern> title_patterns;
    bool isomorphic = true;
    bool capability = false;
    std::vector<std::string> providers;
    std::vector<ReadNote> reads;  ///< while the file was loaded; itself too
};

/// A Puppet data type written in Ruby (Puppet::DataTypes.create_type).
struct DataTypeInfo {
    std::string name;
    std::string file;
    std::string interface_text;        ///< the Object type's init hash as Puppet text
    std::vector<std::string> methods;  ///< implemented in Ruby
    std::vector<ReadNote> reads;       ///< while the file was loaded; itself too
};

/// Bounds the children of many pools together: where a new one would be too many, the one that has
/// waited longest ends, whichever pool's it is. Those that work are bounded by who lets them work.
/// Thread-safe.
class WorkerLimit {
public:
    explicit WorkerLimit(std::size_t most);
    ~WorkerLimit();
    WorkerLimit(const WorkerLimit&) = delete;
    /// Children of all pools now.
    std::size_t children() const;

private:
    friend class Pool;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// As many as the machine has processors, and two at least.
std::size_t usual_children();

struct HostOptions {
    std::string program = "ruby";        ///< searched in PATH
    std::string library;                 ///< share/ruby; empty: the copy inside the binary
    std::vector<std::string> load_path;  ///< the lib folders of the environment and its modules
    std::string environment;
    std::string environment_directory;
    std::chrono::milliseconds timeout{60000};  ///< of one call from outside
    std::uint64_t memory_limit = 1ull << 30;   ///< address space of a child above its start
    /// Asked a few times a second while Ruby works: true ends the child. Unset: nobody asks.
    std::function<bool()> stop;
    int calls_before_restart = 100000;
    /// Children that wait for a compile: as many as there may be, and how long one waits.
    std::size_t most_idle = usual_children();
    std::chrono::milliseconds idle_for = std::chrono::minutes(10);
    std::shared_ptr<WorkerLimit> worker_limit;  ///< null: each pool by itself
    /// Puppet settings that Ruby code reads (Puppet[:confdir]).
    std::function<std::optional<std::string>(std::string_view)> setting;
    /// Where metadata of types is kept between runs, by content hash; empty: nowhere.
    std::string cache_directory;
    /// Where children keep share/ruby as this Ruby compiles it; empty: nowhere.
    std::string compiled;
    /// A folder that its children find elsewhere; nothing of it is in that cache.
    std::optional<base::PathMapping> moved;
};

/// With this user's folder for caches, and the share/ruby of BUNRAKU_RUBY_LIBRARY where it is set.
HostOptions usual_options();
/// What is kept lies below the setting ruby_cachedir instead, where there is one.
void keep_below(HostOptions& options, const std::optional<std::string>& ruby_cachedir);

/// Where a note "feature" was looked for: paths, and for "x/*" patterns, in their order.
std::vector<std::string> candidates(const HostOptions& options, std::string_view feature);

/// Where the time went, for --profile.
struct Profile {
    struct Entry {
        std::string name;  ///< "function postgresql::postgresql_password", "template a/b.erb"
        std::uint64_t calls = 0;
        std::int64_t nanoseconds = 0;
    };
    std::int64_t start_nanoseconds = 0;
    int starts = 0;
    std::vector<Entry> entries;  ///< the dearest first
};

/// One child process; one thread at a time.
class Host {
public:
    virtual ~Host() = default;

    /// What Ruby code kept for one compile (cache_param, messages said once) ends here; nobody
    /// hears of its reads any more.
    virtual void end_session() = 0;
    /// Hears, until the session ends, what Ruby code reads: each thing once for each function,
    /// backend or template, before the call that read it returns or throws. What a description that
    /// the Pool remembers was made from is told by its `reads`.
    virtual void on_read(std::function<void(const ReadNote&)> sink) = 0;

    virtual FunctionInfo load_function(const std::string& file, std::string_view name) = 0;
    /// `signature` indexes FunctionInfo::signatures; -1: a 3.x function (args as an array). Values
    /// of the answer live in `arena`.
    /// `block` is any number but 0 by which Callbacks::yield knows the lambda; `block_arity` its
    /// Proc#arity.
    virtual Value call_function(const FunctionInfo& function, int signature,
                                std::span<const Value> args, std::uint64_t block, int block_arity,
                                Callbacks& callbacks, base::Arena& arena) = 0;
    /// A block that Ruby passed to Callbacks::call_function.
    virtual Value call_proc(std::uint64_t handle, std::span<const Value> args,
                            base::Arena& arena) = 0;

    /// ERB of Puppet's template() and inline_template(): trim mode "-", instance variables as
    /// given, everything else asked by callbacks. `file` is "" for inline ones.
    virtual value::JoinedText render(std::string_view source, const std::string& file,
                                     std::span<const std::pair<std::string, Value>> variables,
                                     Callbacks& callbacks) = 0;

    virtual TypeInfo load_type(const std::string& file, std::string_view name) = 0;
    /// What a title of such a type names, by its patterns and their code: a hash of texts; undef
    /// where none matches.
    virtual Value parse_title(const std::string& file, std::string_view type,
                              std::string_view title, base::Arena& arena) = 0;
    /// The parameters as Ruby's own code leaves them (munge, validate, defaults): throws what
    /// validation raises.
    virtual Value check_resource(std::string_view type, std::string_view title,
                                 const Value& parameters, base::Arena& arena) = 0;
    virtual DataTypeInfo load_data_type(const std::string& file, std::string_view name) = 0;
    /// A method or derived attribute of an instance of such a type.
    virtual Value call_method(const DataTypeInfo& type, const Value& instance_data,
                              std::string_view method, std::span<const Value> args,
                              Callbacks& callbacks, base::Arena& arena) = 0;
    /// Loads files of code and libraries that calls would have loaded, had they been made.
    virtual void ready(std::span<const std::string> files) = 0;
    /// Asks a Hiera 3 backend. `request`: a hash of "backend", "key", "config" (hiera.yaml, symbols
    /// with their colon), "version" (of hiera.yaml), "override" and "resolution" (undef, "array",
    /// "hash" or a hash with "behavior"). Gives ["found", value], ["none"] or ["problem", text].
    virtual Value ask_hiera3(const Value& request, Callbacks& callbacks, base::Arena& arena) = 0;
    /// Something of a resource type at work on this machine: share/ruby/provider_host.rb names the
    /// verbs. Its objects live as long as the process: see `generation`.
    virtual Value manage(std::string_view verb, std::span<const Value> args, Callbacks& callbacks,
                         base::Arena& arena) = 0;
    /// Another number in each process that has been the child; -1 where none runs.
    virtual int generation() const = 0;
    /// What somebody keeps for as long as the process lives; null again in the next one.
    virtual std::shared_ptr<void>& memory() = 0;
    /// Custom facts: share/ruby/facts.rb names the verbs. What they ask of others ("fact" [query],
    /// "facts" []) goes to `callbacks`; so does "time_limit" [what, seconds] as one of them begins
    /// and ends, which is until when its answer is waited for.
    virtual Value facts(std::string_view verb, std::span<const Value> args, Callbacks& callbacks,
                        base::Arena& arena) = 0;
};

/// The children of one environment. Thread-safe.
class Pool {
public:
    explicit Pool(HostOptions options);
    ~Pool();

    /// Gives the host back when it dies.
    class Lease {
    public:
        Lease() = default;
        Lease(Lease&&) noexcept;
        Lease& operator=(Lease&&) noexcept;
        ~Lease();
        Host& operator*() const;
        Host* operator->() const;
        explicit operator bool() const { return host_ != nullptr; }

    private:
        friend class Pool;
        Lease(Pool* pool, std::unique_ptr<Host> host);
        Pool* pool_ = nullptr;
        std::unique_ptr<Host> host_;
    };
    /// An idle child or a new one. Throws where Ruby is missing ("... needs Ruby, ...").
    Lease take();

    /// From the disk cache where it has the file's content; else by a child.
    /// `via` spares taking a child where the caller has one.
    TypeInfo type_info(const std::string& file, std::string_view name, Host* via = nullptr);
    /// What a function's file defines; asked of a child once in the pool's life.
    const FunctionInfo& function_info(const std::string& file, std::string_view name,
                                      Host* via = nullptr);
    const DataTypeInfo& data_type_info(const std::string& file, std::string_view name,
                                       Host* via = nullptr);

    const HostOptions& options() const;
    Profile profile() const;
    /// Children that wait now.
    std::size_t idle() const;

private:
    friend class WorkerLimit;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::ruby
