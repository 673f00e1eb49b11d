// SPDX-License-Identifier: Apache-2.0
// A resource whose type is written in Ruby. Puppet's objects are in the child process. This object
// holds the part of their state that a run needs.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/value/build.h"
#include "resources/apply/ral_catalog.h"
#include "resources/apply/registry.h"
#include "resources/apply/ruby_types.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

Value element(const Value& v, std::size_t i) {
    return v.is_array() && i < v.as_array().size() ? v.as_array()[i] : Value::undef();
}

std::string text_at(const Value& v, std::size_t i) {
    const Value one = element(v, i);
    return one.is_undef() ? std::string() : value::to_text(one);
}

}  // namespace

RubyResource::~RubyResource() {
    if (number_ != 0) types_.leave(number_, this);
}

Value RubyResource::ask(std::string_view verb, std::initializer_list<Value> more) const {
    std::vector<Value> args = {Value::integer(number_)};
    args.insert(args.end(), more.begin(), more.end());
    return types_.ask(verb, args);
}

/// Creates the object in the child, as Puppet::Type.new does.
Value RubyResource::made() const {
    value::HashBuilder given(context_.arena);
    value::HashBuilder metaparameters(context_.arena);
    std::vector<Value> sensitive;
    for (const std::string& name : sensitive_) sensitive.push_back(context_.string(name));
    for (const auto& [name, v] : original_) {
        if (restype::is_metaparameter(name) && !spec_.find(name)) {
            if (!is_deferred(v)) metaparameters.set(context_.string(name), v);
            continue;
        }
        const bool wrapped = v.is(value::Kind::Sensitive);
        const Value bare = wrapped ? v.unwrap() : v;
        if (wrapped) sensitive.push_back(context_.string(name));
        if (is_deferred(bare)) continue;
        given.set(context_.string(name), bare);
    }
    return types_.ask(
        "make", {context_.string(type_.file), Value::string(spec_.name), context_.string(title_),
                 given.build(), file().empty() ? Value::undef() : context_.string(file()),
                 line_ == 0 ? Value::undef() : Value::integer(line_),
                 value::make_array(context_.arena, sensitive), metaparameters.build()});
}

void RubyResource::initialize(ResourceData data) {
    keep_secrets(data);
    hiding_secrets([&] { make_from(std::move(data)); });
}

void RubyResource::make_from(ResourceData data) {
    take(data);
    sensitive_ = data.sensitive;
    try {
        const Value response = made();
        number_ = static_cast<int>(element(response, 0).as_integer());
        types_.enter(number_, this);
        take_state(element(response, 1), element(response, 2));
        finishes_ = element(response, 3).truthy();
        relates_ = element(response, 4).truthy();
        // The type treats these sensitive attributes itself.
        if (const Value own = element(response, 5); own.is_array()) {
            for (const Value& name : own.as_array()) std::erase(data.sensitive, name.as_string());
        }
        for (const auto& [name, v] : original_) {
            const Attribute* a = attribute(name);
            if (!a) continue;  // the child has already reported this
            const bool meta = a->kind == AttributeKind::Metaparameter;
            if (!meta && is_deferred(v)) {
                Param& p = param_slot(*a);
                p.value = v;
                p.deferred = true;
            } else if (meta) {
                set(name, v);
                if (name == "audit" && is_word(v, "all")) audit_what_the_provider_has();
            }
        }
    } catch (PuppetError& e) {
        if (!e.located()) e.at({file(), line_, 0});
        throw;
    }
    set_sensitive(std::move(data.sensitive));
}

void RubyResource::audit_what_the_provider_has() {
    Param* audit = find("audit");
    if (!audit || !audit->value.is_array()) return;
    std::vector<Value> names;
    for (const Value& name : audit->value.as_array()) {
        const Param* p = find(name.as_string());
        if (p && p->is_property() && !p->has_should && !ask("watch", {name}).truthy()) {
            erase(name.as_string());
        } else {
            names.push_back(name);
        }
    }
    audit->value = Value::array(context_.arena.copy(names));
}

