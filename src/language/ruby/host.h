// SPDX-License-Identifier: Apache-2.0
// Runs the Ruby code of modules in a separate process (DESIGN.md decision 6).
//
// A Pool belongs to one environment and owns its children. A compile takes a Host from the pool
// when it first needs one, and returns it at its end. While Ruby runs it may call back (Callbacks),
// nested to any depth that Puppet and Ruby calls require. All errors are base::PuppetError, in
// Puppet's words.
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

/// Returns the handle of a block that Ruby passed to Callbacks::call_function. Host::call_proc
/// accepts it during that call. The handle contains Ruby's Proc#arity.
constexpr std::uint64_t proc_handle(std::uint64_t id, int arity) {
    return id << 8 | static_cast<std::uint8_t>(arity);
}
constexpr int proc_arity(std::uint64_t handle) { return static_cast<std::int8_t>(handle & 0xff); }

/// Thrown out of Callbacks::yield and call_function when a break, return or next of the language
/// must leave the Ruby code. It unwinds Ruby (as a StopIteration) and then leaves
/// Host::call_function unchanged.
struct Unwind {};

/// The requests of Ruby code to the compile that called it. A PuppetError thrown here is raised in
/// Ruby as Puppet::Error, which Ruby may rescue. If Ruby does not rescue it, the caller gets the
/// same exception. template/ruby_session.h has the implementation for a compile.
class Callbacks : public ValueHooks {
public:
    /// Implements call_function, scope.call_function, function_NAME and scope.function_NAME.
    /// `block` is a handle for the host's call_proc; 0 means no block.
    virtual Value call_function(std::string_view name, std::span<const Value> args,
                                std::uint64_t block) = 0;
    /// Calls the lambda that was passed to the Ruby function.
    virtual Value yield(std::uint64_t block, std::span<const Value> args) = 0;
    /// Implements lookupvar, scope['x'] and closure_scope['x']. Returns nullopt if the variable is
    /// not set (Ruby then sees nil, and `include?` is false).
    virtual std::optional<Value> variable(std::string_view name) = 0;
    virtual void set_variable(std::string_view name, const Value& value) = 0;
    virtual void log(base::Level level, std::string_view message) = 0;
    /// Logs a message of a named part of Ruby code, such as a resource or a provider.
    virtual void log_from(base::Level level, std::string_view message, std::string_view) {
        log(level, message);
    }
    /// Answers all other requests, by name: "variables" (a hash of the whole scope), "setting"
    /// [name], "find_file" [reference, folder], "tags", "all_tags", "classes", "class_name",
    /// "module_name", "environment", "source_place" ([file, line]), "resource" [reference],
    /// "known_resource_type" [name], "lookup" [..] and others. ruby/protocol.h has the complete
    /// list.
    virtual Value request(std::string_view what, std::span<const Value> args,
                          base::Arena& arena) = 0;
    /// Returns the arena for the arguments of requests. The compile may use them after the call (a
    /// variable that a template changed, parameters of a declared resource), so this is the
    /// compile's arena. Returns nullptr if the arena of the call is sufficient.
    virtual base::Arena* keeper() { return nullptr; }
};

/// A read by Ruby code. The meaning of `name` depends on the kind:
///   "file"      a path whose content was read (or that was missing);
///   "exists"    a path that was examined (File.exist?, stat, realpath ..);
///   "folder"    a path that was listed;
///   "glob"      the absolute pattern of a Dir.glob;
///   "code"      the path of a Ruby file, run now or before (a child loads it once);
///   "feature"   a name that `require` or a similar method searched in the load path ("a/b",
///               without an extension; "a/b/*" for all files in it); see candidates();
///   "variable"  a name of the environment; "*" means all of them;
///   "fact", "trusted"  the dotted path that was read of them; "" means all;
///   "command"   a program that was run, with its arguments;
///   "clock", "random"  the method that read it;
///   "library"   a required file that belongs to Ruby or is in RUBYLIB;
///   "host"      information about this machine or its network;
///   "opaque"    the reason why a read cannot be tracked.
/// Paths are absolute and as the code wrote them.
struct ReadNote {
    std::string kind, name;
    bool operator==(const ReadNote&) const = default;
};

/// One signature of a Ruby function, in Puppet's type language.
struct Signature {
    struct Parameter {
        std::string type;  ///< "String[1]"
        std::string name;
        enum class Form : std::uint8_t { Required, Optional, Repeated, RequiredRepeated } form{};
    };
    std::string dispatch_name;  ///< Name of the Ruby method.
    std::vector<Parameter> parameters;
    std::string block_type;  ///< Empty if the function takes no block.
    std::string block_name;
    bool block_required = false;
    std::string return_type;  ///< Empty if not declared.
    bool mismatch = false;    ///< True for argument_mismatch.
};

