// SPDX-License-Identifier: Apache-2.0
// The type user with the provider useradd.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/civil_time.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/regex/regex.h"
#include "resources/apply/execution.h"
#include "resources/apply/ral_catalog.h"
#include "resources/apply/registry.h"
#include "resources/apply/ruby_text.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool useradd_suitable(Context& context) {
    for (std::string_view name : {"useradd", "userdel", "usermod", "chage", "chpasswd"}) {
        if (!has_command(context, name)) return false;
    }
    return true;
}

constexpr ProviderClass kUseradd{
    .name = "useradd",
    .suitable = useradd_suitable,
    .features =
        "allows_duplicates manages_homedir manages_passwords manages_password_age "
        "manages_expiry system_users manages_shell"};
constexpr const ProviderClass* kProviders[] = {&kUseradd};

bool digits(std::string_view s) {
    return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos;
}

bool number_text(std::string_view s) {
    return !s.empty() && s.find_first_not_of("-0123456789") == std::string_view::npos;
}

// Returns the option of useradd, usermod and chage for a property.
std::string_view flag_of(std::string_view property) {
    if (property == "home") return "-d";
    if (property == "groups") return "-G";
    if (property == "password_min_age") return "-m";
    if (property == "password_max_age") return "-M";
    if (property == "password_warn_days") return "-W";
    if (property == "uid") return "-u";
    if (property == "gid") return "-g";
    if (property == "comment") return "-c";
    if (property == "shell") return "-s";
    if (property == "expiry") return "-e";
    return "-p";
}

bool password_age(std::string_view property) {
    return property == "password_min_age" || property == "password_max_age" ||
           property == "password_warn_days";
}

class User final : public Resource {
public:
    using Resource::Resource;

