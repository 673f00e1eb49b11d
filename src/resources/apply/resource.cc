// SPDX-License-Identifier: Apache-2.0
// Puppet::Type and Puppet::Property: the behaviour that all resources share.
#include "resources/apply/resource.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/value/text.h"
#include "resources/apply/outside.h"
#include "resources/apply/ral_catalog.h"
#include "resources/catalog/document.h"
#include "resources/catalog/json_text.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

const std::string kNoFile;
const std::vector<std::string> kNoTags;
constexpr std::string_view kBooleans = "true|false|yes|no";

std::string scalar_text(const Value& v) {
    return v.is_string() ? std::string(v.as_string()) : value::to_text(v);
}

bool valid_tag(std::string_view tag) {
    auto word = [](unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; };
    if (tag.empty() || !word(static_cast<unsigned char>(tag[0]))) return false;
    return std::all_of(tag.begin(), tag.end(), [&](char c) {
        return word(static_cast<unsigned char>(c)) || c == ':' || c == '.' || c == '-';
    });
}

std::optional<Relation> relation_of(std::string_view name) {
    if (name == "require") return Relation::Require;
    if (name == "subscribe") return Relation::Subscribe;
    if (name == "before") return Relation::Before;
    if (name == "notify") return Relation::Notify;
    return std::nullopt;
}

// Returns an attribute of the type, or a metaparameter.
const Attribute* attribute_named(const TypeSpec& spec, std::string_view name) {
    if (const Attribute* a = spec.find(name)) return a;
    for (const Attribute& a : restype::metaparameters()) {
        if (a.name == name) return &a;
    }
    return nullptr;
}

// Parses a level name, including Puppet's "verbose".
Level level_of(std::string_view text) {
    if (text == "verbose") return Level::Info;
    return base::level_from_name(text).value_or(Level::Notice);
}

}  // namespace

void CurrentValues::set(const Attribute* attribute, const Value& v) {
    BUNRAKU_ASSERT(attribute != nullptr);
    for (auto& [a, old] : values_) {
        if (a == attribute) {
            old = v;
            return;
        }
    }
    values_.emplace_back(attribute, v);
}

const Value* CurrentValues::find(std::string_view name) const {
    for (const auto& [a, v] : values_) {
        if (a->name.data() == name.data() || a->name == name) return &v;
    }
    return nullptr;
}

Resource::Resource(Context& context, const TypeSpec& spec)
    : context_(context), spec_(spec), file_(&kNoFile), tags_(&kNoTags) {}
Resource::~Resource() = default;

std::vector<Reference>& Resource::relations_of(Relation kind) {
    if (!relations_) relations_ = std::make_unique<Relations>();
    BUNRAKU_ASSERT(static_cast<std::size_t>(kind) < relations_->size());
    return (*relations_)[static_cast<std::size_t>(kind)];
}

std::string Resource::ref() const {
    std::string out;
    out.reserve(spec_.name.size() + title_.size() + 2);
    out += spec_.name;
    out[0] = base::upper(out[0]);
    out += '[';
    out += title_;
    out += ']';
    return out;
}

std::string Resource::current_path() const {
    if (is_whit()) return to_s();
    std::string out;
    for (const std::string& element : path_elements()) {
        out += '/';
        out += element;
    }
    return out;
}

const std::string& Resource::path() const {
    if (path_.empty()) path_ = current_path();
    return path_;
}

std::vector<std::string> Resource::path_elements() const {
    std::vector<std::string> out;
    if (const Resource* p = parent()) out = p->path_elements();
    out.push_back(ref());
    return out;
}

std::string Resource::name() const {
    const Param* p = find(spec_.namevar());
    if (!p) return title_;
    return plain(p->is_property() ? should(*p) : p->value);
}

