// SPDX-License-Identifier: Apache-2.0
#include "language/template/ruby_session.h"

#include <charconv>
#include <fmt/format.h>
#include <mutex>
#include <unordered_map>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/environment/read_answer.h"
#include "language/template/host.h"
#include "language/types/factory.h"
#include "language/types/iterator.h"
#include "language/types/mismatch.h"
#include "language/types/object.h"
#include "language/types/questions.h"
#include "language/types/rich_data.h"
#include "language/types/runtime_object.h"

namespace bunraku::templates {

using base::PuppetError;
using value::Kind;

namespace {

/// A block of Ruby code that was passed to a function.
class RubyBlock final : public evaluator::Callable {
public:
    RubyBlock(ruby::Host& host, std::uint64_t handle) : host_(host), handle_(handle) {
        BUNRAKU_ASSERT(handle != 0);
    }
    const types::Type* signature(Interpreter& in) const override {
        const auto [required, maximum] = arity();
        auto& ctx = in.types();
        const types::Type* unit = types::defaults().unit;
        return types::make_callable(
            ctx,
            types::make_tuple_type(ctx, types::Types(&unit, 1),
                                   types::Range{required, maximum < 0 ? types::kMax : maximum}),
            nullptr, nullptr);
    }
    Value call(Interpreter& in, Scope&, std::span<const Value> args, const Callable*,
               const syntax::Node*) const override {
        return host_.call_proc(handle_, args, in.arena());
    }
    std::string_view name() const override { return "lambda"; }
    // A Ruby block accepts any number of arguments and drops those without a parameter.
    std::pair<int, int> arity() const override {
        const int a = ruby::proc_arity(handle_);
        return a < 0 ? std::pair(-(a + 1), -1) : std::pair(a, a);
    }
    int block_arity() const override { return ruby::proc_arity(handle_); }
    std::vector<std::string_view> parameter_names() const override { return {}; }

private:
    ruby::Host& host_;
    std::uint64_t handle_;
};

std::string_view text_of(std::span<const Value> args, std::size_t i) {
    return i < args.size() && args[i].is_string() ? args[i].as_string() : std::string_view();
}

std::span<const Value> list_of(std::span<const Value> args, std::size_t i) {
    return i < args.size() && args[i].is_array() ? args[i].as_array() : std::span<const Value>();
}

std::int64_t number_of(std::span<const Value> args, std::size_t i) {
    return i < args.size() && args[i].is_integer() ? args[i].as_integer() : 0;
}

Value texts(base::Arena& arena, const std::vector<std::string>& list) {
    std::vector<Value> out;
    for (const auto& s : list) out.push_back(value::make_string(arena, s));
    return value::make_array(arena, out);
}

/// The reads from which the pool of an environment was created.
struct PoolReads {
    environment::DependencyRecorder noted;
};

std::int64_t number_in(const std::optional<std::string>& text, std::int64_t otherwise) {
    std::int64_t n = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), n).ec != std::errc())
        return otherwise;
    return n;
}

}  // namespace

// ---- the session ----

RubySession::RubySession(std::shared_ptr<const environment::Environment> environment)
    : environment_(std::move(environment)) {}
RubySession::~RubySession() = default;

