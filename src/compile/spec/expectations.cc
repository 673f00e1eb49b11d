// SPDX-License-Identifier: Apache-2.0
#include "compile/spec/expectations.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "language/environment/environment.h"
#include "language/evaluator/interpreter.h"
#include "language/types/kinds.h"
#include "resources/apply/ral_catalog.h"

namespace bunraku::spec {

namespace {

using evaluator::Attribute;
using evaluator::Interpreter;
using evaluator::Scope;
using value::Value;

constexpr std::string_view kClass = "expect";
/// The pseudo-type for an expected compile error.
constexpr std::string_view kError = "error";
constexpr std::string_view kRelations[] = {"require", "subscribe", "before", "notify"};

bool is_relation(std::string_view name) {
    return std::ranges::find(kRelations, name) != std::end(kRelations);
}

const Value& bare(const Value& v) { return v.is(value::Kind::Sensitive) ? bare(v.unwrap()) : v; }

std::string in_short(const Value& v) {
    std::string out;
    value::print_source(out, v);
    constexpr std::size_t kLong = 200;
    if (out.size() > kLong) out = out.substr(0, kLong) + "..";
    return out;
}

/// Appends the references in a value, including those in arrays.
void references_in(const Value& v, std::vector<types::Reference>& out) {
    if (v.is_array()) {
        for (const Value& each : v.as_array()) references_in(each, out);
    } else if (v.is_type()) {
        if (const auto ref = types::as_reference(v.as_type()); ref && ref->has_title)
            out.push_back(*ref);
    }
}

/// The resources of the catalog by name, and their order.
class Known {
public:
    explicit Known(const catalog::Catalog& catalog)
        : catalog_(catalog),
          parents_(catalog.resources.size(), kNone),
          members_(catalog.resources.size()) {
        for (std::uint32_t i = 0; i < catalog.resources.size(); ++i) {
            const auto& r = catalog.resources[i];
            by_key_.emplace(resource_key(r.ref.type, r.ref.title), i);
            for (const auto& alias : r.aliases) by_key_.emplace(resource_key(r.ref.type, alias), i);
        }
        for (const auto& edge : catalog.edges) {
            parents_[edge.target] = edge.source;
            members_[edge.source].push_back(edge.target);
        }
    }

    const std::vector<catalog::Resource>& all() const { return catalog_.resources; }

    const catalog::Resource* find(std::string_view type, std::string_view title) const {
        const auto i = position(type, title);
        return i == kNone ? nullptr : &catalog_.resources[i];
    }

    /// Reports whether relationships order `from` before `to`, directly or indirectly. With
    /// `events`, they must also pass on refresh events.
    bool related(const types::Reference& from, const types::Reference& to, bool events) {
        const auto first = position(from.type_name, from.title);
        const auto last = position(to.type_name, to.title);
        if (first == kNone || last == kNone) return false;
        relate();
        return related(first, last, events);
    }

private:
    static constexpr std::uint32_t kNone = ~0U;

    std::uint32_t position(std::string_view type, std::string_view title) const {
        const auto it = by_key_.find(resource_key(type, title));
        return it == by_key_.end() ? kNone : it->second;
    }

    /// A container is ordered before another resource if the container itself is, or all resources
    /// in it are.
    bool related(std::uint32_t first, std::uint32_t last, bool events) const {
        const auto reached = reachable_from(first, events);
        const auto ends = [&](std::uint32_t i, const auto& self) -> bool {
            return reached.contains(i) ||
                   (!members_[i].empty() &&
                    std::ranges::all_of(members_[i], [&](auto m) { return self(m, self); }));
        };
        return ends(last, ends) ||
               (!members_[first].empty() && std::ranges::all_of(members_[first], [&](auto m) {
                   return related(m, last, events);
               }));
    }