void Resource::add_tag(std::string_view tag) {
    std::string t = base::lower(tag);
    const auto has = [&](const std::string& name) {
        return std::ranges::find(tags(), name) != tags().end();
    };
    if (has(t)) return;
    if (!valid_tag(t)) throw PuppetError(fmt::format("Invalid tag '{}'", t));
    std::vector<std::string> parts;
    for (std::size_t at = 0; t.find("::") != std::string::npos && at != std::string::npos;) {
        std::size_t end = t.find("::", at);
        parts.push_back(t.substr(at, end == std::string::npos ? end : end - at));
        at = end == std::string::npos ? end : end + 2;
    }
    if (!own_tags_) own_tags_ = std::make_unique<std::vector<std::string>>(*tags_);
    own_tags_->push_back(std::move(t));
    for (std::string& part : parts)
        if (!part.empty() && !has(part)) own_tags_->push_back(std::move(part));
}

void Resource::add_tag_if_valid(std::string_view tag) {
    if (valid_tag(tag)) add_tag(tag);
}

bool Resource::tagged(const std::vector<std::string>& wanted) const {
    return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& w) {
        return std::ranges::find(tags(), base::lower(w)) != tags().end();
    });
}

const Attribute* Resource::attribute(std::string_view name) const {
    if (name == "name") {
        std::string_view namevar = spec_.namevar();
        if (const Attribute* a = spec_.find(namevar)) return a;
    }
    return attribute_named(spec_, name);
}

Value Resource::should_value(const Param& p) const {
    BUNRAKU_ASSERT(p.is_property() || !p.has_should);
    if (!p.has_should || p.should.empty()) return Value::undef();
    return p.spec->array_matching_all ? Value::array(p.should) : p.should[0];
}

Value Resource::should(const Param& p) const {
    if (!p.has_should) return Value::undef();
    return should_value(p);
}

Value Resource::should(std::string_view name) const {
    const Param* p = find(name);
    return p && p->is_property() ? should(*p) : Value::undef();
}

Value Resource::get(std::string_view name) const {
    const Param* p = find(name == "name" ? spec_.namevar() : name);
    if (!p) return Value::undef();
    if (p->deferred) return p->value;
    return p->is_property() ? should(*p) : p->value;
}

std::string Resource::text(std::string_view name) const {
    Value v = get(name);
    return v.is_undef() ? std::string() : plain(v);
}

bool Resource::flag(std::string_view name) const {
    Value v = get(name);
    if (v.is(value::Kind::Boolean)) return v.as_boolean();
    return v.is_string() && (v.as_string() == "true" || v.as_string() == "yes");
}

std::vector<Param*> Resource::properties() {
    std::vector<Param*> out;
    out.reserve(params_.size());
    for (Param* p : params_) {
        if (p->is_property()) out.push_back(p);
    }
    // The attributes of a type are adjacent in memory, so sorting by address gives the type's
    // order.
    std::ranges::sort(out, {}, &Param::spec);
    BUNRAKU_ASSERT(out.size() <= params_.size());
    BUNRAKU_ASSERT(std::ranges::none_of(out, &Param::shared));
    return out;
}

Param* Resource::param_of(const Attribute& a) const {
    if ((names_ & bit_of(name_key(a.name))) == 0) return nullptr;
    for (Param* p : params_) {
        if (p->spec == &a) return p;
    }
    return nullptr;
}

Param& Resource::param_slot(const Attribute& a) {
    for (Param*& p : params_) {
        if (p->spec != &a) continue;
        if (p->shared) {
            BUNRAKU_ASSERT(p->spec->kind == AttributeKind::Parameter && !p->deferred);
            p = context_.arena.make<Param>(*p);
            p->shared = false;
        }
        return *p;
    }
    BUNRAKU_ASSERT(!param_of(a));
    Param& made = *context_.arena.make<Param>(a);
    enter(made);
    BUNRAKU_ASSERT(param_of(a) == &made);
    return made;
}

Param* Resource::watch(std::string_view name) {
    const Attribute* a = spec_.find(name);
    if (!a || a->kind != AttributeKind::Property) return nullptr;
    if (!a->feature.empty() && provider_ && !provider_->has_feature(a->feature)) return nullptr;
    return &param_slot(*a);
}

