// Types and providers that modules bring in Ruby, at work on this machine: one child process holds
// their objects for the life of a run (share/ruby/provider_host.rb is the other end). Each resource
// of such a type is a RubyResource here, whose questions go there.
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

/// What is known of a type without asking again.
struct RubyType {
    TypeSpec spec;
    std::string file;
    bool refreshes = false, self_refresh = false, generates = false, eval_generates = false;
    bool depth_first = false, pre_run_check = false;
};

/// What is found out of types once, for all catalogs that the same files and children serve.
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
        /// How a child is started. Its limits of time and memory are a run's.
        ruby::HostOptions host;
        /// The file of a type, by its down-cased name.
        std::function<std::optional<std::string>(std::string_view)> file_of;
        /// The lib folders of modules, and the machine's own.
        std::function<std::vector<std::string>()> plugin_folders;
        /// The files of providers (lib/puppet/provider/TYPE/NAME.rb) that modules bring, by type.
        std::function<ProviderFiles()> provider_files;
        std::function<std::optional<std::string>(std::string_view)> setting;
        /// Asked when Ruby code looks at one.
        std::function<Value()> facts;
        /// Values are texts of a command line (`bunraku resource`): a type may make numbers of
        /// them.
        bool from_command = false;
        /// Whose children serve one catalog after the other; null: a child of its own.
        std::shared_ptr<ruby::Pool> children;
        /// What earlier catalogs found out; null: nothing is known.
        std::shared_ptr<RubyTypesKnown> known;
    };
    /// `parts` is asked when the first type that is not built in is met.
    RubyTypes(Context& context, std::function<Parts()> parts);
    ~RubyTypes();
    RubyTypes(const RubyTypes&) = delete;
    RubyTypes& operator=(const RubyTypes&) = delete;

    /// Null: no module brings a type of that name, or there is no Ruby. Throws what its file
    /// raises.
    const RubyType* find(std::string_view name);
    /// A resource of such a type, not initialised; null as `find`.
    std::unique_ptr<Resource> make(std::string_view name);
    const ProviderClass* provider(const RubyType& type, std::string_view name);
    /// For a resource of a built-in type (not initialised yet) for which `wanted`, or where that is
    /// undef the default of this machine, is a provider that a module brings: the resource to have
    /// in its place. Null: a built-in provider does it. Throws what the files raise.
    std::unique_ptr<Resource> instead_of(const Resource& native, const Value& wanted);

    std::vector<std::string> plugin_folders();
    /// The file of a type that a module brings; nullopt: none does.
    std::optional<std::string> type_file(std::string_view name);
    /// Those of providers that modules bring for a type.
    const std::vector<std::string>& provider_files(std::string_view type);
    /// Files of code that the child has run and of those that were looked at here, what was told
    /// before left out.
    std::vector<std::string> loaded_code();
    /// module_level, found out once.
    std::optional<int> level(const ModuleType& type);
    void looked_at(std::string path) { looked_at_.push_back(std::move(path)); }

    /// Gives a report to the processor of that name that a module brings (puppet/reports/NAME.rb);
    /// false: there is none, or no Ruby. Throws what it raises.
    bool process_report(std::string_view name, const Value& report);

    /// Asks the child; answers live as long as the run. Throws base::PuppetError with what the code
    /// raised.
    Value ask(std::string_view verb, std::span<const Value> args);
    Value ask(std::string_view verb, std::initializer_list<Value> args) {
        return ask(verb, std::span<const Value>(args.begin(), args.size()));
    }

    // Resources, by the numbers that they have in the child.
    // One that Ruby gives again is another object here, which does not count.
    void enter(int number, RubyResource* resource) { resources_.try_emplace(number, resource); }
    void leave(int number, const RubyResource* resource) {
        if (at(number) == resource) resources_.erase(number);
    }
    RubyResource* at(int number) const;
    /// What a resource's autorelations are; those of all that are there are asked for at once.
    Value relations(int number);
    /// The catalog that code of types may look into; null: none yet.
    RalCatalog* catalog = nullptr;
    /// What a child that takes over from one that died has to be told again.
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
    bool missing_ = false;  ///< there is no Ruby
    int generation_ = 0;
    bool reviving_ = false;
    std::map<std::string, const RubyType*, std::less<>> types_;  ///< null: no module brings it
    std::map<int, RubyResource*> resources_;
    std::map<int, Value> relations_;  ///< those that nobody has asked for so far
    std::shared_ptr<RubyTypesKnown> known_;
    std::vector<std::string> looked_at_;
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

/// One resource of a type in Ruby.
class RubyResource final : public Resource {
public:
    RubyResource(Context& context, RubyTypes& types, const RubyType& type)
        : Resource(context, type.spec), types_(types), type_(type) {}
    ~RubyResource() override;

    void initialize(ResourceData data) override;
    /// One that Ruby code has made: its number and what it is now.
    void adopt(std::string title, int number, const Value& provider, const Value& attributes);
    /// In a new child: made again, under a new number.
    void remake();

    bool suitable() override;
    void run_validation() override;
    bool set_whole(const Attribute& a, const Value& v) override;
    void finish() override;
    void collect_auto_relations(std::vector<AutoRelation>& out) const override;
    void pre_run_check() override;
    void retrieve(CurrentValues& out) override;
    bool insync(Param& p, const Value& is) override;
    /// Ruby compares with values of its own.
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
    std::vector<std::unique_ptr<Resource>> generate() override { return made_by("generate"); }
    bool eval_generates() const override { return type_.eval_generates; }
    std::vector<std::unique_ptr<Resource>> eval_generate() override {
        return made_by("eval_generate");
    }
    bool depth_first() const override { return type_.depth_first; }
    std::vector<std::string> ancestors() const override;
    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override;
    void prefetch(std::span<Resource* const> group) override;
    std::span<const ProviderClass* const> provider_classes() const override { return {}; }

    int number() const { return number_; }
    bool relates() const { return relates_; }
    /// Whether Ruby gave this value, when it was asked last, as a symbol.
    bool is_symbol(const Attribute& a, const Value& v) const;

private:
    Value ask(std::string_view verb, std::initializer_list<Value> more = {}) const;
    Value made() const;
    void take_state(const Value& provider, const Value& attributes);
    void make_from(ResourceData data);
    void audit_what_the_provider_has();
    Value texts(const Param& p) const;
    Value event(const Param& p) const;
    std::vector<std::unique_ptr<Resource>> made_by(std::string_view verb);

    RubyTypes& types_;
    const RubyType& type_;
    int number_ = 0;
    std::vector<std::string> sensitive_;  ///< what the catalog says is
    CurrentValues current_;               ///< as it was read last
    Value symbols_;                       ///< names of those of them that are symbols
    bool remade_ = false;                 ///< in another child since
    // Whether the type has something of its own for them.
    bool finishes_ = true, relates_ = true;
};

}  // namespace bunraku::apply
