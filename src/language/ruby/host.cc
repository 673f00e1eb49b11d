// SPDX-License-Identifier: Apache-2.0
// The compile's side of one child: calls into it, and its callbacks.
#include <fmt/format.h>
#include <utility>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "language/ruby/child_host.h"
#include "language/ruby/describe.h"

namespace bunraku::ruby {

using base::PuppetError;
using Clock = Process::Clock;

namespace {

// Depth of Ruby calling Puppet calling Ruby; each level uses stack on both sides.
constexpr int kNesting = 400;

/// Callbacks outside of a compile, which answer settings only.
class NoCallbacks final : public Callbacks {
public:
    explicit NoCallbacks(const HostOptions& options) : options_(options) {}
    Value call_function(std::string_view name, std::span<const Value>, std::uint64_t) override {
        throw PuppetError(fmt::format("Unknown function: '{}'.", name), "UNKNOWN_FUNCTION");
    }
    Value yield(std::uint64_t, std::span<const Value>) override { return {}; }
    std::optional<Value> variable(std::string_view) override { return std::nullopt; }
    void set_variable(std::string_view, const Value&) override {}
    void log(base::Level, std::string_view) override {}
    Value request(std::string_view what, std::span<const Value> args, base::Arena& arena) override {
        if (what == "setting" && options_.setting && !args.empty() && args[0].is_string()) {
            if (auto text = options_.setting(args[0].as_string()))
                return value::make_string(arena, *text);
        }
        return {};
    }

private:
    const HostOptions& options_;
};

std::string text_at(std::span<const Value> parts, std::size_t i) {
    if (i >= parts.size() || parts[i].is_undef()) return {};
    return value::to_text(parts[i]);
}

std::int64_t integer_at(std::span<const Value> parts, std::size_t i) {
    return i < parts.size() && parts[i].is_integer() ? parts[i].as_integer() : 0;
}

}  // namespace

ChildHost::ChildHost(const HostOptions& options, Recorder& recorder)
    : options_(options), recorder_(recorder) {}

void ChildHost::ensure_started(std::string_view what) {
    if (depth_ > 0) return;
    if (what.empty()) return start();
    try {
        start();
    } catch (const PuppetError& error) {
        throw PuppetError(fmt::format("{}: {}", what, error.message()));
    }
}

void ChildHost::start() {
    BUNRAKU_ASSERT(depth_ == 0);
    if (process_.running() && (calls_ >= options_.calls_before_restart || process_.hung_up()))
        stop();
    if (process_.running()) {
        if (!std::exchange(stale_, false)) return;
        std::string body;
        message(body, ToRuby::Reset, 0);
        base::Arena scratch(1024);
        NoCallbacks callbacks(options_);
        exchange(body, "Ruby", callbacks, scratch);
        return;
    }
    BUNRAKU_ASSERT(!process_.running());
    stale_ = false;
    const auto begin = Clock::now();
    process_.start(options_);
    loaded_.clear();
    memory_.reset();
    calls_ = 0;
    std::string body;
    MarshalWriter writer = message(body, ToRuby::Setup, 1);
    writer.hash(4);
    writer.string("load_path");
    writer.array(options_.load_path.size());
    for (const auto& path : options_.load_path) writer.string(path);
    writer.string("environment");
    writer.string(options_.environment);
    writer.string("environment_directory");
    writer.string(options_.environment_directory);
    writer.string("memory_limit");
    writer.integer(static_cast<std::int64_t>(options_.memory_limit));
    base::Arena scratch(1024);
    NoCallbacks callbacks(options_);
    exchange(body, fmt::format("Ruby ({})", find_ruby(options_.program)), callbacks, scratch);
    recorder_.started((Clock::now() - begin).count());
}

void ChildHost::stop() {
    process_.kill();
    loaded_.clear();
    BUNRAKU_ASSERT(!process_.running() && generation_of() == -1);
}

MarshalWriter ChildHost::message(std::string& body, ToRuby op, std::size_t parts,
                                 ValueHooks* hooks) const {
    BUNRAKU_ASSERT(body.empty());
    MarshalWriter writer(body, hooks, options_.moved ? &*options_.moved : nullptr);
    writer.begin();
    writer.array(parts + 1);
    writer.integer(static_cast<int>(op));
    return writer;
}

void ChildHost::fail(Process::Status status, std::string_view what) {
    // Reads that the child has not reported yet are lost.
    if (read_) read_({"opaque", "a Ruby process that ended"});
    if (status == Process::Status::TimedOut) {
        stop();
        throw PuppetError(
            fmt::format("{}: execution expired after {} seconds; its Ruby process "
                        "was killed",
                        what, static_cast<double>(options_.timeout.count()) / 1000.0));
    }
    if (status == Process::Status::Stopped) {
        stop();
        base::check_work_limit();
        throw PuppetError(fmt::format("{}: stopped", what));
    }
    const auto how = process_.end_text();
    stop();
    throw PuppetError(fmt::format("{}: its Ruby process ended unexpectedly ({})", what, how));
}

Value ChildHost::exchange(std::string_view body, std::string_view what, Callbacks& callbacks,
                          base::Arena& arena) {
    BUNRAKU_ASSERT(depth_ >= 0 && (depth_ == 0) == (current_ == nullptr));
    if (depth_ == 0) {
        deadline_ = Clock::now() + options_.timeout;
        errors_.clear();
        ++calls_;
    }
    if (depth_ >= kNesting) throw PuppetError("stack level too deep");
    struct Nested {
        ChildHost& host;
        Callbacks* before;
        Nested(ChildHost& h, Callbacks& now) : host(h), before(h.current_) {
            ++host.depth_;
            host.current_ = &now;
        }
        ~Nested() {
            BUNRAKU_ASSERT(host.depth_ > 0 && host.current_);
            --host.depth_;
            host.current_ = before;
        }
    } const nested(*this, callbacks);

    if (auto s = process_.send(body, deadline_); s != Process::Status::Ok) fail(s, what);
    bool simplified = false;
    while (true) {
        std::string_view frame;
        if (auto s = process_.receive(&frame, deadline_); s != Process::Status::Ok) fail(s, what);
        const auto received = decode(frame, what, callbacks, arena, simplified);
        if (!received) continue;
        if (!received->is_array() || received->as_array().empty()) {
            stop();
            throw PuppetError(fmt::format("{}: invalid message from the Ruby process", what));
        }
        const auto parts = received->as_array();
        switch (static_cast<FromRuby>(integer_at(parts, 0))) {
            case FromRuby::Value: return parts.size() > 1 ? parts[1] : Value::undef();
            case FromRuby::Reads: break;  // Already processed.
            case FromRuby::Unwind:
                if (unwinding_) std::rethrow_exception(std::exchange(unwinding_, nullptr));
                throw Unwind{};
            case FromRuby::Error: raise(parts, what);
            case FromRuby::Log: {
                const auto level = base::level_from_name(text_at(parts, 1));
                callbacks.log_from(level.value_or(base::Level::Notice), text_at(parts, 2),
                                   text_at(parts, 3));
                continue;
            }
            case FromRuby::Callback: reply(parts, what, callbacks, arena); continue;
        }
        stop();
        throw PuppetError(fmt::format("{}: invalid message from the Ruby process", what));
    }
}

std::optional<Value> ChildHost::decode(std::string_view frame, std::string_view what,
                                       Callbacks& callbacks, base::Arena& arena, bool& simplified) {
    auto* const keeper = is(FromRuby::Callback, frame) ? callbacks.keeper() : nullptr;
    try {
        if (is(FromRuby::Reads, frame)) {
            forward_reads(frame);
            return std::nullopt;
        }
        const Value received = read_marshal(frame, keeper ? *keeper : arena, &callbacks,
                                            options_.moved ? &*options_.moved : nullptr);
        simplified = false;
        return received;
    } catch (const MarshalError& error) {
        if (!error.unknown_class || std::exchange(simplified, true)) {
            stop();
            throw PuppetError(fmt::format("{}: {}", what, error.what()));
        }
        std::string again;
        message(again, ToRuby::Simplify, 0);
        if (auto s = process_.send(again, deadline_); s != Process::Status::Ok) fail(s, what);
        return std::nullopt;
    } catch (...) {
        // Puppet cannot represent the value (an integer too large). Ruby waits for an answer
        // only if the message was a callback.
        if (!is(FromRuby::Callback, frame)) throw;
        answer_error(std::current_exception(), what);
        return std::nullopt;
    }
}

void ChildHost::reply(std::span<const Value> parts, std::string_view what, Callbacks& callbacks,
                      base::Arena& arena) {
    const auto generation = generation_of();
    const auto begin = Clock::now();
    std::string body;
    try {
        answer(body, parts, callbacks, arena);
    } catch (const std::exception&) {
        // The child died in a call nested in this one.
        if (generation != generation_of()) throw;
        deadline_ += Clock::now() - begin;
        return answer_error(std::current_exception(), what);
    } catch (...) {
        // Unwind, and the exceptions with which other modules leave a function.
        if (generation != generation_of()) throw;
        unwinding_ = std::current_exception();
        body.clear();
        message(body, ToRuby::Unwind, 0);
    }
    if (generation != generation_of())
        throw PuppetError(fmt::format("{}: its Ruby process was replaced", what));
    // The limit does not include the compile's time.
    deadline_ += Clock::now() - begin;
    if (auto s = process_.send(body, deadline_); s != Process::Status::Ok) fail(s, what);
}

bool ChildHost::is(FromRuby op, std::string_view frame) {
    // The format is "\4\b[" SIZE "i" NUMBER. A SIZE byte above 122 is followed by as many bytes as
    // it indicates.
    if (frame.size() < 6 || frame[2] != '[') return false;
    const std::size_t more = frame[3] > 0 && frame[3] < 5 ? static_cast<std::size_t>(frame[3]) : 0;
    return frame.size() > 5 + more && frame[4 + more] == 'i' &&
           frame[5 + more] == static_cast<char>(static_cast<int>(op) + 5);
}

void ChildHost::forward_reads(std::string_view frame) {
    base::Arena scratch(4096);
    const Value notes =
        read_marshal(frame, scratch, nullptr, options_.moved ? &*options_.moved : nullptr);
    if (!read_ || !notes.is_array()) return;
    for (const auto& note : read_notes(notes.as_array().subspan(1))) read_(note);
}

void ChildHost::answer_error(std::exception_ptr error, std::string_view what) {
    std::string reply, text, code;
    try {
        std::rethrow_exception(error);
    } catch (const PuppetError& e) {
        text = e.located() ? e.full_text() : e.message();
        code = e.located() ? "LOCATED" : e.issue_code();
    } catch (const std::exception& e) {
        text = e.what();
    }
    BUNRAKU_ASSERT(error && depth_ > 0);
    errors_.push_back(error);
    MarshalWriter writer = message(reply, ToRuby::Error, 3);
    writer.string(text);
    writer.integer(static_cast<std::int64_t>(errors_.size()));
    writer.string(code);
    if (auto s = process_.send(reply, deadline_); s != Process::Status::Ok) fail(s, what);
}

void ChildHost::raise(std::span<const Value> parts, std::string_view what) {
    const auto token = static_cast<std::size_t>(integer_at(parts, 3));
    if (token > 0 && token <= errors_.size()) std::rethrow_exception(errors_[token - 1]);
    const auto cls = text_at(parts, 1);
    auto text = text_at(parts, 2);
    if (cls == "SystemExit" || cls == "NoMemoryError" || cls == "SystemStackError" ||
        cls == "Interrupt" || cls == "SignalException") {
        // Puppet does not rescue these exceptions, so the message names the call.
        text = fmt::format("{}: {}", what, text);
        if (cls != "SystemStackError" && depth_ <= 1) stop();
        throw PuppetError(text);
    }
    const auto file = text_at(parts, 5);
    const auto line = static_cast<int>(integer_at(parts, 6));
    const bool located = !file.empty() || line > 0;
    // Puppet does not rescue these errors or extend their text (a missing library, an abstract
    // method, a PreformattedError). They therefore get no position and no further wording.
    if (const auto code = text_at(parts, 7); code == "SCRIPT_ERROR" || code == "PREFORMATTED")
        throw PuppetError(std::move(text), code, PuppetError::Class::Plain);
    PuppetError error(std::move(text), text_at(parts, 7),
                      located ? PuppetError::Class::Plain : PuppetError::Class::Evaluation);
    error.authored = cls == "Puppet::Error" || cls == "Puppet::ParseError" ||
                     cls == "RuntimeError" || cls == "StandardError";
    if (located) error.at({file, line, static_cast<int>(integer_at(parts, 8))});
    if (parts.size() > 4 && parts[4].is_array())
        for (const auto& frame : parts[4].as_array()) error.add_frame(value::to_text(frame));
    throw error;
}

void ChildHost::limit_time(std::span<const Value> args) {
    double seconds = 0;
    if (args.size() > 1 && args[1].is_integer())
        seconds = static_cast<double>(args[1].as_integer());
    if (args.size() > 1 && args[1].is_float()) seconds = args[1].as_float();
    const auto given = std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e6));
    deadline_ = Clock::now() + (seconds > 0 ? std::chrono::duration_cast<Clock::duration>(given)
                                            : Clock::duration(options_.timeout));
}

