// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/trace_json.h"

#include <map>
#include <set>

#include "core/codec/json_text.h"
#include "language/environment/read_answer.h"
#include "resources/catalog/json_text.h"

namespace bunraku::compiler {

using environment::Read;

namespace {

template <class List, class Write>
void write_list(std::string& out, char open, char close, const List& list, Write&& write) {
    out += open;
    bool first = true;
    for (const auto& each : list) {
        if (!first) out += ',';
        first = false;
        write(each);
    }
    out += close;
}

}  // namespace

std::string trace_to_json(const environment::Trace& trace,
                          const environment::Environment& environment, std::string_view node) {
    using Names = std::set<std::string>;
    std::map<std::string_view, Names> reads;
    std::map<std::string, Names> data;
    std::map<std::string_view, std::map<std::string, std::string>> answers;
    Names missing;
    for (const auto& [item, answer] : trace.items()) {
        const std::string name(item.name);
        const auto kind = environment::read_name(item.kind);
        switch (item.kind) {
            case Read::Data: data[name].emplace(item.detail); continue;
            case Read::Definition:
                reads[kind].insert(name + "#" + std::string(item.detail));
                continue;
            case Read::Command:
            case Read::Query:
            case Read::Export: answers[kind][name] = answer; continue;
            case Read::Exists:
            case Read::File:
            case Read::Names:
                if (!environment.files().stat(name).exists) missing.insert(name);
                break;
            case Read::Fact:
            case Read::Trusted:
            case Read::ServerFact: reads[kind].insert(environment::shown_fact_path(name)); continue;
            default: break;
        }
        reads[kind].insert(name);
    }
    std::string out = "{\"node\":";
    auto text = [&](std::string_view s) { codec::append_json_string(out, s); };
    text(node);
    out += ",\"environment\":";
    text(environment.name());
    out += ",\"reads\":{";
    bool first = true;
    auto key = [&](std::string_view name) {
        if (!first) out += ',';
        first = false;
        text(name);
        out += ':';
    };
    for (const auto& [kind, names] : reads) {
        key(kind);
        write_list(out, '[', ']', names, text);
    }
    for (const auto& [kind, asked] : answers) {
        key(kind);
        write_list(out, '{', '}', asked, [&](const auto& each) {
            text(each.first);
            out += ':';
            text(each.second);
        });
    }
    if (!data.empty()) {
        key("data");
        write_list(out, '{', '}', data, [&](const auto& file) {
            text(file.first);
            out += ':';
            write_list(out, '[', ']', file.second, text);
        });
    }
    out += "},\"missing\":";
    write_list(out, '[', ']', missing, text);
    out += '}';
    return out;
}

}  // namespace bunraku::compiler