    /// Returns all resources that follow `first` through relationships.
    std::unordered_set<std::uint32_t> reachable_from(std::uint32_t first, bool events) const {
        std::unordered_set<std::uint32_t> reached;
        std::vector<std::uint32_t> open;
        const auto reach = [&](std::uint32_t i, const auto& self) -> void {
            if (!reached.insert(i).second) return;
            open.push_back(i);
            for (const auto member : members_[i]) self(member, self);
        };
        const auto leave = [&](std::uint32_t i) {
            // The relationships of a container also apply to its content.
            for (; i != kNone; i = parents_[i])
                for (const auto& [target, event] : after_[i])
                    if (event || !events) reach(target, reach);
        };
        leave(first);
        while (!open.empty()) {
            const auto i = open.back();
            open.pop_back();
            leave(i);
        }
        return reached;
    }

    void relate() {
        if (!after_.empty()) return;
        after_.resize(catalog_.resources.size());
        for (std::uint32_t i = 0; i < after_.size(); ++i) {
            for (const auto name : kRelations) {
                const Value* v = catalog_.resources[i].parameter(name);
                if (!v) continue;
                std::vector<types::Reference> others;
                references_in(*v, others);
                const bool event = name == "subscribe" || name == "notify";
                for (const auto& ref : others) {
                    const auto other = position(ref.type_name, ref.title);
                    if (other == kNone) continue;
                    if (name == "before" || name == "notify")
                        after_[i].emplace_back(other, event);
                    else
                        after_[other].emplace_back(i, event);
                }
            }
        }
    }

    const catalog::Catalog& catalog_;
    std::vector<std::uint32_t> parents_;
    std::vector<std::vector<std::uint32_t>> members_;
    std::unordered_map<std::string, std::uint32_t> by_key_;
    std::vector<std::vector<std::pair<std::uint32_t, bool>>> after_;
};

/// Checks the statements of the class `expect` instead of executing them.
class ExpectReader final : public evaluator::CatalogHost {
public:
    /// `known` is null if the compile failed.
    ExpectReader(Interpreter& in, Known* known, Expected& out, const std::string& error)
        : in_(in), known_(known), out_(out), error_(error) {}

    /// Reports whether the class expects the error of the compile.
    bool error_expected() const { return error_expected_; }