void ChildHost::answer(std::string& reply, std::span<const Value> parts, Callbacks& callbacks,
                       base::Arena& arena) {
    const std::string_view what =
        parts.size() > 1 && parts[1].is_string() ? parts[1].as_string() : std::string_view();
    const auto args = parts.subspan(std::min<std::size_t>(2, parts.size()));
    auto text = [&](std::size_t i) {
        return i < args.size() && args[i].is_string() ? args[i].as_string() : std::string_view();
    };
    auto list = [&](std::size_t i) {
        return i < args.size() && args[i].is_array() ? args[i].as_array()
                                                     : std::span<const Value>();
    };
    Value result;
    if (what == "variable") {
        const auto found = callbacks.variable(text(0));
        if (!found) {
            message(reply, ToRuby::Unset, 0);
            return;
        }
        result = *found;
    } else if (what == "call_function") {
        const auto id = static_cast<std::uint64_t>(integer_at(args, 2));
        const auto arity = static_cast<int>(integer_at(args, 3));
        result = callbacks.call_function(text(0), list(1), id ? proc_handle(id, arity) : 0);
    } else if (what == "yield") {
        result = callbacks.yield(static_cast<std::uint64_t>(integer_at(args, 0)), list(1));
    } else if (what == "set_variable") {
        callbacks.set_variable(text(0), args.size() > 1 ? args[1] : Value::undef());
    } else {
        result = callbacks.request(what, args, arena);
        if (what == "time_limit") limit_time(args);
    }
    MarshalWriter writer = message(reply, ToRuby::Value, 1, &callbacks);
    writer.value(result);
}