void Resource::erase(std::string_view name) {
    std::erase(params_, param_named(name));
    BUNRAKU_ASSERT(!param_named(name));
}

void Resource::set(std::string_view name, const Value& v) {
    const Attribute* a = attribute(name);
    if (!a) fail(fmt::format("no parameter named '{}'", name));
    if (v.is_undef()) throw PuppetError(fmt::format("Got nil value for {}", name));
    set_attribute(*a, v);
}

void Resource::set_attribute(const Attribute& a, const Value& v) {
    if (!a.feature.empty() && provider_ && !provider_->has_feature(a.feature)) {
        if (debugging()) {
            debug(fmt::format("Provider {} does not support features {}; not managing attribute {}",
                              provider_->name, a.feature, a.name));
        }
        return;
    }
    try {
        set_value(a, v);
    } catch (const PuppetError& e) {
        PuppetError out(fmt::format("Parameter {} failed on {}: {}", a.name, ref(), e.message()),
                        {}, PuppetError::Class::Plain);
        out.at({file(), line_, 0});
        throw out;
    }
}

void Resource::set_value(const Attribute& a, const Value& given) {
    const Value v = given.is(value::Kind::Sensitive) ? given.unwrap() : given;
    if (is_deferred(v)) {
        Param& p = param_slot(a);
        p.value = v;
        p.deferred = true;
        p.has_should = false;
        BUNRAKU_ASSERT(!p.shared);
        return;
    }
    if (a.kind == AttributeKind::Metaparameter && set_metaparameter(a, v)) return;
    if (a.name == "provider" && a.kind == AttributeKind::Parameter) {
        Value one = v.is_array() && !v.as_array().empty() ? v.as_array()[0] : v;
        use_provider(plain(one));
        param_slot(a).value = context_.string(plain(one));
        return;
    }
    if (set_whole(a, v)) return;
    Param& p = param_slot(a);
    BUNRAKU_ASSERT(!p.shared && p.spec == &a);
    p.deferred = false;
    if (a.kind != AttributeKind::Property) {
        validate_value(a, v);
        p.value = munge(a, v);
        check_lines(a, p.value);
        return;
    }
    std::span<const Value> values = v.is_array() ? v.as_array() : std::span(&v, 1);
    p.given = context_.arena.copy(values);
    for (const Value& one : values) validate_value(a, one);
    if (values.size() == 1) {
        const Value one = munge(a, values[0]);
        // A value that munging does not change is not stored twice.
        const bool as_given = one.is_string() && values[0].is_string() &&
                              one.as_string().data() == values[0].as_string().data() &&
                              one.as_string().size() == values[0].as_string().size();
        p.should = as_given ? p.given : context_.arena.copy(std::span(&one, 1));
    } else {
        std::span<Value> munged = context_.arena.array<Value>(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) munged[i] = munge(a, values[i]);
        p.should = munged;
    }
    for (const Value& one : p.should) check_lines(a, one);
    p.has_should = true;
    BUNRAKU_ASSERT(p.should.size() == p.given.size() && p.given.size() == values.size());
}

void Resource::check_lines(const Attribute& a, const Value& v) const {
    const Lines allowed = lines_allowed(a);
    if (allowed == Lines::Any) return;
    const std::string text = plain(v);
    if (text.find('\0') != std::string::npos)
        throw PuppetError(fmt::format("{} must not contain a NUL byte", a.name));
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
        const bool continued = at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\t';
        if (allowed == Lines::One || !continued)
            throw PuppetError(fmt::format("{} must not contain a newline", a.name));
    }
}