/// A description of a Ruby function, available without a call.
struct FunctionInfo {
    std::string name;
    std::string file;
    bool legacy = false;     ///< Puppet::Parser::Functions (3.x).
    bool statement = false;  ///< 3.x type :statement.
    int arity = -1;          ///< 3.x
    bool internal = false;
    std::vector<Signature> signatures;                             ///< 4.x.
    std::vector<std::pair<std::string, std::string>> local_types;  ///< Aliases "Name = Type".
    std::string doc;
    std::vector<ReadNote> reads;  ///< Reads while the file was loaded, including the file itself.
};

/// A description of a resource type written in Ruby.
struct TypeInfo {
    struct Attribute {
        std::string name;
        enum class Kind : std::uint8_t { Property, Parameter, Metaparameter } kind{};
        bool namevar = false;
        std::string doc;
        std::vector<std::string> values;    ///< "present", "present=installed"
        std::vector<std::string> patterns;  ///< As printed by Ruby's inspect: "/^a/".
        bool array_matching_all = false;
        bool validates = false;  ///< True if it has Ruby code that validates or munges.
        std::string feature;
        std::string default_text;  ///< Set if the default is a plain value.
    };
    struct TitlePattern {
        std::string regexp;  ///< Ruby source.
        std::uint32_t options = 0;
        std::vector<std::string> attributes;
        bool transforms = false;  ///< True if it has Ruby code that changes the text.
    };
    std::string name;
    std::string doc;
    std::string file;
    std::vector<Attribute> attributes;
    std::vector<TitlePattern> title_patterns;
    bool isomorphic = true;
    bool capability = false;
    std::vector<std::string> providers;
    std::vector<ReadNote> reads;  ///< Reads while the file was loaded, including the file itself.
};

/// A Puppet data type written in Ruby (Puppet::DataTypes.create_type).
struct DataTypeInfo {
    std::string name;
    std::string file;
    std::string interface_text;        ///< The Object type's init hash, as Puppet text.
    std::vector<std::string> methods;  ///< Methods that are implemented in Ruby.
    /// Reads while the file was loaded, including the file itself.
    std::vector<ReadNote> reads;
};

/// A limit on the number of children of several pools. If a new child exceeds the limit, the one
/// that was idle longest ends, in whichever pool it is. The limit does not apply to working
/// children; the number of concurrent compiles limits these. Thread-safe.
class WorkerLimit {
public:
    explicit WorkerLimit(std::size_t most);
    ~WorkerLimit();
    WorkerLimit(const WorkerLimit&) = delete;
    /// Returns the current number of children of all pools.
    std::size_t children() const;

private:
    friend class Pool;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Returns the number of the machine's processors, but at least two.
std::size_t usual_children();

struct HostOptions {
    std::string program = "ruby";  ///< Searched in PATH.
    /// Path of share/ruby; if empty, the copy in the binary is used.
    std::string library;
    std::vector<std::string> load_path;  ///< The lib folders of the environment and its modules.
    std::string environment;
    std::string environment_directory;
    std::chrono::milliseconds timeout{60000};  ///< For one call from outside.
    /// Address space that a child may use beyond its size at start.
    std::uint64_t memory_limit = 1ull << 30;
    /// Polled a few times a second while Ruby works; true ends the child. May be empty.
    std::function<bool()> stop;
    int calls_before_restart = 100000;
    /// Maximum number of idle children, and how long a child may be idle.
    std::size_t most_idle = usual_children();
    std::chrono::milliseconds idle_for = std::chrono::minutes(10);
    std::shared_ptr<WorkerLimit> worker_limit;  ///< If null, the pool has its own limit.
    /// Returns Puppet settings that Ruby code reads (Puppet[:confdir]).
    std::function<std::optional<std::string>(std::string_view)> setting;
    /// Cache folder for metadata of types, by content hash; if empty, nothing is cached on disk.
    std::string cache_directory;
    /// Folder for the bytecode of share/ruby compiled by this Ruby; if empty, none is stored.
    std::string compiled;
    /// A folder that is at another path for the children.
    std::optional<base::PathMapping> moved;
};

/// Returns options with this user's cache folders. The library is the share/ruby of
/// BUNRAKU_RUBY_LIBRARY if that is set.
HostOptions usual_options();
/// Puts the cache folders below the setting ruby_cachedir, if it is set.
void keep_below(HostOptions& options, const std::optional<std::string>& ruby_cachedir);

/// Returns the paths that a "feature" read examined, in order; patterns for "x/*".
std::vector<std::string> candidates(const HostOptions& options, std::string_view feature);

/// Times for --profile.
struct Profile {
    struct Entry {
        std::string name;  ///< "function postgresql::postgresql_password", "template a/b.erb"
        std::uint64_t calls = 0;
        std::int64_t nanoseconds = 0;
    };
    std::int64_t start_nanoseconds = 0;
    int starts = 0;
    std::vector<Entry> entries;  ///< Longest time first.
};

/// One child process. Only one thread may use it at a time.
class Host {
public:
    virtual ~Host() = default;