Value ChildHost::function_data(const std::string& file, std::string_view name, base::Arena& arena) {
    ensure_started(fmt::format("function '{}' (file: {})", name, file));
    std::string body;
    MarshalWriter writer = message(body, ToRuby::Load, 2);
    writer.string(file);
    writer.string(name);
    NoCallbacks callbacks(options_);
    const Value data =
        exchange(body, fmt::format("function '{}' (file: {})", name, file), callbacks, arena);
    loaded_.insert(std::string(name));
    return data;
}

FunctionInfo ChildHost::load_function(const std::string& file, std::string_view name) {
    base::Arena scratch(4096);
    auto info = describe_function(function_data(file, name, scratch));
    info.file = file;
    return info;
}

Value ChildHost::call_function(const FunctionInfo& function, int signature,
                               std::span<const Value> args, std::uint64_t block, int block_arity,
                               Callbacks& callbacks, base::Arena& arena) {
    ensure_started();
    if (!loaded_.contains(function.name)) {
        std::string load;
        MarshalWriter writer = message(load, ToRuby::Load, 2);
        writer.string(function.file);
        writer.string(function.name);
        exchange(load, fmt::format("function '{}' (file: {})", function.name, function.file),
                 callbacks, arena);
        loaded_.insert(function.name);
    }
    std::string body;
    MarshalWriter writer = message(body, ToRuby::Call, 5, &callbacks);
    writer.string(function.name);
    writer.integer(signature);
    writer.array(args.size());
    for (const Value& v : args) writer.value(v, function.legacy);
    writer.integer(static_cast<std::int64_t>(block));
    writer.integer(block_arity);
    const Timer timer(recorder_, "function ", function.name);
    return exchange(body, fmt::format("function '{}' (file: {})", function.name, function.file),
                    callbacks, arena);
}

