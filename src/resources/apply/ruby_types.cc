// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/ruby_types.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/value/build.h"
#include "language/types/questions.h"
#include "resources/apply/local_content.h"
#include "resources/apply/ral_catalog.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

const Value* entry(const Value& v, std::string_view name) {
    return v.is_hash() ? v.as_hash().find(name) : nullptr;
}

std::string text_of(const Value* v) { return v && !v->is_undef() ? value::to_text(*v) : ""; }

bool flag_of(const Value& v, std::string_view name) {
    const Value* found = entry(v, name);
    return found && found->is(value::Kind::Boolean) && found->as_boolean();
}

std::string joined(const Value* list, std::string_view between) {
    std::string out;
    if (!list || !list->is_array()) return out;
    for (const Value& v : list->as_array()) {
        if (!out.empty()) out += between;
        out += value::to_text(v);
    }
    return out;
}

/// Returns a built-in type in the form from which the child creates its own type.
Value spec_of(Context& context, std::string_view name) {
    const TypeSpec* spec = restype::find_type(name);
    if (!spec) return {};
    std::vector<Value> attributes;
    for (const Attribute& a : spec->attributes) {
        const Value one[] = {
            Value::string(a.name),
            Value::boolean(a.kind == AttributeKind::Property),
            Value::boolean(a.namevar),
            Value::string(a.values),
            Value::boolean(!a.patterns.empty()),
            Value::boolean(a.array_matching_all),
            Value::string(a.feature),
        };
        attributes.push_back(value::make_array(context.arena, one));
    }
    return value::make_array(context.arena, attributes);
}

/// Converts the child's description of a type to a RubyType in `arena`.
std::unique_ptr<const RubyType> type_of(base::Arena& arena, std::string_view name,
                                        const std::string& file, const Value& response) {
    auto type = std::make_unique<RubyType>();
    type->file = file;
    type->spec.name = arena.copy(name);
    type->spec.doc = arena.copy(text_of(entry(response, "doc")));
    std::vector<Attribute> attributes;
    if (const Value* list = entry(response, "attributes"); list && list->is_array()) {
        for (const Value& a : list->as_array()) {
            Attribute& made = attributes.emplace_back();
            made.name = arena.copy(text_of(entry(a, "name")));
            made.kind = text_of(entry(a, "kind")) == "property" ? AttributeKind::Property
                                                                : AttributeKind::Parameter;
            made.namevar = flag_of(a, "namevar");
            made.doc = arena.copy(text_of(entry(a, "doc")));
            made.values = arena.copy(joined(entry(a, "values"), "|"));
            made.patterns = arena.copy(joined(entry(a, "patterns"), ", "));
            made.array_matching_all = flag_of(a, "array_matching_all");
            made.read_only = flag_of(a, "read_only");
        }
    }
    type->spec.attributes = arena.copy(attributes);
    const Value* isomorphic = entry(response, "isomorphic");
    type->spec.isomorphic = !isomorphic || isomorphic->truthy();
    type->spec.composite_namevar = flag_of(response, "composite");
    type->refreshes = flag_of(response, "refreshes");
    type->self_refresh = flag_of(response, "self_refresh");
    type->generates = flag_of(response, "generates");
    type->eval_generates = flag_of(response, "eval_generates");
    type->depth_first = flag_of(response, "depth_first");
    type->pre_run_check = flag_of(response, "pre_run_check");
    return type;
}

}  // namespace

/// Handles requests that Ruby code sends while it runs.
class RubyTypes::RubyTypeCallbacks final : public ruby::Callbacks {
public:
    explicit RubyTypeCallbacks(RubyTypes& types) : types_(types) {}

    Value call_function(std::string_view name, std::span<const Value>, std::uint64_t) override {
        throw PuppetError(fmt::format("Unknown function: '{}'.", name), "UNKNOWN_FUNCTION");
    }
    Value yield(std::uint64_t, std::span<const Value>) override { return {}; }
    std::optional<Value> variable(std::string_view) override { return std::nullopt; }
    void set_variable(std::string_view, const Value&) override {}
    base::Arena* keeper() override { return &types_.context_.arena; }

    void log(base::Level level, std::string_view message) override { log_from(level, message, {}); }

    /// `source` is "@NUMBER", "@NUMBER/attribute", or a text to show instead.
    void log_from(base::Level level, std::string_view message, std::string_view source) override {
        Context& context = types_.context_;
        if (source.starts_with('@')) {
            const auto slash = std::min(source.find('/'), source.size());
            const auto number = base::parse_integer<int>(source.substr(1, slash - 1));
            if (const RubyResource* r = number ? types_.at(*number) : nullptr) {
                const Param* about =
                    slash < source.size() ? r->find(source.substr(slash + 1)) : nullptr;
                return r->log(level, std::string(message), about);
            }
            source = {};
        }
        if (!context.enabled(level)) return;
        base::Diagnostic d;
        d.level = level;
        d.message = context.redact(std::string(message), context.own_secrets);
        d.source = source.empty() ? "Puppet" : std::string(source);
        context.log.log(d);
    }