void RubyResource::adopt(std::string title, int number, const Value& provider,
                         const Value& attributes) {
    title_ = std::move(title);
    number_ = number;
    types_.enter(number_, this);
    take_state(provider, attributes);
    // The parameters from which the object could be recreated.
    for (const Param* p : params_) {
        const Value v = p->is_property() ? Value::array(p->should) : p->value;
        if (!p->is_property() || p->has_should) original_.emplace_back(p->name(), v);
    }
}

void RubyResource::remake() {
    const Value response = made();
    number_ = static_cast<int>(element(response, 0).as_integer());
    types_.enter(number_, this);
    remade_ = true;
}

void RubyResource::take_state(const Value& provider, const Value& attributes) {
    provider_ = provider.is_undef() ? nullptr : types_.provider(type_, value::to_text(provider));
    if (!attributes.is_array()) return;
    for (const Value& one : attributes.as_array()) {
        const Attribute* a = spec_.find(text_at(one, 0));
        if (!a) continue;
        Param& p = param_slot(*a);
        p.deferred = false;
        const Value v = element(one, 1);
        if (a->kind == AttributeKind::Property) {
            p.has_should = element(one, 2).truthy();
            p.should = v.is_array() ? v.as_array() : std::span<const Value>();
            // The type marks the attribute as sensitive (`sensitive true`).
            if (element(one, 3).truthy()) p.sensitive = true;
        } else {
            p.value = v;
        }
    }
}

bool RubyResource::set_whole(const Attribute& a, const Value& v) {
    if (number_ == 0 || a.kind == AttributeKind::Metaparameter) return false;
    const Value response = ask("set", {Value::string(a.name), v});
    take_state(element(response, 0), element(response, 1));
    return true;
}

void RubyResource::run_validation() {
    if (number_ != 0 && !std::ranges::any_of(params_, &Param::deferred)) ask("validate");
}

bool RubyResource::suitable() {
    const Value response = ask("suitable");
    if (!element(response, 1).is_undef()) provider_ = types_.provider(type_, text_at(response, 1));
    return element(response, 0).truthy();
}

void RubyResource::finish() {
    if (finishes_) ask("finish");
}

void RubyResource::collect_auto_relations(std::vector<AutoRelation>& out) const {
    if (!relates_) return;
    const Value response = types_.relations(number_);
    if (!response.is_array()) return;
    for (const Value& one : response.as_array()) {
        const std::string kind = text_at(one, 0);
        out.push_back({kind == "require"     ? Relation::Require
                       : kind == "subscribe" ? Relation::Subscribe
                       : kind == "before"    ? Relation::Before
                                             : Relation::Notify,
                       context_.arena.copy(text_at(one, 1)), text_at(one, 2)});
    }
}

void RubyResource::pre_run_check() {
    if (type_.pre_run_check) ask("pre_run");
}

void RubyResource::retrieve(CurrentValues& out) {
    for (Param* p : properties())
        if (!p->has_should) ask("watch", {Value::string(p->spec->name)});
    const Value response = ask("retrieve");
    const Value values = element(response, 0);
    symbols_ = element(response, 1);
    if (!values.is_hash()) return;
    for (const auto& e : values.as_hash())
        if (const Attribute* a = spec_.find(value::to_text(e.key))) out.set(a, e.value);
    current_ = out;
    remade_ = false;
}

bool RubyResource::is_symbol(const Attribute& a, const Value& v) const {
    const Value* now = current_.find(a.name);
    return now && same(*now, v) && symbols_.is_array() &&
           std::ranges::any_of(symbols_.as_array(),
                               [&](const Value& name) { return is_word(name, a.name); });
}

bool RubyResource::insync(Param& p, const Value&) {
    return ask("insync", {Value::string(p.spec->name)}).truthy();
}

