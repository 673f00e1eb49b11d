// SPDX-License-Identifier: Apache-2.0
#include "language/template/answers.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

#include "core/value/build.h"
#include "language/environment/read_answer.h"
#include "language/evaluator/closure.h"
#include "language/ruby/marshal.h"
#include "language/template/ruby_session.h"

namespace bunraku::templates {

using base::PuppetError;
using environment::Read;
using ruby::Answer;
using ruby::AnswerReads;
using ruby::ReadNote;

namespace {

/// The recorded answer for a variable that is not set.
constexpr std::string_view kUnset = "-";
/// Prefix of a recorded read of facts; no Marshal document begins with it.
constexpr char kFacts = '\1';

/// Requests of Ruby to the compile that give the same answer while nothing has changed. They can be
/// repeated to check a memo.
constexpr auto kRepeatable = std::to_array<std::string_view>({"variables",
                                                              "variable_set",
                                                              "setting",
                                                              "find_file",
                                                              "tags",
                                                              "all_tags",
                                                              "classes",
                                                              "class_name",
                                                              "module_name",
                                                              "environment",
                                                              "source_place",
                                                              "scope_info",
                                                              "resource",
                                                              "resources",
                                                              "resource_tags",
                                                              "known_type",
                                                              "known_resource_type",
                                                              "type_known",
                                                              "is_resource_type",
                                                              "is_builtin_type",
                                                              "class_known",
                                                              "define_known",
                                                              "function_exists",
                                                              "module",
                                                              "modules",
                                                              "module_path",
                                                              "modulepath",
                                                              "manifest",
                                                              "defaults",
                                                              "class_variables",
                                                              "stacktrace",
                                                              "type_instance",
                                                              "type_assignable",
                                                              "infer",
                                                              "parse_type",
                                                              "generalize",
                                                              "to_rich_data",
                                                              "to_text",
                                                              "hiera3_lookup",
                                                              "deep_merge"});

/// Built-in functions with side effects, or with results that no recorded read describes.
constexpr auto kSideEffects = std::to_array<std::string_view>(
    {"call", "contain", "create_resources", "ensure_packages", "ensure_resource",
     "ensure_resources", "epp", "generate", "hiera_include", "include", "inline_epp",
     "inline_template", "realize", "require", "tag", "template", "binary_file", "puppetdb_query",
     "load_module_metadata"});

/// Returns true for reads whose next result is unknown.
bool is_volatile(std::string_view kind) {
    return kind == "command" || kind == "clock" || kind == "random" || kind == "host" ||
           kind == "opaque";
}

/// Returns true for reads of paths that have a modification time.
bool has_mtime(std::string_view kind) {
    return kind == "file" || kind == "code" || kind == "folder" || kind == "stat";
}

/// Assigns numbers to contexts and other objects in the order of their occurrence, so that equal
/// values have equal bytes.
class ObjectNumbers final : public ruby::ValueHooks {
public:
    explicit ObjectNumbers(ruby::Callbacks& outer) : outer_(outer) {}

    std::uint64_t keep(const Value& v) override {
        for (std::size_t i = 0; i < objects.size(); ++i)
            if (objects[i].as_extension() == v.as_extension()) return i + 1;
        if (closed) {
            unserializable = true;
            return 0;
        }
        objects.push_back(v);
        return objects.size();
    }
    Value kept(std::uint64_t number) override {
        return number > 0 && number <= objects.size() ? objects[number - 1] : Value::undef();
    }
    std::uint64_t runtime_id(const Value& v) override {
        const auto id = outer_.runtime_id(v);
        if (id != 0) unserializable = true;
        return id;
    }
    Value make(std::string_view tag, const Value& payload, base::Arena& arena) override {
        if (tag == "runtime") unserializable = true;
        return outer_.make(tag, payload, arena);
    }