std::shared_ptr<ruby::Pool> RubySession::pool_of(const environment::Environment& environment,
                                                 Interpreter* in, const Settings& settings) {
    // The limit of the server, if it opened the environment.
    const auto worker_limit = environment.attached<ruby::WorkerLimit>(
        [] { return std::shared_ptr<ruby::WorkerLimit>(); });
    // The settings that Ruby code may read count as reads of every compile, not only of the first
    // one.
    const auto reads =
        environment.attached<PoolReads>([] { return std::make_shared<PoolReads>(); });
    auto pool = environment.attached<ruby::Pool>([&] {
        const environment::DependencyRecorder::Collecting collecting(reads->noted);
        ruby::HostOptions options = ruby::usual_options();
        options.worker_limit = worker_limit;
        options.environment = environment.name();
        options.environment_directory = environment.directory();
        if (const auto* moved = environment.files().moved()) options.moved = *moved;
        if (!environment.directory().empty())
            options.load_path.push_back(environment.directory() + "/lib");
        for (const auto& module : environment.modules())
            options.load_path.push_back(module.path + "/lib");
        const bool compiles = in && in->hosts().inputs;
        auto setting = [&](std::string_view name) -> std::optional<std::string> {
            if (!compiles) return settings ? settings(name) : std::nullopt;
            environment.note(environment::Read::Setting, name);
            return in->hosts().inputs->setting(name);
        };
        // Puppet has the machine's own plugins in Ruby's load path.
        if (auto dir = setting("libdir"); dir && !dir->empty()) options.load_path.push_back(*dir);
        const auto& known_settings = environment.spec().setting;
        const std::string folders =
            known_settings ? known_settings("ruby_plugin_folders").value_or("") : std::string();
        for (std::string_view folder : base::split(folders, ':'))
            if (!folder.empty()) options.load_path.emplace_back(folder);
        options.timeout = std::chrono::seconds(number_in(setting("ruby_timeout"), 60));
        options.memory_limit = static_cast<std::uint64_t>(number_in(setting("ruby_memory"), 1024))
                               << 20;
        if (compiles || settings) {
            if (auto program = setting("ruby_program"); program && !program->empty())
                options.program = *program;
            // The current settings, copied because the pool outlives this compile.
            std::vector<std::pair<std::string, std::string>> known;
            for (std::string_view name : {"confdir", "codedir", "vardir", "statedir", "rundir",
                                          "logdir", "server", "environment", "environmentpath"}) {
                if (auto text = setting(name)) known.emplace_back(name, *text);
            }
            options.setting = [known](std::string_view name) -> std::optional<std::string> {
                for (const auto& [k, v] : known)
                    if (k == name) return v;
                return std::nullopt;
            };
            ruby::keep_below(options, setting("ruby_cachedir"));
        }
        return std::make_shared<ruby::Pool>(std::move(options));
    });
    reads->noted.note();
    return pool;
}

namespace {

/// The paths where Ruby searches for a required name; their ids are determined once per snapshot.
struct Features {
    std::mutex mutex;
    std::unordered_map<std::string, environment::DependencyRecorder> known;
};

void note_feature(const environment::Environment& environment, const std::string& name) {
    auto features = environment.attached<Features>([] { return std::make_shared<Features>(); });
    const std::lock_guard lock(features->mutex);
    auto [it, fresh] = features->known.try_emplace(name);
    if (fresh) {
        const auto& options = RubySession::pool_of(environment, nullptr)->options();
        const auto kind = name.ends_with('*') ? environment::Read::Glob : environment::Read::Exists;
        const environment::DependencyRecorder::ReadGroup together(*environment.reads(), it->second);
        for (const auto& path : ruby::candidates(options, name)) environment.note(kind, path);
    } else {
        it->second.note();
    }
}

}  // namespace

void note_read(const environment::Environment& environment, const ruby::ReadNote& note) {
    if (note.kind == "feature") return note_feature(environment, note.name);
    // Ruby's own libraries change only with its program.
    if (note.kind == "library") return;
    if (note.kind == "stat")
        return environment.note(environment::Read::File, note.name, environment::kStatDetail);
    // Code counts as a file.
    const auto kind =
        note.kind == "code" ? environment::Read::File : environment::read_kind(note.kind);
    environment.note(kind, note.name);
}

void note_reads(const environment::Environment& environment,
                const std::vector<ruby::ReadNote>& notes) {
    for (const auto& note : notes) note_read(environment, note);
}

ruby::Pool& RubySession::pool(Interpreter& in) {
    if (!pool_) pool_ = pool_of(*environment_, &in);
    return *pool_;
}

ruby::Host& RubySession::host(Interpreter& in) {
    if (!lease_) {
        lease_ = pool(in).take();
        lease_->on_read([this, &in](const ruby::ReadNote& note) {
            const auto program = note.kind == "command" ? pure_program(in, note.name) : "";
            const ruby::ReadNote read = program.empty() ? note : ruby::ReadNote{"file", program};
            note_read(*environment_, read);
            if (answers_ && *answers_) (*answers_)->on_read(read, lease_->memory());
        });
    }
    BUNRAKU_ASSERT(lease_ && pool_);
    return *lease_;
}

