// The type ssh_authorized_key: lines of an account's authorized_keys file.
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

bool key_type(std::string_view word) {
    return word.starts_with("ssh-") || word.starts_with("ecdsa-") || word.starts_with("sk-");
}

// Options are separated by commas; within quotes commas and blanks count as text.
std::vector<std::string> split_options(std::string_view text) {
    std::vector<std::string> out(1);
    bool quoted = false;
    for (char c : text) {
        if (c == '"') quoted = !quoted;
        if (c == ',' && !quoted) {
            out.emplace_back();
        } else {
            out.back() += c;
        }
    }
    return out;
}

class AuthorizedKey final : public ParsedResource {
public:
    using ParsedResource::ParsedResource;
    std::span<const ProviderClass* const> provider_classes() const override { return kProviders; }

    void validate_value(const Attribute& a, const Value& v) override {
        std::string text = plain(v);
        if (a.name == "key" && text.find_first_of(" \t") != std::string::npos) {
            throw PuppetError(fmt::format("Key must not contain whitespace: {}", text));
        }
        if (a.name == "name") return;
        Resource::validate_value(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "ensure") return Value::string("present");
        if (a.name == "type") return Value::string("ssh-rsa");
        if (a.name == "options") return Value::string("absent");
        if (a.name == "drop_privileges") return Value::boolean(true);
        return Value::undef();
    }

    void validate() override {
        if (is_absent(should("ensure"))) return;
        if (should("target").is_undef() && should("user").is_undef()) {
            throw PuppetError("Attribute 'user' or 'target' is mandatory");
        }
        if (should("key").is_undef()) throw PuppetError("Attribute 'key' is mandatory");
    }

    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        if (Value v = should("user"); !v.is_undef()) {
            out.push_back({Relation::Require, "user", plain(v)});
        }
    }

    bool insync(Param& p, const Value& is) override {
        if (p.spec->name == "user" || p.spec->name == "target") return true;
        if (p.spec->name == "options" && is_word(p.should[0], "absent")) {
            return is_absent(is) || is.is_undef();
        }
        return Resource::insync(p, is);
    }
    bool can_list() const override { return true; }

protected:
    std::string default_target() const override { return {}; }
    std::string target() const override {
        if (Value v = should("target"); v.is_string() && !is_absent(v)) return plain(v);
        std::string user = plain(should("user"));
        auto found = context_.system.users.user(user);
        if (!found) {
            throw PuppetError("target not defined and/or specified user does not exist yet");
        }
        return sys::join(found->home, ".ssh/authorized_keys");
    }

    // An account that is not there yet has no keys.
    void prefetch(std::span<Resource* const> all) override {
        for (Resource* r : all) {
            auto* key = static_cast<AuthorizedKey*>(r);
            try {
                key->load(key->target());
            } catch (const PuppetError&) {
                continue;
            }
        }
    }
    Value retrieve_property(const Param& p) override {
        try {
            return ParsedResource::retrieve_property(p);
        } catch (const PuppetError&) {
            return Value::string("absent");
        }
    }

    void write_target(const std::string& where, const std::string& text) override {
        sys::FileSystem& files = context_.system.files;
        auto user = context_.system.users.user(plain(should("user")));
        std::string folder(sys::directory_name(where));
        std::optional<std::uint32_t> uid, gid;
        if (user && context_.system.users.is_root()) {
            uid = user->uid;
            gid = user->gid;
        }
        if (!files.is_directory(folder)) {
            debug(fmt::format("Creating {}", folder));
            unwrap(files.make_directory(folder, 0700));
            if (uid) unwrap(files.set_owner(folder, uid, gid, false));
        }
        unwrap(files.replace(where, text, {.mode = 0600, .uid = uid, .gid = gid}));
    }

    void parse(std::string_view text, ParsedTarget& into) const override {
        int unnamed = 0;
        each_text_line(text, [&](std::string_view line) {
            std::size_t start = line.find_first_not_of(" \t");
            if (start == std::string_view::npos || line[start] == '#') {
                add_line(into, line);
                return;
            }
            std::string_view rest = line.substr(start);
            std::string options;
            if (!key_type(rest)) {
                bool quoted = false;
                std::size_t i = 0;
                for (; i < rest.size() && (quoted || (rest[i] != ' ' && rest[i] != '\t')); ++i) {
                    if (rest[i] == '"' && (i == 0 || rest[i - 1] != '\\')) quoted = !quoted;
                }
                options = rest.substr(0, i);
                rest.remove_prefix(std::min(rest.find_first_not_of(" \t", i), rest.size()));
            }
            auto w = base::texts(base::words(rest));
            if (w.size() < 2 || !key_type(w[0])) {
                add_line(into, line);
                return;
            }
            auto r = std::make_unique<Record>();
            r->entry = true;
            r->set("type", context_.string(w[0]));
            r->set("key", context_.string(w[1]));
            for (std::size_t i = 2; i < w.size(); ++i) r->name += (i > 2 ? " " : "") + w[i];
            // As User's purging counts them.
            r->unnamed = r->name.empty();
            if (r->unnamed) r->name = fmt::format("{}:unnamed-{}", into.path, ++unnamed);
            if (!options.empty()) {
                std::vector<Value> list;
                for (const std::string& o : split_options(options)) {
                    list.push_back(context_.string(o));
                }
                r->set("options", Value::array(context_.arena.copy(list)));
            }
            into.records.push_back(std::move(r));
        });
    }

    std::string render(const Record& r) const override {
        std::string options;
        if (const Value* v = r.find("options"); v && v->is_array()) {
            for (const Value& o : v->as_array()) {
                if (is_absent(o)) continue;
                options += (options.empty() ? "" : ",") + plain(o);
            }
        }
        return fmt::format("{}{}{} {} {}", options, options.empty() ? "" : " ", r.get("type"),
                           r.get("key"), r.unnamed ? "" : r.name);
    }
};

}  // namespace

std::unique_ptr<Resource> make_ssh_authorized_key(Context& context, const TypeSpec& spec) {
    return std::make_unique<AuthorizedKey>(context, spec);
}

}  // namespace bunraku::apply