    // `package { 'ntp': ensure => installed }`: the catalog contains the resource with these
    // values. `@package { 'ntp': }`: it does not contain the resource.
    Value create_resources(Interpreter&, Scope&, syntax::ResourceForm form,
                           std::string_view type_name, std::span<const std::string_view> titles,
                           std::span<const Attribute> attributes, const syntax::Node* site,
                           evaluator::TitleKind) override {
        const std::string type = base::capitalized_segments(type_name);
        for (const auto title : titles) {
            if (type_name == kError)
                failure(title, attributes, site);
            else if (form == syntax::ResourceForm::Virtual)
                absent(type, title, attributes, site);
            else
                present(type, title, attributes, form == syntax::ResourceForm::Exported, site);
        }
        return Value::array({});
    }
    // `File { owner => root }`: all resources of the type have these values.
    void set_defaults(Interpreter&, Scope&, std::string_view type_name,
                      std::span<const Attribute> attributes, const syntax::Node* site) override {
        if (!known_) return;
        for (const auto& r : known_->all())
            if (base::lower(r.ref.type) == base::lower(type_name) && !r.virtual_)
                fits(r, attributes, site);
    }
    // `File['/x'] { mode => .. }`: same as a declaration.
    void override_resources(Interpreter&, Scope&, std::span<const types::Reference> references,
                            std::span<const Attribute> attributes,
                            const syntax::Node* site) override {
        for (const auto& ref : references)
            present(std::string(ref.type_name), ref.title, attributes, false, site);
    }
    // `A -> B ~> C`
    Value relate(Interpreter&, Scope&, const Value& left, const Value& right, syntax::Op op,
                 const syntax::Node* site) override {
        std::vector<types::Reference> sources, targets;
        references_in(left, sources);
        references_in(right, targets);
        const bool reverse = op == syntax::Op::BeforeReverse || op == syntax::Op::NotifyReverse;
        const bool events = op == syntax::Op::Notify || op == syntax::Op::NotifyReverse;
        if (reverse) std::swap(sources, targets);
        for (const auto& from : sources)
            for (const auto& to : targets) order(from, to, events, site);
        return right;
    }
    // `File <| tag == 'ntp' |> { owner => root }`: the query finds resources, and all of them have
    // these values.
    Value collect(Interpreter&, Scope& scope, const syntax::CollectExpression& node,
                  std::string_view type_name, std::span<const Attribute> attributes) override {
        const syntax::Node* query = nullptr;
        bool exported = false;
        if (const auto* q = syntax::as<syntax::VirtualQuery>(node.query)) query = q->expr;
        if (const auto* q = syntax::as<syntax::ExportedQuery>(node.query)) {
            query = q->expr;
            exported = true;
        }
        bool any = false;
        for (const auto& r : known_ ? known_->all() : std::vector<catalog::Resource>()) {
            if (base::lower(r.ref.type) != base::lower(type_name)) continue;
            if (exported ? !r.exported : r.virtual_) continue;
            if (!selects(query, r, scope)) continue;
            any = true;
            fits(r, attributes, &node);
        }
        if (!any && known_)
            wrong(&node, fmt::format("no resource matches {}",
                                     node.text().substr(0, node.text().find('{'))));
        return Value::undef();
    }
    Value resource_parameter(Interpreter&, Scope&, const types::Reference& ref,
                             std::string_view parameter, const syntax::Node*) override {
        note(ref.type_name, ref.title);
        const auto* r = find(ref.type_name, ref.title);
        const Value* v = r ? r->parameter(parameter) : nullptr;
        return v ? *v : Value::undef();
    }
    std::vector<Value> include_classes(Interpreter&, Scope&,
                                       std::span<const std::string_view> names,
                                       const syntax::Node* site) override {
        classes(names, site);
        return {};
    }
    void contain_classes(Interpreter&, Scope&, std::span<const std::string_view> names,
                         const syntax::Node* site) override {
        classes(names, site);
    }
    void require_classes(Interpreter&, Scope&, std::span<const std::string_view> names,
                         const syntax::Node* site) override {
        classes(names, site);
    }
    void realize(Interpreter&, Scope&, std::span<const types::Reference> references,
                 const syntax::Node* site) override {
        for (const auto& ref : references)
            present(std::string(ref.type_name), ref.title, {}, false, site);
    }
    void tag(Scope&, std::span<const std::string_view>) override {}
    bool tagged(Scope&, std::span<const std::string_view> tags) override {
        return known_ && std::ranges::all_of(tags, [&](std::string_view tag) {
                   return std::ranges::any_of(known_->all(), [&](const catalog::Resource& r) {
                       return std::ranges::find(r.tags, tag) != r.tags.end();
                   });
               });
    }
    Scope* class_scope(std::string_view) override { return nullptr; }
    bool resource_declared(std::string_view type_name, std::string_view title) override {
        note(type_name, title);
        return find(type_name, title) != nullptr;
    }
    bool class_declared(std::string_view name) override { return resource_declared("class", name); }
    bool class_known(std::string_view name) override { return class_declared(name); }
    bool define_known(std::string_view) override { return false; }
    bool resource_type_known(std::string_view) override { return true; }

private:
    const catalog::Resource* find(std::string_view type, std::string_view title) const {
        const auto* r = known_ ? known_->find(type, title) : nullptr;
        return r && !r->virtual_ ? r : nullptr;
    }

    void note(std::string_view type, std::string_view title) {
        out_.resources.insert(resource_key(type, title));
    }

    void wrong(const syntax::Node* site, std::string text) {
        auto where = site ? site->where() : base::Location{};
        where.column = 0;
        if (const auto place = base::format_location(where); !place.empty()) text += " " + place;
        if (!out_.problem.empty()) out_.problem += '\n';
        out_.problem += text;
    }

