// SPDX-License-Identifier: Apache-2.0
// The type mailalias: lines of /etc/aliases (mailalias 1.0.6).
#include <algorithm>
#include <cctype>
#include <cstring>
#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "resources/apply/parsed_file.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {
namespace {

bool always(Context&) { return true; }
constexpr ProviderClass kAliases{.name = "aliases", .suitable = always, .prefetches = true};
constexpr const ProviderClass* kProviders[] = {&kAliases};

class Mailalias final : public ParsedResource {
public:
    using ParsedResource::ParsedResource;
    std::span<const ProviderClass* const> provider_classes() const override { return kProviders; }

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name == "file" && !plain(v).starts_with('/')) {
            throw base::PuppetError(
                fmt::format("File paths must be fully qualified, not '{}'", plain(v)));
        }
        Resource::validate_value(a, v);
    }
    void validate() override {
        if (!get("recipient").is_undef() && !get("file").is_undef()) {
            throw base::PuppetError("You cannot specify both a recipient and a file");
        }
    }

protected:
    std::string default_target() const override { return "/etc/aliases"; }
    bool has_field(std::string_view field) const override {
        return field == "name" || field == "recipient";
    }

    RecordPtr parse_line(const std::string& line) const override {
        if (line.starts_with('#') || base::trim(line).empty()) return text_record(line);
        std::vector<std::string_view> parts;
        std::string_view rest = line;
        while (parts.size() < 3 && rest.find(':') != std::string_view::npos) {
            parts.push_back(rest.substr(0, rest.find(':')));
            rest.remove_prefix(parts.back().size() + 1);
        }
        parts.push_back(rest);
        if (parts.size() < 2) {
            // The module's error for a line without a second part.
            throw base::plain_error("undefined method `strip' for nil:NilClass");
        }
        RecordPtr r = entry_record();
        r->set("name", context_.string(base::trim(parts[0])));
        if (parts.size() == 4 && base::trim(parts[2]) == "include") {
            r->set("file", context_.string(base::trim(parts[3])));
            return r;
        }
        r->set("recipient",
               recipients(base::trim(std::string_view(line).substr(line.find(':') + 1))));
        return r;
    }

    std::string render(const Record& r) const override {
        const Value list = r.value("recipient");
        if (list.is_array()) {
            std::string out;
            for (const Value& item : list.as_array()) {
                std::string t = plain(item);
                bool quote = std::any_of(t.begin(), t.end(), [](unsigned char c) {
                    return !std::isalnum(c) && std::strchr("-+_@.", c) == nullptr;
                });
                out += (out.empty() ? "" : ",") + (quote ? "\"" + t + "\"" : t);
            }
            return fmt::format("{}: {}", r.get("name"), out);
        }
        if (r.is_absent("file")) return {};
        return fmt::format("{}: :include: {}", r.get("name"), r.get("file"));
    }

private:
    // Splits at commas outside double quotes. Removes one quote from each end of every recipient.
    Value recipients(std::string_view text) const {
        std::vector<Value> out;
        std::string one;
        bool quoted = false;
        auto add = [&] {
            std::string_view t = base::trim(one);
            if (!t.empty() && (t.front() == '"' || t.front() == '\'')) t.remove_prefix(1);
            if (!t.empty() && (t.back() == '"' || t.back() == '\'')) t.remove_suffix(1);
            out.push_back(context_.string(t));
            one.clear();
        };
        for (char c : text) {
            if (c == '"') quoted = !quoted;
            if (c == ',' && !quoted) {
                add();
            } else {
                one += c;
            }
        }
        if (!one.empty() || out.empty()) add();
        if (text.empty()) out.clear();
        return Value::array(context_.arena.copy(out));
    }
};

}  // namespace

std::unique_ptr<Resource> make_mailalias(Context& context, const TypeSpec& spec) {
    return std::make_unique<Mailalias>(context, spec);
}

}  // namespace bunraku::apply