Value RubySession::answered(Interpreter& in, Scope& scope, const RubyQuestion& question,
                            const std::function<Value(ruby::Callbacks&)>& make) {
    if (!answers_) {
        // The memos of the server, if it opened the environment.
        auto kept =
            environment_->attached<ruby::Answers>([] { return std::shared_ptr<ruby::Answers>(); });
        const bool any = kept && kept->mode() != ruby::Answers::Mode::Off;
        answers_ = any ? std::make_unique<RubyAnswers>(std::move(kept), *this) : nullptr;
    }
    BUNRAKU_ASSERT(answers_.has_value());
    if (*answers_) return (*answers_)->answered(in, scope, question, make);
    RubyCallbacks callbacks(*this, in, scope);
    return make(callbacks);
}

std::string pure_program(Interpreter& in, std::string_view command) {
    if (!in.hosts().inputs) return {};
    const auto listed = in.hosts().inputs->setting("pure_commands").value_or("");
    return std::string(environment::pure_program(listed, command));
}

std::uint64_t RubySession::keep(const Value& v) {
    for (std::size_t i = kept_.size(); i > 0 && kept_.size() - i < 8; --i) {
        const Value& known = kept_[i - 1];
        BUNRAKU_ASSERT(i <= kept_.size());
        if (known.kind() == v.kind() && known.as_extension() == v.as_extension()) return i;
    }
    kept_.push_back(v);
    return kept_.size();
}

Value RubySession::kept(std::uint64_t handle) const {
    return handle > 0 && handle <= kept_.size() ? kept_[handle - 1] : Value::undef();
}

std::uint64_t RubySession::keep_block(const evaluator::Callable& block) {
    blocks_.push_back(&block);
    return blocks_.size();
}

// Calls are nested, so the last block added is the first to be released.
void RubySession::release_block(std::uint64_t handle) {
    if (handle > 0 && handle <= blocks_.size()) blocks_.resize(handle - 1);
    BUNRAKU_ASSERT(block(handle) == nullptr);
}

const evaluator::Callable* RubySession::block(std::uint64_t handle) const {
    return handle > 0 && handle <= blocks_.size() ? blocks_[handle - 1] : nullptr;
}

// ---- callbacks ----

Value RubyCallbacks::call_function(std::string_view name, std::span<const Value> args,
                                   std::uint64_t block) {
    // "::x": called from the top scope.
    const bool top = name.starts_with("::");
    if (top) name.remove_prefix(2);
    auto& scope = top ? in_.top_scope() : scope_;
    if (!in_.find_callable(name))
        throw PuppetError(fmt::format("Unknown function: '{}'.", name), "UNKNOWN_FUNCTION");
    Value v;
    if (block != 0) {
        const RubyBlock ruby_block(session_.host(in_), block);
        v = in_.call_function(name, args, scope, &ruby_block);
    } else {
        v = in_.call_function(name, args, scope);
    }
    if (in_.pending() != evaluator::Completion::Normal) throw ruby::Unwind{};
    if (v.is(Kind::Iterator))
        v = types::to_array(in_.types(), *static_cast<const types::Iterator*>(v.as_extension()));
    return v;
}

Value RubyCallbacks::yield(std::uint64_t handle, std::span<const Value> args) {
    const evaluator::Callable* block = session_.block(handle);
    if (!block) throw PuppetError("a block was called after its function had returned");
    const Value v = block->call(in_, scope_, args, nullptr, in_.current_site());
    if (in_.pending() != evaluator::Completion::Normal) throw ruby::Unwind{};
    return v;
}

std::optional<Value> RubyCallbacks::variable(std::string_view name) {
    return in_.lookup_variable(scope_, name, evaluator::FactReads::kRecordedLater);
}

void RubyCallbacks::set_variable(std::string_view name, const Value& value) {
    session_.note_set(name);
    // "::x": in the scope of 4.x functions, which is the top scope.
    const bool top = name.starts_with("::");
    in_.assign(top ? in_.top_scope() : scope_, base::Symbol::intern(top ? name.substr(2) : name),
               value, in_.current_site());
}

void RubyCallbacks::log(base::Level level, std::string_view message) {
    in_.log().log(level, std::string(message));
}

