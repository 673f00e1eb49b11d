// SPDX-License-Identifier: Apache-2.0
// Implements template() and inline_template(): renders natively if the template allows it,
// otherwise by Ruby.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/base/text.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "language/erb/ast.h"
#include "language/erb/render.h"
#include "language/template/erb.h"
#include "language/template/host.h"

namespace bunraku::templates {

using evaluator::Interpreter;
using evaluator::Scope;
using value::Value;

namespace {

/// Functions without side effects. A native rendering may call them and still fall back to Ruby.
constexpr auto kPure = std::to_array<std::string_view>({
    "abs",
    "any2array",
    "any2bool",
    "base64",
    "basename",
    "bool2num",
    "bool2str",
    "camelcase",
    "capitalize",
    "ceiling",
    "chomp",
    "chop",
    "clamp",
    "compare",
    "concat",
    "count",
    "deep_merge",
    "delete",
    "delete_at",
    "delete_regex",
    "delete_undef_values",
    "delete_values",
    "difference",
    "dig",
    "digest",
    "dirname",
    "downcase",
    "empty",
    "epp",
    "fqdn_rand",
    "fqdn_rand_string",
    "fqdn_rotate",
    "file",
    "flatten",
    "floor",
    "get",
    "getvar",
    "has_interface_with",
    "has_ip_address",
    "has_key",
    "hiera",
    "hiera_array",
    "hiera_hash",
    "inline_epp",
    "inline_template",
    "intersection",
    "ip_in_range",
    "is_a",
    "join",
    "join_keys_to_values",
    "keys",
    "length",
    "lookup",
    "lstrip",
    "match",
    "max",
    "md5",
    "member",
    "merge",
    "min",
    "num2bool",
    "parsejson",
    "parseyaml",
    "pick",
    "pick_default",
    "prefix",
    "range",
    "regexpescape",
    "regsubst",
    "reject",
    "reverse",
    "round",
    "rstrip",
    "sha1",
    "sha256",
    "shell_escape",
    "shell_join",
    "shellquote",
    "size",
    "sort",
    "split",
    "sprintf",
    "squeeze",
    "str2bool",
    "str2num",
    "strftime",
    "strip",
    "suffix",
    "swapcase",
    "template",
    "to_json",
    "to_json_pretty",
    "to_yaml",
    "type_of",
    "union",
    "unique",
    "unwrap",
    "upcase",
    "values",
    "values_at",
    "versioncmp",
});
/// The pure functions that Puppet 8 also provides in the legacy form (scope.function_NAME).
constexpr auto kLegacy = std::to_array<std::string_view>(
    {"digest", "file", "fqdn_rand", "inline_template", "md5", "sha1", "sha256", "template",
     "shellquote", "sprintf", "versioncmp"});

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

class CompileRenderHost final : public erb::RenderHost {
public:
    CompileRenderHost(Interpreter& in, Scope& scope, const environment::Environment& environment,
                      RubySession& session, std::string_view file)
        : in_(in), scope_(scope), environment_(environment), session_(session), file_(file) {}

