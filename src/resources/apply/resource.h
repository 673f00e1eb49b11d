// A resource in the shape in which it is applied: attributes munged and validated, and the
// behaviour of its type. One subclass a type stands in providers/<type>/.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/lifetime.h"
#include "resources/apply/context.h"
#include "resources/apply/provider.h"
#include "resources/restype/spec.h"

namespace bunraku::apply {

using restype::Attribute;
using restype::AttributeKind;
using restype::TypeSpec;

class RalCatalog;
class Resource;
struct Event;
struct ResourceStatus;

/// Length and three letters: tells the attributes of a type apart without reading their names.
constexpr std::uint32_t name_key(std::string_view name) {
    if (name.empty()) return 0;
    const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(name[i] & 0x7f); };
    return static_cast<std::uint32_t>(name.size()) << 21 ^ at(0) << 14 ^ at(name.size() / 2) << 7 ^
           at(name.size() - 1);
}

/// An attribute that was given or has a default.
struct Param {
    explicit Param(const Attribute& a) : spec(&a), key(name_key(a.name)) {}
    const Attribute* spec;
    Value value;                    ///< parameters: the munged value
    std::span<const Value> should;  ///< properties: the munged values
    std::span<const Value> given;   ///< properties: before munging
    std::uint32_t key;              ///< of the name
    bool has_should = false;        ///< false: a property that is only read (audit)
    bool sensitive = false;
    bool deferred = false;  ///< value is still a Deferred
    bool shared = false;    ///< a default that other resources have as well: never changed

    std::string_view name() const { return spec->name; }
    bool is_property() const { return spec->kind == AttributeKind::Property; }
};

/// What `retrieve` found, in the order of the properties. undef: nothing was found out.
class CurrentValues {
public:
    void reserve(std::size_t n) { values_.reserve(n); }
    void set(const Attribute* attribute, const Value& v);
    const Value* find(std::string_view name) const BUNRAKU_LIFETIMEBOUND;
    Value get(std::string_view name) const {
        const Value* v = find(name);
        return v ? *v : Value::undef();
    }
    bool present() const { return !is_absent(get("ensure")); }
    const std::vector<std::pair<const Attribute*, Value>>& all() const { return values_; }

private:
    std::vector<std::pair<const Attribute*, Value>> values_;
};

enum class Relation : std::uint8_t { Require, Subscribe, Before, Notify };

/// A reference to a resource, as relationship metaparameters hold it.
struct Reference {
    std::string type, title;
    std::string text() const { return type + "[" + title + "]"; }
};

/// An automatic relation that a type asks for: it comes about where the resource is managed.
struct AutoRelation {
    Relation kind;
    std::string_view type;  ///< down-cased
    std::string title;
};

/// Everything a resource is made from. Texts that it points to are needed until it is made.
struct ResourceData {
    std::string title;
    std::vector<std::pair<std::string_view, Value>> parameters;
    std::vector<std::string> sensitive;  ///< names of attributes
    std::span<const std::string> tags;
    std::string_view file;
    int line = 0;
    bool exported = false, virtual_ = false;
};

class Resource {
public:
    Resource(Context& context, const TypeSpec& spec);
    virtual ~Resource();
    Resource(const Resource&) = delete;
    Resource& operator=(const Resource&) = delete;

    /// Sets, defaults and validates everything; throws base::PuppetError with Puppet's texts.
    virtual void initialize(ResourceData data);

    const TypeSpec& spec() const { return spec_; }
    Context& context() const { return context_; }
    std::string_view type_name() const { return spec_.name; }
    const std::string& title() const { return title_; }
    virtual std::string ref() const;
    /// What logs call it where no path is wanted: the ref, or a whit's plain name.
    virtual std::string to_s() const { return ref(); }
    /// "/Stage[main]/Main/File[/x]"; what it was when it was first asked for.
    const std::string& path() const;
    /// As it is now.
    std::string current_path() const;
    virtual std::vector<std::string> path_elements() const;
    std::string name() const;
    const std::string& file() const { return *file_; }
    int line() const { return line_; }
    bool is_virtual() const { return virtual_; }
    bool exported() const { return exported_; }
    const std::vector<std::string>& tags() const { return own_tags_ ? *own_tags_ : *tags_; }
    void add_tag(std::string_view tag);
    void add_tag_if_valid(std::string_view tag);
    void set_tags(std::span<const std::string> tags) {
        tags_ = &context_.shared(tags);
        own_tags_.reset();
    }
    /// No more are going to be added: others may have the same list.
    void share_tags() {
        if (own_tags_) set_tags(*std::exchange(own_tags_, nullptr));
    }
    bool tagged(const std::vector<std::string>& wanted) const;