Value RubyCallbacks::make(std::string_view tag, const Value& payload, base::Arena& arena) {
    auto& ctx = in_.types();
    if (tag == "type" && payload.is_string())
        return Value::type(types::sent_type(ctx, payload.as_string()));
    if (tag == "object" && payload.is_array() && payload.as_array().size() == 3) {
        const auto parts = payload.as_array();
        if (parts[0].is_string() && !parts[0].as_string().empty() && parts[1].is_hash()) {
            const types::Type* type = types::parse_type(ctx, parts[0].as_string());
            if (const auto* object = types::as_object_type(types::resolve(ctx, type)))
                return types::make_object(ctx, object, std::span<const Value>(&parts[1], 1));
            return types::from_rich_data(ctx, parts[0].as_string(), parts[1]);
        }
        return parts[1];
    }
    if (tag == "runtime" && payload.is_array() && payload.as_array().size() == 3) {
        const auto parts = payload.as_array();
        return types::make_runtime_object(
            arena, value::to_text(parts[0]), value::to_text(parts[1]),
            parts[2].is_integer() ? static_cast<std::uint64_t>(parts[2].as_integer()) : 0);
    }
    return payload;
}

std::uint64_t RubyCallbacks::runtime_id(const Value& v) {
    const auto* object = types::as_runtime_object(v);
    return object ? object->id() : 0;
}

Value RubyCallbacks::undefined_variable(std::string_view name) {
    std::string shown(name), reason;
    if (auto at = name.rfind("::"); at != std::string_view::npos && at > 0) {
        auto cls = name.substr(0, at);
        if (cls.starts_with("::")) cls.remove_prefix(2);
        auto* catalog = in_.hosts().catalog;
        if (catalog && catalog->class_scope(cls)) {
            // The class exists and has no such variable.
            if (!name.starts_with("::")) shown.insert(0, "::");
        } else if (catalog && !cls.empty()) {
            reason = catalog->class_known(cls) ? fmt::format("class {} has not been evaluated", cls)
                                               : fmt::format("class {} could not be found", cls);
        }
    }
    // The request had a top-scope name without the colons.
    if (name.starts_with("::") && name.find("::", 2) == std::string_view::npos) {
        shown.erase(0, 2);
        reason.clear();
    }
    auto text = fmt::format("Undefined variable '{}'; {}", shown, reason);
    switch (in_.options().strict) {
        case evaluator::Strict::Off: break;
        case evaluator::Strict::Warning:
            in_.warn_once(text + "\n   (file & line not available)", "", nullptr);
            break;
        case evaluator::Strict::Error: throw PuppetError(std::move(text));
    }
    return {};
}

Value RubyCallbacks::variables(bool global) {
    std::vector<Scope*> chain;  // The innermost scope first.
    Scope* node = in_.node_scope;
    if (!global) {
        for (Scope* s = &scope_; s; s = s->parent) {
            if (s->kind == evaluator::ScopeKind::Top || s == node) break;
            chain.push_back(s);
        }
        if (node) chain.push_back(node);
    }
    chain.push_back(&in_.top_scope());
    in_.fact_reads.record_all();
    value::HashBuilder out(in_.arena(), 256);
    for (std::size_t i = chain.size(); i-- > 0;) {
        chain[i]->for_each([&](std::string_view name, const Value& v) {
            if (name.find(':') == std::string_view::npos) out.set(name, v);
        });
    }
    return out.build();
}

Value RubyCallbacks::scope_info() {
    auto& arena = in_.arena();
    const Scope& base = scope_.base();
    value::HashBuilder out(arena);
    const bool top = base.kind == evaluator::ScopeKind::Top;
    out.set("kind", Value::string(top                                         ? "top"
                                  : base.kind == evaluator::ScopeKind::Node   ? "node"
                                  : base.kind == evaluator::ScopeKind::Define ? "definition"
                                                                              : "hostclass"));
    out.set("class_name", Value::string(base.name));
    if (auto* inputs = in_.hosts().inputs)
        out.set("node", value::make_string(arena, inputs->node_name()));
    if (auto* catalog = in_.hosts().catalog) {
        out.set("label", value::make_string(arena, catalog->scope_label(scope_)));
        if (session_.catalog != nullptr) {
            const auto [type, title] = session_.catalog->scope_resource(scope_);
            if (!type.empty()) out.set("resource", texts(arena, {type, title}));
        }
    }
    if (const auto* site = in_.current_site()) {
        const auto where = site->where();
        out.set("file", value::make_string(arena, where.file));
        out.set("line", Value::integer(where.line));
    }
    return out.build();
}