    std::optional<Value> variable(base::Symbol name, std::string_view below) override {
        return lookup(name.view(), below);
    }
    void read_again(base::Symbol name, std::string_view below) override {
        if (environment::Trace::current()) (void)lookup(name.view(), below);
    }
    std::optional<Value> lookup(std::string_view name, std::string_view below) override {
        // Ruby may still change the value that it set.
        if (session_.was_set(name)) erb::fall_back("a variable that Ruby code set");
        std::string path;
        if (!below.empty())
            for (const auto key : base::split(below, '\0')) environment::append_segment(path, key);
        // There "*" has another meaning.
        if (path == evaluator::FactReads::kRecordedLater) path.clear();
        return in_.lookup_variable(scope_, name, path);
    }
    Value variables() override {
        return RubyCallbacks(session_, in_, scope_).request("variables", {}, in_.arena());
    }
    Value call_function(std::string_view name, std::span<const Value> args, bool legacy) override {
        const bool of_module = !legacy && name.find("::") != std::string_view::npos;
        const bool known = of_module || (among(kPure, name) &&
                                         (!legacy || among(kLegacy, name) ||
                                          environment_.ruby_function_file(name, true).has_value()));
        if (!known) erb::fall_back(fmt::format("the function {}", name));
        try {
            return in_.call_function(name, args, scope_, nullptr, in_.current_site());
        } catch (const base::PuppetError& error) {
            erb::ruby_error(error.message());
        }
    }
    base::Arena& arena() override { return in_.arena(); }
    std::string_view file() override { return file_; }

private:
    Interpreter& in_;
    Scope& scope_;
    const environment::Environment& environment_;
    RubySession& session_;
    std::string_view file_;
};

/// Puppet has no symbols. Only the template itself reads such a variable.
Value stored(erb::Heap& heap, const erb::RV& v, base::Arena& arena) {
    base::step();
    using erb::T;
    if (v.is(T::Sym)) return value::make_string(arena, v.symbol_name());
    if (const Value* same = heap.unchanged(v)) return *same;
    if (v.is(T::Array)) {
        std::vector<Value> out;
        const auto& a = heap.items(v);
        for (std::uint32_t i = 0; i < a.size; ++i) out.push_back(stored(heap, a.items[i], arena));
        return value::make_array(arena, out);
    }
    if (!v.is(T::Hash)) return heap.to_puppet(v, arena);
    const auto& h = heap.entries(v);
    value::HashBuilder out(arena, h.size);
    for (std::uint32_t i = 0; i < h.size; ++i)
        out.set(stored(heap, h.entries[i].key, arena), stored(heap, h.entries[i].value, arena));
    return out.build();
}

/// Restores a value at the end of a block.
template <class T>
class Restore {
public:
    Restore(T& place, T value) : place_(place), before_(place) { place = value; }
    ~Restore() { place_ = before_; }
    Restore(const Restore&) = delete;

private:
    T& place_;
    T before_;
};

/// The position in an error; Puppet shows the first line of Ruby's backtrace.
struct ErrorPosition {
    std::string file;
    std::string line;
};

ErrorPosition place_of(const base::PuppetError& error, const std::string& path,
                       std::uint32_t line) {
    if (error.trace().empty()) return {path, std::to_string(line)};
    const std::string& frame = error.trace().front();
    const auto colon = frame.find(':');
    if (colon == std::string::npos) return {frame, ""};
    return {frame.substr(0, colon),
            frame.substr(colon + 1, frame.find(':', colon + 1) - colon - 1)};
}

/// Returns Puppet's error for a failed template() (`reference`) or inline_template() (empty).
base::PuppetError failed(std::string_view reference, const ErrorPosition& place,
                         std::string_view detail) {
    if (reference.empty())
        return base::PuppetError(fmt::format("Failed to parse inline template: {}", detail));
    return base::PuppetError(
        fmt::format("Failed to parse template {}:\n  Filepath: {}\n  Line: {}\n  Detail: {}\n",
                    reference, place.file, place.line, detail));
}

}  // namespace

Value Templates::render_by_ruby(Interpreter& in, Scope& scope, const ErbTemplate& erb,
                                std::string_view reference, const ErbFailure& native) {
    RubyCallbacks callbacks(ruby_, in, scope);
    std::vector<std::pair<std::string, Value>> variables;
    if (erb.all_names) {
        const Value all = callbacks.request("variables", {}, in.arena());
        if (all.is_hash())
            for (const auto& e : all.as_hash())
                if (!e.value.is_undef()) variables.emplace_back(value::to_text(e.key), e.value);
    } else {
        for (const auto name : erb.names) {
            const auto v =
                in.lookup_variable(scope, name.view(), evaluator::FactReads::kRecordedLater);
            if (v && !v->is_undef()) variables.emplace_back(std::string(name.view()), *v);
        }
    }
    // The template itself reports the facts that it reads.
    RubyQuestion question{erb.path.empty() ? "inline template" : "template " + erb.path,
                          erb.source};
    std::vector<Value> given;
    for (const auto& [name, v] : variables) {
        question.more += '\n' + name;
        if (name != "facts" && name != "trusted") given.push_back(v);
    }
    question.args = given;
    try {
        return ruby_.answered(in, scope, question, [&](ruby::Callbacks& asked) {
            const auto out = ruby_.host(in).render(erb.source, erb.path, variables, asked);
            return value::make_string(in.arena(), out.text()).in_encoding(out.is_bytes());
        });
    } catch (const base::PuppetError& error) {
        // An error that Ruby would raise is reported even without Ruby.
        if (error.message().find("needs Ruby") != std::string::npos) {
            throw failed(reference, {erb.path, std::to_string(native.line)},
                         native.detail.empty()
                             ? fmt::format("{} ({})", error.message(), native.reason)
                             : native.detail);
        }
        // Puppet does not rescue a SyntaxError, so it ends the compile unchanged.
        const auto start = fmt::format("{}:", erb.path.empty() ? "(erb)" : erb.path);
        if (error.message().starts_with(start) &&
            error.message().find(": syntax error, ") != std::string::npos) {
            base::PuppetError syntax(error.message(), "SCRIPT_ERROR",
                                     base::PuppetError::Class::Plain);
            syntax.verbatim = true;
            throw syntax;
        }
        // Puppet does not rescue a missing library either.
        if (error.issue_code() == "SCRIPT_ERROR") throw;
        throw failed(reference, place_of(error, erb.path, native.line), error.message());
    }
}

evaluator::Value Templates::render_erb(Interpreter& in, Scope& scope, const ErbTemplate& erb,
                                       std::string_view reference) {
    ErbFailure failure{erb.reason, {}, 1};
    // A template that another one calls shares its objects.
    const bool outermost = erb_shared_ == nullptr;
    std::optional<erb::Shared> own;
    if (outermost) own.emplace();
    {
        const Restore<erb::Shared*> active(erb_shared_, outermost ? &*own : erb_shared_);
        erb::Shared& shared = *erb_shared_;
        if (erb.program) {
            CompileRenderHost render_host(in, scope, *environment_, ruby_, erb.path);
            erb::Renderer renderer(*erb.program, render_host, shared);
            std::string text;
            bool done = false;
            try {
                text = renderer.run();
                done = true;
            } catch (const erb::Fallback& fallback) {
                failure = {fallback.reason, fallback.detail, renderer.line()};
            }
            if (done) {
                if (outermost) finish_erb(in, scope, shared);
                return value::make_string(in.arena(), text);
            }
        }
        // Only this rendering has the values of setvar, so a fallback makes Ruby render the calling
        // template as well.
        if (!outermost && (!shared.variables.empty() || shared.heap.changed))
            throw erb::Fallback{"a template that it calls", failure.detail};
    }
    const Restore<erb::Shared*> none(erb_shared_, nullptr);
    if (in.log().enabled(base::Level::Debug)) {
        in.log().log(base::Level::Debug,
                     fmt::format("{} is rendered by Ruby: {}",
                                 reference.empty() ? "An inline template"
                                                   : fmt::format("Template {}", reference),
                                 failure.reason));
    }
    return render_by_ruby(in, scope, erb, reference, failure);
}

void Templates::finish_erb(Interpreter& in, Scope& scope, erb::Shared& shared) {
    for (const auto& each : shared.objects) {
        if (!shared.heap.changed || !shared.heap.dirty(each.object)) continue;
        std::string_view name = each.name;
        Scope* holder = &scope;
        if (const auto colons = name.rfind("::"); colons != std::string_view::npos) {
            auto cls = name.substr(0, colons);
            if (cls.starts_with("::")) cls.remove_prefix(2);
            name.remove_prefix(colons + 2);
            holder = cls.empty()          ? &in.top_scope()
                     : in.hosts().catalog ? in.hosts().catalog->class_scope(cls)
                                          : nullptr;
        }
        const auto symbol = base::Symbol::intern(name);
        while (holder && !holder->find_local(symbol)) holder = holder->parent;
        if (!holder) continue;
        const Value now = stored(shared.heap, each.object, in.arena());
        holder->set_local(symbol, now);
        if (in.hosts().catalog) in.hosts().catalog->variable_changed(*holder, name, each.was, now);
    }
    for (const auto& [name, v] : shared.variables)
        in.assign(scope, base::Symbol::intern(name), stored(shared.heap, v, in.arena()),
                  in.current_site());
    for (const auto& call : shared.calls)
        in.call_function(call.function, call.args, scope, nullptr, in.current_site());
}

ErbCache& Templates::erb_cache() {
    if (!erb_cache_) {
        erb_cache_ = environment_->attached<ErbCache>([] { return std::make_shared<ErbCache>(); });
    }
    return *erb_cache_;
}

evaluator::Value Templates::erb(Interpreter& in, Scope& scope, std::string_view reference) {
    if (in.log().enabled(base::Level::Debug))
        in.log().log(base::Level::Debug, fmt::format("Retrieving template {}", reference));
    const auto path = find_file(reference, "templates");
    auto erb = path ? erb_cache().file(*path, *environment_) : nullptr;
    if (erb) return render_erb(in, scope, *erb, reference);
    // An absolute path is used as it is, and is then found to be unreadable.
    if (!path || !reference.starts_with('/'))
        throw base::PuppetError(fmt::format("Could not find template '{}'", reference));
    throw failed(reference, {*path, ""},
                 fmt::format("No such file or directory @ rb_sysopen - {}", *path));
}

evaluator::Value Templates::inline_erb(Interpreter& in, Scope& scope, std::string_view text) {
    return render_erb(in, scope, *erb_cache().text(text), {});
}

}  // namespace bunraku::templates