    // Attributes.
    Param* find(std::string_view name) { return param_named(name); }
    const Param* find(std::string_view name) const { return param_named(name); }
    /// `resource[name]`: the value of a parameter, the desired value of a property; undef: none.
    Value get(std::string_view name) const;
    /// Whether an attribute has a value; a property that is only audited has none.
    bool has(std::string_view name) const { return !get(name).is_undef(); }
    std::string text(std::string_view name) const;
    /// True for `true` in any spelling.
    bool flag(std::string_view name) const;
    /// The desired value of a property: the first, or all of an array; undef: none.
    Value should(const Param& p) const;
    Value should(std::string_view name) const;
    /// Sets with validation; errors read "Parameter NAME failed on REF: ...".
    void set(std::string_view name, const Value& v);
    /// A property without desired value: it will be read.
    Param* watch(std::string_view name);
    void erase(std::string_view name);
    std::span<const Param* const> params() const { return params_; }
    /// Properties in the order of the type, `ensure` first.
    std::vector<Param*> properties();
    std::span<const std::pair<std::string_view, Value>> original_parameters() const {
        return original_;
    }
    std::span<const Reference> relations(Relation kind) const {
        if (!relations_) return {};
        return (*relations_)[static_cast<std::size_t>(kind)];
    }
    void add_relation(Relation kind, Reference reference) {
        relations_of(kind).push_back(std::move(reference));
    }
    bool noop() const;
    std::optional<bool> noop_parameter() const { return noop_; }
    void set_noop(bool on) { noop_ = on; }
    Level loglevel() const { return loglevel_; }
    bool managed() const;
    bool deleting() const;
    /// Resolves Deferred values; true where there were any.
    bool resolve_deferred();
    virtual void run_validation();

    /// The texts that no message about this resource may show; null: there are none.
    const Secrets* secrets() const { return secrets_.get(); }
    /// Returns a text about this resource as it may be shown.
    std::string redact(std::string text) const {
        return context_.redact(std::move(text), secrets_.get());
    }
    /// Whether a value shows a secret; what a type makes of one does, too.
    bool reveals(const Value& v) const;

    // Logging.
    /// What a property says itself is tagged with its name as well; an event is not.
    enum class Tags : std::uint8_t { OfResource, OfProperty };
    void log(Level level, std::string text, const Param* about = nullptr,
             Tags tags = Tags::OfProperty) const;
    void debug(std::string text) const { log(Level::Debug, std::move(text)); }
    void info(std::string text) const { log(Level::Info, std::move(text)); }
    void notice(std::string text) const { log(Level::Notice, std::move(text)); }
    void warning(std::string text) const { log(Level::Warning, std::move(text)); }
    void err(std::string text) const { log(Level::Err, std::move(text)); }
    bool debugging() const { return context_.enabled(Level::Debug); }
    /// Puppet::Util::Errors#fail.
    [[noreturn]] void fail(std::string text) const;
    /// What Puppet makes of an error in a munge block that is none of its own.
    [[noreturn]] static void munging_failed(const Attribute& a, const Value& v,
                                            std::string_view text);

