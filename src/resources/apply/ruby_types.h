// SPDX-License-Identifier: Apache-2.0
// Types and providers that modules implement in Ruby. One child process holds their objects for the
// duration of a run (share/ruby/provider_host.rb is the other end). Each resource of such a type is
// a RubyResource here, which sends its requests to the child.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "language/ruby/host.h"
#include "resources/apply/module_releases.h"
#include "resources/apply/resource.h"

namespace bunraku::apply {

class RubyResource;

/// The cached description of a type.
struct RubyType {
    TypeSpec spec;
    std::string file;
    bool refreshes = false, self_refresh = false, generates = false, eval_generates = false;
    bool depth_first = false, pre_run_check = false;
};

/// Cached descriptions of types, for all catalogs that use the same files and children.
struct RubyTypesKnown {
    std::mutex mutex;
    base::Arena arena{4096};
    std::map<std::string, std::unique_ptr<const RubyType>, std::less<>> types;
    std::map<std::string, const ProviderClass*, std::less<>> providers;
    std::map<const ModuleType*, std::optional<int>> levels;
};

class RubyTypes {
public:
    using ProviderFiles = std::map<std::string, std::vector<std::string>, std::less<>>;
    struct Parts {
        /// Options for starting a child, with the time and memory limits of a run.
        ruby::HostOptions host;
        /// Returns the file of a type, by its name in lower case.
        std::function<std::optional<std::string>(std::string_view)> file_of;
        /// Returns the lib folders of modules and of the machine.
        std::function<std::vector<std::string>()> plugin_folders;
        /// Returns the files of providers in modules (lib/puppet/provider/TYPE/NAME.rb), by type.
        std::function<ProviderFiles()> provider_files;
        std::function<std::optional<std::string>(std::string_view)> setting;
        /// Called when Ruby code reads a fact.
        std::function<Value()> facts;
        /// True if values are text from a command line (`bunraku resource`), which a type may
        /// convert to numbers.
        bool from_command = false;
        /// Children that are reused from one catalog to the next. If null, the run starts its own
        /// child.
        std::shared_ptr<ruby::Pool> children;
        /// Results cached from earlier catalogs; may be null.
        std::shared_ptr<RubyTypesKnown> known;
    };
    /// `parts` is called when a run encounters the first type that is not built in.
    RubyTypes(Context& context, std::function<Parts()> parts);
    ~RubyTypes();
    RubyTypes(const RubyTypes&) = delete;
    RubyTypes& operator=(const RubyTypes&) = delete;

    /// Returns null if no module provides the type, or if Ruby is not available. Throws errors that
    /// the type's file raises.
    const RubyType* find(std::string_view name);
    /// Returns an uninitialised resource of such a type. Returns null where `find` does.
    std::unique_ptr<Resource> make(std::string_view name);
    const ProviderClass* provider(const RubyType& type, std::string_view name);
    /// For an uninitialised resource of a built-in type, returns the resource that replaces it if a
    /// module's provider applies. `wanted` is the name of the requested provider. If it is undef,
    /// this machine's default provider decides. Returns null if a built-in provider applies. Throws
    /// errors that the files raise.
    std::unique_ptr<Resource> instead_of(const Resource& native, const Value& wanted);

    std::vector<std::string> plugin_folders();
    /// Returns the file of a type in a module, or nullopt if no module provides it.
    std::optional<std::string> type_file(std::string_view name);
    /// Returns the files of providers that modules provide for a type.
    const std::vector<std::string>& provider_files(std::string_view type);
    /// Returns the code files that the child has run and those that this process has read, without
    /// those returned by earlier calls.
    std::vector<std::string> loaded_code();
    /// Returns the cached result of module_level.
    std::optional<int> level(const ModuleType& type);
    void add_read_file(std::string path) { read_files_.push_back(std::move(path)); }

    /// Passes a report to a module's report processor (puppet/reports/NAME.rb). Returns false if
    /// the processor does not exist or Ruby is not available. Throws errors that the processor
    /// raises.
    bool process_report(std::string_view name, const Value& report);

    /// Sends a request to the child. The response lives as long as the run. Throws
    /// base::PuppetError with the error that the code raised.
    Value ask(std::string_view verb, std::span<const Value> args);
    Value ask(std::string_view verb, std::initializer_list<Value> args) {
        return ask(verb, std::span<const Value>(args.begin(), args.size()));
    }