Value RubyCallbacks::catalog_request(std::string_view what, std::span<const Value> args,
                                     bool* known) {
    auto& arena = in_.arena();
    auto* catalog = in_.hosts().catalog;
    auto* queries = session_.catalog;
    *known = true;
    if (what == "class_known")
        return Value::boolean(catalog && catalog->class_known(text_of(args, 0)));
    if (what == "define_known")
        return Value::boolean(catalog && catalog->define_known(text_of(args, 0)));
    if (what == "type_known" || what == "is_resource_type")
        return Value::boolean(catalog && catalog->resource_type_known(text_of(args, 0)));
    if (what == "classes") return queries ? texts(arena, queries->class_names()) : texts(arena, {});
    if (what == "all_tags")
        return queries ? texts(arena, queries->catalog_tags()) : texts(arena, {});
    if (what == "tags")
        return queries ? texts(arena, queries->scope_tags(scope_)) : texts(arena, {});
    if (what == "resource_tags") {
        return queries ? texts(arena, queries->resource_tags(text_of(args, 0), text_of(args, 1)))
                       : texts(arena, {});
    }
    if (what == "resource") {
        if (!queries) return {};
        return queries->resource_parameters(text_of(args, 0), text_of(args, 1))
            .value_or(Value::undef());
    }
    if (what == "resources") {
        std::vector<Value> out;
        if (queries)
            for (const auto& [type, title] : queries->declared_resources())
                out.push_back(texts(arena, {type, title}));
        return value::make_array(arena, out);
    }
    if (what == "defaults")
        return queries ? queries->scope_defaults(scope_, text_of(args, 0)) : Value::undef();
    if (what == "define_class" || what == "add_class" || what == "evaluate_class") {
        if (!queries) return {};
        const auto name = text_of(args, 0);
        if (what == "define_class") queries->define_class(name);
        if (what == "add_class") queries->add_class_resource(name);
        if (what == "evaluate_class") return Value::boolean(queries->evaluate_class(name));
        return {};
    }
    if (what == "call_in_class") {
        Scope* s =
            in_.hosts().catalog ? in_.hosts().catalog->class_scope(text_of(args, 0)) : nullptr;
        if (!s) return {};
        return RubyCallbacks(session_, in_, *s)
            .call_function(text_of(args, 1), list_of(args, 2), 0);
    }
    if (what == "class_variables") {
        value::HashBuilder out(arena);
        Scope* s =
            in_.hosts().catalog ? in_.hosts().catalog->class_scope(text_of(args, 0)) : nullptr;
        if (s) s->for_each([&](std::string_view name, const Value& v) { out.set(name, v); });
        return out.build();
    }
    *known = false;
    return {};
}

Value RubyCallbacks::module_request(std::string_view what, std::span<const Value> args,
                                    bool* known) {
    auto& arena = in_.arena();
    const auto& environment = session_.environment();
    *known = true;
    auto describe = [&](const environment::Module& m) {
        return value::make_array(
            arena,
            {value::make_string(arena, m.name), value::make_string(arena, m.path),
             m.version.empty() ? Value::undef() : value::make_string(arena, m.version),
             m.forge_name.empty() ? Value::undef() : value::make_string(arena, m.forge_name)});
    };
    if (what == "module") {
        const auto* m = environment.module(text_of(args, 0));
        return m ? describe(*m) : Value::undef();
    }
    if (what == "modules") {
        std::vector<Value> out;
        for (const auto& m : environment.modules()) out.push_back(describe(m));
        return value::make_array(arena, out);
    }
    if (what == "modulepath") return texts(arena, environment.modulepath());
    if (what == "manifest") return value::make_string(arena, environment.manifest());
    *known = false;
    return {};
}

