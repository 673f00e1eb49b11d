// The type mailalias: lines of /etc/aliases.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <fmt/format.h>

#include "apply/parsed_file.h"
#include "apply/registry.h"

namespace bunraku::apply {
namespace {

bool always(Context&) { return true; }
constexpr ProviderClass kAliases{.name = "aliases", .suitable = always, .prefetches = true};
constexpr const ProviderClass* kProviders[] = {&kAliases};

class Mailalias final : public ParsedResource {
public:
    using ParsedResource::ParsedResource;
    std::span<const ProviderClass* const> provider_classes() const override { return kProviders; }

    void validate() override {
        if (!get("recipient").is_undef() && !get("file").is_undef()) {
            throw base::PuppetError("You cannot specify both a recipient and a file");
        }
    }

protected:
    std::string default_target() const override { return "/etc/aliases"; }

    void parse(std::string_view text, ParsedTarget& into) const override {
        each_text_line(text, [&](std::string_view line) {
            std::size_t colon = line.find(':');
            std::size_t first = line.find_first_not_of(" \t");
            if (first == std::string_view::npos || line[first] == '#' || first > 0 ||
                colon == std::string_view::npos) {
                add_line(into, line);
                return;
            }
            auto r = std::make_unique<Record>();
            r->entry = true;
            r->name = line.substr(0, colon);
            if (r->name.size() > 1 && r->name.front() == '"') {
                r->name = r->name.substr(1, r->name.size() - 2);
            }
            std::vector<Value> list;
            std::string_view rest = line.substr(colon + 1);
            while (true) {
                std::size_t comma = rest.find(',');
                std::string_view one = rest.substr(0, comma);
                while (!one.empty() && (one.front() == ' ' || one.front() == '\t')) {
                    one.remove_prefix(1);
                }
                while (!one.empty() && (one.back() == ' ' || one.back() == '\t')) {
                    one.remove_suffix(1);
                }
                if (one.size() > 1 && one.front() == '"') one = one.substr(1, one.size() - 2);
                if (one.starts_with(":include:")) {
                    one.remove_prefix(9);
                    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
                    r->set("file", context_.string(one));
                } else if (!one.empty()) {
                    list.push_back(context_.string(one));
                }
                if (comma == std::string_view::npos) break;
                rest.remove_prefix(comma + 1);
            }
            if (!list.empty()) r->set("recipient", Value::array(context_.arena.copy(list)));
            into.records.push_back(std::move(r));
        });
    }

    std::string render(const Record& r) const override {
        std::string list;
        if (std::string file = r.get("file"); !file.empty()) {
            list = ":include: " + file;
        } else if (const Value* v = r.find("recipient")) {
            auto one = [&](const Value& item) {
                std::string t = plain(item);
                // What is more than letters, digits and -+_@. stands in quotes (mailalias_core).
                bool quote = std::any_of(t.begin(), t.end(), [](unsigned char c) {
                    return !std::isalnum(c) && std::strchr("-+_@.", c) == nullptr;
                });
                list += (list.empty() ? "" : ",") + (quote ? "\"" + t + "\"" : t);
            };
            if (v->is_array()) {
                for (const Value& item : v->as_array()) one(item);
            } else {
                one(*v);
            }
        }
        return fmt::format("{}: {}", r.name, list);
    }
};

}  // namespace

std::unique_ptr<Resource> make_mailalias(Context& context, const TypeSpec& spec) {
    return std::make_unique<Mailalias>(context, spec);
}

}  // namespace bunraku::apply