    // Providers.
    /// Those of the type that are built in: one file each in providers/<type>/.
    virtual std::span<const ProviderClass* const> provider_classes() const;
    /// Names of others that Puppet has, blanks between: they are known, but never suitable here.
    virtual std::string_view foreign_providers() const { return {}; }
    /// The class that applies where none is asked for; null: none is suitable.
    const ProviderClass* default_provider() const;
    const ProviderClass* provider() const { return provider_; }
    std::string_view provider_name() const { return provider_ ? provider_->name : ""; }
    bool has_feature(std::string_view feature) const {
        return provider_ && provider_->has_feature(feature);
    }
    virtual bool suitable();
    /// "Exec[x](provider=posix)": what a provider's own messages begin with.
    std::string provider_source() const;
    void provider_log(Level level, std::string text) const;
    void provider_debug(std::string text) const { provider_log(Level::Debug, std::move(text)); }

    // What a type says; the defaults are Puppet::Type's.

    /// May throw base::PuppetError, whose text `set` wraps.
    virtual void validate_value(const Attribute& a, const Value& v);
    virtual Value munge(const Attribute& a, const Value& v);
    /// How many lines a value may have, so that it adds no entry to the file it is written to.
    enum class Lines : std::uint8_t { Any, One, Continued };
    /// Returns the limit for a munged value of `a`; `Continued` asks for a blank after a newline.
    virtual Lines lines_allowed(const Attribute&) const { return Lines::Any; }
    /// Given for one property or parameter as a whole, before single values; false: not handled.
    virtual bool set_whole(const Attribute& a, const Value& v);
    virtual Value default_for(const Attribute& a);
    /// True where that is the same for all resources of a run: parameters are then made once.
    virtual bool shares_defaults() const { return false; }
    virtual void validate() {}
    virtual void after_initialize() {}
    virtual void finish() {}
    /// Calls finish(); a secret in its error is hidden.
    void finish_redacted() {
        hiding_secrets([&] { finish(); });
    }
    virtual void collect_auto_relations(std::vector<AutoRelation>& out) const;
    virtual void pre_run_check() {}
    /// Marks what is to be redacted; may swallow names.
    virtual void set_sensitive(std::vector<std::string> names);

    /// Reads every property that is set or watched.
    virtual void retrieve(CurrentValues& out);
    virtual Value retrieve_property(const Param& p);
    virtual bool needs_ensure_retrieved() const { return true; }
    virtual bool present(const CurrentValues& current) const { return current.present(); }
    virtual bool insync(Param& p, const Value& is);
    /// Whether insync() may be asked with other values in `p.should`, and a change means something:
    /// not of what changes in each run.
    virtual bool knows_corrections(const Param& p) const;
    virtual Value should_value(const Param& p) const;
    /// The desired value as reports have it.
    virtual Value reported_should(const Param&, const Value& should) const { return should; }
    virtual std::string is_text(const Param& p, const Value& is) const;
    virtual std::string should_text(const Param& p, const Value& should) const;
    virtual std::string change_text(const Param& p, const Value& is, const Value& should) const;
    virtual std::string event_name(const Param& p) const;
    virtual bool idempotent(const Param&) const { return true; }
    virtual bool invalidates_refreshes(const Param&) const { return false; }
    /// Makes the desired value of one property real; throws on failure.
    virtual void sync(Param& p);
    virtual void flush() {}

    virtual bool refreshable() const { return false; }
    virtual void refresh() {}
    virtual bool self_refresh() const { return false; }
    virtual bool generates() const { return false; }
    virtual std::vector<std::unique_ptr<Resource>> generate() { return {}; }
    virtual bool eval_generates() const { return false; }
    virtual std::vector<std::unique_ptr<Resource>> eval_generate() { return {}; }
    virtual bool depth_first() const { return false; }
    /// Returns the folder below which no link is followed to this resource; empty: links are.
    virtual std::string link_free_below() const { return {}; }
    /// Names of what this one may stand below, nearest first.
    virtual std::vector<std::string> ancestors() const { return {}; }
    /// All resources of the type on the machine, `ensure` present. Asked on any instance.
    virtual bool can_list() const { return false; }
    virtual std::vector<std::unique_ptr<Resource>> instances() { return {}; }
    /// Reads the state of all resources of one provider at once.
    virtual void prefetch(std::span<Resource* const>) {}