bool Resource::set_metaparameter(const Attribute& a, const Value& v) {
    auto each = [&](auto&& f) {
        if (v.is_array()) {
            for (const Value& one : v.as_array()) f(one);
        } else {
            f(v);
        }
    };
    if (auto kind = relation_of(a.name)) {
        auto& list = relations_of(*kind);
        list.clear();
        each([&](const Value& one) {
            std::string text = one.is_type() ? catalog::reference_text(one) : scalar_text(one);
            std::string_view type, title;
            if (!catalog::split_reference(text, &type, &title)) {
                throw PuppetError(
                    fmt::format("No title provided and \"{}\" is not a valid resource "
                                "reference",
                                text));
            }
            list.push_back({std::string(type), std::string(title)});
        });
        return true;
    }
    if (a.name == "tag") {
        each([&](const Value& one) { add_tag(scalar_text(one)); });
    } else if (a.name == "noop") {
        validate_value(a, v);
        noop_ = scalar_text(v) == "true";
    } else if (a.name == "loglevel") {
        validate_value(a, v);
        loglevel_ = level_of(scalar_text(v));
    } else if (a.name == "audit") {
        bool all = !v.is_array() && scalar_text(v) == "all";
        if (v.is_array() && v.as_array().size() == 1 && is_word(v.as_array()[0], "all")) {
            // Like Puppet, accept a list that contains only "all", although it then names no
            // property.
            param_slot(a).value = v;
            return true;
        }
        std::vector<Value> names;
        if (all) {
            for (const Attribute& p : spec_.attributes) {
                if (p.kind != AttributeKind::Property) continue;
                if (p.feature.empty() || !provider_ || provider_->has_feature(p.feature)) {
                    names.push_back(Value::string(p.name));
                }
            }
        } else {
            each([&](const Value& one) {
                std::string name = scalar_text(one);
                if (!attribute(name)) {
                    throw PuppetError(
                        fmt::format("Cannot audit {}: not a valid attribute for {}", name, ref()));
                }
                names.push_back(context_.string(name));
            });
        }
        for (const Value& name : names) watch(name.as_string());
        param_slot(a).value = Value::array(context_.arena.copy(names));
        return true;
    }
    param_slot(a).value = v;
    return true;
}

void Resource::set_default(const Attribute& a, TypePlan& plan) {
    BUNRAKU_ASSERT(&a >= spec_.attributes.data() &&
                   &a < spec_.attributes.data() + spec_.attributes.size());
    BUNRAKU_ASSERT(plan.defaults.size() == spec_.attributes.size());
    if (param_of(a)) return;
    if (!a.feature.empty() && provider_ && !provider_->has_feature(a.feature)) return;
    // Resources cannot share a property, because it has state. They only share the fact that it has
    // no default.
    TypePlan::Default* shared =
        shares_defaults() ? &plan.defaults[static_cast<std::size_t>(&a - spec_.attributes.data())]
                          : nullptr;
    if (shared && shared->known) {
        BUNRAKU_ASSERT(!shared->param || (shared->param->spec == &a && shared->param->shared));
        if (shared->param) enter(*shared->param);
        return;
    }
    Value v = default_for(a);
    if (!v.is_undef()) set_attribute(a, v);
    if (!shared) return;
    Param* made = param_of(a);
    shared->known = !made || a.kind == AttributeKind::Parameter;
    if (!made || !shared->known) return;
    BUNRAKU_ASSERT(made->spec == &a && !made->shared && !shared->param);
    made->shared = true;
    shared->param = made;
}

TypePlan& Resource::plan() const {
    TypePlan& plan = context_.type_plans[&spec_];
    BUNRAKU_ASSERT(plan.defaults.empty() || plan.defaults.size() == spec_.attributes.size());
    if (!plan.defaults.empty() || spec_.attributes.empty()) return plan;
    plan.defaults.resize(spec_.attributes.size());
    plan.namevar = spec_.find(spec_.namevar());
    plan.provider = spec_.find("provider");
    const auto add = [&](auto&& which) {
        for (const Attribute& a : spec_.attributes)
            if (which(a)) plan.order.push_back(&a);
    };
    add([](const Attribute& a) { return a.namevar; });
    add([](const Attribute& a) { return !a.namevar && a.kind == AttributeKind::Property; });
    add([](const Attribute& a) { return !a.namevar && a.kind == AttributeKind::Parameter; });
    BUNRAKU_ASSERT(plan.order.size() <= plan.defaults.size());
    return plan;
}

