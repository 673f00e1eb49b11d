// SPDX-License-Identifier: Apache-2.0
// ERB templates, and the Ruby files of modules. The files are searched for the calls that define
// names; Ruby does not run.
#include <algorithm>
#include <optional>

#include "core/base/text.h"
#include "services/lsp/analyze.h"

namespace bunraku::lsp {

namespace {

bool is_ruby_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The name in a call such as `newparam(:name`, `newtype 'name'` or `create_function(:'a::b'`.
struct RubyName {
    std::string_view name;
    std::size_t offset = 0;
};

/// Returns the symbol or string literal after position `at`, which follows the name of the method.
std::optional<RubyName> ruby_argument(std::string_view text, std::size_t at) {
    at = text.find_first_not_of(" \t\n(", at);
    if (at == std::string_view::npos) return std::nullopt;
    if (text[at] == ':') ++at;
    if (at >= text.size()) return std::nullopt;
    std::size_t end = at;
    if (text[at] == '\'' || text[at] == '"') {
        end = text.find(text[at], at + 1);
        if (end == std::string_view::npos) return std::nullopt;
        ++at;
    } else {
        while (end < text.size() && (is_ruby_word(text[end]) || text[end] == '?')) ++end;
    }
    if (end == at) return std::nullopt;
    return RubyName{text.substr(at, end - at), at};
}

/// Calls `f(RubyName)` for each call of `method` with a literal argument.
template <class F>
void each_ruby_call(std::string_view text, std::string_view method, const F& f) {
    for (std::size_t at = 0; (at = text.find(method, at)) != std::string_view::npos;) {
        const bool begins = at == 0 || !is_ruby_word(text[at - 1]);
        at += method.size();
        if (!begins || (at < text.size() && is_ruby_word(text[at]))) continue;
        const std::size_t line = text.rfind('\n', at);
        const std::size_t start = line == std::string_view::npos ? 0 : line + 1;
        if (base::trim(text.substr(start, at - start)).starts_with('#')) continue;
        if (const auto found = ruby_argument(text, at)) f(*found);
    }
}

Definition& add_ruby_definition(FileSymbols& out, DefinitionKind kind, SymbolKind symbol,
                                const RubyName& found, std::string_view text) {
    Definition definition;
    definition.kind = kind;
    definition.key = symbol_key(symbol, base::lower(found.name));
    definition.shown = found.name;
    definition.name_span = {static_cast<std::uint32_t>(found.offset),
                            static_cast<std::uint32_t>(found.name.size())};
    definition.span = {0, static_cast<std::uint32_t>(text.size())};
    out.occurrences.push_back({definition.key, definition.name_span, Role::Define});
    return out.definitions.emplace_back(std::move(definition));
}

void add_ruby_attributes(FileSymbols& out, Definition& type, std::string_view text) {
    const auto add = [&](const RubyName& found, std::string_view kind) {
        ParameterInfo info;
        info.name = found.name;
        info.type = kind;
        info.span = {static_cast<std::uint32_t>(found.offset),
                     static_cast<std::uint32_t>(found.name.size())};
        const std::string full = std::string(type.key.name.view()) + "::" + info.name;
        out.occurrences.push_back(
            {symbol_key(SymbolKind::Variable, full), info.span, Role::Define});
        type.parameters.push_back(std::move(info));
    };
    each_ruby_call(text, "newparam", [&](const RubyName& f) { add(f, "parameter"); });
    each_ruby_call(text, "newproperty", [&](const RubyName& f) { add(f, "property"); });
    // `ensurable`, mixins and loops add attributes that a search does not find.
    type.open = true;
}

}  // namespace

FileSymbols symbols_of_ruby(std::string_view text, std::string_view path) {
    FileSymbols out;
    const auto within = [&](std::string_view part) {
        return path.find(part) != std::string_view::npos;
    };
    const auto function = [&](const RubyName& found) {
        add_ruby_definition(out, DefinitionKind::Function, SymbolKind::Function, found, text);
    };
    if (within("/lib/puppet/functions/")) {
        each_ruby_call(text, "create_function", function);
    } else if (within("/lib/puppet/parser/functions/")) {
        each_ruby_call(text, "newfunction", function);
    } else if (within("/lib/puppet/type/")) {
        each_ruby_call(text, "newtype", [&](const RubyName& found) {
            Definition& type = add_ruby_definition(out, DefinitionKind::ResourceType,
                                                   SymbolKind::Type, found, text);
            // add_ruby_attributes() finds the attributes of the whole file, so those of a second
            // type are unknown.
            if (out.definitions.size() == 1)
                add_ruby_attributes(out, type, text);
            else
                type.open = true;
        });
        // The Resource API: the name is a member of the hash that describes the type.
        each_ruby_call(text, "name:", [&](const RubyName& found) {
            if (!out.definitions.empty() || text.find("register_type") == std::string_view::npos)
                return;
            add_ruby_definition(out, DefinitionKind::ResourceType, SymbolKind::Type, found, text)
                .open = true;
        });
    } else if (within("/lib/facter/")) {
        each_ruby_call(text, "Facter.add", [&](const RubyName& found) {
            add_ruby_definition(out, DefinitionKind::Fact, SymbolKind::Fact, found, text);
        });
    } else if (within("/lib/puppet/datatypes/")) {
        each_ruby_call(text, "create_type", [&](const RubyName& found) {
            add_ruby_definition(out, DefinitionKind::DataType, SymbolKind::Type, found, text);
        });
    }
    out.finish();
    return out;
}

FileSymbols symbols_of_erb(std::string_view text) {
    FileSymbols out;
    for (std::size_t open = 0; (open = text.find("<%", open)) != std::string_view::npos;) {
        const std::size_t close = std::min(text.find("%>", open), text.size());
        const std::string_view code = text.substr(open, close - open);
        const auto start = static_cast<std::uint32_t>(open);
        open = close;
        if (code.starts_with("<%#") || code.starts_with("<%%")) continue;
        for (std::size_t at = 0; (at = code.find('@', at)) != std::string_view::npos;) {
            std::size_t end = ++at;
            while (end < code.size() && is_ruby_word(code[end])) ++end;
            if (end == at) continue;
            out.occurrences.push_back(
                {symbol_key(SymbolKind::ErbVariable, code.substr(at, end - at)),
                 {start + static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end - at)},
                 Role::Use});
        }
        for (const std::string_view method : {"scope[", "scope.lookupvar"}) {
            for (std::size_t at = 0; (at = code.find(method, at)) != std::string_view::npos;) {
                at += method.size();
                const auto found = ruby_argument(code, at);
                if (!found) continue;
                add_qualified_name(out, found->name,
                                   {start + static_cast<std::uint32_t>(found->offset),
                                    static_cast<std::uint32_t>(found->name.size())},
                                   Role::Use);
            }
        }
    }
    out.finish();
    return out;
}

}  // namespace bunraku::lsp