Value RubyCallbacks::request(std::string_view what, std::span<const Value> args, base::Arena&) {
    auto& arena = in_.arena();
    const auto& hosts = in_.hosts();
    if (what == "in_parent") {
        Scope* s = &scope_.base();
        for (auto level = number_of(args, 0); s && level > 0; --level)
            s = s->dynamic_parent ? &s->dynamic_parent->base() : nullptr;
        if (!s) return {};
        RubyCallbacks of_parent(session_, in_, *s);
        const auto asked = text_of(args, 1);
        const auto rest = list_of(args, 2);
        if (asked == "variable") return of_parent.variable(text_of(rest, 0)).value_or(Value());
        return of_parent.request(asked, rest, arena);
    }
    if (what == "variable_set")
        return Value::boolean(in_.variable_exists(scope_, text_of(args, 0)));
    if (what == "variable_changed") {
        auto name = text_of(args, 0);
        if (name.starts_with("::")) name.remove_prefix(2);
        const auto colons = name.rfind("::");
        auto* s = text_of(args, 0) != name ? &in_.top_scope() : &scope_;
        if (colons != std::string_view::npos) {
            s = hosts.catalog ? hosts.catalog->class_scope(name.substr(0, colons)) : nullptr;
            name.remove_prefix(colons + 2);
        }
        const auto symbol = base::Symbol::intern(name);
        for (; s; s = s->parent) {
            const Value* held = s->find_local(symbol);
            if (!held || args.size() < 2) continue;
            const Value was = *held;
            s->set_local(symbol, args[1]);
            if (hosts.catalog) hosts.catalog->variable_changed(*s, name, was, args[1]);
            break;
        }
        return {};
    }
    if (what == "variables") return variables(!args.empty() && args[0].truthy());
    if (what == "undefined_variable") return undefined_variable(text_of(args, 0));
    if (what == "scope_info") return scope_info();
    if (what == "function_exists") return Value::boolean(in_.function_exists(text_of(args, 0)));
    if (what == "setting") {
        const auto text = hosts.inputs ? hosts.inputs->setting(text_of(args, 0)) : std::nullopt;
        return text ? value::make_string(arena, *text) : Value::undef();
    }
    if (what == "find_file") {
        const auto path = hosts.templates
                              ? hosts.templates->find_file(text_of(args, 0), text_of(args, 1))
                              : std::nullopt;
        return path ? value::make_string(arena, *path) : Value::undef();
    }
    if (what == "block_info") {
        const auto* block = session_.block(static_cast<std::uint64_t>(number_of(args, 0)));
        if (!block) return {};
        std::vector<Value> names;
        for (auto name : block->parameter_names()) names.push_back(value::make_string(arena, name));
        return value::make_array(
            arena, {Value::integer(block->arity().first), value::make_array(arena, names)});
    }
    if (what == "method") {
        const Value receiver = session_.kept(static_cast<std::uint64_t>(number_of(args, 0)));
        const auto name = text_of(args, 1);
        if (receiver.is_undef()) return {};
        if (hosts.lookup && receiver.is(Kind::Object)) {
            if (auto v = hosts.lookup->context_method(in_, scope_, receiver, name, list_of(args, 2),
                                                      nullptr)) {
                if (in_.pending() != evaluator::Completion::Normal) throw ruby::Unwind{};
                return *v;
            }
        }
        if (receiver.is(Kind::Object)) {
            if (auto v = types::call_member(in_.types(), receiver, name, list_of(args, 2)))
                return *v;
        }
        throw PuppetError(
            fmt::format("undefined method `{}' for {}", name, value::to_text(receiver)));
    }
    if ((what == "hiera3_lookup" || what == "deep_merge") && hosts.lookup && args.size() > 1)
        return hosts.lookup->data_function(in_, scope_, what, args);
    if (what == "stacktrace") {
        std::vector<Value> frames;
        for (const auto* frame = in_.frames(); frame; frame = frame->outer) {
            const auto where = frame->site->where();
            const bool whole = frame->site->kind == syntax::NodeKind::Program;
            frames.push_back(value::make_array(
                arena, {value::make_string(arena, where.file.empty() ? "unknown" : where.file),
                        Value::integer(whole ? 0 : where.line)}));
        }
        return value::make_array(arena, frames);
    }
    bool known = false;
    if (Value v = catalog_request(what, args, &known); known) return v;
    if (auto v = types::answer(in_.types(), what, args)) return *v;
    if (Value v = module_request(what, args, &known); known) return v;
    return {};
}

Value ask_hiera3(RubySession& session, Interpreter& in, Scope& scope, const Value& request) {
    const Value* backend = request.as_hash().find("backend");
    const RubyQuestion question{
        fmt::format("hiera backend {}", backend ? value::to_text(*backend) : std::string()),
        {},
        std::span<const Value>(&request, 1)};
    return session.answered(in, scope, question, [&](ruby::Callbacks& callbacks) {
        return session.host(in).ask_hiera3(request, callbacks, in.arena());
    });
}

}  // namespace bunraku::templates