std::span<const ProviderClass* const> Resource::provider_classes() const {
    return provider_classes_of(spec_.name);
}

void Resource::use_provider(std::string_view name) {
    const auto classes = provider_classes();
    for (const ProviderClass* c : classes) {
        if (c->name == name) {
            provider_ = c;
            return;
        }
    }
    if (const ProviderClass* c = outside_providers(context_).class_of(spec_.name, name)) {
        provider_ = c;
        return;
    }
    const auto foreign = base::words(foreign_providers(), " ");
    if (!classes.empty() && std::find(foreign.begin(), foreign.end(), name) == foreign.end()) {
        throw PuppetError(fmt::format("Invalid {} provider '{}'", spec_.name, name));
    }
    auto* unknown = context_.arena.make<ProviderClass>();
    unknown->name = context_.arena.copy(name);
    BUNRAKU_ASSERT(!unknown->suitable);
    provider_ = unknown;
}

const ProviderClass* Resource::default_provider() const {
    return apply::default_provider(context_, spec_.name, provider_classes());
}

bool Resource::suitable() {
    if (provider_) return provider_->suitable && provider_->suitable(context_);
    if (!spec_.find("provider")) return true;
    if (const ProviderClass* d = default_provider()) {
        provider_ = d;
        return true;
    }
    return false;
}

void Resource::take(ResourceData& data) {
    title_ = std::move(data.title);
    set_location(data);
    original_ = std::move(data.parameters);
    for (auto& [name, v] : original_) {
        const Attribute* a = attribute_named(spec_, name);
        name = a ? a->name : context_.arena.copy(name);
    }
}

void Resource::set_location(const ResourceData& data) {
    file_ = &context_.shared(data.file);
    line_ = data.line;
    exported_ = data.exported;
    virtual_ = data.virtual_;
    own_tags_.reset();
    tags_ = &context_.shared(data.tags);
}

void Resource::keep_secret(const Value& v) {
    if (!secrets_) secrets_ = std::make_unique<Secrets>();
    secrets_->add(v, Secrets::Parts::All);
    context_.secrets.add(v, Secrets::Parts::Whole);
}

void Resource::keep_secrets(const ResourceData& data) {
    for (const auto& [name, v] : data.parameters) {
        if (std::ranges::find(data.sensitive, name) != data.sensitive.end()) {
            keep_secret(v);
        } else if (holds_sensitive(v)) {
            if (!secrets_) secrets_ = std::make_unique<Secrets>();
            secrets_->add_marked(v, Secrets::Parts::All);
            context_.secrets.add_marked(v, Secrets::Parts::Whole);
        }
    }
}

bool Resource::reveals(const Value& v) const {
    if ((!secrets_ && context_.secrets.empty()) || v.is_undef()) return false;
    const std::string text = plain(v);
    return redact(text) != text;
}

void Resource::throw_redacted(const base::PuppetError& e) const {
    std::string text = redact(e.message());
    if (text == e.message()) throw;
    PuppetError out(std::move(text), e.issue_code(), e.error_class());
    out.at(e.where());
    throw out;
}

void Resource::initialize(ResourceData data) {
    keep_secrets(data);
    hiding_secrets([&] { set_all(std::move(data)); });
}

