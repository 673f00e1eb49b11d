// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/explain.h"

#include <algorithm>
#include <fmt/format.h>

#include "compile/insight/catalog_explainer.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"

namespace bunraku::insight {

namespace {

struct ReferenceText {
    std::string type, title;
};

/// Splits "File[/etc/x]" into its parts; removes quotes around the title.
ReferenceText parsed_reference(const std::string& text) {
    const auto open = text.find('[');
    if (open == std::string::npos || open == 0 || !text.ends_with(']') || open + 2 >= text.size())
        throw base::plain_error(
            fmt::format("'{}' is not a reference such as 'File[/etc/motd]'", text));
    ReferenceText out{text.substr(0, open), text.substr(open + 1, text.size() - open - 2)};
    const char quote = out.title.front();
    if (out.title.size() >= 2 && (quote == '\'' || quote == '"') && out.title.back() == quote)
        out.title = out.title.substr(1, out.title.size() - 2);
    if (out.title.empty()) throw base::plain_error(fmt::format("'{}' has no title", text));
    // Every segment of a type name is capitalised.
    bool first = true;
    for (char& c : out.type) {
        if (first && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        first = c == ':';
    }
    return out;
}

void answer(const ExplainQuestion& question, const ReferenceText& text,
            const compiler::History& history, compiler::Compilation& compilation,
            hiera::Lookup& lookup, Explanation& out) {
    CatalogExplainer explainer(history, compilation, lookup);
    const types::Reference reference{text.type, text.title, true};
    const compiler::Resource* resource = compilation.table().find(reference);
    out.found = resource && (!resource->virtual_ || resource->exported);
    // A virtual resource that was not collected is not in the catalog either.
    if (question.missing || !resource || (!out.found && question.parameter.empty())) {
        explainer.missing(reference, out.reasons);
        return;
    }
    if (!question.parameter.empty()) {
        CatalogExplainer::Reasons titled;
        explainer.titled(*resource, titled);
        for (auto& each : titled) {
            if (each.name != question.parameter) continue;
            out.reasons.push_back(std::move(each));
            explainer.declaration(*resource, out.reasons);
            return;
        }
        if (!resource->find(question.parameter) && question.parameter != "title")
            throw base::plain_error(fmt::format("{} has no parameter {}; its parameters are {}",
                                                resource->ref(), question.parameter, [&] {
                                                    std::vector<std::string> names;
                                                    for (const auto& p : resource->params)
                                                        names.emplace_back(p.name);
                                                    return fmt::format("{}",
                                                                       fmt::join(names, ", "));
                                                }()));
        out.reasons.push_back(explainer.parameter(*resource, question.parameter));
        explainer.declaration(*resource, out.reasons);
        return;
    }
    explainer.declaration(*resource, out.reasons);
    for (const auto& param : resource->params)
        if (!param.value.is_undef())
            out.reasons.push_back(explainer.parameter(*resource, param.name));
    explainer.titled(*resource, out.reasons);
}

/// Adds a note if the history is incomplete.
void note_cut(const compiler::History& history, Explanation& out) {
    if (!history.cut()) return;
    out.reasons.push_back({.kind = "note",
                           .text = fmt::format("The compile evaluates more than {} expressions; "
                                               "later ones are not recorded",
                                               compiler::History::kMostEvents)});
}

/// Compiles the node and calls `look` with the history, the compilation and the lookup while their
/// data exists. Returns the error of the compile. Throws the error of `look`.
std::string recorded_compile(
    site::Site& site, const State& state, const site::FleetNode& node,
    const std::function<void(const compiler::History&, compiler::Compilation&, hiera::Lookup&)>&
        look) {
    base::NullSink log;
    auto request = request_for(state, node);
    site::Session* session = nullptr;
    std::string mistake;
    request.record.history = std::make_shared<compiler::History>(
        [&](const compiler::History& history, compiler::Compilation& compilation) {
            // The callback at the end of a compile must not throw.
            try {
                look(history, compilation, session->lookup());
            } catch (const base::PuppetError& error) {
                mistake = error.full_text();
            }
        });
    const auto held = site.session(std::move(request), log);
    session = held.get();
    std::string out;
    try {
        session->compile();
    } catch (const base::PuppetError& error) {
        out = error.full_text();
    }
    if (!mistake.empty()) throw base::plain_error(mistake);
    return out;
}

/// Appends a reason and, below it, the reasons that it depends on, as a tree. `indent` precedes
/// each line below.
void print(std::string& out, const Reason& reason, const std::string& indent) {
    out += reason.text;
    // The text of a Hiera level already names its file.
    const bool own = reason.kind == "level";
    if (!reason.file.empty() && !(own && reason.line == 0)) {
        out += own               ? fmt::format(", line {}", reason.line)
               : reason.line > 0 ? fmt::format(" ({}:{})", reason.file, reason.line)
                                 : fmt::format(" ({})", reason.file);
    }
    out += '\n';
    for (const auto& each : reason.because) {
        const bool last = &each == &reason.because.back();
        out += indent + (last ? "└─ " : "├─ ");
        print(out, each, indent + (last ? "   " : "│  "));
    }
}

void write(std::string& out, const Reason& reason) {
    using codec::json_string;
    out += fmt::format("{{\"kind\":{},\"text\":{}", json_string(reason.kind),
                       json_string(reason.text));
    auto add = [&](const char* name, const std::string& text) {
        if (!text.empty()) out += fmt::format(",\"{}\":{}", name, json_string(text));
    };
    add("name", reason.name);
    add("expression", reason.expression);
    if (!reason.value.empty()) out += ",\"value\":" + reason.value;
    add("file", reason.file);
    if (reason.line > 0) out += fmt::format(",\"line\":{}", reason.line);
    if (!reason.because.empty()) {
        out += ",\"because\":[";
        for (std::size_t i = 0; i < reason.because.size(); ++i) {
            if (i > 0) out += ',';
            write(out, reason.because[i]);
        }
        out += ']';
    }
    out += '}';
}

}  // namespace

Explanation explain(site::Site& site, const State& state, const site::FleetNode& node,
                    const ExplainQuestion& question) {
    Explanation out;
    const auto reference = parsed_reference(question.reference);
    out.error = recorded_compile(site, state, node,
                                 [&](const compiler::History& history,
                                     compiler::Compilation& compilation, hiera::Lookup& lookup) {
                                     answer(question, reference, history, compilation, lookup, out);
                                     note_cut(history, out);
                                 });
    return out;
}

std::string explain_all(
    site::Site& site, const State& state, const site::FleetNode& node,
    const std::function<bool(const ExplainQuestion&, const Explanation&)>& report) {
    return recorded_compile(
        site, state, node,
        [&](const compiler::History& history, compiler::Compilation& compilation,
            hiera::Lookup& lookup) {
            for (const compiler::Resource* resource : compilation.table().all()) {
                if (resource->virtual_ && !resource->exported) continue;
                Explanation out;
                out.found = true;
                CatalogExplainer(history, compilation, lookup).declaration(*resource, out.reasons);
                for (const auto& param : resource->params)
                    if (!param.value.is_undef())
                        out.reasons.push_back(CatalogExplainer(history, compilation, lookup)
                                                  .parameter(*resource, param.name));
                CatalogExplainer(history, compilation, lookup).titled(*resource, out.reasons);
                note_cut(history, out);
                if (!report({.reference = resource->ref()}, out)) return;
            }
        });
}

std::string explanation_text(const Explanation& explanation) {
    std::string out;
    for (const auto& each : explanation.reasons) print(out, each, {});
    return out;
}

std::string explanation_json(const Explanation& explanation, std::string_view node,
                             const ExplainQuestion& question) {
    using codec::json_string;
    std::string out = fmt::format("{{\"node\":{},\"reference\":{},\"found\":{}", json_string(node),
                                  json_string(question.reference), explanation.found);
    if (!question.parameter.empty()) out += ",\"parameter\":" + json_string(question.parameter);
    if (!explanation.error.empty()) out += ",\"error\":" + json_string(explanation.error);
    out += ",\"reasons\":[";
    for (std::size_t i = 0; i < explanation.reasons.size(); ++i) {
        if (i > 0) out += ',';
        write(out, explanation.reasons[i]);
    }
    return out + "]}\n";
}

}  // namespace bunraku::insight
