// SPDX-License-Identifier: Apache-2.0
// The type sshkey: lines of the known hosts file (sshkeys_core 2.3.0).
#include <fmt/format.h>

#include "core/base/text.h"
#include "resources/apply/parsed_file.h"
#include "resources/apply/registry.h"

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
        bool blank = text.find_first_of(" \t\r\n\v\f") != std::string::npos;
        bool comma = text.find(',') != std::string::npos;
        if (a.name == "host_aliases") {
            if (blank) throw base::PuppetError("Aliases cannot include whitespace");
            if (comma) {
                throw base::PuppetError(
                    "Aliases must be provided as an array, not a comma-separated list");
            }
        }
        if (a.name == "name") {
            if (blank) throw base::PuppetError("Resourcename cannot include whitespaces");
            if (comma) {
                throw base::PuppetError(
                    "No comma in resourcename allowed. If you want to specify aliases use the "
                    "host_aliases property");
            }
        }
        Resource::validate_value(a, v);
    }

    // The title consists of the name and the type, whatever title the manifest has.
    void after_initialize() override { set_title(key()); }
    std::string ref() const override {
        return fmt::format("Sshkey[{}@{}]", text("name"), text("type"));
    }

    Value should_value(const Param& p) const override {
        return p.spec->name == "host_aliases" && p.has_should ? Value::array(p.should)
                                                              : Resource::should_value(p);
    }
    bool insync(Param& p, const Value& is) override {
        if (p.spec->name != "host_aliases") return Resource::insync(p, is);
        return is.is_array() && plain(is) == plain(should(p)) &&
               is.as_array().size() == p.should.size();
    }

protected:
    std::string default_target() const override { return "/etc/ssh/ssh_known_hosts"; }
    std::uint32_t new_mode() const override { return 0644; }
    bool has_field(std::string_view f) const override {
        return f == "name" || f == "type" || f == "key";
    }
    std::string key_of(const Record& r) const override {
        return r.get("name") + "@" + r.get("type");
    }
    std::string key() const override { return name() + "@" + text("type"); }
    std::string title_of(const Record& r) const override { return key_of(r); }

    RecordPtr parse_line(const std::string& line) const override {
        if (line.starts_with('#') || line_match("^\\s*$", line)) return text_record(line);
        RecordPtr r = entry_record();
        auto words = base::words(line);
        if (line.front() == ' ' || line.front() == '\t') words.insert(words.begin(), "");
        constexpr std::string_view kFields[] = {"name", "type", "key"};
        std::string last;
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (i < 2) {
                r->set(kFields[i], context_.string(words[i]));
            } else {
                last += (i > 2 ? " " : "") + std::string(words[i]);
            }
        }
        if (!last.empty()) r->set("key", context_.string(last));
        std::vector<Value> aliases;
        const std::string names = r->get("name");
        const auto parts = base::split(names, ',');
        for (std::size_t i = 1; i < parts.size(); ++i) aliases.push_back(context_.string(parts[i]));
        r->set("name", context_.string(parts.empty() ? std::string_view() : parts[0]));
        r->set("host_aliases", Value::array(context_.arena.copy(aliases)));
        return r;
    }

    std::string render(const Record& r) const override {
        std::string names = r.get("name");
        if (const Value v = r.value("host_aliases"); v.is_array()) {
            for (const Value& one : v.as_array()) names += "," + plain(one);
        }
        for (std::string_view field : {"type", "key"}) {
            if (r.is_absent(field)) {
                throw base::PuppetError(fmt::format("Field '{}' is required", field), {},
                                        base::PuppetError::Class::Plain);
            }
        }
        return fmt::format("{} {} {}", names, r.get("type"), r.get("key"));
    }
};

}  // namespace

std::unique_ptr<Resource> make_sshkey(Context& context, const TypeSpec& spec) {
    return std::make_unique<Sshkey>(context, spec);
}

}  // namespace bunraku::apply
