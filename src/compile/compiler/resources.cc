// SPDX-License-Identifier: Apache-2.0
// Creation of resources and changes to them: types, defaults, overrides (Puppet::Parser::Resource,
// Runtime3ResourceSupport).
#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

#include "compile/compiler/compilation.h"
#include "core/base/plain_error.h"
#include "core/base/work_limit.h"

namespace bunraku::compiler {

using base::PuppetError;

namespace {

[[noreturn]] void fail_at(std::string message, std::string_view file, int line) {
    PuppetError error(std::move(message), "", PuppetError::Class::Plain);
    throw error.at({std::string(file), line, 0});
}

}  // namespace

void Compilation::tag_value(Tags& tags, const Value& v) {
    base::step();
    if (v.is_undef()) return;
    if (v.is_array()) {
        for (const auto& item : v.as_array()) tag_value(tags, item);
        return;
    }
    if (v.is_string()) {
        compiler::tag(tags, tag_table_, v.as_string());
        return;
    }
    if (v.is_hash()) {
        for (const auto& e : v.as_hash()) {
            tag_value(tags, e.key);
            tag_value(tags, e.value);
        }
        return;
    }
    if (v.is_type()) {
        if (auto ref = types::as_reference(v.as_type())) {
            compiler::tag(tags, tag_table_, fmt::format("{}[{}]", ref->type_name, ref->title));
            return;
        }
    }
    compiler::tag(tags, tag_table_, value::to_text(v));
}

void Compilation::set_parameter(Resource& resource, Param param) {
    if (param.name == "tag") {
        try {
            tag_value(resource.tags, param.value);
        } catch (const PuppetError& error) {
            fail_at(error.message(), resource.file, resource.line);
        }
    }
    if (Param* existing = resource.find(param.name)) {
        *existing = param;
    } else {
        resource.params.push_back(param);
    }
}

namespace {

/// Detects whether a value contains the same array or hash twice. Counts its elements, including
/// repetitions. Visits each container once.
class Sharing {
public:
    /// Limit of elements; a larger value is an error. The catalog has no references, so it would
    /// repeat shared elements.
    static constexpr std::uint64_t kMostElements = 10'000'000;

    explicit Sharing(const Value& v) : elements_(count(v)) {}
    bool shared() const { return shared_; }
    std::uint64_t elements() const { return elements_; }

private:
    std::uint64_t count(const Value& v) {
        base::step();
        if (v.is(value::Kind::Iterator))
            throw base::plain_error("Use of an Iterator is not supported here");
        if (v.is(value::Kind::Sensitive)) return count(v.unwrap());
        if (v.is_array() && !v.as_array().empty()) {
            return once(v.as_array().data(), [&](std::uint64_t& sum) {
                for (const auto& item : v.as_array()) add(sum, count(item));
            });
        }
        if (v.is_hash() && !v.as_hash().empty()) {
            return once(v.as_hash().entries.data(), [&](std::uint64_t& sum) {
                for (const auto& e : v.as_hash()) add(sum, count(e.key) + count(e.value));
            });
        }
        return 1;
    }
    template <class Walk>
    std::uint64_t once(const void* container, Walk&& walk) {
        const auto [it, added] = known_.try_emplace(container, 0);
        if (!added) {
            shared_ = true;
            return it->second;
        }
        std::uint64_t sum = 1;
        walk(sum);
        known_[container] = sum;
        return sum;
    }
    static void add(std::uint64_t& sum, std::uint64_t more) {
        sum = std::min(sum + more, 2 * kMostElements);
    }

