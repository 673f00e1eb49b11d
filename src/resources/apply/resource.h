// SPDX-License-Identifier: Apache-2.0
// A resource during the application of a catalog: munged and validated attributes, and the
// behaviour of its type. Each type has a subclass in types/<type>/.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
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

/// Returns a key made of the name's length and three of its letters. It distinguishes the
/// attributes of a type without a comparison of their names.
constexpr std::uint32_t name_key(std::string_view name) {
    if (name.empty()) return 0;
    const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(name[i] & 0x7f); };
    return static_cast<std::uint32_t>(name.size()) << 21 ^ at(0) << 14 ^ at(name.size() / 2) << 7 ^
           at(name.size() - 1);
}

/// An attribute with a given value or a default.
struct Param {
    explicit Param(const Attribute& a) : spec(&a), key(name_key(a.name)) {}
    const Attribute* spec;
    Value value;                    ///< for parameters: the munged value
    std::span<const Value> should;  ///< for properties: the munged values
    std::span<const Value> given;   ///< for properties: the values before munging
    std::uint32_t key;              ///< name_key of the name
    bool has_should = false;        ///< false for a property that is only read (audit)
    bool sensitive = false;
    bool deferred = false;  ///< true while the value is a Deferred
    bool shared = false;    ///< true for a default that resources share, which must not be changed

    std::string_view name() const { return spec->name; }
    bool is_property() const { return spec->kind == AttributeKind::Property; }
};

/// The results of `retrieve`, in the order of the properties. A value is undef if it could not be
/// determined.
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

/// A reference to a resource in a relationship metaparameter.
struct Reference {
    std::string type, title;
    std::string text() const { return type + "[" + title + "]"; }
};

/// An automatic relation that a type requests. It takes effect only if the target is managed.
struct AutoRelation {
    Relation kind;
    std::string_view type;  ///< in lower case
    std::string title;
};