    std::span<const ProviderClass* const> provider_classes() const override { return kProviders; }
    std::string_view foreign_providers() const override {
        return "aix directoryservice hpuxuseradd ldap openbsd pw user_role_add windows_adsi";
    }

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name == "password") {
            if (v.is_string() && v.as_string().find(':') != std::string_view::npos) {
                throw PuppetError("Passwords cannot include ':'");
            }
        } else if (password_age(a.name)) {
            std::string text = plain(v);
            if (!digits(text.starts_with('-') ? text.substr(1) : text)) {
                throw PuppetError(fmt::format("Password {} must be provided as a number.",
                                              a.name == "password_min_age"   ? "minimum age"
                                              : a.name == "password_max_age" ? "maximum age"
                                                                             : "warning days"));
            }
        } else if (a.name == "groups") {
            std::string text = plain(v);
            if (digits(text)) {
                throw PuppetError("Group names must be provided, not GID numbers.");
            }
            if (text.find(',') != std::string::npos) {
                throw PuppetError(
                    "Group names must be provided as an array, not a comma-separated list.");
            }
            if (text.empty()) {
                throw PuppetError(
                    "Group names must not be empty. If you want to specify \"no groups\" pass an "
                    "empty array");
            }
        } else if (a.name == "expiry") {
            if (!restype::match_value(a, plain(v))) {
                throw PuppetError("Expiry dates must be YYYY-MM-DD or the string \"absent\"");
            }
        } else if (a.name == "purge_ssh_keys") {
            check_key_files(v);
        } else if (a.name != "managehome") {
            Resource::validate_value(a, v);
        }
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (a.name == "uid" || a.name == "gid" || password_age(a.name)) {
            // A number that is out of range stays a string. The program that sets it reports the
            // error.
            if (v.is_string() && number_text(v.as_string())) {
                if (auto n = base::parse_integer<std::int64_t>(v.as_string())) {
                    return Value::integer(*n);
                }
            }
            return v;
        }
        if (a.name == "purge_ssh_keys") return key_files(v);
        if (a.name == "managehome") return munged_switch(a, v);
        return Resource::munge(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "ensure" && managed()) return Value::string("present");
        if (a.name.ends_with("membership")) return Value::string("minimum");
        if (a.name == "system" || a.name == "allowdupe" || a.name == "managehome") {
            return Value::boolean(false);
        }
        return Value::undef();
    }

    void after_initialize() override {
        if (Param* p = find("password")) p->sensitive = true;
    }

    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        if (const Param* p = find("gid")) {
            for (const Value& v : p->given) {
                std::string text = plain(v);
                if (!digits(text)) {
                    out.push_back({Relation::Require, "group", text});
                    continue;
                }
                for (const Resource* r : catalog->resources()) {
                    if (r->type_name() == "group" && plain(r->should("gid")) == text) {
                        out.push_back({Relation::Require, "group", r->title()});
                        break;
                    }
                }
            }
        }
        if (const Param* p = find("groups"); p && p->has_should) {
            for (const Value& v : p->should) {
                out.push_back({Relation::Require, "group", plain(v)});
            }
        }
    }

    Value retrieve_property(const Param& p) override {
        std::string_view n = p.spec->name;
        auto user = context_.system.users.user(name());
        const Value absent = Value::string("absent");
        if (n == "ensure") return user ? Value::string("present") : absent;
        if (n == "groups") return groups();
        if (password_age(n) || n == "password" || n == "expiry") return shadow(n);
        if (!user) return absent;
        if (n == "home") return context_.string(user->home);
        if (n == "uid") return Value::integer(user->uid);
        if (n == "gid") return Value::integer(user->gid);
        if (n == "comment") return context_.string(user->comment);
        if (n == "shell") return context_.string(user->shell);
        return absent;
    }

    // Groups are compared as one sorted string. With minimum membership the user's current groups
    // are included.
    Value should_value(const Param& p) const override {
        if (p.spec->name != "groups") return Resource::should_value(p);
        std::vector<std::string> all;
        for (const Value& v : p.should) all.push_back(plain(v));
        if (!is_word(get("membership"), "inclusive")) {
            for (const sys::Group& g : context_.system.users.groups_of(name())) {
                all.push_back(g.name);
            }
        }
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return context_.string(fmt::format("{}", fmt::join(all, ",")));
    }

    bool insync(Param& p, const Value& is) override {
        if (p.spec->name == "groups") {
            std::vector<std::string> now;
            if (is.is_array()) {
                for (const Value& v : is.as_array()) now.push_back(plain(v));
            }
            std::sort(now.begin(), now.end());
            return fmt::format("{}", fmt::join(now, ",")) == plain(should(p));
        }
        if (p.spec->name == "gid") {
            return std::any_of(p.should.begin(), p.should.end(), [&](const Value& v) {
                auto id = gid_of(v);
                return id && is.is_integer() && is.as_integer() == *id;
            });
        }
        return Resource::insync(p, is);
    }

    std::string is_text(const Param& p, const Value& is) const override {
        if (p.spec->name != "groups" || !is.is_array()) return display(is);
        std::string out;
        for (const Value& v : is.as_array()) out += (out.empty() ? "" : ",") + plain(v);
        return out;
    }

    std::string change_text(const Param& p, const Value& is, const Value& should) const override {
        if (p.spec->name != "groups" || !should.is_string()) {
            return Resource::change_text(p, is, should);
        }
        std::vector<Value> names;
        for (const std::string_view g : base::split(should.as_string(), ',')) {
            if (!g.empty()) names.push_back(context_.string(g));
        }
        return Resource::change_text(p, is, Value::array(context_.arena.copy(names)));
    }

    void sync(Param& p) override {
        std::string_view n = p.spec->name;
        if (n == "ensure") {
            if (is_absent(should(p))) {
                remove();
            } else {
                create();
            }
            return;
        }
        if (n == "gid") {
            for (const Value& v : p.should) {
                if (auto id = gid_of(v)) {
                    modify("gid", std::to_string(*id));
                    return;
                }
            }
            std::vector<std::string> names;
            for (const Value& v : p.should) names.push_back(plain(v));
            throw PuppetError(fmt::format("Could not find group(s) {}", fmt::join(names, ",")));
        }
        if (n == "shell") check_shell();
        if (n == "password") {
            set_password(plain(should(p)));
            return;
        }
        Value v = should(p);
        modify(n, n == "expiry" && is_absent(v) ? "" : plain(v));
    }

    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override {
        std::vector<std::unique_ptr<Resource>> out;
        for (const sys::User& u : context_.system.users.all_users()) {
            auto r = make_instance("name", u.name);
            if (Param* p = r->find("password")) p->sensitive = true;
            out.push_back(std::move(r));
        }
        return out;
    }

    bool generates() const override {
        Value v = get("purge_ssh_keys");
        return v.is_array() && !v.as_array().empty();
    }
    std::vector<std::unique_ptr<Resource>> generate() override {
        std::vector<std::unique_ptr<Resource>> out;
        const Value files = get("purge_ssh_keys");
        for (const Value& v : files.as_array()) unmanaged_keys(plain(v), out);
        return out;
    }

