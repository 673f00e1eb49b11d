// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/data_context.h"

#include "core/base/text.h"
#include "services/lsp/symbols.h"

namespace bunraku::lsp {

namespace {

bool is_data_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':';
}

class DataContext {
public:
    DataContext(std::string_view text, std::uint32_t offset, FileKind kind)
        : before_(text.substr(0, offset)), kind_(kind) {
        const std::size_t at = before_.rfind('\n');
        line_ = before_.substr(at == std::string_view::npos ? 0 : at + 1);
        out_.expected = Expected::Nothing;
        std::size_t begin = before_.size();
        while (begin > 0 && is_data_word(before_[begin - 1])) --begin;
        set_word(before_.size() - begin);
    }

    CursorContext run() {
        if (kind_ == FileKind::Erb) {
            erb();
        } else if (const std::size_t open = line_.rfind("%{");
                   open != std::string_view::npos &&
                   line_.find('}', open) == std::string_view::npos) {
            interpolation(line_.substr(open + 2));
        } else if (kind_ == FileKind::HieraConfig) {
            setting();
        } else {
            data();
        }
        return out_;
    }

private:
    /// Sets the word to the last characters before the cursor.
    void set_word(std::size_t size) {
        out_.word = {static_cast<std::uint32_t>(before_.size() - size),
                     static_cast<std::uint32_t>(size)};
    }

    void interpolation(std::string_view body) {
        const std::size_t open = body.find('(');
        if (open == std::string_view::npos) {
            std::string_view name = without_top(base::trim(body));
            if (!name.starts_with("facts.")) {
                out_.expected = Expected::Interpolation;
                return;
            }
            name.remove_prefix(6);
            const std::size_t dot = name.rfind('.');
            if (dot != std::string_view::npos) {
                out_.fact_path = name.substr(0, dot);
                name.remove_prefix(dot + 1);
            }
            out_.expected = Expected::FactKey;
            return set_word(name.size());
        }
        const std::string_view method = base::trim(body.substr(0, open));
        const std::size_t quote = body.find_first_of("'\"", open);
        if (quote == std::string_view::npos) return;
        const std::string_view key = body.substr(quote + 1);
        if (key.find_first_of("'\"") != std::string_view::npos) return;
        if (method != "lookup" && method != "hiera" && method != "alias") return;
        out_.expected = Expected::HieraKey;
        out_.in_string = true;
        set_word(key.size());
    }

    /// The name of a setting at the beginning of a line of hiera.yaml.
    void setting() {
        const std::size_t at = line_.find_first_not_of(" \t-");
        if (at == std::string_view::npos || at + out_.word.length == line_.size())
            out_.expected = Expected::HieraSetting;
    }

    void data() {
        const std::string_view content = base::trim(line_);
        if (content.starts_with('#')) return;
        if (line_.find_first_of(" \t#-") == std::string_view::npos) {
            out_.expected = Expected::DataKey;
            return set_word(line_.size());
        }
        if (std::string_view(" \t-").find(line_.front()) == std::string_view::npos) {
            const std::size_t colon = line_.find(": ");
            if (colon == std::string_view::npos) return;
            return value(base::trim(line_.substr(0, colon), "'\" "));
        }
        const std::string_view key = top_key();
        if (content == "-" || content.starts_with("- ")) {
            if (!base::lower(last_segment(key)).ends_with("classes")) return value(key);
            out_.expected = Expected::ClassName;
        } else if (key == "lookup_options" && content.size() == out_.word.length) {
            out_.expected = Expected::HieraKey;
        }
    }
    void value(std::string_view key) {
        out_.expected = Expected::AttributeValue;
        out_.type = "class";
        out_.title = namespace_of(key);
        out_.attribute = last_segment(key);
        out_.in_string = true;  // YAML needs no quotes
    }
    /// Returns the key at the beginning of a line above the cursor.
    std::string_view top_key() const {
        std::string_view rest = before_.substr(0, before_.size() - line_.size());
        while (!rest.empty()) {
            rest.remove_suffix(1);  // the line break
            const std::size_t at = rest.rfind('\n');
            const std::string_view line = rest.substr(at == std::string_view::npos ? 0 : at + 1);
            rest.remove_suffix(line.size());
            if (line.empty() || std::string_view(" \t\r#-").find(line[0]) != std::string_view::npos)
                continue;
            // A name has colons of its own: "ntp::servers:".
            const std::size_t end = line.find(": ");
            if (end != std::string_view::npos) return base::trim(line.substr(0, end), "'\" ");
            std::string_view key = base::trim(line);
            if (!key.ends_with(':')) return {};
            key.remove_suffix(1);
            return base::trim(key, "'\" ");
        }
        return {};
    }

    void erb() {
        const std::size_t open = before_.rfind("<%"), close = before_.rfind("%>");
        if (open == std::string_view::npos || (close != std::string_view::npos && close > open))
            return;
        const std::string_view ahead = before_.substr(0, out_.word.offset);
        if (ahead.ends_with('@')) {
            out_.expected = Expected::TemplateVariable;
            return;
        }
        for (const std::string_view call : {"scope['", "scope[\"", "lookupvar('", "lookupvar(\""})
            if (ahead.ends_with(call)) out_.expected = Expected::Variable;
    }

    std::string_view before_, line_;
    FileKind kind_;
    CursorContext out_;
};

}  // namespace

CursorContext data_context(std::string_view text, std::uint32_t offset, FileKind kind) {
    return DataContext(text, offset, kind).run();
}

}  // namespace bunraku::lsp