void Resource::set_all(ResourceData data) {
    BUNRAKU_ASSERT(params_.empty() && names_ == 0);
    take(data);
    auto given = [&](std::string_view name) -> const Value* {
        for (const auto& [n, v] : original_) {
            if (n == name) return &v;
        }
        return nullptr;
    };
    std::string_view namevar = spec_.namevar();
    const auto set_from_title = [&](std::string_view name, std::string_view text) {
        if (!given(name) && !(name == namevar && given("name")))
            original_.emplace_back(name, context_.string(text));
    };
    if (restype::title_is_name(spec_, title_)) {
        set_from_title(namevar, title_);
    } else {
        for (auto& [name, text] : restype::parse_title(spec_, title_)) set_from_title(name, text);
    }
    TypePlan& plan = this->plan();
    params_.reserve(original_.size() + 1 + std::min<std::size_t>(plan.order.size(), 12));

    const Value* name = given(namevar);
    if (!name) name = given("name");
    if (!spec_.composite_namevar && name && plan.namevar) set(namevar, *name);
    if (const Attribute* a = plan.provider) {
        if (const Value* p = given("provider")) {
            set("provider", *p);
        } else if (const ProviderClass* d = default_provider()) {
            provider_ = d;
            param_slot(*a).value = Value::string(d->name);
        }
    }

    // The attribute with exactly the name of each parameter; null if there is none.
    std::vector<const Attribute*> named;
    named.reserve(original_.size());
    for (const auto& [n, v] : original_) named.push_back(attribute_named(spec_, n));
    auto value_of = [&](const Attribute& a) -> const Value* {
        const auto at = std::ranges::find(named, &a);
        if (at == named.end()) return nullptr;
        BUNRAKU_ASSERT(named.size() == original_.size());
        return &original_[static_cast<std::size_t>(at - named.begin())].second;
    };
    const bool shared = shares_defaults();
    const auto default_of = [&](const Attribute& a) -> const TypePlan::Default& {
        return plan.defaults[static_cast<std::size_t>(&a - spec_.attributes.data())];
    };
    std::vector<const Attribute*> unset;
    unset.reserve(plan.order.size());
    auto visit = [&](const Attribute& a) {
        if (&a == plan.provider || (&a == plan.namevar && !spec_.composite_namevar)) return;
        const Value* v = value_of(a);
        if (!v && &a == plan.namevar) v = given("name");
        if (v && !v->is_undef()) {
            // "name" is an alias of the name variable.
            if (a.name == "name") {
                set(a.name, *v);
            } else {
                set_attribute(a, *v);
            }
        } else if (a.kind != AttributeKind::Metaparameter && !(shared && default_of(a).none())) {
            unset.push_back(&a);
        }
    };
    for (const Attribute* a : plan.order) visit(*a);
    for (const Attribute& a : restype::metaparameters()) {
        if (value_of(a)) visit(a);
    }
    for (std::size_t i = 0; i < named.size(); ++i) {
        const std::string_view n = original_[i].first;
        if (!named[i] && !attribute(n)) fail(fmt::format("no parameter named '{}'", n));
    }
    BUNRAKU_ASSERT(named.size() == original_.size() && unset.size() <= plan.order.size());
    for (const Attribute* a : unset) set_default(*a, plan);
    run_validation();
    // The result of a Deferred with Sensitive arguments is sensitive.
    for (const Param* p : params_) {
        if (p->deferred && p->value.is(value::Kind::Object) && holds_sensitive(p->value) &&
            std::ranges::find(data.sensitive, p->name()) == data.sensitive.end()) {
            data.sensitive.emplace_back(p->name());
        }
    }
    set_sensitive(std::move(data.sensitive));
    // Some types mark attributes as sensitive themselves.
    for (const Param* p : params_) {
        if (!p->sensitive) continue;
        keep_secret(p->value);
        for (const Value& v : p->given) keep_secret(v);
    }
    after_initialize();
}

void Resource::run_validation() {
    if (std::ranges::any_of(params_, &Param::deferred)) return;
    try {
        validate();
    } catch (const PuppetError& e) {
        PuppetError out(fmt::format("Validation of {} failed: {}", ref(), e.message()), {},
                        PuppetError::Class::Plain);
        out.at({file(), line_, 0});
        throw out;
    }
}