    std::vector<Value> objects;
    bool closed = false;          ///< True if no further objects may be added.
    bool unserializable = false;  ///< True if a value cannot be stored in a memo.

private:
    ruby::Callbacks& outer_;
};

bool has_secret(std::string_view bytes) {
    return bytes.find("PSensitiveType") != std::string_view::npos;
}

std::string written(const Value& v, ObjectNumbers& numbering, bool legacy = false) {
    std::string out;
    ruby::MarshalWriter writer(out, &numbering);
    writer.begin();
    writer.value(v, legacy);
    return out;
}

std::string_view text_at(std::span<const Value> parts, std::size_t i) {
    return i < parts.size() && parts[i].is_string() ? parts[i].as_string() : std::string_view();
}

bool is_facts(std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    return name == "facts" || name == "trusted";
}

template <class List>
bool among(const List& list, std::string_view name) {
    return std::ranges::find(list, name) != list.end();
}

/// The reads of a Ruby process over several compiles (ruby::Host::memory).
struct ProcessReads {
    std::shared_ptr<const AnswerReads> reads;
    std::vector<AnswerReads::RecordedRead> fresh;
    std::set<std::pair<std::string, std::string>> known;
    std::set<std::string, std::less<>> volatile_codes;
    bool unsettled = false;
};

}  // namespace

/// Records the requests of Ruby code and forwards them.
class RecordingCallbacks final : public ruby::Callbacks {
public:
    RecordingCallbacks(RubyAnswers& answers, RubyAnswers::Frame& frame, ObjectNumbers& numbering,
                       RubyCallbacks& inner, Interpreter& in, RubySession& session)
        : answers_(answers),
          frame_(frame),
          numbering_(numbering),
          inner_(inner),
          in_(in),
          session_(session) {}

    Value call_function(std::string_view name, std::span<const Value> args,
                        std::uint64_t block) override {
        std::string_view plain = name;
        if (plain.starts_with("::")) plain.remove_prefix(2);
        if (block != 0)
            return uncacheable(name, [&] { return inner_.call_function(name, args, block); });
        const auto* callable = in_.find_callable(plain);
        const auto* builtin = dynamic_cast<const evaluator::BuiltinFunction*>(callable);
        if (builtin) {
            const auto* known = in_.functions().find(plain);
            if (!known || known->statement || among(kSideEffects, plain))
                return uncacheable(name, [&] { return inner_.call_function(name, args, 0); });
        }
        answers_.last_code_.clear();
        const Value answer = asked("call_function", {text(name), list(args)},
                                   [&] { return inner_.call_function(name, args, 0); });
        // A call of another Ruby function can be cached if that function's own result can.
        if (!builtin &&
            (answers_.last_code_ != fmt::format("function {}", plain) || !answers_.last_kept_))
            give_up(fmt::format("calls {}", plain));
        return answer;
    }
    Value yield(std::uint64_t block, std::span<const Value> args) override {
        return uncacheable("a block", [&] { return inner_.yield(block, args); });
    }
    std::optional<Value> variable(std::string_view name) override {
        std::optional<Value> found;
        try {
            found = inner_.variable(name);
        } catch (...) {
            give_up("an error");
            throw;
        }
        // For facts, Ruby reports the paths that it reads.
        if (!is_facts(name)) note("variable", {text(name)}, found);
        return found;
    }
    void set_variable(std::string_view name, const Value& value) override {
        give_up("sets a variable");
        inner_.set_variable(name, value);
    }
    void log(base::Level level, std::string_view message) override { log_from(level, message, {}); }
    void log_from(base::Level level, std::string_view message, std::string_view source) override {
        frame_.logged.push_back({level, std::string(message), std::string(source)});
        inner_.log_from(level, message, source);
    }
    Value request(std::string_view what, std::span<const Value> args, base::Arena& arena) override {
        auto answer = [&] { return inner_.request(what, args, arena); };
        if (what == "method") return method(args, answer);
        const auto inside = what == "in_parent" ? text_at(args, 1) : what;
        if (!among(kRepeatable, inside) && !(what == "in_parent" && inside == "variable"))
            return uncacheable(what, answer);
        return asked(what, std::vector<Value>(args.begin(), args.end()), answer);
    }
    base::Arena* keeper() override { return inner_.keeper(); }
    std::uint64_t keep(const Value& v) override { return inner_.keep(v); }
    Value kept(std::uint64_t handle) override { return inner_.kept(handle); }
    std::uint64_t runtime_id(const Value& v) override { return inner_.runtime_id(v); }
    Value make(std::string_view tag, const Value& payload, base::Arena& arena) override {
        return inner_.make(tag, payload, arena);
    }

private:
    Value text(std::string_view s) { return value::make_string(in_.arena(), s); }
    Value list(std::span<const Value> values) { return value::make_array(in_.arena(), values); }
    void give_up(std::string why) {
        if (frame_.why.empty()) frame_.why = std::move(why);
    }

