// SPDX-License-Identifier: Apache-2.0
#include "compile/site/session.h"

#include <fmt/format.h>
#include <new>

#include "compile/compiler/history.h"
#include "compile/compiler/naming.h"
#include "compile/site/fact_sources.h"
#include "compile/site/trusted_external.h"
#include "core/base/plain_error.h"
#include "core/base/work_limit.h"
#include "core/codec/digest.h"
#include "core/sys/process.h"
#include "core/sys/system.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/template/ruby_session.h"
#include "resources/catalog/exported.h"

namespace bunraku::site {

using base::PuppetError;
using value::Value;

namespace {

Value fixed_server_facts(base::Arena& arena, config::Compatibility level) {
    value::HashBuilder b(arena);
    add_server_versions(b, level);
    b.set("servername", Value::string("puppet.example.org"));
    b.set("serverip", Value::string("192.0.2.10"));
    return b.build();
}

evaluator::Strict strictness(std::string_view text) {
    return text == "off"       ? evaluator::Strict::Off
           : text == "warning" ? evaluator::Strict::Warning
                               : evaluator::Strict::Error;
}

/// Returns which setting ended a compile, as an addition to the message. Empty for other errors.
std::string exceeded_setting(const PuppetError& error, std::chrono::milliseconds time,
                             std::size_t memory) {
    if (error.issue_code() == "NO_MEMORY")
        return fmt::format(": the compile needs more than {} MiB (the setting max-compile-memory)",
                           memory >> 20);
    if (error.issue_code() != "EXPIRED" || time.count() == 0 ||
        base::work_end() != base::WorkEnd::Expired)
        return {};
    return fmt::format(": the compile takes longer than {:g} seconds (the setting compile-timeout)",
                       std::chrono::duration<double>(time).count());
}

class OtherAnswers final : public compiler::ExportedSource {
public:
    OtherAnswers(compiler::ExportedSource& store, CollectorAnswer answer)
        : store_(store), answer_(std::move(answer)) {}
    base::Result<std::vector<compiler::ExportedResource>> find(
        std::string_view type, const compiler::CollectorQuery* query, std::string_view except,
        base::Arena& arena, const value::TypedFactory& make_typed) override {
        return answer_(store_, type, query, except, arena, make_typed);
    }

private:
    compiler::ExportedSource& store_;
    CollectorAnswer answer_;
};

/// Records the queries of collectors.
class MemoDependencies final : public compiler::ExportedSource {
public:
    MemoDependencies(compiler::ExportedSource& store, std::set<std::string>& names)
        : store_(store), names_(names) {}
    base::Result<std::vector<compiler::ExportedResource>> find(
        std::string_view type, const compiler::CollectorQuery* query, std::string_view except,
        base::Arena& arena, const value::TypedFactory& make_typed) override {
        names_.insert(catalog::name_of_export(type, query));
        return store_.find(type, query, except, arena, make_typed);
    }
    base::Result<std::string> identity(std::string_view type, const compiler::CollectorQuery* query,
                                       std::string_view except) override {
        return store_.identity(type, query, except);
    }

private:
    compiler::ExportedSource& store_;
    std::set<std::string>& names_;
};

/// Returns the digest as in Trace::answers.
std::string answer_digest(std::string_view answer) { return codec::short_digest(answer, 16); }

base::Result<evaluator::Inputs::CommandOutput> run_program(const std::vector<std::string>& argv,
                                                           const std::string& cwd) {
    sys::Command command;
    command.argv = argv;
    command.cwd = cwd;
    command.merge_errors = true;
    if (base::work_is_limited()) {
        command.stop = [] {
            return base::work_end() == base::WorkEnd::None ? sys::Stop::No : sys::Stop::Kill;
        };
    }
    auto outcome = BUNRAKU_TRY(sys::make_real_processes()->run(command));
    return evaluator::Inputs::CommandOutput{outcome.status, std::move(outcome.output)};
}

}  // namespace

Session::Session(NodeRequest asked, std::string node, Parts parts, base::LogSink& log)
    : parts_(std::move(parts)),
      log_(log),
      asked_(std::move(asked)),
      naming_(std::make_shared<compiler::TypeNames>(parts_.environment)) {
    const auto& settings = parts_.view->settings();
    request_.environment = parts_.environment;
    request_.arena = asked_.arena;
    // The values of $settings:: are in the view's memory, so the arena keeps the view alive.
    request_.arena->own(std::make_unique<std::shared_ptr<const View>>(parts_.view));
    request_.log = &log_;
    request_.settings = parts_.view->shown(asked_.compile_mode.own_settings);
    request_.environment_settings =
        environment_settings(*request_.arena, settings, *parts_.environment);
    request_.code_id = asked_.code_id;
    request_.options.level = parts_.environment->level();
    request_.options.strict = strictness(settings.text("strict"));
    request_.options.strict_variables = settings.boolean("strict_variables");
    request_.options.storeconfigs = parts_.view->storeconfigs();
    request_.options.tasks = settings.boolean("tasks");
    request_.explain_errors = parts_.explain_errors;
    request_.node.name = std::move(node);
    inputs_ = std::make_unique<compiler::SystemInputs>(
        parts_.environment->spec().name, request_.node.name,
        [view = parts_.view](std::string_view name) { return view->settings().get(name); });
    inputs_->files = parts_.environment->spec().files;
    inputs_->runner = run_program;
    request_.inputs = inputs_.get();
    const auto begin = std::chrono::steady_clock::now();
    gather();
    parts_.timings.push_back({"facts", (std::chrono::steady_clock::now() - begin).count()});
    connect();
}

Session::~Session() = default;

/// Returns Puppet's TrustedInformation.local.
Value Session::local_trust(const Value& clientcert) {
    base::Arena& arena = *request_.arena;
    const std::string_view name = clientcert.is_string() ? clientcert.as_string() : "";
    const auto dot = name.find('.');
    value::HashBuilder b(arena);
    b.set("authenticated", Value::string("local"));
    b.set("certname", name.empty() ? Value::undef() : Value::string(name));
    b.set("extensions", value::HashBuilder(arena).build());
    b.set("hostname", name.empty() ? Value::undef() : Value::string(name.substr(0, dot)));
    b.set("domain", dot == name.npos ? Value::undef() : Value::string(name.substr(dot + 1)));
    b.set("external", trusted_external(arena, parts_.view->settings(), *sys::make_real_processes(),
                                       std::string(name), log_));
    return b.build();
}

/// Collects the data of the node.
void Session::gather() {
    base::Arena& arena = *request_.arena;
    auto& node = request_.node;
    std::optional<Value> trusted = asked_.trusted.given;
    switch (asked_.facts.kind) {
        case FactSource::Kind::Given: node.facts = asked_.facts.values; break;
        case FactSource::Kind::File:
            node.facts = read_fact_file(arena, asked_.facts.file, node.name).values;
            break;
        case FactSource::Kind::Machine:
            node.facts =
                machine_facts(arena, parts_.view->settings(), parts_.environment.get(), log_);
            break;
        case FactSource::Kind::Store: {
            const View::Connection store(parts_.view, log_);
            const auto known =
                split_trusted(arena, stored_facts(arena, *store.operator->(), node.name));
            node.facts = known.facts;
            if (!trusted && !known.trusted.is_undef()) trusted = known.trusted;
            break;
        }
    }
    if (!trusted && asked_.trusted.otherwise == TrustedSource::Otherwise::Clientcert)
        trusted = local_trust(facts::dig(node.facts, "clientcert"));
    node.trusted = trusted.value_or(Value::undef());
    switch (asked_.server_facts.kind) {
        case ServerFacts::Kind::None: break;
        case ServerFacts::Kind::Fixed:
            node.server_facts = fixed_server_facts(arena, request_.options.level);
            break;
        case ServerFacts::Kind::Own:
            node.server_facts = own_server_facts(arena, request_.options.level);
            break;
        case ServerFacts::Kind::Given: node.server_facts = asked_.server_facts.values; break;
    }
    node.variables = std::move(asked_.variables);
    if (const auto* answer = std::get_if<compiler::Classification>(&asked_.classification)) {
        answer->apply_to(node);
    }
    if (asked_.classes) {
        node.classes.clear();
        node.classes_with_parameters = false;
        for (auto& name : *asked_.classes) node.classes.push_back({.name = std::move(name)});
    }
    for (auto& name : asked_.more_classes) node.classes.push_back({.name = std::move(name)});
}

/// Connects the services of other modules.
void Session::connect() {
    const auto& settings = parts_.view->settings();
    hiera::LookupOptions lookup;
    lookup.hiera_config = settings.text("hiera_config");
    lookup.codedir = settings.text("codedir");
    lookup.strict_error = request_.options.strict == evaluator::Strict::Error;
    lookup.warn_deprecated = request_.options.strict != evaluator::Strict::Off;
    if (!config::removed_setting(request_.options.level, "data_binding_terminus"))
        lookup.data_binding_terminus = settings.text("data_binding_terminus");
    if (lookup.data_binding_terminus.empty()) lookup.data_binding_terminus = "hiera";
    templates_ = std::make_unique<templates::Templates>(parts_.environment);
    lookup.hiera3 = [&ruby = templates_->ruby()](evaluator::Interpreter& in,
                                                 evaluator::Scope& scope, const Value& request) {
        return templates::ask_hiera3(ruby, in, scope, request);
    };
    lookup_ = std::make_unique<hiera::Lookup>(parts_.environment, parts_.data, lookup);
    request_.services.lookup = lookup_.get();
    request_.services.templates = templates_.get();
    request_.services.ruby = &templates_->ruby();
    inputs_->querier = [this](const Value& query, base::Arena& arena) {
        return store().query(query, arena);
    };
    if (!parts_.view->storeconfigs()) return;
    recorded_ = std::make_unique<MemoDependencies>(store().exported(), collected_);
    request_.services.exported = recorded_.get();
    if (!asked_.collectors) return;
    answers_ = std::make_unique<OtherAnswers>(*request_.services.exported, asked_.collectors);
    request_.services.exported = answers_.get();
}

StoreAccess& Session::store() {
    if (!store_) store_ = std::make_unique<View::Connection>(parts_.view, log_);
    return *store_->operator->();
}

bool Session::asks_embedded(const environment::ReadTable::Item& read) {
    using environment::Read;
    if (read.kind != Read::Query && (read.kind != Read::Export || !request_.services.exported))
        return false;
    // A query to a remote service would cost too much for an unchanged run.
    return store().is_embedded();
}

bool Session::can_ask(const environment::ReadTable::Item& read) {
    if (!asks_embedded(read)) return false;
    base::Arena arena(1024);
    return read.kind == environment::Read::Query ||
           catalog::export_of_name(read.name, arena).has_value();
}

std::optional<std::string> Session::stored_answer(const environment::ReadTable::Item& read) {
    if (!asks_embedded(read)) return std::nullopt;
    base::Arena arena(16 * 1024);
    if (read.kind == environment::Read::Query) {
        // Restores the query as SystemInputs recorded it.
        Value query = Value::string(read.name);
        if (read.name.starts_with('[')) {
            const auto parsed = value::parse_json(arena, read.name);
            if (parsed) query = *parsed;
        }
        const auto answer = store().query(query, arena);
        return answer_digest(answer ? value::to_json(*answer) : answer.error().message);
    }
    const auto asked = catalog::export_of_name(read.name, arena);
    if (!asked) return std::nullopt;
    const auto answer =
        request_.services.exported->identity(asked->type, asked->query.get(), request_.node.name);
    if (!answer) return std::nullopt;
    return answer_digest(*answer);
}

template <class Action>
auto Session::bounded(std::chrono::milliseconds time, Action&& action) {
    base::WorkLimits limits{.memory = parts_.memory, .deadline = asked_.deadline, .cancelled = {}};
    const auto limit_time = [&](std::chrono::milliseconds most) {
        const auto end = std::chrono::steady_clock::now() + most;
        limits.deadline = limits.deadline ? std::min(*limits.deadline, end) : end;
    };
    if (asked_.time) limit_time(*asked_.time);
    if (time.count() > 0) limit_time(time);
    const base::WorkLimit limit(std::move(limits));
    try {
        try {
            return action();
        } catch (const std::bad_alloc&) {
            throw PuppetError("failed to allocate memory", "NO_MEMORY", PuppetError::Class::Plain);
        }
    } catch (PuppetError& error) {
        const auto reason = exceeded_setting(error, time, parts_.memory);
        // An evaluation within a compile has added it already.
        if (!error.message().ends_with(reason)) error.append(reason);
        throw;
    }
}

Value Session::resolve_deferred(const Value& v, int depth) {
    base::step();
    if (depth > 64) throw base::plain_error("Deferred values are nested too deeply");
    if (v.is_array()) {
        std::vector<Value> items;
        for (const auto& item : v.as_array()) items.push_back(resolve_deferred(item, depth + 1));
        return value::make_array(*request_.arena, items);
    }
    if (v.is_hash()) {
        value::HashBuilder entries(*request_.arena);
        for (const auto& e : v.as_hash()) entries.set(e.key, resolve_deferred(e.value, depth + 1));
        return entries.build();
    }
    if (!v.is(value::Kind::Object)) return v;
    try {
        return evaluate({"call($bunraku_deferred_value)"}, "", false,
                        {{"bunraku_deferred_value", v}});
    } catch (const base::PuppetError& error) {
        // Removes the mention of the call made here, which users do not see in their code. Puppet
        // reports only the function's error.
        constexpr std::string_view kCall = "Error while evaluating a Function Call, ";
        if (!error.where().file.empty() || !error.message().starts_with(kCall)) throw;
        throw base::plain_error(error.message().substr(kCall.size()));
    }
}

compiler::InputsSnapshot Session::world() const {
    const auto& node = request_.node;
    compiler::InputsSnapshot out;
    out.environment = parts_.environment;
    out.data = parts_.data;
    out.facts = node.facts;
    out.trusted = node.trusted;
    out.server_facts = node.server_facts;
    out.parameters = node.parameters.is_undef() ? std::string() : value::to_json(node.parameters);
    for (const auto& one : node.classes)
        out.parameters += fmt::format("\n{} {}", one.name, value::to_json(one.parameters));
    for (const auto& [name, v] : node.variables)
        out.parameters += fmt::format("\n${} {}", name, value::to_json(v));
    out.setting = [this](std::string_view name) { return parts_.view->settings().get(name); };
    return out;
}

std::string Session::config_version() {
    const auto& command = parts_.environment->config_version();
    return command.empty() ? std::string() : compiler::run_config_version(*inputs_, command);
}

Compiled Session::compile() {
    // Copies the request, because the session may use it again.
    compiler::Request request = request_;
    trace_.reset();
    const Recording& record = asked_.record;
    if (record.trace || record.places)
        trace_ = std::make_shared<environment::Trace>(parts_.environment->reads());
    request.trace = trace_.get();
    request.places = record.places.get();
    request.history = record.history.get();
    collected_.clear();
    auto made = bounded(parts_.time, [&] { return compiler::compile(request); });
    Compiled out;
    out.arena = request_.arena;
    out.view = parts_.view;
    out.environment = parts_.environment;
    out.catalog = std::move(made.catalog);
    out.naming = naming_;
    out.node = request_.node.name;
    out.facts = request_.node.facts;
    out.trusted = request_.node.trusted;
    out.strict = request_.options.strict;
    out.trace = trace_;
    out.collected.assign(collected_.begin(), collected_.end());
    out.timings = parts_.timings;
    out.timings.insert(out.timings.end(), made.passes.begin(), made.passes.end());
    return out;
}

Value Session::evaluate(const std::vector<std::string>& texts, const std::string& source_name,
                        bool with_manifest, std::vector<std::pair<std::string, Value>> variables) {
    // The value may point into the request, so the request lives as long as the arena.
    auto& request = *request_.arena->own(std::make_unique<compiler::Request>(request_));
    request.arena.reset(request_.arena.get(), [](base::Arena*) {});
    for (auto& variable : variables) request.node.variables.push_back(std::move(variable));
    return bounded(parts_.time,
                   [&] { return compiler::evaluate(request, texts, source_name, with_manifest); });
}

void Session::converse(bool with_manifest, const std::string& source_name,
                       const std::function<void(compiler::ReplSession&)>& action) {
    auto& request = *request_.arena->own(std::make_unique<compiler::Request>(request_));
    request.arena.reset(request_.arena.get(), [](base::Arena*) {});
    // A conversation lasts as long as its user wants.
    bounded(std::chrono::milliseconds(0),
            [&] { compiler::converse(request, with_manifest, source_name, action); });
}

void Session::visit(bool with_manifest,
                    const std::function<void(evaluator::Interpreter&)>& action) {
    auto& request = *request_.arena->own(std::make_unique<compiler::Request>(request_));
    request.arena.reset(request_.arena.get(), [](base::Arena*) {});
    bounded(parts_.time, [&] { compiler::visit(request, with_manifest, action); });
}

ruby::Pool& Session::ruby_pool() const {
    // The environment owns the pool.
    return *templates::RubySession::pool_of(
        *parts_.environment, nullptr,
        [this](std::string_view name) { return parts_.view->settings().get(name); });
}

ruby::HostOptions Session::ruby_options() const { return ruby_pool().options(); }

ruby::Profile Session::ruby_profile() const { return ruby_pool().profile(); }

}  // namespace bunraku::site