bool Resource::resolve_deferred() {
    std::vector<std::pair<std::string_view, Value>> pending;
    for (const Param* p : params_) {
        if (p->deferred) pending.emplace_back(p->name(), p->value);
    }
    if (pending.empty()) return false;
    BUNRAKU_ASSERT(pending.size() <= params_.size());
    if (!context_.resolve_deferred) fail("Deferred values cannot be resolved here");
    for (auto& [name, v] : pending) {
        Value resolved = context_.resolve_deferred(v);
        Param* p = find(name);
        if (resolved.is(value::Kind::Sensitive) && p) p->sensitive = true;
        if (holds_sensitive(resolved) || (p && p->sensitive)) keep_secret(resolved);
        if (resolved.is(value::Kind::Sensitive)) resolved = resolved.unwrap();
        hiding_secrets([&] { set(name, resolved); });
    }
    hiding_secrets([&] { run_validation(); });
    return true;
}

void Resource::set_sensitive(std::vector<std::string> names) {
    for (const std::string& name : names) {
        if (Param* p = find(name)) {
            if (p->is_property()) {
                p->sensitive = true;
            } else {
                warning(
                    fmt::format("Unable to mark '{0}' as sensitive: {0} is a parameter and not "
                                "a property, and cannot be automatically redacted.",
                                name));
            }
        } else if (attribute(name)) {
            warning(
                fmt::format("Unable to mark '{}' as sensitive: the property itself was not "
                            "assigned a value.",
                            name));
        } else {
            err(
                fmt::format("Unable to mark '{}' as sensitive: the property itself is not defined "
                            "on {}.",
                            name, spec_.name));
        }
    }
}

bool Resource::noop() const { return noop_.value_or(context_.options.noop); }

bool Resource::managed() const {
    return std::ranges::any_of(params_, [&](const Param* p) {
        return p->is_property() && (p->deferred || !should(*p).is_undef());
    });
}

bool Resource::deleting() const { return is_absent(should("ensure")); }

void Resource::log(Level level, std::string text, const Param* about, Tags tags) const {
    if (!context_.enabled(level)) return;
    base::Diagnostic d;
    d.level = level;
    d.message = redact(std::move(text));
    // A message about the resource uses the cached path, which may date from before the graph
    // existed. A message about an attribute uses the current path.
    d.source = about ? current_path() : path();
    d.tags = this->tags();
    if (about) {
        d.source += '/';
        d.source += about->spec->name;
        if (tags == Tags::OfProperty) d.tags.emplace_back(about->spec->name);
    }
    d.where.file = file();
    d.where.line = line_;
    context_.log.log(d);
}

void Resource::fail(std::string text) const { throw base::plain_error(std::move(text)); }

void Resource::munging_failed(const Attribute& a, const Value& v, std::string_view text) {
    std::string shown;
    value::print_inspect(shown, v);
    throw PuppetError(
        fmt::format("Munging failed for value {} in class {}: {}", shown, a.name, text));
}

std::string Resource::provider_source() const {
    return fmt::format("{}(provider={})", ref(), provider_name());
}

void Resource::provider_log(Level level, std::string text) const {
    if (!context_.enabled(level)) return;
    base::Diagnostic d;
    d.level = level;
    d.message = redact(std::move(text));
    d.source = provider_source();
    context_.log.log(d);
}

void Resource::validate_value(const Attribute& a, const Value& v) {
    if (a.values.empty() && a.patterns.empty()) return;
    if (!restype::match_value(a, scalar_text(v))) {
        throw PuppetError(restype::invalid_value_text(a, v));
    }
}

Value Resource::munge(const Attribute& a, const Value& v) {
    if (a.values.empty()) return v;
    if (a.values == kBooleans && a.kind == AttributeKind::Parameter) {
        std::string text = scalar_text(v);
        return Value::boolean(text == "true" || text == "yes");
    }
    if (!v.is_string() && !v.is(value::Kind::Boolean)) return v;
    const std::string text = scalar_text(v);
    auto match = restype::match_value(a, text);
    if (!match) return v;
    return v.is_string() && v.as_string() == *match ? v : context_.string(*match);
}

