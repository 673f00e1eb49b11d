// SPDX-License-Identifier: Apache-2.0
// The type ini_subsetting: one of several words in the value of a setting (puppetlabs-inifile).
#include <algorithm>
#include <fmt/format.h>

#include "core/base/number.h"
#include "resources/apply/registry.h"
#include "resources/apply/types/ini/ini_resource.h"

namespace bunraku::apply {
namespace {

/// The words of a setting's value, and the quotes around them.
class SubSettings {
public:
    SubSettings(const std::optional<std::string>& value, const std::string& separator,
                std::string quote)
        : separator_(separator), quote_(std::move(quote)) {
        if (!value) return;
        std::string_view rest = *value;
        for (const char c : {'"', '\''}) {
            if (!rest.starts_with(c) || !rest.ends_with(c)) continue;
            quote_ = c;
            // A single quote character is both the opening and the closing quote.
            rest = rest.size() < 2 ? std::string_view() : rest.substr(1, rest.size() - 2);
            break;
        }
        const Pattern word = pattern_of(fmt::format("(?:(?:[^\\{}]|\\.)+)", separator));
        if (!match_of(word, rest)) return;
        for (std::size_t at = 0; at < rest.size();) {
            const auto found = word->search(rest, at);
            if (!found) break;
            words.emplace_back(stripped(found->group(rest, 0)));
            at = found->groups[0]->second;
        }
    }

    std::string text() const {
        return quote_ + fmt::format("{}", fmt::join(words, separator_)) + quote_;
    }

    std::vector<std::string> words;

private:
    std::string separator_, quote_;
};

constexpr std::string_view kYesNo = "true|false";

class IniSubsetting final : public IniResource {
public:
    using IniResource::IniResource;

    bool does(const Given& given) const override {
        Value value = given("value");
        if (value.is(value::Kind::Sensitive)) value = value.unwrap();
        const Value type = given("insert_type"), where = given("insert_value");
        if (type.is_string() && type.as_string() == "index") {
            const auto number = where.is_integer() ? std::optional(where.as_integer())
                                : where.is_string()
                                    ? base::parse_integer<std::int64_t>(where.as_string())
                                    : std::nullopt;
            if (!number || *number < 0) return false;
        } else if (type.is_string() &&
                   (type.as_string() == "before" || type.as_string() == "after")) {
            if (!where.is_string()) return false;
        }
        return text_or_nothing(value) && given("path").is_string() &&
               given("setting").is_string() && given("subsetting").is_string() &&
               all_texts_or_nothing(given, {"section", "subsetting_separator", "quote_char",
                                            "subsetting_key_val_separator", "key_val_separator"});
    }

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name == "quote_char" && !match_of(pattern_of("^[\"']?$"), plain(v)))
            throw base::PuppetError(":quote_char valid values are '', '\"' and \"'\"");
        IniResource::validate_value(a, v);
    }
    Value default_for(const Attribute& a) override {
        if (a.name == "subsetting_separator") return Value::string(" ");
        if (a.name == "subsetting_key_val_separator" || a.name == "quote_char")
            return Value::string("");
        if (a.name == "insert_type") return Value::string("end");
        if (a.values == kYesNo) return Value::string("false");
        return IniResource::default_for(a);
    }

    Value retrieve_property(const Param& p) override {
        if (p.spec->name == "ensure") {
            return Value::string(find_word(text("subsetting"), exact()) ? "present" : "absent");
        }
        const auto at = find_word(text("subsetting"), false);
        if (!at) return {};
        const std::string& word = words().words[*at];
        return context_.string(std::string_view(word).substr(std::min(word.size(), key().size())));
    }

    void sync(Param& p) override {
        if (p.spec->name == "value") return put();
        const std::string wanted = plain(should(p));
        call_value(*this, wanted, p.spec->name, [&] {
            if (wanted == "absent") {
                std::erase_if(words().words, [&](const std::string& w) {
                    return is_word(w, text("subsetting"), exact());
                });
                const std::string rest = words().text();
                // The value of `delete_if_empty` does not matter, because in Ruby the string
                // "false" is true.
                if (rest.empty()) {
                    settings().remove(text("section"), setting());
                } else {
                    settings().set(text("section"), setting(), rest);
                }
                settings().save();
            } else {
                put();
            }
            forget_file();
            words_.reset();
        });
    }

private:
    bool exact() const { return text("use_exact_match") == "true"; }
    std::string key() const { return text("subsetting") + text("subsetting_key_val_separator"); }

    SubSettings& words() {
        if (!words_)
            words_.emplace(settings().value(text("section"), setting()),
                           text("subsetting_separator"), text("quote_char"));
        return *words_;
    }

    bool is_word(std::string_view word, const std::string& name, bool whole) const {
        return whole ? word == name : word.starts_with(name + text("subsetting_key_val_separator"));
    }
    std::optional<std::size_t> find_word(const std::string& name, bool whole) {
        const auto& all = words().words;
        const auto it =
            std::ranges::find_if(all, [&](auto& word) { return is_word(word, name, whole); });
        if (it == all.end()) return std::nullopt;
        return static_cast<std::size_t>(it - all.begin());
    }

    std::size_t insert_position() {
        const std::string how = text("insert_type"), where = text("insert_value");
        const std::size_t end = words().words.size();
        if (how == "start") return 0;
        if (how == "index")
            return std::min(end, base::parse_integer<std::size_t>(where).value_or(0));
        if (how != "before" && how != "after") return end;
        const auto at = find_word(where, exact());
        return at ? *at + (how == "after" ? 1 : 0) : end;
    }

    void put() {
        const std::string word = key() + text("value");
        auto& all = words().words;
        if (find_word(text("subsetting"), exact())) {
            for (std::string& old : all)
                if (is_word(old, text("subsetting"), exact())) old = word;
        } else {
            all.insert(all.begin() + static_cast<std::ptrdiff_t>(insert_position()), word);
        }
        settings().set(text("section"), setting(), words().text());
        settings().save();
    }

    std::optional<SubSettings> words_;
};

}  // namespace

std::unique_ptr<Resource> make_ini_subsetting(Context& context, const TypeSpec& spec) {
    return std::make_unique<IniSubsetting>(context, spec);
}

}  // namespace bunraku::apply