    bool shared_ = false;
    std::unordered_map<const void*, std::uint64_t> known_;
    std::uint64_t elements_;
};

}  // namespace

// Copies a value that contains the same object twice, so that a parameter never does. `to_yaml`
// would show repeated objects.
Value Compilation::convert(const Value& v) {
    if (!v.is_array() && !v.is_hash() && !v.is(value::Kind::Iterator) &&
        !v.is(value::Kind::Sensitive))
        return v;
    // An array of scalars cannot contain the same container twice.
    const auto is_iterator = [](const Value& item) { return item.is(value::Kind::Iterator); };
    if (v.is_array() && v.depth() == 1 && std::ranges::none_of(v.as_array(), is_iterator)) return v;
    const Sharing sharing(v);
    if (!sharing.shared()) return v;
    if (sharing.elements() > Sharing::kMostElements) {
        throw base::plain_error(
            fmt::format("The value of a parameter has more than {} elements, because it contains "
                        "the same arrays or hashes many times",
                        Sharing::kMostElements));
    }
    return value::deep_copy(arena(), v);
}

std::vector<Param> Compilation::params_from(std::span<const evaluator::Attribute> attributes,
                                            Scope& scope) {
    std::vector<Param> out;
    out.reserve(attributes.size());
    const Definition* source = Scopes::source(&scope);
    for (const auto& a : attributes) {
        Param p;
        p.name = a.name;
        p.value = convert(a.value);
        p.source = source;
        p.append = a.append;
        if (a.site && a.site->source) {
            p.file = a.site->source->file();
            p.line = a.site->source->line_of(a.site->offset);
        }
        out.push_back(p);
    }
    return out;
}

namespace {

std::string_view kind_text(ResourceType::Kind kind) {
    switch (kind) {
        case ResourceType::Kind::Define: return "defined_type";
        case ResourceType::Kind::Native:
        case ResourceType::Kind::Ruby: return "compilable_type";
        default: return "unknown";
    }
}

}  // namespace

Resource& Compilation::make_resource(const NewResource& wanted) {
    const ResourceType& type = wanted.type;
    Resource& r = table_.allocate();
    r.type = type;
    r.title_is_text = wanted.title_kind == evaluator::TitleKind::Text;
    r.scope = wanted.scope ? &wanted.scope->base() : nullptr;
    r.source = wanted.source;
    r.file = wanted.file;
    r.line = wanted.line;
    set_title(r, wanted.title);
    r.kind = kind_text(type.kind);
    r.params.reserve(wanted.params.size());
    for (const auto& p : wanted.params) {
        if (r.find(p.name)) {
            fail_at(fmt::format("Duplicate parameter '{}' for on {}", p.name, r.ref()), wanted.file,
                    wanted.line);
        }
        set_parameter(r, p);
    }
    tag_by_type_and_title(r);
    if (wanted.defaults == DefaultParameters::Set && wanted.scope) {
        set_default_parameters(r, wanted.scope);
    }
    return r;
}

void Compilation::set_title(Resource& r, std::string_view title) {
    if (r.type.kind != ResourceType::Kind::Class) {
        r.title = title;
    } else if (title.empty()) {
        r.title = "main";
        r.title_is_main = true;
    } else {
        r.title = capitalize(arena(), title);
    }
}

/// Adds the tags that Puppet derives from the type and the title.
void Compilation::tag_by_type_and_title(Resource& r) {
    if (r.type.kind == ResourceType::Kind::Class) {
        r.tags.add(tag_table_.id("class"));
    } else if (!r.type.tags.empty()) {
        for (auto id : r.type.tags) r.tags.add(id);
    } else {
        tag_if_valid(r.tags, tag_table_, r.type.name);
    }
    if (!r.title_is_main && r.title_is_text) tag_if_valid(r.tags, tag_table_, r.title);
}

/// Sets the parameters that the scope has defaults for and the resource does not set.
void Compilation::set_default_parameters(Resource& r, Scope* scope) {
    for (const auto& p : Scopes::defaults(scope, r.type)) {
        if (r.find(p.name)) continue;
        set_parameter(r, p);
        if (History* h = history()) [[unlikely]]
            h->set_by_default(r, p.name, r.scope);
    }
}

void Compilation::add_resource(Scope* scope, Resource& resource) {
    // Puppet's compiler, too, lists a resource before its catalog refuses it as a duplicate. If
    // Ruby code rescues the error, the resource is finished with the others but is not in the
    // catalog.
    resources_.push_back(&resource);
    table_.add(resource);
    if (!resource.type.builtin()) instances_.push_back(&resource);
    if (!resource.is_class() && resource.get("stage")) {
        throw base::plain_error(
            fmt::format("Only classes can set 'stage'; normal resources like {} "
                        "cannot change run stage",
                        resource.ref()));
    }
    if (resource.is_stage() || resource.is_class()) return;
    Resource* container = Scopes::resource(scope);
    if (!container) container = main_resource_;
    if (container) table_.add_edge(*container, resource);
}

void Compilation::add_override(Resource& override_resource) {
    if (Resource* target = table_.find(override_resource.type.name, override_resource.title)) {
        merge(*target, override_resource);
        return;
    }
    overrides_.add(override_resource);
}

void Compilation::merge(Resource& target, const Resource& over) {
    bool allowed =
        target.source == over.source || definitions_.child_of(over.source, target.source);
    if (!allowed) {
        PuppetError error("Only subclasses can override parameters", "", PuppetError::Class::Plain);
        throw error.at({std::string(over.file), over.line, 0});
    }
    if (target.evaluated) {
        auto where = base::format_location({std::string(target.file), target.line, 0});
        std::string text =
            where.empty() ? "Attempt to override an already evaluated resource with new values"
                          : fmt::format(
                                "Attempt to override an already evaluated resource, defined at {}, "
                                "with new values",
                                where);
        const auto strict = interpreter_->options().strict;
        if (strict == evaluator::Strict::Error) fail_at(text, over.file, over.line);
        if (strict == evaluator::Strict::Warning) {
            auto place = base::format_location({std::string(over.file), over.line, 0});
            log().log(base::Level::Warning, place.empty() ? text : text + " " + place);
        }
    }
    for (const auto& param : over.params) {
        Param* current = target.find(param.name);
        if (!current) {
            set_parameter(target, param);
            if (History* h = history()) [[unlikely]]
                h->merged(target, over, param);
            continue;
        }
        if (Scopes::is_default(target.scope, target.type.name, param.name, param.value)) continue;
        bool may = definitions_.child_of(param.source, current->source) ||
                   (param.source == current->source &&
                    Scopes::is_default(target.scope, target.type.name, param.name, current->value));
        if (!may) {
            auto where = base::format_location({std::string(current->file), current->line, 0});
            std::string by;
            if (current->source) {
                const char* kind = current->source->kind == Definition::Kind::Class  ? "Class"
                                   : current->source->kind == Definition::Kind::Node ? "Node"
                                                                                     : "Define";
                by = current->source->name.empty()
                         ? " by Class[main]"
                         : fmt::format(" by {}[{}]", kind,
                                       capitalize(arena(), current->source->name));
            }
            auto text =
                fmt::format("Parameter '{}' is already set on {}{}{}; cannot redefine", param.name,
                            target.ref(), by, where.empty() ? "" : " at " + where);
            fail_at(text, param.file, param.line);
        }
        Param copy = param;
        if (param.append) {
            std::vector<Value> items;
            auto flatten = [&](auto&& self, const Value& v) -> void {
                if (v.is_array()) {
                    for (const auto& item : v.as_array()) self(self, item);
                } else {
                    items.push_back(v);
                }
            };
            flatten(flatten, current->value);
            flatten(flatten, param.value);
            copy.value = Value::array(arena().copy(std::span<const Value>(items)));
        }
        set_parameter(target, copy);
        if (History* h = history()) [[unlikely]]
            h->merged(target, over, param);
    }
}

bool Compilation::raw_tagged(const Resource& resource, std::uint32_t tag_id) const {
    if (resource.tags.has(tag_id)) return true;
    const Resource* container = Scopes::resource(resource.scope);
    return container && container != &resource && raw_tagged(*container, tag_id);
}

const types::Type* Compilation::reference_to(const Resource& resource) {
    if (resource.is_class()) return types::class_ref(types(), downcase(arena(), resource.title));
    return types::resource_ref(types(), resource.type.name, resource.title);
}

}  // namespace bunraku::compiler