Value ChildHost::call_proc(std::uint64_t handle, std::span<const Value> args, base::Arena& arena) {
    std::string body;
    Callbacks* callbacks = current_;
    NoCallbacks none(options_);
    if (!callbacks) callbacks = &none;
    MarshalWriter writer = message(body, ToRuby::Proc, 2, callbacks);
    writer.integer(static_cast<std::int64_t>(handle >> 8));
    writer.array(args.size());
    for (const Value& v : args) writer.value(v);
    return exchange(body, "block", *callbacks, arena);
}

value::JoinedText ChildHost::render(std::string_view source, const std::string& file,
                                    std::span<const std::pair<std::string, Value>> variables,
                                    Callbacks& callbacks) {
    ensure_started();
    std::string body;
    MarshalWriter writer = message(body, ToRuby::Render, 3, &callbacks);
    writer.string(source);
    writer.string(file);
    writer.hash(variables.size());
    for (const auto& [name, v] : variables) {
        writer.string(name);
        writer.value(v);
    }
    base::Arena scratch(source.size() + 16384);
    const Timer timer(recorder_, "template ", file.empty() ? "inline" : file);
    const Value text =
        exchange(body, file.empty() ? "inline template" : fmt::format("template {}", file),
                 callbacks, scratch);
    value::JoinedText out;
    out.append(text);
    return out;
}

