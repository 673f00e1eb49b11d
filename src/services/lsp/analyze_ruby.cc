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

/// Adds the functions and data types that the code of a function uses.
void add_ruby_uses(FileSymbols& out, std::string_view text) {
    each_ruby_call(text, "call_function", [&](const RubyName& found) {
        out.occurrences.push_back({symbol_key(SymbolKind::Function, base::lower(found.name)),
                                   {static_cast<std::uint32_t>(found.offset),
                                    static_cast<std::uint32_t>(found.name.size())},
                                   Role::Key});
    });
    for (const std::string_view method :
         {"param", "optional_param", "repeated_param", "optional_repeated_param",
          "required_repeated_param", "return_type"}) {
        each_ruby_call(text, method, [&](const RubyName& found) {
            // Aliases have "::" in their names.
            for (std::size_t at = 0; at < found.name.size();) {
                std::size_t end = at;
                while (end < found.name.size() &&
                       (is_ruby_word(found.name[end]) || found.name[end] == ':'))
                    ++end;
                const std::string_view word = found.name.substr(at, end - at);
                if (word.find("::") != std::string_view::npos)
                    out.occurrences.push_back(
                        {symbol_key(SymbolKind::Type, base::lower(without_top(word))),
                         {static_cast<std::uint32_t>(found.offset + end - without_top(word).size()),
                          static_cast<std::uint32_t>(without_top(word).size())},
                         Role::Key});
                at = end + 1;
            }
        });
    }
}

/// Returns the parameters of each `dispatch` as a signature: "String $text, Integer *$rest".
std::vector<std::string> ruby_overloads(std::string_view text) {
    std::vector<std::string> out;
    bool within = false;
    for (std::string_view line : base::split(text, '\n')) {
        line = base::trim(line);
        if (line.starts_with("dispatch")) {
            within = true;
            out.emplace_back();
            continue;
        }
        if (!within) continue;
        if (line == "end") within = false;
        const std::size_t space = line.find_first_of(" (");
        const std::string_view method = line.substr(0, space);
        const bool optional = method.starts_with("optional_");
        const bool repeated = method.find("repeated_param") != std::string_view::npos;
        if (method != "param" && method != "optional_param" && !repeated) continue;
        const auto type = ruby_argument(line, method.size());
        if (!type) continue;
        const std::size_t comma = line.find(',', type->offset + type->name.size());
        const auto name =
            comma == std::string_view::npos ? std::nullopt : ruby_argument(line, comma + 1);
        std::string& signature = out.back();
        if (!signature.empty()) signature += ", ";
        if (optional && !repeated) {
            signature.append("Optional[").append(type->name).append("]");
        } else {
            signature += type->name;
        }
        signature.append(repeated ? " *$" : " $").append(name ? name->name : "value");
    }
    return out;
}

/// One tag of an ERB template.
class ErbCode {
public:
    ErbCode(std::string_view code, std::uint32_t start, FileSymbols& out)
        : code_(code), start_(start), out_(out) {}

    void run() {
        for (std::size_t at = 0; (at = code_.find('@', at)) != std::string_view::npos;) {
            std::size_t end = ++at;
            while (end < code_.size() && is_ruby_word(code_[end])) ++end;
            if (end > at) local(code_.substr(at, end - at), at);
        }
        // A text without "::" names a variable that the caller sees.
        for (const std::string_view method : {"scope[", "scope.lookupvar", "has_variable?"}) {
            each(method, [&](const RubyName& found) {
                if (found.name.find("::") == std::string_view::npos) {
                    local(found.name, found.offset);
                } else {
                    add_qualified_name(out_, found.name, span(found), Role::Use);
                }
            });
        }
        each("scope.call_function", [&](const RubyName& found) { function(found); });
        called_methods();
    }

private:
    Span span(const RubyName& found) const {
        return {start_ + static_cast<std::uint32_t>(found.offset),
                static_cast<std::uint32_t>(found.name.size())};
    }
    void local(std::string_view name, std::size_t at) {
        if (name.empty() || !std::ranges::all_of(name, is_ruby_word)) return;
        out_.occurrences.push_back(
            {symbol_key(SymbolKind::ErbVariable, name), span({name, at}), Role::Use});
    }
    void function(const RubyName& found) {
        const std::string_view name = without_top(found.name);
        out_.occurrences.push_back({symbol_key(SymbolKind::Function, base::lower(name)),
                                    span({name, found.offset + found.name.size() - name.size()}),
                                    Role::Use});
    }
    /// Functions are also methods: scope.function_NAME([..]).
    void called_methods() {
        constexpr std::string_view kMethod = "scope.function_";
        for (std::size_t at = 0; (at = code_.find(kMethod, at)) != std::string_view::npos;) {
            at += kMethod.size();
            std::size_t end = at;
            while (end < code_.size() && is_ruby_word(code_[end])) ++end;
            if (end > at) function({code_.substr(at, end - at), at});
        }
    }
    /// Calls `f(RubyName)` for the literal argument of each call of a method.
    template <class F>
    void each(std::string_view method, const F& f) const {
        for (std::size_t at = 0; (at = code_.find(method, at)) != std::string_view::npos;) {
            at += method.size();
            if (const auto found = ruby_argument(code_, at)) f(*found);
        }
    }

    std::string_view code_;
    std::uint32_t start_;
    FileSymbols& out_;
};

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
        if (out.definitions.size() == 1) out.definitions[0].overloads = ruby_overloads(text);
        add_ruby_uses(out, text);
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
        ErbCode(code, start, out).run();
    }
    out.finish();
    return out;
}

}  // namespace bunraku::lsp