private:
    std::optional<std::int64_t> gid_of(const Value& v) const {
        if (v.is_integer()) return v.as_integer();
        if (digits(plain(v))) return base::parse_integer<std::int64_t>(plain(v));
        auto g = context_.system.users.group(plain(v));
        return g ? std::optional<std::int64_t>(g->gid) : std::nullopt;
    }

    Value groups() const {
        std::vector<Value> names;
        for (const sys::Group& g : context_.system.users.groups_of(name())) {
            names.push_back(context_.string(g.name));
        }
        return Value::array(context_.arena.copy(names));
    }

    Value shadow(std::string_view property) const {
        const Value absent = Value::string("absent");
        auto text = context_.system.files.read("/etc/shadow");
        if (!text) {
            // Only root can read this file.
            if (text.error().code == EACCES || sys::is_absence(text.error().code)) return absent;
            throw_system(text.error());
        }
        std::string prefix = name() + ":";
        std::string_view rest = *text;
        while (!rest.empty()) {
            std::size_t nl = rest.find('\n');
            std::string_view line = rest.substr(0, nl);
            rest.remove_prefix(nl == std::string_view::npos ? rest.size() : nl + 1);
            if (!line.starts_with(prefix)) continue;
            auto fields = base::texts(base::split(line, ':'));
            fields.resize(9);
            if (property == "password") return context_.string(fields[1]);
            if (property == "expiry") {
                return fields[7].empty()
                           ? absent
                           : context_.string(
                                 base::iso_text(
                                     base::civil_time(std::atol(fields[7].c_str()) * 86'400L))
                                     .substr(0, 10));
            }
            const std::string& f = property == "password_min_age"   ? fields[3]
                                   : property == "password_max_age" ? fields[4]
                                                                    : fields[5];
            return Value::integer(f.empty() ? -1 : std::atoll(f.c_str()));
        }
        return absent;
    }

    Executed run(std::vector<std::string> argv, bool sensitive = false) {
        argv[0] = command_path(context_, argv[0]);
        Execute o;
        o.sensitive = sensitive;
        return execute(context_, argv, o);
    }

    void check_shell() const {
        std::string shell = plain(should("shell"));
        if (!unwrap(context_.system.files.there(shell))) {
            throw PuppetError(fmt::format("Shell {} must exist", shell));
        }
        if (!context_.system.files.access(shell, 1)) {
            throw PuppetError(fmt::format("Shell {} must be executable", shell));
        }
    }

    void create() {
        if (!should("shell").is_undef()) check_shell();
        if (context_.system.users.user(name())) {
            info("already exists");
            return;
        }
        bool secret = find("password") != nullptr;
        try {
            std::vector<std::string> argv{"useradd"};
            if (should("gid").is_undef() && context_.system.users.group(name())) {
                argv.insert(argv.end(), {"-g", name()});
            }
            for (std::string_view property :
                 {"comment", "expiry", "gid", "groups", "home", "shell", "uid"}) {
                Value v = should(property);
                if (v.is_undef() || is_word(v, "")) continue;
                argv.emplace_back(flag_of(property));
                argv.push_back(property == "expiry" && is_absent(v) ? "" : plain(v));
            }
            if (flag("allowdupe")) argv.emplace_back("-o");
            argv.emplace_back(flag("managehome") ? "-m" : "-M");
            if (flag("system")) argv.emplace_back("-r");
            argv.push_back(name());
            run(std::move(argv), secret);
            std::vector<std::string> ages{"chage"};
            for (std::string_view property :
                 {"password_min_age", "password_max_age", "password_warn_days"}) {
                Value v = should(property);
                if (v.is_undef()) continue;
                ages.emplace_back(flag_of(property));
                ages.push_back(plain(v));
            }
            if (ages.size() > 1) {
                ages.push_back(name());
                run(std::move(ages), secret);
            }
        } catch (const PuppetError& e) {
            throw PuppetError(fmt::format("Could not create user {}: {}", name(), e.message()));
        }
        context_.uids.erase(name());
        if (Value v = should("password"); !v.is_undef()) modify("password", plain(v));
    }

    void remove() {
        if (!context_.system.users.user(name())) {
            info("already absent");
            return;
        }
        try {
            std::vector<std::string> argv{"userdel"};
            if (flag("managehome")) argv.emplace_back("-r");
            argv.push_back(name());
            run(std::move(argv));
        } catch (const PuppetError& e) {
            throw PuppetError(fmt::format("Could not delete user {}: {}", name(), e.message()));
        }
        context_.uids.erase(name());
    }

    void modify(std::string_view property, const std::string& v) {
        if (property == "groups" && v.find_first_of(" \t\n") != std::string::npos) {
            throw PuppetError(fmt::format("Invalid value {}: Groups must be comma-separated", v));
        }
        try {
            std::vector<std::string> argv{password_age(property) ? "chage" : "usermod",
                                          std::string(flag_of(property)), v};
            if (property == "uid" && flag("allowdupe")) argv.emplace_back("-o");
            argv.push_back(name());
            run(std::move(argv), property == "password");
        } catch (const PuppetError& e) {
            throw PuppetError(
                fmt::format("Could not set {} on user[{}]: {}", property, name(), e.message()));
        }
        context_.uids.erase(name());
    }

    void set_password(const std::string& hash) {
        Execute o;
        o.fail_on_error = false;
        o.sensitive = true;
        o.input = name() + ":" + hash + "\n";
        Executed done = execute(context_, {command_path(context_, "chpasswd"), "-e"}, o);
        if (!done.output.empty()) {
            throw PuppetError(fmt::format("chpasswd said {}", done.output));
        }
    }

    void check_key_files(const Value& v) const {
        std::string text = v.is_array() ? "" : plain(v);
        if (text == "true" || text == "false") return;
        auto one = [](const Value& entry) {
            if (!entry.is_string()) {
                throw PuppetError("Each entry for purge_ssh_keys must be a string");
            }
            std::string path = plain(entry);
            if (!path.starts_with('/') && !path.starts_with("~/") && !path.starts_with("%h/")) {
                throw PuppetError(fmt::format("Paths to keyfiles must be absolute, not {}", path));
            }
        };
        if (v.is_string()) {
            one(v);
        } else if (v.is_array()) {
            for (const Value& entry : v.as_array()) one(entry);
        } else {
            throw PuppetError(fmt::format(
                "purge_ssh_keys must be true, false, or an array of file names, not {}", plain(v)));
        }
    }

    std::string home_folder() const {
        Value home = should("home");
        if (home.is_string()) return plain(home);
        auto user = context_.system.users.user(name());
        return user ? user->home : std::string();
    }

    Value key_files(const Value& v) const {
        std::vector<Value> out;
        std::string home = home_folder();
        auto one = [&](std::string path) {
            if (path.starts_with("~/") || path.starts_with("%h/")) {
                if (home.empty()) return;
                path = sys::join(home, path.substr(path.find('/') + 1));
            }
            out.push_back(context_.string(path));
        };
        std::string text = v.is_array() ? "" : plain(v);
        if (text == "true") {
            if (!home.empty()) one(home + "/.ssh/authorized_keys");
        } else if (v.is_array()) {
            for (const Value& entry : v.as_array()) one(plain(entry));
        } else if (text != "false") {
            one(text);
        }
        return Value::array(context_.arena.copy(out));
    }

    void unmanaged_keys(const std::string& file, std::vector<std::unique_ptr<Resource>>& out) {
        auto content = context_.system.files.read(file);
        if (!content) {
            // Puppet too ignores a file that is not readable.
            if (content.error().code == EACCES || sys::is_absence(content.error().code)) return;
            throw_system(content.error());
        }
        int unnamed = 0;
        // keyline_regex of the module sshkeys_core.
        const auto form = regex::Regex::cached(
            "^(?:(.+)\\s+)?(?:ssh-dss|ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)|ecdsa-sk|"
            "ed25519-sk|sk-(?:ecdsa-sha2-nistp256|ssh-ed25519)@openssh\\.com|"
            "(?:ssh-rsa|ssh-ed25519|ssh-dss|ecdsa-sha2-nistp(?:256|384|521))-cert-v01@openssh\\."
            "com)"
            "\\s+([^ ]+)\\s*(.*)$");
        for (const std::string& line : base::texts(base::split(*content, '\n'))) {
            const auto found = form ? (*form)->search(line) : std::nullopt;
            if (!found) continue;
            std::string label(found->group(line, 3));
            if (label.empty()) label = fmt::format("{}:unnamed-{}", file, ++unnamed);
            context_.message(
                Level::Debug,
                fmt::format("{} parsed for purging Ssh_authorized_key[{}]", ref(), label));
            if (catalog->find("Ssh_authorized_key", label)) continue;
            auto r = make_resource(context_, *restype::find_type("ssh_authorized_key"));
            r->catalog = catalog;
            ResourceData d;
            d.title = label;
            d.parameters = {{"name", context_.string(label)},
                            {"target", context_.string(file)},
                            {"ensure", Value::string("absent")},
                            {"user", context_.string(name())}};
            r->initialize(std::move(d));
            if (auto on = noop_parameter()) r->set_noop(*on);
            out.push_back(std::move(r));
        }
    }
};

}  // namespace

std::unique_ptr<Resource> make_user(Context& context, const TypeSpec& spec) {
    return std::make_unique<User>(context, spec);
}

}  // namespace bunraku::apply