    bool is_whit() const { return kind_ == Kind::Whit; }
    bool is_component() const { return kind_ == Kind::Component; }
    bool is_container() const { return kind_ == Kind::Component || kind_ == Kind::Stage; }

    // Places in the structures of a run; kept here so that no run needs maps by resource.
    RalCatalog* catalog = nullptr;
    std::vector<Resource*> parents, children;  ///< containment
    Resource* parent() const { return parents.empty() ? nullptr : parents.front(); }
    int vertex = -1;  ///< in the relationship graph
    ResourceStatus* status = nullptr;
    bool purging = false;

protected:
    enum class Kind : std::uint8_t { Ordinary, Whit, Component, Stage } kind_ = Kind::Ordinary;
    /// Makes a value a secret of this resource and of the run.
    void keep_secret(const Value& v);
    /// Makes secrets of what `data` calls sensitive. Has to come before anything is validated.
    void keep_secrets(const ResourceData& data);
    /// Runs `f`; a secret in an error is hidden.
    template <class F>
    void hiding_secrets(const F& f) {
        const SecretsScope scope(context_, secrets_.get());
        try {
            f();
        } catch (const base::PuppetError& e) {
            throw_redacted(e);
        }
    }
    [[noreturn]] void throw_redacted(const base::PuppetError& e) const;
    /// All of it but what is sensitive.
    void take(ResourceData& data);
    void set_all(ResourceData data);
    void place(const ResourceData& data);
    void set_title(std::string title) { title_ = std::move(title); }
    Param& param_slot(const Attribute& a);
    void set_value(const Attribute& a, const Value& v);
    void set_default(const Attribute& a, TypePlan& plan);
    void use_provider(std::string_view name);
    /// A new resource of the same type in the same catalog, not yet initialised.
    std::unique_ptr<Resource> make_sibling() const;

    Context& context_;
    const TypeSpec& spec_;
    const ProviderClass* provider_ = nullptr;

    /// Nearly all that is asked for and not there can be seen from one bit.
    static constexpr std::uint64_t bit_of(std::uint32_t key) {
        return std::uint64_t{1} << (key * 0x9e3779b1U >> 26);
    }
    Param* param_named(std::string_view name) const {
        const std::uint32_t key = name_key(name);
        if ((names_ & bit_of(key)) == 0) return nullptr;
        for (Param* p : params_) {
            if (p->key == key && p->spec->name == name) return p;
        }
        return nullptr;
    }
    Param* param_of(const Attribute& a) const;
    void enter(Param& p) {
        params_.push_back(&p);
        names_ |= bit_of(p.key);
    }
    TypePlan& plan() const;
    std::vector<Reference>& relations_of(Relation kind);
    /// `set`, where the attribute is known.
    void set_attribute(const Attribute& a, const Value& v);
    bool set_metaparameter(const Attribute& a, const Value& v);
    /// Throws if a munged value has more lines than lines_allowed().
    void check_lines(const Attribute& a, const Value& v) const;
    const Attribute* attribute(std::string_view name) const;
    std::string title_;
    const std::string* file_ = nullptr;  ///< in the context, as the tags
    const std::vector<std::string>* tags_ = nullptr;
    std::unique_ptr<std::vector<std::string>> own_tags_;  ///< in their place
    int line_ = 0;
    bool exported_ = false, virtual_ = false;
    std::optional<bool> noop_;
    Level loglevel_ = Level::Notice;
    std::vector<Param*> params_;  ///< in the arena: they stay where they are
    std::uint64_t names_ = 0;     ///< a bit for each name in `params_`
    std::vector<std::pair<std::string_view, Value>> original_;
    using Relations = std::array<std::vector<Reference>, 4>;
    std::unique_ptr<Relations> relations_;  ///< null: there are none
    std::unique_ptr<Secrets> secrets_;      ///< null: there are none
    mutable std::string path_;
};

/// The native implementation of a type; types without one get a resource that says that no
/// provider is suitable.
std::unique_ptr<Resource> make_resource(Context& context, const TypeSpec& spec);

}  // namespace bunraku::apply
