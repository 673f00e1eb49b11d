// The type sshkey: lines of the list of known hosts.
#include <fmt/format.h>

#include "apply/parsed_file.h"
#include "apply/registry.h"
#include "base/text.h"

namespace bunraku::apply {
namespace {

bool always(Context&) { return true; }
constexpr ProviderClass kParsed{.name = "parsed", .suitable = always, .prefetches = true};
constexpr const ProviderClass* kProviders[] = {&kParsed};

class Sshkey final : public ParsedResource {
public:
    using ParsedResource::ParsedResource;
    std::span<const ProviderClass* const> provider_classes() const override { return kProviders; }

    void validate_value(const Attribute& a, const Value& v) override {
        std::string text = plain(v);
        if (a.name == "host_aliases") {
            if (text.find_first_of(" \t") != std::string::npos) {
                throw base::PuppetError("Aliases cannot include whitespace");
            }
            if (text.find(',') != std::string::npos) {
                throw base::PuppetError(
                    "Aliases must be provided as an array, not a comma-separated list");
            }
        }
        if (a.name == "name" && text.find(',') != std::string::npos) {
            throw base::PuppetError(
                "No comma in resource name allowed. If you want to specify aliases put them in "
                "the host_aliases property");
        }
        Resource::validate_value(a, v);
    }

    Value should_value(const Param& p) const override {
        return p.spec->name == "host_aliases" && p.has_should ? Value::array(p.should)
                                                              : Resource::should_value(p);
    }
    bool insync(Param& p, const Value& is) override {
        if (p.spec->name != "host_aliases") return Resource::insync(p, is);
        return plain(is_absent(is) ? Value::array({}) : is) == plain(should(p));
    }

protected:
    std::string default_target() const override { return "/etc/ssh/ssh_known_hosts"; }
    bool is_mine(const Record& r) const override {
        std::string type = text("type");
        return r.name == name() && (type.empty() || r.get("type") == type);
    }
    void fill(Record& r) const override {
        ParsedResource::fill(r);
        r.set("type", get("type"));
    }

    void parse(std::string_view text, ParsedTarget& into) const override {
        each_text_line(text, [&](std::string_view line) {
            auto w = base::texts(base::words(line));
            if (w.size() < 3 || w[0][0] == '#' || w[0][0] == '@') {
                add_line(into, line);
                return;
            }
            auto r = std::make_unique<Record>();
            r->entry = true;
            std::vector<Value> aliases;
            std::string_view rest = w[0];
            bool first = true;
            while (true) {
                std::size_t comma = rest.find(',');
                if (first) {
                    r->name = rest.substr(0, comma);
                } else {
                    aliases.push_back(context_.string(rest.substr(0, comma)));
                }
                first = false;
                if (comma == std::string_view::npos) break;
                rest.remove_prefix(comma + 1);
            }
            r->set("host_aliases", Value::array(context_.arena.copy(aliases)));
            r->set("type", context_.string(w[1]));
            r->set("key", context_.string(w[2]));
            into.records.push_back(std::move(r));
        });
    }

    std::string render(const Record& r) const override {
        std::string names = r.name;
        if (const Value* v = r.find("host_aliases"); v && v->is_array()) {
            for (const Value& one : v->as_array()) names += "," + plain(one);
        }
        return fmt::format("{} {} {}", names, r.get("type"), r.get("key"));
    }
    std::string title_of(const Record& r) const override { return r.name + "@" + r.get("type"); }
};

}  // namespace

std::unique_ptr<Resource> make_sshkey(Context& context, const TypeSpec& spec) {
    return std::make_unique<Sshkey>(context, spec);
}

}  // namespace bunraku::apply