/// Returns the type's texts for a change. Returns undef if the child cannot provide them, because
/// the failure must be reported in any case.
Value RubyResource::texts(const Param& p) const {
    if (remade_) return {};
    try {
        return ask("texts", {Value::string(p.spec->name)});
    } catch (const PuppetError&) {
        return {};
    }
}
std::string RubyResource::is_text(const Param& p, const Value& is) const {
    const Value* now = current_.find(p.name());
    const Value response = p.has_should && now && same(*now, is) ? texts(p) : Value::undef();
    return response.is_array() ? text_at(response, 0) : Resource::is_text(p, is);
}
std::string RubyResource::should_text(const Param& p, const Value& should) const {
    const Value response = texts(p);
    return response.is_array() ? text_at(response, 1) : Resource::should_text(p, should);
}
std::string RubyResource::change_text(const Param& p, const Value& is, const Value& should) const {
    const Value response = texts(p);
    return response.is_array() ? text_at(response, 2) : Resource::change_text(p, is, should);
}
Value RubyResource::event(const Param& p) const {
    if (!p.has_should || remade_) return {};
    try {
        return ask("event", {Value::string(p.spec->name)});
    } catch (const PuppetError&) {
        return {};
    }
}
std::string RubyResource::event_name(const Param& p) const {
    const Value response = event(p);
    return response.is_array() ? text_at(response, 0) : Resource::event_name(p);
}
bool RubyResource::invalidates_refreshes(const Param& p) const {
    return element(event(p), 1).truthy();
}

void RubyResource::sync(Param& p) {
    const Value failed = ask("sync", {Value::string(p.spec->name)});
    if (failed.is_array())
        throw WrappedError(text_at(failed, 0), text_at(failed, 1), {file(), line_, 0});
}
void RubyResource::flush() { ask("flush"); }
void RubyResource::refresh() { ask("refresh"); }

void RubyResource::find_parent(const std::function<bool(std::string_view)>& is_parent) const {
    const Value response = ask("ancestors");
    for (std::size_t i = 0; response.is_array() && i < response.as_array().size(); ++i)
        if (is_parent(text_at(response, i))) return;
}

std::vector<std::unique_ptr<Resource>> RubyResource::generate_in_child(std::string_view verb) {
    std::vector<std::unique_ptr<Resource>> out;
    const Value response = ask(verb);
    if (!response.is_array()) return out;
    for (const Value& one : response.as_array()) {
        const std::string kind = text_at(one, 0);
        std::string title = text_at(one, 1);
        const int number = static_cast<int>(element(one, 2).as_integer());
        if (number == 0) {
            auto made = make_resource(context_, kind);
            if (!made) throw base::plain_error(fmt::format("Invalid resource type {}", kind));
            made->catalog = catalog;
            ResourceData data;
            data.title = std::move(title);
            if (const Value given = element(one, 3); given.is_hash())
                for (const auto& e : given.as_hash())
                    if (!e.value.is_undef())
                        data.parameters.emplace_back(context_.arena.copy(value::to_text(e.key)),
                                                     e.value);
            made->initialize(std::move(data));
            out.push_back(std::move(made));
            continue;
        }
        // An object that is already in the catalog is identified by its number.
        const RubyType* type = types_.find(kind);
        if (!type) throw base::plain_error(fmt::format("Invalid resource type {}", kind));
        auto made = std::make_unique<RubyResource>(context_, types_, *type);
        made->catalog = catalog;
        made->adopt(std::move(title), number, element(one, 3), element(one, 4));
        out.push_back(std::move(made));
    }
    return out;
}

std::vector<std::unique_ptr<Resource>> RubyResource::instances() {
    std::vector<std::unique_ptr<Resource>> out;
    const Value response =
        types_.ask("instances", {context_.string(type_.file), Value::string(spec_.name)});
    if (!response.is_array()) return out;
    for (const Value& one : response.as_array()) {
        auto made = std::make_unique<RubyResource>(context_, types_, type_);
        made->catalog = catalog;
        made->adopt(text_at(one, 1), static_cast<int>(element(one, 0).as_integer()),
                    element(one, 2), element(one, 3));
        out.push_back(std::move(made));
    }
    return out;
}

void RubyResource::prefetch(std::span<Resource* const> group) {
    std::vector<Value> numbers;
    std::vector<int> known;
    for (Resource* r : group) {
        if (const auto* one = dynamic_cast<const RubyResource*>(r)) {
            numbers.push_back(Value::integer(one->number_));
            known.push_back(one->number_);
        }
    }
    types_.prefetched(type_, provider_name(), known);
    types_.ask("prefetch", {Value::string(spec_.name), context_.string(provider_name()),
                            value::make_array(context_.arena, numbers)});
}

}  // namespace bunraku::apply