Value ChildHost::type_data(const std::string& file, std::string_view name, base::Arena& arena) {
    ensure_started(fmt::format("type '{}' (file: {})", name, file));
    std::string body;
    MarshalWriter writer = message(body, ToRuby::LoadType, 2);
    writer.string(file);
    writer.string(name);
    NoCallbacks callbacks(options_);
    const Timer timer(recorder_, "type ", name);
    return exchange(body, fmt::format("type '{}' (file: {})", name, file), callbacks, arena);
}

TypeInfo ChildHost::load_type(const std::string& file, std::string_view name) {
    base::Arena scratch(16384);
    return describe_type(type_data(file, name, scratch));
}

Value ChildHost::parse_title(const std::string& file, std::string_view type, std::string_view title,
                             base::Arena& arena) {
    ensure_started();
    std::string body;
    MarshalWriter writer = message(body, ToRuby::Title, 3);
    writer.string(file);
    writer.string(type);
    writer.string(title);
    NoCallbacks callbacks(options_);
    return exchange(body, fmt::format("type '{}' (file: {})", type, file), callbacks, arena);
}

Value ChildHost::check_resource(std::string_view type, std::string_view title,
                                const Value& parameters, base::Arena& arena) {
    ensure_started();
    std::string body;
    MarshalWriter writer = message(body, ToRuby::Check, 3);
    writer.string(type);
    writer.string(title);
    writer.value(parameters);
    NoCallbacks callbacks(options_);
    return exchange(body, fmt::format("type '{}'", type), callbacks, arena);
}

