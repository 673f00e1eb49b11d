// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/compile.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include "compile/compiler/compilation.h"
#include "compile/compiler/explained_error.h"
#include "compile/compiler/external_nodes.h"
#include "compile/compiler/repl_session.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/value/build.h"
#include "core/value/text.h"
#include "language/function/table.h"
#include "language/types/rich_data.h"

namespace bunraku::compiler {

using base::PuppetError;
using base::Symbol;

Compilation::Compilation(Request& request)
    : request_(request),
      interpreter_(std::make_unique<evaluator::Interpreter>(*request.arena, *request.log,
                                                            function::builtin_functions(),
                                                            evaluator::Hosts{}, request.options)),
      tag_table_(*request.arena),
      definitions_(*request.environment, *request.arena, *request.log),
      resource_types_(*request.environment, definitions_, tag_table_, *interpreter_,
                      request.services.ruby),
      table_(*request.arena, resource_types_),
      autoloader_(*request.environment, definitions_, resource_types_, request.services.ruby),
      ruby_catalog_(*this),
      resources_(base::ArenaAllocator<Resource*>(*request.arena)),
      instances_(base::ArenaAllocator<Resource*>(*request.arena)),
      tags_(*request.arena),
      class_scopes_(decltype(class_scopes_)::allocator_type(*request.arena)) {
    interpreter_->hosts() = {.catalog = this,
                             .definitions = &autoloader_,
                             .members = &autoloader_,
                             .lookup = request.services.lookup,
                             .templates = request.services.templates,
                             .inputs = request.inputs};
    if (request.services.ruby) request.services.ruby->catalog = &ruby_catalog_;
    request.environment->note_opening();
    definitions_.import_main();
    decode_node_data();

    // Stage[main] exists before all other resources. The compiler's own list does not contain it.
    ResourceType stage;
    stage.kind = ResourceType::Kind::Native;
    stage.name = "Stage";
    stage.spec = restype::find_type("stage");
    Resource& r = table_.allocate();
    r.type = stage;
    r.title = "main";
    r.title_is_main = true;
    r.kind = "compilable_type";
    r.scope = &interpreter_->top_scope();
    r.tags.add(tag_table_.id("stage"));
    table_.add(r);

    for (const auto& c : request.node.classes) {
        auto name = arena().copy(c.name);
        classes_.push_back(name);
        compiler::tag(tags_, tag_table_, name);
    }
}

Compilation::~Compilation() = default;

// Decodes rich data from the classifier and the caller into types and objects.
void Compilation::decode_node_data() {
    const auto factory = types::rich_data_factory(types());
    auto decode = [&](Value& v) { v = value::from_rich_data(arena(), v, factory); };
    decode(request_.node.parameters);
    for (auto& c : request_.node.classes) decode(c.parameters);
    for (auto& [name, v] : request_.node.variables) decode(v);
}

/// Returns the trusted facts of a node of which only the name is known.
static Value local_trusted_facts(base::Arena& arena, std::string_view node) {
    value::HashBuilder b(arena);
    const auto name = arena.copy(node);
    const auto dot = name.find('.');
    b.set("authenticated", Value::string("local"));
    b.set("certname", Value::string(name));
    b.set("extensions", value::HashBuilder(arena).build());
    b.set("hostname", Value::string(name.substr(0, dot)));
    b.set("domain",
          dot == std::string_view::npos ? Value::undef() : Value::string(name.substr(dot + 1)));
    b.set("external", value::HashBuilder(arena).build());
    return b.build();
}

// Merges the variables of the caller, the parameters of the node, its facts and the server's facts.
// The first of several equal names wins.
const value::HashRep& Compilation::merge_node_variables() {
    const NodeData& node = request_.node;
    // External names are not interned as symbols; the top scope finds these variables by their
    // text.
    const auto facts = node.facts.is_hash() ? node.facts.as_hash().size() : 0;
    value::HashBuilder given(arena(), facts + 64);
    for (const auto& [name, v] : node.variables)
        given.set(
            name.starts_with("::") ? std::string_view(name).substr(2) : std::string_view(name), v);
    auto already_set = [&](std::string_view name, const Value& was, const Value& wanted) {
        std::string is_text, wanted_text;
        value::print_ruby_to_s(is_text, was);
        value::print_ruby_to_s(wanted_text, wanted);
        const bool harmless =
            value::equal(was, wanted) &&
            config::changed(request_.options.level, config::Change::NodeParameters);
        log().log(harmless ? base::Level::Notice : base::Level::Warning,
                  fmt::format("The node parameter '{}' for node '{}' was already set to '{}'. It "
                              "could not be set to '{}'",
                              name, node.name, is_text, wanted_text));
    };
    for (const Value* hash : {&node.parameters, &node.facts, &node.server_facts}) {
        if (!hash->is_hash()) continue;
        for (const auto& e : hash->as_hash()) {
            const Value key =
                e.key.is_string() ? e.key : value::make_string(arena(), value::to_text(e.key));
            const std::string_view name = key.as_string();
            // The environment's name is the first of the node's parameters.
            if (name == "environment" && hash != &node.parameters)
                already_set(name, Value::string(request_.environment->name()), e.value);
            if (name == "environment" || name == "trusted" || name == "facts" ||
                name == "server_facts")
                continue;
            if (const Value* existing = given.find(key)) {
                if (std::ranges::none_of(node.variables, [&](const auto& variable) {
                        return variable.first == name;
                    }))
                    already_set(name, *existing, e.value);
                continue;
            }
            given.set(key, e.value);
        }
    }
    return given.build().as_hash();
}

void Compilation::set_node_parameters() {
    Scope& top = interpreter_->top_scope();
    const NodeData& node = request_.node;
    top.given = &merge_node_variables();
    auto set = [&](std::string_view name, const Value& v) {
        top.set_local(Symbol::intern(name), v);
    };
    set("environment", Value::string(arena().copy(request_.environment->name())));
    set("trusted", node.trusted.is_hash() ? node.trusted : local_trusted_facts(arena(), node.name));
    value::HashBuilder server(arena());
    if (node.server_facts.is_hash()) {
        server.merge(node.server_facts.as_hash());
        server.set("environment", Value::string(arena().copy(request_.environment->name())));
    }
    set("server_facts", server.build());
    set("facts", node.facts.is_hash() ? node.facts : value::HashBuilder(arena()).build());
    const auto value_of = [&](std::string_view name) {
        return *top.find_local(Symbol::intern(name));
    };
    interpreter_->fact_reads.bind(value_of("facts"), value_of("trusted"), value_of("server_facts"),
                                  top.given);
    if (environment::Trace::current() != nullptr &&
        (node.parameters.is_hash() || !node.classes.empty() || !node.variables.empty()))
        request_.environment->note(environment::Read::Parameter, "");
}

void Compilation::create_settings() {
    Definition* settings = definitions_.known_class("settings");
    Definition& definition = settings ? *settings : definitions_.add_settings();
    ResourceType type;
    type.kind = ResourceType::Kind::Class;
    type.name = "Class";
    type.definition = &definition;
    Resource& r =
        make_resource({.type = type, .title = "settings", .scope = &interpreter_->top_scope()});
    table_.add(r);
    r.evaluated = true;
    // The class has no body and no parameters. Only its scope matters, which is filled on first
    // use.
    settings_scope_ = new_scope(&interpreter_->top_scope(), &definition, &r);
    class_scopes_[definition.name] = settings_scope_;
    classes_.push_back(definition.name);
    compiler::tag(tags_, tag_table_, definition.name);
    settings_scope_->set_local(Symbol::intern("title"), Value::string("settings"));
    settings_scope_->set_local(Symbol::intern("name"), Value::string("settings"));
    add_edge_to_stage(r);
}

void Compilation::populate_settings() {
    if (settings_populated_) return;
    settings_populated_ = true;
    if (!request_.settings.is_hash()) return;
    value::HashBuilder all(*request_.arena, request_.settings.as_hash().size());
    all.merge(request_.settings.as_hash());
    if (request_.environment_settings.is_hash()) all.merge(request_.environment_settings.as_hash());
    const Value values = all.build();
    for (const auto& e : values.as_hash()) {
        if (e.key.is_string() && e.key.as_string() != "name")
            settings_scope_->set_local(Symbol::intern(e.key.as_string()), e.value);
    }
    settings_scope_->set_local(Symbol::intern("all_local"), values);
}

void Compilation::evaluate_main() {
    Definition& main = definitions_.main();
    Scope& top = interpreter_->top_scope();
    top.name = "";
    ResourceType type;
    type.kind = ResourceType::Kind::Class;
    type.name = "Class";
    type.definition = &main;
    scopes_.of(top).source = &main;
    main_resource_ = &make_resource({.type = type, .title = "", .scope = &top, .source = &main});
    scopes_.of(top).resource = main_resource_;
    add_resource(&top, *main_resource_);
    evaluate_resource(*main_resource_);
}

void Compilation::evaluate_node() {
    if (!definitions_.has_nodes()) return;
    const auto& name = request_.node.name;
    node_match_subject_ = name;
    base::make_lower(node_match_subject_);
    Definition* node = definitions_.find_node(arena().copy(node_match_subject_), &node_match_);
    if (!node) node = definitions_.find_node("default", &node_match_);
    if (!node) {
        throw base::plain_error(
            fmt::format("Could not find node statement with name 'default' or '{}'", name));
    }
    if (!node->pattern) node_match_.reset();
    Resource& resource = ensure_in_catalog(*node, &interpreter_->top_scope(), nullptr);
    evaluate_resource(resource);
    node_scope_ = class_scopes_[node->name];
    interpreter_->node_scope = node_scope_;
}

void Compilation::evaluate_node_classes() {
    Scope* scope = node_scope_ ? node_scope_ : &interpreter_->top_scope();
    std::vector<std::string_view> plain;
    struct WithParameters {
        Definition* definition;
        const NodeClass* given;
    };
    std::vector<WithParameters> with;
    auto not_found = [&](std::string_view name) {
        return base::plain_error(
            fmt::format("Could not find class {} for {}", name, request_.node.name));
    };
    for (const auto& c : request_.node.classes) {
        if (c.parameters.is_hash() && !c.parameters.as_hash().empty()) {
            Definition* d = definitions_.find_class(arena().copy(c.name));
            if (!d) throw not_found(c.name);
            with.push_back({d, &c});
        } else {
            plain.push_back(arena().copy(c.name));
        }
    }
    for (const auto& [definition, given] : with) {
        std::vector<Param> params;
        for (const auto& e : given->parameters.as_hash()) {
            Param p;
            p.name = arena().copy(value::to_text(e.key));
            p.value = e.value;
            params.push_back(p);
        }
        const Resource& made = ensure_in_catalog(*definition, scope, &params);
        if (History* h = history()) [[unlikely]] {
            h->included(made);
            for (const auto& p : params) h->set(made, p.name, History::Origin::Kind::Classifier);
        }
    }
    evaluate_classes(plain, scope, Evaluation::Lazy);
}

bool Compilation::evaluate_collections() {
    bool found = false;
    for (Collector* c : collectors_.active()) {
        if (c->evaluate(*this)) found = true;
    }
    return found;
}

bool Compilation::evaluate_definitions() {
    std::vector<Resource*> pending;
    std::erase_if(instances_, [](const Resource* r) { return r->evaluated; });
    for (Resource* r : instances_) {
        if (!r->virtual_) pending.push_back(r);
    }
    for (Resource* r : pending) {
        try {
            evaluate_resource(*r);
        } catch (PuppetError& error) {
            // The error of break() keeps its own location instead of that of the define's
            // declaration.
            if (error.issue_code() == "ILLEGAL_BREAK") throw;
            // Ruby's plain `rescue` does not catch this error, so it passes unchanged.
            if (error.issue_code() == "SCRIPT_ERROR") throw;
            // An exceeded time or memory limit does not belong to a resource either.
            if (error.issue_code() == "EXPIRED" || error.issue_code() == "NO_MEMORY") throw;
            const std::string detail = error.located() ? error.full_text() : error.message();
            PuppetError outer("Error while evaluating a Resource Statement, " + detail,
                              "RUNTIME_ERROR", PuppetError::Class::Evaluation);
            for (const auto& frame : error.trace()) outer.add_frame(frame);
            outer.at({std::string(r->file), r->line, 0});
            throw outer;
        }
    }
    return !pending.empty();
}

void Compilation::evaluate_generators() {
    for (int count = 0;;) {
        bool done = true;
        if (evaluate_collections()) done = false;
        if (evaluate_definitions()) done = false;
        if (done) return;
        if (++count > 1000) {
            throw base::plain_error(
                "Somehow looped more than 1000 times while evaluating host catalog");
        }
    }
}

void Compilation::check_environment() {
    if (auto conflict = request_.environment->conflict(); !conflict.empty()) {
        throw base::plain_error(
            fmt::format("Compilation has been halted because: {} For more information, see "
                        "https://puppet.com/docs/puppet/latest/environments_about.html",
                        conflict));
    }
    if (auto commit = request_.environment->files().version(); !commit.empty()) {
        version_ = std::move(commit);
    } else if (const auto& command = request_.environment->config_version(); !command.empty()) {
        // The version only labels the catalog, so reading it is not part of the trace.
        const environment::Trace::Recording unseen(nullptr);
        version_ = run_config_version(*request_.inputs, command);
    }
}

void Compilation::prepare_bare() {
    set_node_parameters();
    create_settings();
    Definition& main = definitions_.main();
    main.programs.clear();
    evaluate_main();
}

value::Value Compilation::evaluate_text(const std::string& text, const std::string& source_name) {
    auto file = request_.environment->parse_text(source_name, text);
    kept_files_.push_back(file);
    const syntax::Tree& tree = file->check(log());
    definitions_.import_tree(tree, "", false);
    return interpreter_->evaluate_program(*tree.program, interpreter_->top_scope());
}

namespace {

// An error that escapes without a location was not raised by an expression. The message therefore
// omits the wording for expressions.
template <class Action>
auto with_bare_errors(Action&& action) {
    try {
        return action();
    } catch (PuppetError& error) {
        if (!error.located() && error.issue_code() != "RUNTIME_ERROR") error.verbatim = true;
        throw;
    }
}

}  // namespace

namespace {

// Explains errors while the compilation still exists.
template <class Action>
auto explained(Compilation& compilation, Action&& action) {
    if (!compilation.request().explain_errors) return action();
    try {
        return action();
    } catch (const ExplainedError&) {
        throw;
    } catch (const PuppetError& error) {
        throw ExplainedError(error, explain_error(error, compilation));
    }
}

/// Connects the trace to the request's read locations during its lifetime.
class Watched {
public:
    Watched(Request& request, const Compilation& compilation) : request_(request) {
        if (!request.places || !request.trace) return;
        request.places->ask([&compilation] { return compilation.reader(); });
        request.trace->watch(request.places);
    }
    ~Watched() {
        if (!request_.places || !request_.trace) return;
        request_.trace->watch(nullptr);
        request_.places->ask(nullptr);
    }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

private:
    const Request& request_;
};

}  // namespace

namespace {

/// Runs the compilation, and ends its history afterwards if it has one.
void run_recorded(Compilation& compilation) {
    History* const history = compilation.history();
    if (!history) return compilation.run();
    history->begin(compilation);
    try {
        compilation.run();
    } catch (...) {
        history->end();
        throw;
    }
    history->end();
}

}  // namespace

Result compile(Request& request) {
    const environment::Trace::Recording recording(request.trace);
    return with_bare_errors([&] {
        Compilation compilation(request);
        const Watched watched(request, compilation);
        return explained(compilation, [&] {
            run_recorded(compilation);
            auto catalog = compilation.emit();
            return Result{std::move(catalog), compilation.passes()};
        });
    });
}

value::Value evaluate(Request& request, const std::vector<std::string>& texts,
                      const std::string& source_name, bool with_manifest) {
    const environment::Trace::Recording recording(request.trace);
    return with_bare_errors([&] {
        // The value may point into trees and definitions, so the compilation lives as long as the
        // arena.
        Compilation& compilation = *request.arena->own(std::make_unique<Compilation>(request));
        return explained(compilation, [&] {
            if (with_manifest) {
                compilation.run();
            } else {
                compilation.prepare_bare();
            }
            Value last;
            for (const auto& text : texts) last = compilation.evaluate_text(text, source_name);
            return last;
        });
    });
}

void converse(Request& request, bool with_manifest, const std::string& source_name,
              const std::function<void(ReplSession&)>& action) {
    const environment::Trace::Recording recording(request.trace);
    Compilation& compilation = *request.arena->own(std::make_unique<Compilation>(request));
    with_bare_errors([&] { with_manifest ? compilation.run() : compilation.prepare_bare(); });
    ReplSession repl;
    repl.evaluate = [&](const std::string& text) {
        return with_bare_errors([&] {
            return explained(compilation,
                             [&] { return compilation.evaluate_text(text, source_name); });
        });
    };
    repl.resources = [&] {
        std::vector<std::string> out;
        for (const Resource* r : compilation.table().all())
            out.push_back(fmt::format("{}[{}]", r->type.name, r->title));
        return out;
    };
    repl.variables = [&] {
        std::vector<std::string> out;
        const Scope& top = compilation.interpreter().top_scope();
        top.for_each([&](std::string_view name, const Value&) { out.emplace_back(name); });
        if (top.given)
            for (const auto& entry : top.given->entries)
                if (entry.key.is_string()) out.emplace_back(entry.key.as_string());
        return out;
    };
    action(repl);
}

void visit(Request& request, bool with_manifest,
           const std::function<void(evaluator::Interpreter&)>& action) {
    const environment::Trace::Recording recording(request.trace);
    with_bare_errors([&] {
        Compilation& compilation = *request.arena->own(std::make_unique<Compilation>(request));
        if (with_manifest) {
            compilation.run();
        } else {
            compilation.prepare_bare();
        }
        action(compilation.interpreter());
    });
}

}  // namespace bunraku::compiler