/// The data from which a resource is created. The texts that it refers to must live until then.
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

    /// Sets defaults and attributes and validates everything. Throws base::PuppetError with
    /// Puppet's messages.
    virtual void initialize(ResourceData data);

    const TypeSpec& spec() const { return spec_; }
    Context& context() const { return context_; }
    std::string_view type_name() const { return spec_.name; }
    const std::string& title() const { return title_; }
    virtual std::string ref() const;
    /// Returns the name for log messages that need no path: the reference, or the plain name of a
    /// whit.
    virtual std::string to_s() const { return ref(); }
    /// Returns "/Stage[main]/Main/File[/x]". The path is computed at the first call and then
    /// cached.
    const std::string& path() const;
    /// Computes the current path.
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
    /// Shares the list of tags with other resources. No tags may be added afterwards.
    void share_tags() {
        if (own_tags_) set_tags(*std::exchange(own_tags_, nullptr));
    }
    bool tagged(const std::vector<std::string>& wanted) const;

    // Attributes.
    Param* find(std::string_view name) { return param_named(name); }
    const Param* find(std::string_view name) const { return param_named(name); }
    /// Like `resource[name]`: returns the value of a parameter or the desired value of a property,
    /// or undef.
    Value get(std::string_view name) const;
    /// Reports whether an attribute has a value. A property that is only audited has none.
    bool has(std::string_view name) const { return !get(name).is_undef(); }
    std::string text(std::string_view name) const;
    /// Returns true if the value is `true` in any spelling.
    bool flag(std::string_view name) const;
    /// Returns the desired value of a property: the first one, or all if the property takes an
    /// array. Returns undef if it has none.
    Value should(const Param& p) const;
    Value should(std::string_view name) const;
    /// Validates and sets an attribute. Errors have the form "Parameter NAME failed on REF: ...".
    void set(std::string_view name, const Value& v);
    /// Adds a property without a desired value, so that it is read.
    Param* watch(std::string_view name);
    void erase(std::string_view name);
    std::span<const Param* const> params() const { return params_; }
    /// Returns the properties in the order of the type, `ensure` first.
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
    /// Resolves Deferred values. Returns true if there were any.
    bool resolve_deferred();
    virtual void run_validation();

    /// Returns the texts that no message about this resource may contain; null if there are none.
    const Secrets* secrets() const { return secrets_.get(); }
    /// Returns a text about this resource without secrets.
    std::string redact(std::string text) const {
        return context_.redact(std::move(text), secrets_.get());
    }
    /// Reports whether a value contains a secret, or the munged form of a secret.
    bool reveals(const Value& v) const;

    // Logging.
    /// A property's own messages are also tagged with its name; those of an event are not.
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
    /// Throws the error that Puppet reports if a munge block raises an error other than Puppet's
    /// own.
    [[noreturn]] static void munging_failed(const Attribute& a, const Value& v,
                                            std::string_view text);

    // Providers.
    /// Returns the built-in providers of the type, one file each in providers/<type>/.
    virtual std::span<const ProviderClass* const> provider_classes() const;
    /// Returns the names of Puppet's other providers, separated by spaces. They are valid but never
    /// suitable.
    virtual std::string_view foreign_providers() const { return {}; }
    /// Returns the provider for resources that do not specify one, or null if none is suitable.
    const ProviderClass* default_provider() const;
    const ProviderClass* provider() const { return provider_; }
    std::string_view provider_name() const { return provider_ ? provider_->name : ""; }
    bool has_feature(std::string_view feature) const {
        return provider_ && provider_->has_feature(feature);
    }
    virtual bool suitable();
    /// Returns the prefix of the provider's own messages: "Exec[x](provider=posix)".
    std::string provider_source() const;
    void provider_log(Level level, std::string text) const;
    void provider_debug(std::string text) const { provider_log(Level::Debug, std::move(text)); }

    // Functions that types override; the defaults are those of Puppet::Type.

    /// Throws base::PuppetError if the value is invalid; `set` wraps its text.
    virtual void validate_value(const Attribute& a, const Value& v);
    virtual Value munge(const Attribute& a, const Value& v);
    /// The number of lines that a value may have, so that it cannot add entries to the file to
    /// which it is written.
    enum class Lines : std::uint8_t { Any, One, Continued };
    /// Returns the limit for a munged value of `a`. `Continued` requires a space or tab after each
    /// newline.
    virtual Lines lines_allowed(const Attribute&) const { return Lines::Any; }
    /// Sets a property or parameter as a whole, before its individual values. Returns false if not
    /// handled.
    virtual bool set_whole(const Attribute& a, const Value& v);
    virtual Value default_for(const Attribute& a);
    /// Returns true if the defaults are the same for all resources of a run, so that they are
    /// created only once.
    virtual bool shares_defaults() const { return false; }
    virtual void validate() {}
    virtual void after_initialize() {}
    virtual void finish() {}
    /// Calls finish() and hides secrets in its errors.
    void finish_redacted() {
        hiding_secrets([&] { finish(); });
    }
    virtual void collect_auto_relations(std::vector<AutoRelation>& out) const;
    virtual void pre_run_check() {}
    /// Marks attributes as sensitive; may ignore some of the names.
    virtual void set_sensitive(std::vector<std::string> names);

    /// Reads every property that is set or watched.
    virtual void retrieve(CurrentValues& out);
    virtual Value retrieve_property(const Param& p);
    virtual bool needs_ensure_retrieved() const { return true; }
    virtual bool present(const CurrentValues& current) const { return current.present(); }
    virtual bool insync(Param& p, const Value& is);
    /// Reports whether corrective changes of the property can be detected. insync() must then work
    /// with other values in `p.should`, and the property must not change in every run.
    virtual bool knows_corrections(const Param& p) const;
    virtual Value should_value(const Param& p) const;
    /// Returns the desired value in the form used in reports.
    virtual Value reported_should(const Param&, const Value& should) const { return should; }
    virtual std::string is_text(const Param& p, const Value& is) const;
    virtual std::string should_text(const Param& p, const Value& should) const;
    virtual std::string change_text(const Param& p, const Value& is, const Value& should) const;
    virtual std::string event_name(const Param& p) const;
    virtual bool idempotent(const Param&) const { return true; }
    virtual bool invalidates_refreshes(const Param&) const { return false; }
    /// Changes one property to its desired value. Throws on failure.
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
    /// Returns the folder below which the path of this resource must not follow links; empty if
    /// links are followed.
    virtual std::string link_free_below() const { return {}; }
    /// Calls `is_parent` with possible names of a parent resource, nearest first, until it returns
    /// true.
    virtual void find_parent(const std::function<bool(std::string_view)>&) const {}
    /// Reports whether instances() can list all resources of the type on the machine, with their
    /// `ensure`. Any object of the type can be used.
    virtual bool can_list() const { return false; }
    virtual std::vector<std::unique_ptr<Resource>> instances() { return {}; }
    /// Reads the state of all resources of one provider at once.
    virtual void prefetch(std::span<Resource* const>) {}

    bool is_whit() const { return kind_ == Kind::Whit; }
    bool is_component() const { return kind_ == Kind::Component; }
    bool is_container() const { return kind_ == Kind::Component || kind_ == Kind::Stage; }

    // Positions in the data structures of a run. They are members so that a run needs no maps by
    // resource.
    RalCatalog* catalog = nullptr;
    std::vector<Resource*> parents, children;  ///< containment
    Resource* parent() const { return parents.empty() ? nullptr : parents.front(); }
    int vertex = -1;  ///< position in the relationship graph
    ResourceStatus* status = nullptr;
    bool purging = false;

