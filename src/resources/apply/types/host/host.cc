// SPDX-License-Identifier: Apache-2.0
// The type host: lines of /etc/hosts (host_core 1.1.0).
#include <arpa/inet.h>
#include <fmt/format.h>

#include "core/base/text.h"
#include "resources/apply/parsed_file.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

// If the file cannot be checked, the code that reads it reports the error.
bool suitable(Context& context) { return context.system.files.there("/etc/hosts").value_or(true); }
constexpr ProviderClass kParsed{.name = "parsed", .suitable = suitable, .prefetches = true};
constexpr const ProviderClass* kProviders[] = {&kParsed};

bool valid_ip(const std::string& text) {
    in6_addr address{};
    if (text.find(':') == std::string::npos) {
        return line_match(
                   "\\A0*(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(\\.0*(25[0-5]|2[0-4]\\d|1\\d\\d|[1-"
                   "9]?\\d)){3}\\z",
                   text)
                   .has_value() &&
               text.size() <= 15;
    }
    std::string bare(base::trim(text));
    if (std::size_t zone = bare.find('%'); zone != std::string::npos) bare.resize(zone);
    return inet_pton(AF_INET6, bare.c_str(), &address) == 1;
}

class Host final : public ParsedResource {
public:
    using ParsedResource::ParsedResource;
    std::span<const ProviderClass* const> provider_classes() const override { return kProviders; }

    void validate_value(const Attribute& a, const Value& v) override {
        std::string text = plain(v);
        bool lines = text.find_first_of("\r\n") != std::string::npos;
        if (a.name == "ip" && (!valid_ip(text) || lines)) {
            throw PuppetError(fmt::format("Invalid IP address \"{}\"", text));
        }
        if (a.name == "host_aliases") {
            if (text.find_first_of(" \t\r\n\v\f") != std::string::npos) {
                throw PuppetError("Host aliases cannot include whitespace");
            }
            if (text.empty())
                throw PuppetError(
                    "Host aliases cannot be an empty string. Use an "
                    "empty array to delete all host_aliases ");
        }
        if (a.name == "comment" && lines) throw PuppetError("Comment cannot include newline");
        if (a.name == "name") {
            for (std::string_view part : base::split(text, '.')) {
                if (!line_match("^([\\w]+|[\\w][\\w\\-]+[\\w])$", part)) {
                    throw PuppetError("Invalid host name");
                }
            }
            if (lines) throw PuppetError("Hostname cannot include newline");
        }
        Resource::validate_value(a, v);
    }

    // An ordered list, which is set and compared as one string.
    Value should_value(const Param& p) const override {
        if (p.spec->name != "host_aliases") return Resource::should_value(p);
        std::string out;
        for (const Value& v : p.should) out += (out.empty() ? "" : " ") + plain(v);
        return context_.string(out);
    }
    Value retrieve_property(const Param& p) override {
        Value v = ParsedResource::retrieve_property(p);
        if (p.spec->name != "host_aliases" || !v.is_string() || is_absent(v)) return v;
        std::vector<Value> out;
        for (std::string_view one : base::words(v.as_string())) out.push_back(context_.string(one));
        return Value::array(context_.arena.copy(out));
    }
    bool insync(Param& p, const Value& is) override {
        if (p.spec->name != "host_aliases") return Resource::insync(p, is);
        return is.is_undef() || (is_absent(is) ? std::string() : plain(is)) == plain(should(p));
    }
    std::string is_text(const Param& p, const Value& is) const override {
        return p.spec->name == "host_aliases" && is.is_array() ? plain(is) : display(is);
    }

protected:
    std::string default_target() const override { return "/etc/hosts"; }
    std::uint32_t new_mode() const override { return 0600; }
    bool has_field(std::string_view f) const override {
        return f == "ip" || f == "name" || f == "host_aliases" || f == "comment";
    }

    RecordPtr parse_line(const std::string& line) const override {
        if (line.starts_with('#') || line_match("^\\s*$", line)) return text_record(line);
        auto m =
            line_match("^([0-9a-f:]\\S+)\\s+([^#\\s+]\\S+)\\s*(.*?)?(?:\\s*#\\s*(.*))?$", line);
        if (!m) return text_record(line);
        RecordPtr r = captured(*m, line, {"ip", "name", "host_aliases", "comment"});
        if (r->is_absent("comment")) r->set("comment", Value::string(""));
        if (std::string aliases = r->get("host_aliases"); !aliases.empty()) {
            std::string out;
            for (std::string_view one : base::words(aliases)) {
                out += (out.empty() ? "" : " ") + std::string(one);
            }
            r->set("host_aliases", context_.string(out));
        }
        return r;
    }

    std::string render(const Record& r) const override {
        for (std::string_view n : {"ip", "name"}) {
            if (r.is_absent(n)) {
                throw PuppetError(fmt::format("{} is a required attribute for hosts", n), {},
                                  PuppetError::Class::Plain);
            }
        }
        std::string out = r.get("ip") + "\t" + r.get("name");
        if (!r.is_absent("host_aliases")) out += "\t" + r.get("host_aliases");
        if (std::string c = r.get("comment"); !c.empty()) out += "\t# " + c;
        return out;
    }
};

}  // namespace

std::unique_ptr<Resource> make_host(Context& context, const TypeSpec& spec) {
    return std::make_unique<Host>(context, spec);
}

}  // namespace bunraku::apply