    /// Reports whether a value is as expected. Compares plain values by their text, and matches
    /// others like the options of `case`.
    bool is(const Value& given, const Value& wanted) {
        const Value& have = bare(given);
        const Value& want = bare(wanted);
        if (want.is_undef()) return have.is_undef();
        if (want.is(value::Kind::Regexp) && !have.is_string() && !have.is_array())
            return is(Value::string(in_.arena().copy(value::to_text(have))), want);
        if (want.is(value::Kind::Regexp) && have.is_array())
            return std::ranges::any_of(have.as_array(),
                                       [&](const Value& each) { return is(each, want); });
        const auto plain = [](const Value& v) {
            return v.is_string() || v.is_numeric() || v.is(value::Kind::Boolean);
        };
        if (plain(want) && plain(have)) return value::to_text(have) == value::to_text(want);
        if (want.is_array() && have.is_array()) {
            const auto a = have.as_array(), b = want.as_array();
            return a.size() == b.size() &&
                   std::equal(a.begin(), a.end(), b.begin(),
                              [&](const Value& x, const Value& y) { return is(x, y); });
        }
        if (want.is_type() && have.is_type()) return value::equal(have, want);
        return evaluator::matches(in_, have, want, nullptr);
    }

    /// Returns a description of the difference, or an empty string.
    std::string difference(const catalog::Resource& r, const Attribute& a) {
        const Value* there = r.parameter(a.name);
        const Value have = there ? *there : Value::undef();
        if (is(have, a.value)) return {};
        if (have.is(value::Kind::Sensitive))
            return fmt::format("{}: {} does not have the expected value", r.ref.to_string(),
                               a.name);
        return fmt::format("{}: {} is {}, and not {}", r.ref.to_string(), a.name, in_short(have),
                           in_short(a.value));
    }

    void fits(const catalog::Resource& r, std::span<const Attribute> attributes,
              const syntax::Node* site) {
        note(r.ref.type, r.ref.title);
        for (const auto& a : attributes) {
            if (r.ref.type == "Class")
                out_.parameters.insert(resource_key(r.ref.type, r.ref.title) + " " +
                                       std::string(a.name));
            const auto* at = a.site ? a.site : site;
            if (is_relation(a.name)) {
                std::vector<types::Reference> others;
                references_in(a.value, others);
                const types::Reference self{r.ref.type, r.ref.title, true};
                const bool events = a.name == "subscribe" || a.name == "notify";
                const bool first = a.name == "before" || a.name == "notify";
                for (const auto& other : others)
                    order(first ? self : other, first ? other : self, events, at);
            } else if (auto text = difference(r, a); !text.empty()) {
                wrong(at, std::move(text));
            }
        }
    }

    void present(const std::string& type, std::string_view title,
                 std::span<const Attribute> attributes, bool exported, const syntax::Node* site) {
        note(type, title);
        if (!known_) return;
        const auto* r = known_->find(type, title);
        if (r && (exported ? r->exported : !r->virtual_)) return fits(*r, attributes, site);
        wrong(site, fmt::format("{}[{}] is not {}", type, title,
                                !r         ? "in the catalog"
                                : exported ? "exported"
                                           : "realized"));
    }

    void absent(const std::string& type, std::string_view title,
                std::span<const Attribute> attributes, const syntax::Node* site) {
        note(type, title);
        const auto* r = find(type, title);
        if (!r || std::ranges::any_of(
                      attributes, [&](const Attribute& a) { return !difference(*r, a).empty(); }))
            return;
        const auto place = base::format_location({r->file, r->line, 0});
        wrong(site, fmt::format("{} is in the catalog{}{}", r->ref.to_string(),
                                place.empty() ? "" : ", declared ", place));
    }

    void order(const types::Reference& from, const types::Reference& to, bool events,
               const syntax::Node* site) {
        note(from.type_name, from.title);
        note(to.type_name, to.title);
        if (!known_) return;
        bool there = true;
        for (const auto& ref : {from, to}) {
            if (find(ref.type_name, ref.title)) continue;
            there = false;
            wrong(site, fmt::format("{}[{}] is not in the catalog", ref.type_name, ref.title));
        }
        if (there && !known_->related(from, to, events))
            wrong(site, fmt::format("{}[{}] {} {}[{}]", from.type_name, from.title,
                                    events ? "does not notify" : "is not ordered before",
                                    to.type_name, to.title));
    }

    void classes(std::span<const std::string_view> names, const syntax::Node* site) {
        for (const auto name : names) present("Class", name, {}, false, site);
    }