protected:
    enum class Kind : std::uint8_t { Ordinary, Whit, Component, Stage } kind_ = Kind::Ordinary;
    /// Marks a value as a secret of this resource and of the run.
    void keep_secret(const Value& v);
    /// Marks the sensitive values of `data` as secrets. Must be called before any validation.
    void keep_secrets(const ResourceData& data);
    /// Runs `f` and hides secrets in its errors.
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
    /// Takes all of the data except the list of sensitive attributes.
    void take(ResourceData& data);
    void set_all(ResourceData data);
    void set_location(const ResourceData& data);
    void set_title(std::string title) { title_ = std::move(title); }
    Param& param_slot(const Attribute& a);
    void set_value(const Attribute& a, const Value& v);
    void set_default(const Attribute& a, TypePlan& plan);
    void use_provider(std::string_view name);
    /// Returns a new, uninitialised resource of the same type in the same catalog.
    std::unique_ptr<Resource> make_sibling() const;
    /// Returns a resource of the same type for `instances`: it has this name and watches every
    /// property.
    std::unique_ptr<Resource> make_instance(std::string_view namevar, std::string_view name) const;

    Context& context_;
    const TypeSpec& spec_;
    const ProviderClass* provider_ = nullptr;

    /// Returns the bit for a name in `names_`. It avoids the search for almost all attributes that
    /// are not set.
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
    /// Sets an attribute whose definition is already known.
    void set_attribute(const Attribute& a, const Value& v);
    bool set_metaparameter(const Attribute& a, const Value& v);
    /// Throws if a munged value has more lines than lines_allowed().
    void check_lines(const Attribute& a, const Value& v) const;
    const Attribute* attribute(std::string_view name) const;
    std::string title_;
    const std::string* file_ = nullptr;  ///< shared in the context, as are the tags
    const std::vector<std::string>* tags_ = nullptr;
    std::unique_ptr<std::vector<std::string>> own_tags_;  ///< if set, replaces `tags_`
    int line_ = 0;
    bool exported_ = false, virtual_ = false;
    std::optional<bool> noop_;
    Level loglevel_ = Level::Notice;
    std::vector<Param*> params_;  ///< in the arena, so their addresses are stable
    std::uint64_t names_ = 0;     ///< one bit for each name in `params_`
    std::vector<std::pair<std::string_view, Value>> original_;
    using Relations = std::array<std::vector<Reference>, 4>;
    std::unique_ptr<Relations> relations_;  ///< null if there are none
    std::unique_ptr<Secrets> secrets_;      ///< null if there are none
    mutable std::string path_;
};

/// Returns the native implementation of a type. For a type without one, returns a resource that
/// reports that no provider is suitable.
std::unique_ptr<Resource> make_resource(Context& context, const TypeSpec& spec);

}  // namespace bunraku::apply
