// SPDX-License-Identifier: Apache-2.0
// The type ssh_authorized_key: lines of a user's authorized_keys file (sshkeys_core 2.3.0).
#include <cerrno>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/sys/guarded_file_system.h"
#include "resources/apply/parsed_file.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool always(Context&) { return true; }
constexpr ProviderClass kParsed{.name = "parsed", .suitable = always, .prefetches = true};
constexpr const ProviderClass* kProviders[] = {&kParsed};

constexpr std::string_view kKeyLine =
    "^(?:(.+)\\s+)?(ssh-dss|ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp256|ecdsa-sha2-nistp384|"
    "ecdsa-sha2-nistp521|ecdsa-sk|ed25519-sk|sk-ecdsa-sha2-nistp256@openssh.com|"
    "sk-ssh-ed25519@openssh.com|ssh-rsa-cert-v01@openssh.com|ssh-ed25519-cert-v01@openssh.com|"
    "ssh-dss-cert-v01@openssh.com|ecdsa-sha2-nistp256-cert-v01@openssh.com|"
    "ecdsa-sha2-nistp384-cert-v01@openssh.com|ecdsa-sha2-nistp521-cert-v01@openssh.com)"
    "\\s+([^ ]+)\\s*(.*)$";
constexpr std::string_view kFirstProtocol = "^(?:(.+) )?(\\d+) (\\d+) (\\d+)(?: (.+))?$";

class AuthorizedKey final : public ParsedResource {
public:
    using ParsedResource::ParsedResource;
    std::span<const ProviderClass* const> provider_classes() const override { return kProviders; }

    void validate_value(const Attribute& a, const Value& v) override {
        std::string text = plain(v);
        if (a.name == "key" && text.find_first_of(" \t\r\n\v\f") != std::string::npos) {
            throw PuppetError(fmt::format("Key must not contain whitespace: {}", text));
        }
        if (a.name == "options" && text != "absent" &&
            !line_match("^[-a-z0-9A-Z_]+(?:=\\\".*?\\\")?$", text)) {
            throw PuppetError(fmt::format(
                "Option {} is not valid. A single option must either be of the form 'option' or "
                "'option=\"value\"'. Multiple options must be provided as an array",
                text));
        }
        Resource::validate_value(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "ensure") return ParsedResource::default_for(a);
        if (a.name == "options" || a.name == "target") return Value::string("absent");
        if (a.name == "drop_privileges") return Value::boolean(true);
        return Value::undef();
    }

    void validate() override {
        const Param* target = find("target");
        if (target && !target->should.empty() && !is_absent(target->should[0])) return;
        if (has("user")) return;
        throw PuppetError("Attribute 'user' or 'target' is mandatory");
    }

    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        if (Value v = should("user"); !v.is_undef()) {
            out.push_back({Relation::Require, "user", plain(v)});
        }
    }

    // By default the target is the file of the user, as soon as the user exists.
    Value should_value(const Param& p) const override {
        if (p.spec->name != "target") return Resource::should_value(p);
        if (!p.should.empty() && !is_absent(p.should[0])) return p.should[0];
        const Value user = should("user");
        if (user.is_undef()) return Value::undef();
        auto found = context_.system.users.user(plain(user));
        if (!found) return Value::undef();
        return context_.string(sys::join(found->home, ".ssh/authorized_keys"));
    }

    bool insync(Param& p, const Value& is) override {
        if (p.spec->name == "target") return same(is, should(p));
        if (p.spec->name == "options" && !p.should.empty() && is_word(p.should[0], "absent")) {
            return is_absent(is) || is.is_undef() ||
                   (is.is_array() && is.as_array().size() == 1 && is_absent(is.as_array()[0]));
        }
        return Resource::insync(p, is);
    }

    void flush() override {
        const Value name_of_user = should("user");
        if (name_of_user.is_undef()) {
            throw base::plain_error("Cannot write SSH authorized keys without user");
        }
        auto user = context_.system.users.user(plain(name_of_user));
        if (!user) {
            throw base::plain_error(fmt::format("User '{}' does not exist", plain(name_of_user)));
        }
        owner_ = *user;
        const std::string where = own_target();
        try {
            flush_as_user(where);
        } catch (...) {
            // After a failure, resources of other users must not write this file.
            state().modified.erase(where);
            throw;
        }
    }