    template <class F>
    Value uncacheable(std::string_view what, F&& answer) {
        give_up(std::string(what));
        return answer();
    }

    template <class F>
    Value asked(std::string_view what, std::vector<Value> args, F&& answer) {
        Value found;
        try {
            found = answer();
        } catch (...) {
            give_up("an error");
            throw;
        }
        note(what, std::move(args), found);
        return found;
    }

    /// `leaves` means that the request returned no answer.
    void note(std::string_view what, std::vector<Value> args, const std::optional<Value>& answer,
              bool leaves = false) {
        if (!frame_.why.empty()) return;
        args.insert(args.begin(), text(what));
        Answer::Asked asked;
        asked.question = written(list(args), numbering_);
        asked.leaves = leaves;
        std::string answer_text(kUnset);
        if (answer && !leaves) answer_text = written(*answer, numbering_);
        if (numbering_.unserializable || has_secret(asked.question) || has_secret(answer_text))
            return give_up("a value that cannot be cached");
        asked.answer = answer && !leaves ? answers_.table_->fingerprint(answer_text) : answer_text;
        for (const auto& known : frame_.asked)
            if (known.question == asked.question && known.answer == asked.answer) return;
        frame_.asked.push_back(std::move(asked));
    }

    /// A method call, usually of a lookup context.
    template <class F>
    Value method(std::span<const Value> args, F&& answer) {
        const auto name = text_at(args, 1);
        if (name == "explain") return uncacheable(name, answer);
        if (name == "cache" || name == "cache_all") return answer();
        if (name == "cached_value" || name == "cache_has_key" || name == "cached_entries") {
            const Value found = answer();
            const bool nothing = found.is_undef() ||
                                 (found.is(value::Kind::Boolean) && !found.as_boolean()) ||
                                 (found.is_array() && found.as_array().empty());
            if (!nothing) frame_.inherits = true;
            return found;
        }
        // The numbers of values are valid in this compile only.
        std::vector<Value> own(args.begin(), args.end());
        const Value receiver = session_.kept(
            own[0].is_integer() ? static_cast<std::uint64_t>(own[0].as_integer()) : 0);
        if (receiver.is_undef()) return uncacheable(name, answer);
        own[0] = Value::integer(static_cast<std::int64_t>(numbering_.keep(receiver)));
        if (name != "not_found") return asked("method", std::move(own), answer);
        try {
            return answer();
        } catch (const PuppetError&) {
            give_up("an error");
            throw;
        } catch (...) {
            note("method", std::move(own), std::nullopt, true);
            throw;
        }
    }