    /// Writes the content of a URI (puppet:///..) to a file; returns undef if it does not exist.
    static Value fetch(Context& context, const std::string& uri, std::string_view file) {
        ContentSource& source = content_source(context, uri);
        const auto found = unwrap(source.metadata(uri, {.follow_links = true}));
        if (!found || found->status.kind != sys::FileKind::File) return {};
        const auto reader = unwrap(source.open(uri));
        unwrap(context.system.files.replace_from(
            std::string(file), [&](const sys::Write& write) { return sys::pump(*reader, write); },
            {.mode = 0600}));
        return Value::boolean(true);
    }

    Value request(std::string_view what, std::span<const Value> args, base::Arena&) override {
        auto text = [&](std::size_t i) {
            return i < args.size() && args[i].is_string() ? args[i].as_string()
                                                          : std::string_view();
        };
        Context& context = types_.context_;
        RalCatalog* ral = types_.catalog;
        types::Context type_context{context.arena};
        if (auto response = types::answer(type_context, what, args)) return *response;
        if (what == "machine_from_command") return Value::boolean(types_.parts_.from_command);
        if (what == "setting") {
            const auto found = types_.parts_.setting ? types_.parts_.setting(text(0))
                                                     : std::optional<std::string>();
            return found ? context.string(*found) : Value::undef();
        }
        if (what == "is_builtin_type")
            return Value::boolean(restype::find_type(text(0)) != nullptr);
        if (what == "machine_type_spec") return spec_of(context, text(0));
        if (what == "machine_path" || what == "machine_tags") {
            const RubyResource* r = args.empty() || !args[0].is_integer()
                                        ? nullptr
                                        : types_.at(static_cast<int>(args[0].as_integer()));
            if (!r) return {};
            if (what == "machine_path") return context.string(r->path());
            std::vector<Value> tags;
            for (const std::string& tag : r->tags()) tags.push_back(context.string(tag));
            return value::make_array(context.arena, tags);
        }
        if (what == "machine_facts") {
            if (!types_.facts_)
                types_.facts_ = types_.parts_.facts ? types_.parts_.facts() : Value::undef();
            return *types_.facts_;
        }
        if (what == "machine_fetch") return fetch(context, std::string(text(0)), text(1));
        if (!ral) return {};
        if (what == "machine_natives") {
            std::vector<Value> all;
            for (const Resource* r : ral->resources()) {
                if (r->is_container() || dynamic_cast<const RubyResource*>(r)) continue;
                const Value pair[] = {context.string(r->type_name()), context.string(r->title())};
                all.push_back(value::make_array(context.arena, pair));
            }
            return value::make_array(context.arena, all);
        }
        Resource* found = ral->find(text(0), text(1));
        if (!found) return {};
        if (what == "machine_resource") {
            value::HashBuilder given(context.arena);
            for (const auto& [name, v] : found->original_parameters())
                given.set(context.string(name), v);
            return given.build();
        }
        if (what == "machine_mark_sensitive") {
            if (Param* p = found->find(text(2))) p->sensitive = true;
            return {};
        }
        if (what == "machine_set" && args.size() > 3) {
            found->set(text(2), args[3]);
            found->run_validation();
        }
        return {};
    }

private:
    RubyTypes& types_;
};

RubyTypes::RubyTypes(Context& context, std::function<Parts()> parts)
    : context_(context), open_(std::move(parts)) {}
RubyTypes::~RubyTypes() = default;

RubyResource* RubyTypes::at(int number) const {
    const auto it = resources_.find(number);
    return it == resources_.end() ? nullptr : it->second;
}

void RubyTypes::start() {
    if (host_) return;
    callbacks_ = std::make_unique<RubyTypeCallbacks>(*this);
    if (!parts_.children) {
        parts_.host.stop = [this] { return static_cast<bool>(context_.stop_request()); };
        parts_.children = std::make_shared<ruby::Pool>(parts_.host);
    }
    host_ = parts_.children->take();
}

Value RubyTypes::ask(std::string_view verb, std::span<const Value> args) {
    start();
    if (generation_ != 0 && host_->generation() != generation_ && !reviving_) revive();
    try {
        if (generation_ == 0) {
            // If `known` is set, this is a noop run and more runs follow. Otherwise it is the real
            // run.
            const Value rehearsal = Value::boolean(parts_.known != nullptr);
            host_->manage("begin", std::span(&rehearsal, 1), *callbacks_, context_.arena);
            generation_ = host_->generation();
        }
        return host_->manage(verb, args, *callbacks_, context_.arena);
    } catch (const PuppetError& e) {
        if (const StopRequest asked = context_.stop_request()) throw Stopped(asked.signal);
        // The resource adds the source location.
        PuppetError plain(e.message(), {}, PuppetError::Class::Plain);
        for (const std::string& frame : e.trace()) plain.add_frame(frame);
        throw plain;
    }
}