protected:
    std::string default_target() const override { return {}; }
    bool has_field(std::string_view f) const override {
        return f == "options" || f == "type" || f == "key" || f == "name";
    }

    /// Writes the file as the user, who then owns new files, or as root on behalf of the user.
    void write_target(const std::string& where, const std::string& text) override {
        sys::FileSystem& files = context_.system.files;
        const std::string folder(sys::directory_name(where));
        const bool dropped = flag("drop_privileges");
        if (dropped && !unwrap(files.there(folder))) {
            debug(fmt::format("Creating {} as {}", folder, plain(should("user"))));
            unwrap(files.make_directory(folder, 0700));
        }
        sys::WriteOptions options{.mode = 0600};
        if (!dropped && owner_ && context_.system.users.is_root()) {
            options.uid = owner_->uid;
            options.gid = owner_->gid;
        }
        // An existing file keeps its group if the user is permitted to set it.
        const auto old = dropped ? unwrap(files.look(where, true)) : std::nullopt;
        if (old && owner_ && old->gid != owner_->gid) options.gid = old->gid;
        auto written = files.replace(where, text, options);
        if (!written && dropped && options.gid && written.error().code == EPERM) {
            options.gid.reset();
            written = files.replace(where, text, options);
        }
        unwrap(std::move(written));
    }

    /// A user's link to files of another owner is an error only for this user, and must not affect
    /// the keys of others.
    std::string read_target(const std::string& target) const override {
        const auto text = context_.system.files.read_if_there(target);
        if (text || text.error().code != ELOOP) return ParsedResource::read_target(target);
        state().unreadable[target] = text.error().message;
        return {};
    }
    bool keeps_read_errors() const override { return true; }

    RecordPtr parse_line(const std::string& line) const override {
        if (line_match("^\\s*(#|$)", line)) return text_record(line);
        if (auto m = line_match(kKeyLine, line)) {
            RecordPtr r = captured(*m, line, {"options", "type", "key", "name"});
            if (r->is_absent("name")) r->set("name", Value::string(""));
            std::vector<Value> list;
            if (r->is_absent("options")) {
                list.push_back(Value::string("absent"));
            } else {
                list = parse_options(r->get("options"));
            }
            r->set("options", Value::array(context_.arena.copy(list)));
            return r;
        }
        if (line_match(kFirstProtocol, line)) return text_record(line);
        return nullptr;
    }

    void after_reading(std::vector<RecordPtr>& records) const override {
        int index = 0;
        for (const RecordPtr& r : records) {
            if (!r->entry || !r->get("name").empty()) continue;
            r->unnamed = true;
            r->set("name",
                   context_.string(fmt::format("{}:unnamed-{}", r->get("target"), ++index)));
        }
    }

    std::string render(const Record& r) const override {
        std::string options;
        if (const Value v = r.value("options"); v.is_array()) {
            for (const Value& o : v.as_array()) {
                if (is_absent(o)) {
                    options.clear();
                    break;
                }
                options += (options.empty() ? "" : ",") + plain(o);
            }
        }
        for (std::string_view field : {"type", "key"}) {
            if (r.is_absent(field)) {
                throw PuppetError(fmt::format("Field '{}' is required", field), {},
                                  PuppetError::Class::Plain);
            }
        }
        return fmt::format("{}{}{} {} {}", options, options.empty() ? "" : " ", r.get("type"),
                           r.get("key"), r.unnamed ? "" : r.get("name"));
    }

private:
    void flush_as_user(const std::string& where) {
        if (auto it = state().unreadable.find(where); it != state().unreadable.end()) {
            throw base::plain_error(
                fmt::format("Failed to read {}'s records when prefetching them. Reason: {}", where,
                            it->second));
        }
        BUNRAKU_ASSERT(owner_.has_value());
        backup_target(where);
        if (flag("drop_privileges")) {
            const sys::ActingAs user_rights(context_.system.files,
                                            {owner_->name, owner_->uid, owner_->gid});
            unwrap(user_rights.begun());
            ParsedResource::flush();
            return;
        }
        if (!trusted(where)) {
            throw base::plain_error("drop_privileges is false but the target path is not trusted");
        }
        ParsedResource::flush();
    }

    std::string own_target() const {
        const Value mine = hash_->value("target");
        if (!mine.is_undef()) return plain(mine);
        return plain(should("target"));
    }

    std::vector<Value> parse_options(std::string_view text) const {
        std::vector<Value> out;
        while (!text.empty()) {
            text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
            auto m = line_match("\\A[-a-z0-9A-Z_]+=\\\".*?[^\\\\]\\\"", text);
            if (!m) m = line_match("\\A[-a-z0-9A-Z_]+", text);
            if (!m) break;
            out.push_back(context_.string(m->group(text, 0)));
            BUNRAKU_ASSERT(m->groups[0]->first == 0 && m->groups[0]->second > 0);
            text.remove_prefix(m->groups[0]->second);
            if (auto comma = line_match("\\A[ \\t]*,[ \\t]*", text)) {
                text.remove_prefix(comma->groups[0]->second);
            }
        }
        return out;
    }

    // Reports whether only this user can write to the folders on the path.
    bool trusted(const std::string& where) const {
        sys::FileSystem& files = context_.system.files;
        if (!files.is_directory(where)) return false;  // as in the module
        for (std::string folder(sys::directory_name(where));
             sys::directory_name(folder) != "/" && folder != "/";
             folder = std::string(sys::directory_name(folder))) {
            auto found = files.look(folder, true);
            if (!found || !*found || (*found)->uid != context_.system.users.effective_uid() ||
                ((*found)->mode & 022) != 0) {
                return false;
            }
        }
        return true;
    }

    std::optional<sys::User> owner_;
};

}  // namespace

std::unique_ptr<Resource> make_ssh_authorized_key(Context& context, const TypeSpec& spec) {
    return std::make_unique<AuthorizedKey>(context, spec);
}

}  // namespace bunraku::apply