bool Resource::set_whole(const Attribute&, const Value&) { return false; }
Value Resource::default_for(const Attribute&) { return Value::undef(); }
void Resource::collect_auto_relations(std::vector<AutoRelation>&) const {}

void Resource::retrieve(CurrentValues& out) {
    if (provider_ && !(provider_->suitable && provider_->suitable(context_))) {
        fail(fmt::format("Provider {} is not functional on this host", provider_->name));
    }
    Param* ensure = find("ensure");
    if (!ensure && needs_ensure_retrieved()) ensure = watch("ensure");
    bool absent = false;
    if (ensure && ensure->is_property()) {
        Value state = retrieve_property(*ensure);
        absent = is_absent(state);
        out.set(ensure->spec, state);
    }
    for (Param* p : properties()) {
        if (p == ensure) continue;
        out.set(p->spec, absent ? Value::string("absent") : retrieve_property(*p));
    }
}

Value Resource::retrieve_property(const Param&) { return Value::undef(); }

bool Resource::knows_corrections(const Param& p) const {
    return spec().name != "notify" || p.spec->name != "message";
}

bool Resource::insync(Param& p, const Value& is) {
    if (p.should.empty()) return true;
    if (p.spec->array_matching_all) {
        if (!is.is_array() || is.as_array().size() != p.should.size()) return false;
        for (std::size_t i = 0; i < p.should.size(); ++i) {
            if (!same(is.as_array()[i], p.should[i])) return false;
        }
        return true;
    }
    return std::any_of(p.should.begin(), p.should.end(),
                       [&](const Value& want) { return same(is, want); });
}

std::string Resource::is_text(const Param&, const Value& is) const { return display(is); }
std::string Resource::should_text(const Param&, const Value& should) const {
    return display(should);
}

std::string Resource::change_text(const Param& p, const Value& is, const Value& should) const {
    if (p.spec->name == "ensure") {
        if (is_absent(is) || is.is_undef()) return "created";
        if (is_absent(should)) return "removed";
    } else {
        if (is_absent(is)) {
            return fmt::format("defined '{}' as {}", p.spec->name, should_text(p, should));
        }
        bool gone = is_absent(should) || (should.is_array() && should.as_array().size() == 1 &&
                                          is_absent(should.as_array()[0]));
        if (gone) return fmt::format("undefined '{}' from {}", p.spec->name, is_text(p, is));
    }
    return fmt::format("{} changed {} to {}", p.spec->name, is_text(p, is), should_text(p, should));
}

std::string Resource::event_name(const Param& p) const {
    if (p.spec->name != "ensure") return std::string(p.spec->name) + "_changed";
    Value v = should(p);
    return fmt::format("{}_{}", spec_.name,
                       is_word(v, "present") ? "created"
                       : is_absent(v)        ? "removed"
                                             : "changed");
}

void Resource::sync(Param& p) {
    fail(fmt::format("The {} provider can not handle attribute {}", provider_name(), p.spec->name));
}

std::unique_ptr<Resource> Resource::make_sibling() const {
    auto out = make_resource(context_, spec_);
    BUNRAKU_ASSERT(&out->spec() == &spec_ && out->vertex < 0 && !out->status);
    out->catalog = catalog;
    return out;
}

std::unique_ptr<Resource> Resource::make_instance(std::string_view namevar,
                                                  std::string_view name) const {
    auto out = make_sibling();
    ResourceData data;
    data.title = std::string(name);
    data.parameters = {{namevar, context_.string(name)}};
    out->initialize(std::move(data));
    for (const Attribute& a : spec_.attributes)
        if (a.kind == AttributeKind::Property) out->watch(a.name);
    return out;
}

}  // namespace bunraku::apply