DataTypeInfo ChildHost::load_data_type(const std::string& file, std::string_view name) {
    ensure_started(fmt::format("type '{}' (file: {})", name, file));
    std::string body;
    MarshalWriter writer = message(body, ToRuby::LoadData, 2);
    writer.string(file);
    writer.string(name);
    base::Arena scratch(4096);
    NoCallbacks callbacks(options_);
    const Value data =
        exchange(body, fmt::format("type '{}' (file: {})", name, file), callbacks, scratch);
    return describe_data_type(data);
}

Value ChildHost::call_method(const DataTypeInfo& type, const Value& instance_data,
                             std::string_view method, std::span<const Value> args,
                             Callbacks& callbacks, base::Arena& arena) {
    ensure_started();
    if (!loaded_.contains(type.file)) {
        std::string load;
        MarshalWriter writer = message(load, ToRuby::LoadData, 2);
        writer.string(type.file);
        writer.string(type.name);
        exchange(load, fmt::format("type '{}' (file: {})", type.name, type.file), callbacks, arena);
        loaded_.insert(type.file);
    }
    std::string body;
    MarshalWriter writer = message(body, ToRuby::Method, 4, &callbacks);
    writer.string(type.name);
    writer.value(instance_data);
    writer.string(method);
    writer.array(args.size());
    for (const Value& v : args) writer.value(v);
    const Timer timer(recorder_, "method ", fmt::format("{}.{}", type.name, method));
    return exchange(body, fmt::format("type '{}' (file: {})", type.name, type.file), callbacks,
                    arena);
}

void ChildHost::ready(std::span<const std::string> files) {
    ensure_started();
    std::string body;
    MarshalWriter writer = message(body, ToRuby::Ready, 1);
    writer.array(files.size());
    for (const auto& file : files) writer.string(file);
    base::Arena scratch(4096);
    NoCallbacks callbacks(options_);
    const Value functions = exchange(body, "code that is loaded", callbacks, scratch);
    if (!functions.is_array()) return;
    for (const Value& name : functions.as_array())
        if (name.is_string()) loaded_.emplace(name.as_string());
}

Value ChildHost::ask_hiera3(const Value& request, Callbacks& callbacks, base::Arena& arena) {
    const Value* backend = request.as_hash().find("backend");
    const std::string name = backend ? value::to_text(*backend) : std::string();
    ensure_started(fmt::format("hiera version 3 backend '{}'", name));
    std::string body;
    MarshalWriter writer = message(body, ToRuby::Hiera3, 1, &callbacks);
    writer.value(request);
    const Timer timer(recorder_, "hiera backend ", name);
    return exchange(body, fmt::format("hiera version 3 backend '{}'", name), callbacks, arena);
}

Value ChildHost::manage(std::string_view verb, std::span<const Value> args, Callbacks& callbacks,
                        base::Arena& arena) {
    ensure_started();
    std::string body;
    MarshalWriter writer = message(body, ToRuby::Manage, 2, &callbacks);
    writer.string(verb);
    writer.array(args.size());
    for (const Value& v : args) writer.value(v);
    const Timer timer(recorder_, "machine ", verb);
    return exchange(body, "a type of a module", callbacks, arena);
}

Value ChildHost::facts(std::string_view verb, std::span<const Value> args, Callbacks& callbacks,
                       base::Arena& arena) {
    ensure_started();
    std::string body;
    MarshalWriter writer = message(body, ToRuby::Facts, 2, &callbacks);
    writer.string(verb);
    writer.array(args.size());
    for (const Value& v : args) writer.value(v);
    const Timer timer(recorder_, "facts ", verb);
    return exchange(body, "custom facts", callbacks, arena);
}

}  // namespace bunraku::ruby