    /// Ends a compile: drops the state that Ruby code stored for it (cache_param, messages logged
    /// once) and reports no further reads.
    virtual void end_session() = 0;
    /// Sets the sink for reads of Ruby code, until the session ends. Each read is reported once per
    /// function, backend or template, before the call that made it returns or throws. The reads of
    /// a description that the Pool caches are in its `reads`.
    virtual void on_read(std::function<void(const ReadNote&)> sink) = 0;

    virtual FunctionInfo load_function(const std::string& file, std::string_view name) = 0;
    /// Calls a function. `signature` is an index of FunctionInfo::signatures; -1 means a 3.x
    /// function (args as an array). Values of the result are in `arena`. `block` is any number
    /// except 0 that identifies the lambda for Callbacks::yield. `block_arity` is its Proc#arity.
    virtual Value call_function(const FunctionInfo& function, int signature,
                                std::span<const Value> args, std::uint64_t block, int block_arity,
                                Callbacks& callbacks, base::Arena& arena) = 0;
    /// Calls a block that Ruby passed to Callbacks::call_function.
    virtual Value call_proc(std::uint64_t handle, std::span<const Value> args,
                            base::Arena& arena) = 0;

    /// Renders ERB like Puppet's template() and inline_template(): trim mode "-" and the given
    /// instance variables. The template gets everything else by callbacks. `file` is "" for inline
    /// templates.
    virtual value::JoinedText render(std::string_view source, const std::string& file,
                                     std::span<const std::pair<std::string, Value>> variables,
                                     Callbacks& callbacks) = 0;

    virtual TypeInfo load_type(const std::string& file, std::string_view name) = 0;
    /// Splits a title by the type's title patterns and their code. Returns a hash of texts; undef
    /// if no pattern matches.
    virtual Value parse_title(const std::string& file, std::string_view type,
                              std::string_view title, base::Arena& arena) = 0;
    /// Returns the parameters after munge, validate and defaults of the type's Ruby code. Throws
    /// the errors of the validation.
    virtual Value check_resource(std::string_view type, std::string_view title,
                                 const Value& parameters, base::Arena& arena) = 0;
    virtual DataTypeInfo load_data_type(const std::string& file, std::string_view name) = 0;
    /// Calls a method or derived attribute of an instance of such a type.
    virtual Value call_method(const DataTypeInfo& type, const Value& instance_data,
                              std::string_view method, std::span<const Value> args,
                              Callbacks& callbacks, base::Arena& arena) = 0;
    /// Loads the files and libraries that calls would have loaded if memos had not replaced them.
    virtual void ready(std::span<const std::string> files) = 0;
    /// Calls a Hiera 3 backend. `request` is a hash of "backend", "key", "config" (hiera.yaml,
    /// symbols with their colon), "version" (of hiera.yaml), "override" and "resolution" (undef,
    /// "array", "hash" or a hash with "behavior"). Returns ["found", value], ["none"] or
    /// ["problem", text].
    virtual Value ask_hiera3(const Value& request, Callbacks& callbacks, base::Arena& arena) = 0;
    /// Runs an operation of a resource type on this machine. share/ruby/provider_host.rb lists the
    /// verbs. Its objects live as long as the process; see `generation`.
    virtual Value manage(std::string_view verb, std::span<const Value> args, Callbacks& callbacks,
                         base::Arena& arena) = 0;
    /// Returns a number that is different for each process that this child has been; -1 if none
    /// runs.
    virtual int generation() const = 0;
    /// Returns a slot for data of the caller that is reset to null when the process is replaced.
    virtual std::shared_ptr<void>& memory() = 0;
    /// Runs an operation of custom facts; share/ruby/facts.rb lists the verbs. Their requests
    /// ("fact" [query], "facts" []) go to `callbacks`. "time_limit" [what, seconds] is called when
    /// a fact begins and ends, and sets how long the call may take.
    virtual Value facts(std::string_view verb, std::span<const Value> args, Callbacks& callbacks,
                        base::Arena& arena) = 0;
};

/// The children of one environment. Thread-safe.
class Pool {
public:
    explicit Pool(HostOptions options);
    ~Pool();

    /// Returns the host to the pool in its destructor.
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
    /// Returns an idle child or a new one. Throws if Ruby is missing ("... needs Ruby, ...").
    Lease take();

    /// Returns the description from the disk cache if the file's content matches; otherwise from a
    /// child. `via` is a child that the caller already has; null takes one from the pool.
    TypeInfo type_info(const std::string& file, std::string_view name, Host* via = nullptr);
    /// Returns the description of a function's file. A child reads it once in the pool's lifetime.
    const FunctionInfo& function_info(const std::string& file, std::string_view name,
                                      Host* via = nullptr);
    const DataTypeInfo& data_type_info(const std::string& file, std::string_view name,
                                       Host* via = nullptr);

    const HostOptions& options() const;
    Profile profile() const;
    /// Returns the number of idle children.
    std::size_t idle() const;

private:
    friend class WorkerLimit;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::ruby
