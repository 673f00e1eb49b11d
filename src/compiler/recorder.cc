#include "compiler/recorder.h"

#include <fmt/format.h>

#include "catalog/json_text.h"

namespace bunraku::compiler {

using evaluator::Callable;
using evaluator::Interpreter;
using value::Value;

class Recorder::Door final : public evaluator::Inputs {
public:
    Door(Recorder& recorder, evaluator::Inputs& inner) : r_(recorder), inner_(inner) {}
    std::optional<std::string> read_file(std::string_view path) override {
        auto text = inner_.read_file(path);
        r_.files.insert_or_assign(std::string(path), text.has_value());
        return text;
    }
    bool file_exists(std::string_view path) override {
        const bool there = inner_.file_exists(path);
        r_.files.insert_or_assign(std::string(path), there);
        return there;
    }
    std::int64_t now_ns() override {
        r_.time = true;
        return inner_.now_ns();
    }
    base::Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                            const std::string& cwd) override {
        r_.commands.insert(fmt::format("{}", fmt::join(argv, " ")));
        return inner_.run_command(argv, cwd);
    }
    base::Result<Value> store_query(const Value& query, base::Arena& arena) override {
        ++r_.store_queries;
        return inner_.store_query(query, arena);
    }
    std::vector<std::string> glob(const std::string& pattern) override {
        r_.globs.insert(pattern);
        return inner_.glob(pattern);
    }
    std::optional<std::string> setting(std::string_view name) override {
        if (!r_.settings.contains(name)) r_.settings.emplace(name);
        return inner_.setting(name);
    }
    std::string_view environment_name() override { return inner_.environment_name(); }
    std::string_view node_name() override { return inner_.node_name(); }

private:
    Recorder& r_;
    evaluator::Inputs& inner_;
};

class Recorder::Keys final : public evaluator::LookupHost {
public:
    Keys(Recorder& recorder, evaluator::LookupHost& inner) : r_(recorder), inner_(inner) {}
    Value lookup(Interpreter& in, evaluator::Scope& scope, std::span<const Value> args,
                 const Callable* block) override {
        note(args);
        return inner_.lookup(in, scope, args, block);
    }
    std::optional<Value> class_parameter(Interpreter& in, evaluator::Scope& scope,
                                         std::string_view class_name, std::string_view parameter,
                                         const types::Type* type) override {
        r_.hiera.insert(fmt::format("{}::{}", class_name, parameter));
        return inner_.class_parameter(in, scope, class_name, parameter, type);
    }
    Value hiera(Interpreter& in, evaluator::Scope& scope, std::string_view merge,
                std::span<const Value> args, const Callable* block) override {
        note(args);
        return inner_.hiera(in, scope, merge, args, block);
    }
    std::optional<Value> context_method(Interpreter& in, evaluator::Scope& scope,
                                        const Value& context, std::string_view method,
                                        std::span<const Value> args,
                                        const Callable* block) override {
        return inner_.context_method(in, scope, context, method, args, block);
    }
    Value data_function(Interpreter& in, evaluator::Scope& scope, std::string_view name,
                        std::span<const Value> args) override {
        return inner_.data_function(in, scope, name, args);
    }

private:
    // A key, keys, or a hash of options that names them.
    void note(std::span<const Value> args) {
        if (args.empty()) return;
        const Value* key = &args[0];
        if (key->is_hash()) key = key->as_hash().find("name");
        if (!key) return;
        if (key->is_string()) r_.hiera.emplace(key->as_string());
        if (!key->is_array()) return;
        for (const Value& v : key->as_array()) {
            if (v.is_string()) r_.hiera.emplace(v.as_string());
        }
    }

    Recorder& r_;
    evaluator::LookupHost& inner_;
};

Recorder::Recorder() = default;
Recorder::~Recorder() = default;

void Recorder::attach(Request& request) {
    if (request.inputs) {
        door_ = std::make_unique<Door>(*this, *request.inputs);
        request.inputs = door_.get();
    }
    if (request.services.lookup) {
        keys_ = std::make_unique<Keys>(*this, *request.services.lookup);
        request.services.lookup = keys_.get();
    }
}

std::string Recorder::to_json(const Request& request) const {
    std::set<std::string> there, missing;
    for (const auto& [path, exists] : files) (exists ? there : missing).insert(path);
    // Folders stand for what may appear in them.
    std::set<std::string> folders;
    for (auto& [path, stamp] : request.environment->noted()) {
        (stamp.directory ? folders : stamp.exists ? there : missing).insert(std::move(path));
    }
    std::string out = "{\"node\":";
    catalog::append_json_string(out, request.node.name);
    out += ",\"environment\":";
    catalog::append_json_string(out, request.environment->name());
    auto list = [&](std::string_view name, const auto& items) {
        out += fmt::format(",\"{}\":[", name);
        bool first = true;
        for (const auto& item : items) {
            if (!first) out += ',';
            first = false;
            catalog::append_json_string(out, item);
        }
        out += ']';
    };
    list("files", there);
    list("folders", folders);
    list("missing", missing);
    list("hiera", hiera);
    list("globs", globs);
    list("commands", commands);
    list("settings", settings);
    out += fmt::format(",\"store_queries\":{},\"time\":{}}}", store_queries, time);
    return out;
}

}  // namespace bunraku::compiler