Value RubyTypes::relations(int number) {
    auto known = relations_.find(number);
    if (known == relations_.end()) {
        std::vector<Value> numbers;
        for (const auto& [other, resource] : resources_)
            if (resource->relates()) numbers.push_back(Value::integer(other));
        const Value all = ask("relations", {value::make_array(context_.arena, numbers)});
        for (std::size_t i = 0; all.is_array() && i < all.as_array().size(); ++i)
            if (!all.as_array()[i].is_undef())
                relations_[static_cast<int>(numbers[i].as_integer())] = all.as_array()[i];
        known = relations_.find(number);
    }
    if (known == relations_.end()) return ask("relations", {Value::integer(number)});
    BUNRAKU_ASSERT(known->first == number);
    const Value found = known->second;
    relations_.erase(known);
    return found;
}

/// A new child recreates all objects of one that died. It also repeats their prefetch, so that
/// resources are not mistaken for absent.
void RubyTypes::revive() {
    BUNRAKU_ASSERT(!reviving_ && generation_ != 0);
    reviving_ = true;
    struct Done {
        bool& flag;
        ~Done() { flag = false; }
    } const done{reviving_};
    generation_ = 0;
    std::map<int, int> renamed;
    auto before = std::exchange(resources_, {});
    relations_.clear();
    for (const auto& [number, resource] : before) {
        resource->remake();
        renamed[number] = resource->number();
    }
    for (Prefetched& p : prefetched_) {
        for (int& n : p.numbers) n = renamed.contains(n) ? renamed[n] : 0;
        std::erase(p.numbers, 0);
        std::vector<Value> numbers;
        for (int n : p.numbers) numbers.push_back(Value::integer(n));
        ask("prefetch", {Value::string(p.type->spec.name), context_.string(p.provider),
                         value::make_array(context_.arena, numbers)});
    }
}

void RubyTypes::prefetched(const RubyType& type, std::string_view provider,
                           std::vector<int> numbers) {
    prefetched_.push_back({&type, std::string(provider), std::move(numbers)});
}

void RubyTypes::open() {
    if (open_) parts_ = std::exchange(open_, nullptr)();
    BUNRAKU_ASSERT(!open_);
}

bool RubyTypes::started() {
    if (missing_) return false;
    open();
    try {
        start();
    } catch (const PuppetError& e) {
        missing_ = true;
        context_.message(Level::Warning,
                         fmt::format("Skipping the types of modules: {}", e.message()));
    }
    return !missing_;
}

std::vector<std::string> RubyTypes::plugin_folders() {
    open();
    return parts_.plugin_folders ? parts_.plugin_folders() : std::vector<std::string>();
}

std::optional<std::string> RubyTypes::type_file(std::string_view name) {
    open();
    return parts_.file_of ? parts_.file_of(name) : std::nullopt;
}

const std::vector<std::string>& RubyTypes::provider_files(std::string_view type) {
    static const std::vector<std::string> kNone;
    open();
    if (!provider_files_)
        provider_files_ = parts_.provider_files ? parts_.provider_files() : ProviderFiles();
    const auto it = provider_files_->find(type);
    return it == provider_files_->end() ? kNone : it->second;
}

std::vector<std::string> RubyTypes::loaded_code() {
    auto out = std::exchange(read_files_, {});
    if (!host_) return out;
    const Value response = ask("loaded", {});
    if (response.is_array())
        for (const Value& path : response.as_array()) out.push_back(value::to_text(path));
    return out;
}

std::optional<int> RubyTypes::level(const ModuleType& type) {
    RubyTypesKnown& all = known();
    {
        const std::lock_guard lock(all.mutex);
        if (const auto it = all.levels.find(&type); it != all.levels.end()) return it->second;
    }
    const auto found = module_level(context_, type);
    const std::lock_guard lock(all.mutex);
    return all.levels.emplace(&type, found).first->second;
}

bool RubyTypes::process_report(std::string_view name, const Value& report) {
    return started() && ask("report", {context_.string(name), report}).truthy();
}

const RubyType* RubyTypes::find(std::string_view name) {
    if (const auto it = types_.find(name); it != types_.end()) return it->second;
    if (missing_) return nullptr;
    const auto file = type_file(name);
    if (!file) {
        types_.emplace(name, nullptr);
        return nullptr;
    }
    if (!started()) return nullptr;
    return described(name, name, *file);
}

RubyTypesKnown& RubyTypes::known() {
    open();
    if (!known_) known_ = parts_.known ? parts_.known : std::make_shared<RubyTypesKnown>();
    return *known_;
}