    // `error { 'expects an Integer': }`, or a match of the attribute `message` against the error.
    void failure(std::string_view title, std::span<const Attribute> attributes,
                 const syntax::Node* site) {
        error_expected_ = true;
        if (known_)
            return wrong(site, fmt::format("the compile succeeds, without the error '{}'", title));
        const auto at =
            std::ranges::find(attributes, std::string_view("message"), &Attribute::name);
        const bool so = at == attributes.end()
                            ? error_.find(title) != error_.npos
                            : evaluator::matches(in_, Value::string(error_), at->value, nullptr);
        if (!so) wrong(site, fmt::format("the error is not '{}', but: {}", title, error_));
    }

    bool selects(const syntax::Node* query, const catalog::Resource& r, Scope& scope) {
        while (const auto* p = syntax::as<syntax::ParenthesizedExpression>(query)) query = p->expr;
        if (!query || query->kind == syntax::NodeKind::Nop) return true;
        if (query->kind == syntax::NodeKind::AndExpression ||
            query->kind == syntax::NodeKind::OrExpression) {
            const auto& both = *static_cast<const syntax::BinaryNode*>(query);
            const bool left = selects(both.left, r, scope);
            if (query->kind == syntax::NodeKind::AndExpression)
                return left && selects(both.right, r, scope);
            return left || selects(both.right, r, scope);
        }
        const auto* comparison = syntax::as<syntax::ComparisonExpression>(query);
        if (!comparison)
            throw base::plain_error(fmt::format("{} is not supported in a query", query->text()));
        const std::string attribute = value::to_text(in_.evaluate(comparison->left, scope));
        const Value wanted = in_.evaluate(comparison->right, scope);
        bool same = false;
        if (attribute == "tag") {
            const auto tag = base::lower(value::to_text(wanted));
            same = std::ranges::find(r.tags, tag) != r.tags.end();
        } else if (attribute == "title") {
            same = r.ref.title == value::to_text(wanted);
        } else {
            const Value* there = r.parameter(attribute);
            const Value have = there ? *there : Value::undef();
            same = have.is_array() && !wanted.is_array()
                       ? std::ranges::any_of(have.as_array(),
                                             [&](const Value& each) { return is(each, wanted); })
                       : is(have, wanted);
        }
        return same == (comparison->op != syntax::Op::NotEqual);
    }

    Interpreter& in_;
    Known* known_;
    Expected& out_;
    const std::string& error_;
    bool error_expected_ = false;
};

}  // namespace

std::string resource_key(std::string_view type, std::string_view title) {
    const std::string name = base::lower(type);
    if (name != "class") return fmt::format("{}[{}]", name, title);
    if (title.starts_with("::")) title.remove_prefix(2);
    return fmt::format("{}[{}]", name, base::lower(title));
}

Expected check_expectations(site::Session& session, const std::string& file,
                            const catalog::Catalog* catalog, const std::string& error) {
    Expected out;
    const auto& environment = *session.environment();
    const auto text = environment.read(file);
    if (!text) throw base::plain_error(fmt::format("Could not read {}", file));
    const auto parsed = environment.parse_text(file, *text);
    base::MemorySink ignored;  // the compile has logged these already
    const syntax::HostClassDefinition* expect = nullptr;
    for (const auto* node : parsed->check(ignored).program->definitions)
        if (const auto* c = syntax::as<syntax::HostClassDefinition>(node); c && c->name == kClass)
            expect = c;
    if (!expect) {
        out.problem = error.empty() ? fmt::format("{} has no class '{}'", file, kClass) : error;
        return out;
    }
    std::optional<Known> known;
    if (catalog) known.emplace(*catalog);
    session.visit(false, [&](Interpreter& in) {
        ExpectReader reader(in, known ? &*known : nullptr, out, error);
        auto* host = std::exchange(in.hosts().catalog, &reader);
        try {
            if (expect->body)
                in.evaluate_body(expect->body,
                                 *in.new_scope(evaluator::ScopeKind::Local, &in.top_scope()));
        } catch (...) {
            in.hosts().catalog = host;
            throw;
        }
        in.hosts().catalog = host;
        if (!catalog && !reader.error_expected()) out.problem = error;
    });
    return out;
}

}  // namespace bunraku::spec