    RubyAnswers& answers_;
    RubyAnswers::Frame& frame_;
    ObjectNumbers& numbering_;
    RubyCallbacks& inner_;
    Interpreter& in_;
    RubySession& session_;
};

namespace {

/// Repeats a recorded request.
std::optional<Value> repeat_request(std::span<const Value> question, ObjectNumbers& numbering,
                                    RubyCallbacks& callbacks, RubySession& session,
                                    Interpreter& in) {
    const auto what = text_at(question, 0);
    const auto args = question.subspan(1);
    if (what == "variable") return callbacks.variable(text_at(args, 0));
    if (what == "call_function") {
        return callbacks.call_function(
            text_at(args, 0),
            args.size() > 1 && args[1].is_array() ? args[1].as_array() : std::span<const Value>(),
            0);
    }
    if (what != "method") return callbacks.request(what, args, in.arena());
    std::vector<Value> own(args.begin(), args.end());
    const Value receiver =
        numbering.kept(own[0].is_integer() ? static_cast<std::uint64_t>(own[0].as_integer()) : 0);
    own[0] = Value::integer(static_cast<std::int64_t>(session.keep(receiver)));
    return callbacks.request(what, own, in.arena());
}

}  // namespace

RubyAnswers::RubyAnswers(std::shared_ptr<ruby::Answers> answers, RubySession& session)
    : answers_(std::move(answers)), session_(session), began_ns_(ruby::file_time_now()) {
    const auto& environment = session.environment();
    table_ = answers_->table(fmt::format("{}\n{}", environment.name(), environment.directory()));
    check_ = answers_->mode() == ruby::Answers::Mode::Check || answers_->sample();
}

RubyAnswers::~RubyAnswers() { table_->save(); }

std::string RubyAnswers::file_state(const std::string& path) {
    const auto& files = session_.environment().files();
    const bool disk = files.version().empty();
    std::string stamp;
    if (disk) {
        const auto now = files.stat(path);
        if (now.exists && !now.fresh) {
            stamp = fmt::format("{} {} {}", now.mtime_ns, now.size, now.inode);
            if (auto known = table_->known_state(path, stamp)) return *known;
        }
    }
    auto state = table_->fingerprint(environment::files_answer(files, Read::File, path));
    if (!stamp.empty()) table_->remember_state(path, std::move(stamp), state);
    return state;
}

std::string RubyAnswers::state_of(const ReadNote& note) {
    std::string key = fmt::format("{} {}", note.kind, note.name);
    if (const auto known = states_.find(key); known != states_.end()) return known->second;
    const auto& files = session_.environment().files();
    std::string state;
    if (note.kind == "library") {
        state = "-";
    } else if (note.kind == "file" || note.kind == "code") {
        state = file_state(note.name);
    } else if (note.kind == "stat") {
        state = table_->fingerprint(environment::stat_answer(files, note.name));
    } else if (note.kind == "feature") {
        const auto& options = RubySession::pool_of(session_.environment(), nullptr)->options();
        const bool all = note.name.ends_with('*');
        std::string found;
        for (const auto& path : ruby::candidates(options, note.name)) {
            const auto answer =
                environment::files_answer(files, all ? Read::Glob : Read::Exists, path);
            if (!answer.empty() && answer != "-") found += path + '\n' + answer + '\n';
        }
        state = table_->fingerprint(found);
    } else {
        state = table_->fingerprint(
            environment::files_answer(files, environment::read_kind(note.kind), note.name));
    }
    return states_.emplace(std::move(key), std::move(state)).first->second;
}

std::string RubyAnswers::facts_state(Interpreter& in, std::string_view kind,
                                     std::string_view path) {
    const auto root = in.lookup_variable(in.top_scope(), kind == "fact" ? "facts" : "trusted",
                                         evaluator::FactReads::kRecordedLater);
    return table_->fingerprint(environment::facts_answer(root.value_or(Value::undef()), path));
}

bool RubyAnswers::unchanged(const std::shared_ptr<const AnswerReads>& reads) {
    if (!reads) return true;
    const auto known = unchanged_.find(reads.get());
    if (known != unchanged_.end()) return known->second;
    bool same = unchanged(reads->before);
    for (const auto& seen : reads->reads) {
        if (!same) break;
        same = state_of(seen.note) == seen.state;
    }
    return unchanged_[reads.get()] = same;
}

void RubyAnswers::note(const AnswerReads* reads) {
    for (; reads; reads = reads->before.get()) {
        auto [it, fresh] = recorded_.try_emplace(reads);
        if (!fresh) {
            it->second.note();
            continue;
        }
        const environment::DependencyRecorder::Collecting collecting(it->second);
        for (const auto& seen : reads->reads) note_read(session_.environment(), seen.note);
    }
}

bool RubyAnswers::fits(const Answer& answer, RubyCallbacks& callbacks,
                       const std::vector<Value>& objects) {
    if (!unchanged(answer.own) || !unchanged(answer.process)) return false;
    ObjectNumbers numbering(callbacks);
    numbering.objects = objects;
    numbering.closed = true;
    for (const auto& asked : answer.asked) {
        if (asked.leaves) continue;
        if (asked.question.starts_with(kFacts)) {
            const auto name = std::string_view(asked.question).substr(1);
            const auto space = name.find(' ');
            const auto kind = name.substr(0, space), path = name.substr(space + 1);
            if (facts_state(*in_, kind, path) != asked.answer) return false;
            note_read(session_.environment(), {std::string(kind), std::string(path)});
            continue;
        }
        try {
            const Value question = ruby::read_marshal(asked.question, in_->arena(), &numbering);
            const auto now =
                repeat_request(question.as_array(), numbering, callbacks, session_, *in_);
            const auto state =
                now ? table_->fingerprint(written(*now, numbering)) : std::string(kUnset);
            if (numbering.unserializable || state != asked.answer) return false;
        } catch (const PuppetError&) {
            return false;
        } catch (const ruby::MarshalError&) {
            return false;
        }
    }
    return true;
}

Value RubyAnswers::answered(Interpreter& in, Scope& scope, const RubyQuestion& question,
                            const std::function<Value(ruby::Callbacks&)>& make) {
    RubyCallbacks callbacks(session_, in, scope);
    in_ = &in;
    ObjectNumbers numbering(callbacks);
    std::string body = fmt::format("{}\n{}\n", question.code, question.more);
    for (const Value& v : question.args) body += written(v, numbering, question.legacy);
    numbering.closed = true;
    // The reads of such a call count for its code, even if it has no memo.
    const bool kept = !numbering.unserializable && !question.block && !has_secret(body);
    const auto key = kept ? table_->fingerprint(body) : std::string();
    std::shared_ptr<const Answer> hit;
    for (auto& answer : kept ? table_->find(key) : std::vector<std::shared_ptr<const Answer>>()) {
        if (!fits(*answer, callbacks, numbering.objects)) continue;
        hit = std::move(answer);
        break;
    }
    if (hit && !check_) {
        note(hit->own.get());
        if (used_memos_.empty() || used_memos_.back() != hit->own) used_memos_.push_back(hit->own);
        for (const auto& logged : hit->logged)
            callbacks.log_from(logged.level, logged.text, logged.source);
        last_code_ = question.code;
        last_kept_ = true;
        if (hit->asked.empty() || !hit->asked.back().leaves)
            return ruby::read_marshal(hit->value, in.arena(), &callbacks);
        ObjectNumbers again(callbacks);
        again.objects = numbering.objects;
        const Value asked = ruby::read_marshal(hit->asked.back().question, in.arena(), &again);
        return repeat_request(asked.as_array(), again, callbacks, session_, in).value_or(Value());
    }

    load_for_memos(in);
    Frame frame;
    frame.code = &codes_[question.code];
    frame.code->name = question.code;
    if (!kept) frame.why = "what it is given";
    frames_.push_back(&frame);
    RecordingCallbacks recording(*this, frame, numbering, callbacks, in, session_);
    std::string value;
    auto end = [&] {
        keep(key, frame, value);
        if (hit && frame.why.empty() && value != hit->value &&
            still_unchanged(*hit, callbacks, numbering.objects))
            report_mismatch(question, *hit, frame, value);
        last_code_ = question.code;
        last_kept_ = frame.why.empty();
    };
    try {
        const Pop pop{frames_};
        const Value v = make(recording);
        const bool left = std::ranges::any_of(frame.asked, &Answer::Asked::leaves);
        if (left || in.pending() != evaluator::Completion::Normal) frame.why = "leaves its caller";
        value = written(v, numbering);
        // The value after a round trip through Marshal, as in later compiles.
        if (frame.why.empty() && !numbering.unserializable) {
            const Value again = ruby::read_marshal(value, in.arena(), &numbering);
            if (written(again, numbering) != value) frame.why = "a value that cannot be cached";
        }
        if (numbering.unserializable || has_secret(value))
            frame.why = "a value that cannot be cached";
        end();
        return v;
    } catch (const std::exception&) {
        last_code_.clear();
        throw;
    } catch (...) {
        // The exception that leaves Ruby code is not derived from std::exception.
        if (frame.asked.empty() || !frame.asked.back().leaves) frame.why = "leaves its caller";
        end();
        throw;
    }
}

void RubyAnswers::load_for_memos(Interpreter& in) {
    std::vector<std::string> files;
    for (const auto& set : std::exchange(used_memos_, {})) {
        std::vector<const AnswerReads*> chain;
        for (const auto* reads = set.get(); reads; reads = reads->before.get())
            chain.push_back(reads);
        for (auto it = chain.rbegin(); it != chain.rend(); ++it)
            for (const auto& seen : (*it)->reads)
                if ((seen.note.kind == "code" || seen.note.kind == "library") &&
                    loaded_.insert(seen.note.name).second)
                    files.push_back(seen.note.name);
    }
    if (files.empty()) return;
    // Records the reads of the loaded code for its process.
    Frame frame;
    frame.code = &codes_["what answers loaded"];
    frame.code->name = "what answers loaded";
    frames_.push_back(&frame);
    const Pop pop{frames_};
    session_.host(in).ready(files);
}

void RubyAnswers::on_read(const ReadNote& note, std::shared_ptr<void>& memory) {
    if (frames_.empty()) return;
    Frame& frame = *frames_.back();
    Code& code = *frame.code;
    if (!memory) memory = std::make_shared<ProcessReads>();
    auto& process = *std::static_pointer_cast<ProcessReads>(memory);
    if (note.kind == "fact" || note.kind == "trusted") {
        frame.asked.push_back({fmt::format("{}{} {}", kFacts, note.kind, note.name),
                               facts_state(*in_, note.kind, note.name)});
        return;
    }
    if (is_volatile(note.kind)) {
        process.volatile_codes.insert(code.name);
        return;
    }
    const bool path = has_mtime(note.kind);
    const bool disk = session_.environment().files().version().empty();
    if (path && disk && !ruby::unmodified_since(note.name, began_ns_)) process.unsettled = true;
    if (note.kind == "file" && ruby::is_private(note.name)) code.secret = true;
    AnswerReads::RecordedRead seen{note, state_of(note)};
    // A read whose name contains the node's name is of no use to other nodes, so it does not count
    // for the process.
    const auto node = in_->hosts().inputs ? in_->hosts().inputs->node_name() : std::string_view();
    if ((node.empty() || note.name.find(node) == std::string::npos) &&
        process.known.emplace(note.kind, note.name).second)
        process.fresh.push_back(seen);
    code.fresh.push_back(std::move(seen));
}

// If a read changed during the comparison, both results may be right, because they were computed at
// different times.
bool RubyAnswers::still_unchanged(const ruby::Answer& answer, RubyCallbacks& callbacks,
                                  const std::vector<Value>& objects) {
    states_.clear();
    unchanged_.clear();
    for (const auto& set : {answer.own, answer.process})
        for (auto* reads = set.get(); reads; reads = reads->before.get())
            for (const auto& seen : reads->reads)
                if (has_mtime(seen.note.kind) && !ruby::unmodified_since(seen.note.name, began_ns_))
                    return false;
    return fits(answer, callbacks, objects);
}

void RubyAnswers::keep(const std::string& key, Frame& frame, std::string value) {
    Code& code = *frame.code;
    code.reads = table_->extended(std::move(code.reads), std::exchange(code.fresh, {}));
    auto* memory = session_.process_memory();
    if (!memory) return;
    if (!*memory) *memory = std::make_shared<ProcessReads>();
    auto& process = *std::static_pointer_cast<ProcessReads>(*memory);
    process.reads = table_->extended(std::move(process.reads), std::exchange(process.fresh, {}));
    for (const auto& asked : frame.asked)
        if (!asked.leaves) code.asked.push_back(asked);
    // The process may have cached the answers of earlier requests.
    if (process.volatile_codes.contains(code.name) && frame.why.empty())
        frame.why = "it may answer otherwise each time";
    if (process.unsettled && frame.why.empty()) frame.why = "a file that has just been written";
    if (!frame.why.empty()) return;
    Answer answer;
    answer.own = code.reads;
    answer.process = process.reads;
    answer.asked = frame.inherits ? code.asked : std::vector<Answer::Asked>();
    if (frame.inherits) {
        if (!frame.asked.empty() && frame.asked.back().leaves)
            answer.asked.push_back(frame.asked.back());
    } else {
        answer.asked = frame.asked;
    }
    answer.logged = frame.logged;
    answer.value = std::move(value);
    answer.secret = code.secret;
    table_->keep(key, std::move(answer));
}

void RubyAnswers::report_mismatch(const RubyQuestion& question, const Answer& kept,
                                  const Frame& frame, const std::string&) {
    auto names = [](const AnswerReads* reads, const std::vector<Answer::Asked>& asked) {
        std::string out;
        for (; reads; reads = reads->before.get())
            for (const auto& seen : reads->reads)
                out +=
                    fmt::format("{}{} {}", out.empty() ? "" : ", ", seen.note.kind, seen.note.name);
        out += fmt::format("; {} requests to the compile", asked.size());
        return out;
    };
    const auto text = fmt::format(
        "The cached result of {} differs from a new one, although nothing that it read has "
        "changed. Results of Ruby code in environment {} are no longer cached{}. Previous reads: "
        "{}. "
        "Present reads: {}",
        question.code, session_.environment().name(),
        table_->distrust_file().empty()
            ? std::string()
            : fmt::format(" until {} is removed", table_->distrust_file()),
        names(kept.own.get(), kept.asked), names(frame.code->reads.get(), frame.asked));
    in_->log().log(base::Level::Err, text);
    table_->distrust(text);
}

}  // namespace bunraku::templates