    // Resources by their numbers in the child. If Ruby returns a resource again, it gets a second
    // object here, which is ignored.
    void enter(int number, RubyResource* resource) { resources_.try_emplace(number, resource); }
    void leave(int number, const RubyResource* resource) {
        if (at(number) == resource) resources_.erase(number);
    }
    RubyResource* at(int number) const;
    /// Returns the automatic relations of a resource. The first call requests those of all
    /// resources at once.
    Value relations(int number);
    /// The catalog that code of types may read; null if there is none yet.
    RalCatalog* catalog = nullptr;
    /// Records a prefetch, which must be repeated in a new child if this one dies.
    void prefetched(const RubyType& type, std::string_view provider, std::vector<int> numbers);

private:
    class RubyTypeCallbacks;
    void open();
    bool started();
    void start();
    void revive();
    const RubyType* described(std::string_view key, std::string_view name, const std::string& file);
    RubyTypesKnown& known();
    bool default_is_ruby(const Resource& native, const std::vector<std::string>& files);

    Context& context_;
    std::function<Parts()> open_;
    Parts parts_;
    ruby::Pool::Lease host_;
    std::unique_ptr<RubyTypeCallbacks> callbacks_;
    bool missing_ = false;  ///< true if Ruby is not available
    int generation_ = 0;
    bool reviving_ = false;
    /// null if no module provides the type
    std::map<std::string, const RubyType*, std::less<>> types_;
    std::map<int, RubyResource*> resources_;
    std::map<int, Value> relations_;  ///< relations that no caller has requested yet
    std::shared_ptr<RubyTypesKnown> known_;
    std::vector<std::string> read_files_;
    std::optional<ProviderFiles> provider_files_;
    std::map<std::string, bool, std::less<>> ruby_defaults_;  ///< by type
    std::optional<Value> facts_;
    struct Prefetched {
        const RubyType* type;
        std::string provider;
        std::vector<int> numbers;
    };
    std::vector<Prefetched> prefetched_;
};

/// A resource of a Ruby type.
class RubyResource final : public Resource {
public:
    RubyResource(Context& context, RubyTypes& types, const RubyType& type)
        : Resource(context, type.spec), types_(types), type_(type) {}
    ~RubyResource() override;

    void initialize(ResourceData data) override;
    /// Initialises the resource from an object that Ruby code has created: its number and its
    /// current state.
    void adopt(std::string title, int number, const Value& provider, const Value& attributes);
    /// Recreates the object in a new child, with a new number.
    void remake();

    bool suitable() override;
    void run_validation() override;
    bool set_whole(const Attribute& a, const Value& v) override;
    void finish() override;
    void collect_auto_relations(std::vector<AutoRelation>& out) const override;
    void pre_run_check() override;
    void retrieve(CurrentValues& out) override;
    bool insync(Param& p, const Value& is) override;
    /// Ruby compares with its own values.
    bool knows_corrections(const Param&) const override { return false; }
    std::string is_text(const Param& p, const Value& is) const override;
    std::string should_text(const Param& p, const Value& should) const override;
    std::string change_text(const Param& p, const Value& is, const Value& should) const override;
    std::string event_name(const Param& p) const override;
    bool invalidates_refreshes(const Param& p) const override;
    void sync(Param& p) override;
    void flush() override;
    bool refreshable() const override { return type_.refreshes; }
    void refresh() override;
    bool self_refresh() const override { return type_.self_refresh; }
    bool generates() const override { return type_.generates; }
    std::vector<std::unique_ptr<Resource>> generate() override {
        return generate_in_child("generate");
    }
    bool eval_generates() const override { return type_.eval_generates; }
    std::vector<std::unique_ptr<Resource>> eval_generate() override {
        return generate_in_child("eval_generate");
    }
    bool depth_first() const override { return type_.depth_first; }
    void find_parent(const std::function<bool(std::string_view)>& is_parent) const override;
    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override;
    void prefetch(std::span<Resource* const> group) override;
    std::span<const ProviderClass* const> provider_classes() const override { return {}; }

    int number() const { return number_; }
    bool relates() const { return relates_; }
    /// Reports whether Ruby returned this value as a symbol in the last response.
    bool is_symbol(const Attribute& a, const Value& v) const;

private:
    Value ask(std::string_view verb, std::initializer_list<Value> more = {}) const;
    Value made() const;
    void take_state(const Value& provider, const Value& attributes);
    void make_from(ResourceData data);
    void audit_what_the_provider_has();
    Value texts(const Param& p) const;
    Value event(const Param& p) const;
    std::vector<std::unique_ptr<Resource>> generate_in_child(std::string_view verb);

    RubyTypes& types_;
    const RubyType& type_;
    int number_ = 0;
    std::vector<std::string> sensitive_;  ///< attributes that the catalog marks as sensitive
    CurrentValues current_;               ///< the most recently read values
    Value symbols_;                       ///< names of those values that are symbols
    bool remade_ = false;                 ///< true if the object was recreated in another child
    // True if the type has its own finish(), or its own automatic relations.
    bool finishes_ = true, relates_ = true;
};

}  // namespace bunraku::apply
