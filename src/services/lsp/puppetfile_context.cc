// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/puppetfile_context.h"

namespace bunraku::lsp {

namespace {

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Reads the statements before the cursor. The last one, which may be incomplete, decides.
class PuppetfileReader {
public:
    PuppetfileReader(std::string_view text, std::uint32_t offset) : text_(text.substr(0, offset)) {}

    PuppetfileContext run() {
        while (at_ < text_.size()) step();
        if (!at_end_) out_.word = {size(), 0};
        if (!at_end_ || open_word_) decide();
        return std::move(out_);
    }

private:
    std::uint32_t size() const { return static_cast<std::uint32_t>(text_.size()); }

    void step() {
        const char c = text_[at_];
        if (c == '\n') {
            ++at_;
            if (!continues_) end_statement();
        } else if (c == '#') {
            at_ = text_.find('\n', at_);
            if (at_ == std::string_view::npos) {
                at_ = text_.size();
                at_end_ = true;  // in a comment
            }
        } else if (c == '\'' || c == '"') {
            string(c);
        } else if (c == ':' || is_word(c)) {
            word();
        } else {
            ++at_;
            if (c == ';') return end_statement();
            if (c == ',') {
                ++commas_;
                key_.clear();
            }
            if (c == ',' || c == '(' || c == '{' || c == '>') continues_ = true;
        }
    }
    void end_statement() {
        keyword_ = {};
        key_.clear();
        out_.module.clear();
        out_.options.clear();
        commas_ = 0;
        continues_ = false;
    }
    void string(char quote) {
        const std::size_t begin = ++at_;
        at_ = text_.find_first_of(quote == '\'' ? "'\n" : "\"\n", begin);
        if (at_ == std::string_view::npos) {
            at_ = text_.size();
            at_end_ = open_word_ = out_.quoted = true;
            out_.word = {static_cast<std::uint32_t>(begin),
                         size() - static_cast<std::uint32_t>(begin)};
            return;
        }
        if (text_[at_] == quote) {
            if (commas_ == 0 && out_.module.empty()) out_.module = text_.substr(begin, at_ - begin);
            ++at_;
        }
        continues_ = false;
    }
    /// Reads a keyword, ":git", "git:" or a constant.
    void word() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] == ':') ++at_;
        const std::size_t name = at_;
        while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        if (at_ == text_.size()) {
            at_end_ = open_word_ = true;
            out_.word = {static_cast<std::uint32_t>(begin),
                         size() - static_cast<std::uint32_t>(begin)};
            return;
        }
        const std::string_view text = text_.substr(name, at_ - name);
        const bool new_style = begin == name && text_[at_] == ':';
        if (new_style) ++at_;
        if (keyword_.empty()) {
            keyword_ = text;
        } else if (commas_ > 0 && key_.empty()) {
            key_ = text;
            out_.options.emplace_back(text);
        }
        continues_ = new_style;
    }

    void decide() {
        if (keyword_.empty()) {
            if (!out_.quoted) out_.expected = PuppetfileExpected::Keyword;
            return;
        }
        if (keyword_ != "mod" || !key_.empty()) return;
        if (commas_ == 0) {
            if (out_.module.empty()) out_.expected = PuppetfileExpected::ModuleName;
        } else if (continues_) {
            const bool first = commas_ == 1;
            if (first || !out_.quoted)
                out_.expected = first ? PuppetfileExpected::Argument : PuppetfileExpected::Option;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool at_end_ = false;     ///< the cursor is in the last token
    bool open_word_ = false;  ///< and this token can be completed
    std::string_view keyword_;
    std::string key_;  ///< the option whose value is expected
    int commas_ = 0;
    bool continues_ = false;  ///< a comma or bracket precedes, so that the next line belongs to it
    PuppetfileContext out_;
};

}  // namespace

PuppetfileContext puppetfile_context(std::string_view text, std::uint32_t offset) {
    return PuppetfileReader(text, offset).run();
}

}  // namespace bunraku::lsp
