// The type host: lines of /etc/hosts.
#include <fmt/format.h>

#include "apply/parsed_file.h"
#include "apply/registry.h"
#include "base/text.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool always(Context&) { return true; }
constexpr ProviderClass kParsed{.name = "parsed", .suitable = always, .prefetches = true};
constexpr const ProviderClass* kProviders[] = {&kParsed};

bool valid_ip(std::string_view t) {
    if (t.find(':') != std::string_view::npos) {
        return t.find_first_not_of("0123456789abcdefABCDEF:.%") == std::string_view::npos ||
               t.find('%') != std::string_view::npos;
    }
    int parts = 0;
    while (true) {
        std::size_t dot = t.find('.');
        std::string_view one = t.substr(0, dot);
        if (one.empty() || one.size() > 3 ||
            one.find_first_not_of("0123456789") != std::string_view::npos ||
            std::atoi(std::string(one).c_str()) > 255) {
            return false;
        }
        ++parts;
        if (dot == std::string_view::npos) return parts == 4;
        t.remove_prefix(dot + 1);
    }
}

class Host final : public ParsedResource {
public:
    using ParsedResource::ParsedResource;
    std::span<const ProviderClass* const> provider_classes() const override { return kProviders; }

    void validate_value(const Attribute& a, const Value& v) override {
        std::string text = plain(v);
        if (a.name == "ip" && !valid_ip(text)) {
            throw PuppetError(fmt::format("Invalid IP address \"{}\"", text));
        }
        if (a.name == "host_aliases") {
            if (text.find_first_of(" \t") != std::string::npos) {
                throw PuppetError("Host aliases cannot include whitespace");
            }
            if (text.empty())
                throw PuppetError(
                    "Host aliases cannot be an empty string. Use an "
                    "empty array to delete all host_aliases ");
        }
        if (a.name == "comment" && (text.find('\n') != std::string::npos)) {
            throw PuppetError("Comment cannot include newline");
        }
        Resource::validate_value(a, v);
    }

    // An ordered list: wanted and compared as one text.
    Value should_value(const Param& p) const override {
        if (p.spec->name != "host_aliases") return Resource::should_value(p);
        std::string out;
        for (const Value& v : p.should) out += (out.empty() ? "" : " ") + plain(v);
        return context_.string(out);
    }
    bool insync(Param& p, const Value& is) override {
        if (p.spec->name == "host_aliases") {
            return (is_absent(is) ? std::string() : plain(is)) == plain(should(p));
        }
        return Resource::insync(p, is);
    }
    std::string is_text(const Param& p, const Value& is) const override {
        return p.spec->name == "host_aliases" && !is_absent(is) ? plain(is) : display(is);
    }

protected:
    std::string default_target() const override { return "/etc/hosts"; }

    void parse(std::string_view text, ParsedTarget& into) const override {
        each_text_line(text, [&](std::string_view line) {
            std::string_view body = line.substr(0, line.find('#'));
            auto w = base::texts(base::words(body));
            std::size_t first = line.find_first_not_of(" \t");
            if (w.size() < 2 || first == std::string_view::npos || line[first] == '#') {
                add_line(into, line);
                return;
            }
            auto r = std::make_unique<Record>();
            r->entry = true;
            r->name = w[1];
            r->set("ip", context_.string(w[0]));
            std::string aliases;
            for (std::size_t i = 2; i < w.size(); ++i) aliases += (i > 2 ? " " : "") + w[i];
            r->set("host_aliases", context_.string(aliases));
            if (body.size() < line.size()) {
                std::string_view comment = line.substr(body.size() + 1);
                std::size_t at = comment.find_first_not_of(" \t");
                if (at != std::string_view::npos) {
                    r->set("comment", context_.string(comment.substr(at)));
                }
            }
            into.records.push_back(std::move(r));
        });
    }

    std::string render(const Record& r) const override {
        std::string ip = r.get("ip");
        if (ip.empty()) throw PuppetError(fmt::format("ip is a required attribute for hosts"));
        std::string out = ip + "\t" + r.name;
        if (std::string a = r.get("host_aliases"); !a.empty()) out += "\t" + a;
        if (std::string c = r.get("comment"); !c.empty()) out += "\t# " + c;
        return out;
    }
};

}  // namespace

std::unique_ptr<Resource> make_host(Context& context, const TypeSpec& spec) {
    return std::make_unique<Host>(context, spec);
}

}  // namespace bunraku::apply