const RubyType* RubyTypes::described(std::string_view key, std::string_view name,
                                     const std::string& file) {
    RubyTypesKnown& all = known();
    const auto keep = [&](const RubyType* type) {
        types_.emplace(key, type);
        return type;
    };
    {
        const std::lock_guard lock(all.mutex);
        if (const auto it = all.types.find(key); it != all.types.end())
            return keep(it->second.get());
    }
    const Value response = ask("type", {context_.string(file), context_.string(name)});
    const std::lock_guard lock(all.mutex);
    auto& type = all.types[std::string(key)];
    if (!type) type = type_of(all.arena, name, file, response);
    BUNRAKU_ASSERT(type->spec.name == name);
    return keep(type.get());
}

std::unique_ptr<Resource> RubyTypes::make(std::string_view name) {
    const RubyType* type = find(name);
    return type ? std::make_unique<RubyResource>(context_, *this, *type) : nullptr;
}

bool RubyTypes::default_is_ruby(const Resource& native, const std::vector<std::string>& files) {
    const ProviderClass* own = native.default_provider();
    const int facts = own && own->default_for ? own->default_for(context_) : 0;
    // Most providers of modules are used only if a resource names them. In that case no child is
    // needed.
    if (facts > 0 && std::ranges::none_of(files, [&](const std::string& file) {
            const auto text = context_.system.files.read(file);
            return !text || text->find("defaultfor") != std::string::npos;
        }))
        return false;
    if (!started()) return false;
    const Value score = own ? Value::integer(facts * 100 + own->depth) : Value::undef();
    std::vector<Value> names;
    for (const ProviderClass* c : native.provider_classes())
        names.push_back(Value::string(c->name));
    return ask("default_here", {Value::string(native.type_name()), score, Value::boolean(facts > 0),
                                Value::array(context_.arena.copy(names))})
        .truthy();
}

std::unique_ptr<Resource> RubyTypes::instead_of(const Resource& native, const Value& wanted) {
    const TypeSpec& spec = native.spec();
    if (missing_ || dynamic_cast<const RubyResource*>(&native) || !spec.find("provider"))
        return nullptr;
    // For a module's built-in type, all providers are built in too; otherwise the module's Ruby
    // type is used.
    if (find_module_type_releases(spec.name)) return nullptr;
    const std::vector<std::string>& result = provider_files(spec.name);
    if (result.empty()) return nullptr;
    // A provider with the name of a built-in one (from core modules) is replaced by the built-in
    // one.
    const auto own = native.provider_classes();
    std::vector<std::string> files;
    bool named = false;
    for (const std::string& file : result) {
        std::string_view name = file;
        name = name.substr(name.rfind('/') + 1);
        name.remove_suffix(std::string_view(".rb").size());
        if (std::ranges::any_of(own, [&](const ProviderClass* c) { return c->name == name; }))
            continue;
        // cron_core has a helper file among its providers.
        const auto text = context_.system.files.read(file);
        if (text && text->find("provide") == std::string::npos) continue;
        named = named || (wanted.is_string() && wanted.as_string() == name);
        files.push_back(file);
    }
    if (files.empty()) return nullptr;
    if (wanted.is_undef()) {
        auto known = ruby_defaults_.find(spec.name);
        if (known == ruby_defaults_.end())
            known = ruby_defaults_.emplace(spec.name, default_is_ruby(native, files)).first;
        if (!known->second) return nullptr;
    } else if (!named) {
        return nullptr;
    }
    if (!started()) return nullptr;
    // No module's type can have such a name.
    const std::string key = fmt::format("built in: {}", spec.name);
    const auto found = types_.find(key);
    const RubyType* type =
        found != types_.end() ? found->second : described(key, spec.name, std::string());
    return std::make_unique<RubyResource>(context_, *this, *type);
}

const ProviderClass* RubyTypes::provider(const RubyType& type, std::string_view name) {
    RubyTypesKnown& all = known();
    const auto key = fmt::format("{} {}", type.spec.name, name);
    {
        const std::lock_guard lock(all.mutex);
        if (const auto it = all.providers.find(key); it != all.providers.end()) return it->second;
    }
    const bool prefetches =
        ask("prefetches", {Value::string(type.spec.name), context_.string(name)}).truthy();
    const std::lock_guard lock(all.mutex);
    auto& provider_class = all.providers[key];
    if (!provider_class) {
        auto* made = all.arena.make<ProviderClass>();
        made->name = all.arena.copy(name);
        // Suitability is determined for each resource.
        made->suitable = [](Context&) { return true; };
        made->prefetches = prefetches;
        provider_class = made;
    }
    BUNRAKU_ASSERT(provider_class->name == name);
    return provider_class;
}

}  // namespace bunraku::apply
