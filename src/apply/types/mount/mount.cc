// The type mount: lines of /etc/fstab, and what is mounted.
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "apply/execution.h"
#include "apply/parsed_file.h"
#include "apply/ral_catalog.h"
#include "apply/registry.h"
#include "base/text.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool suitable(Context& context) {
    return has_command(context, "mount") && has_command(context, "umount");
}
constexpr ProviderClass kParsed{
    .name = "parsed", .suitable = suitable, .features = "refreshable", .prefetches = true};
constexpr const ProviderClass* kProviders[] = {&kParsed};

class Mount final : public ParsedResource {
public:
    using ParsedResource::ParsedResource;
    std::span<const ProviderClass* const> provider_classes() const override { return kProviders; }

    void validate_value(const Attribute& a, const Value& v) override {
        std::string text = plain(v);
        bool blank = text.find_first_of(" \t") != std::string::npos;
        if (a.name == "name" && blank) throw PuppetError("name must not contain whitespace");
        if (a.name == "device" && blank) throw PuppetError("device must not contain whitespace");
        if (a.name == "fstype") {
            if (blank) throw PuppetError("fstype must not contain whitespace");
            if (text.empty()) throw PuppetError("fstype must not be an empty string");
        }
        if (a.name == "options") {
            if (blank) throw PuppetError("options must not contain whitespace");
            if (text.empty()) throw PuppetError("options must not be an empty string");
        }
        Resource::validate_value(a, v);
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (a.name == "name") {
            std::string t = plain(v);
            while (t.size() > 1 && t.back() == '/') t.pop_back();
            return context_.string(t);
        }
        if (a.name == "pass" || a.name == "dump") return context_.string(plain(v));
        return Resource::munge(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "pass" || a.name == "dump") {
            return managed() ? Value::string("0") : Value::undef();
        }
        if (a.name == "ensure") return Value::undef();
        if (a.name == "remounts") return Value::string("true");
        return ParsedResource::default_for(a);
    }

    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        std::string path = name();
        while (path.starts_with('/') && path.size() > 1) {
            path = std::string(sys::directory_name(path));
            if (catalog->find("Mount", path)) {
                out.push_back({Relation::Require, "mount", path});
            }
        }
        for (const Resource* r : catalog->resources()) {
            if (r->type_name() != "file") continue;
            std::string file = r->text("path");
            if (file.size() > name().size() && file.starts_with(name()) &&
                file[name().size()] == '/') {
                out.push_back({Relation::Before, "file", r->title()});
            }
        }
    }

    Value retrieve_property(const Param& p) override {
        if (p.spec->name == "target" && mounted()) return context_.string(target());
        if (p.spec->name != "ensure") return ParsedResource::retrieve_property(p);
        bool listed = record() != nullptr;
        bool on = mounted();
        return Value::string(listed ? (on ? "mounted" : "unmounted") : (on ? "ghost" : "absent"));
    }

    bool insync(Param& p, const Value& is) override {
        if (p.spec->name == "ensure" && is_word(should(p), "defined")) return !is_absent(is);
        if (p.spec->name == "atboot" || p.spec->name == "blockdevice") return true;
        return Resource::insync(p, is);
    }

    std::string event_name(const Param& p) const override {
        if (p.spec->name != "ensure") return Resource::event_name(p);
        std::string want = plain(should(p));
        return want == "absent"      ? "mount_deleted"
               : want == "mounted"   ? "mount_mounted"
               : want == "unmounted" ? "mount_unmounted"
                                     : "mount_created";
    }

    void sync(Param& p) override {
        if (p.spec->name != "ensure") return ParsedResource::sync(p);
        std::string want = plain(should(p));
        bool listed = record() != nullptr;
        bool on = mounted();
        if (want == "absent") {
            remove_record();
            if (on) run("umount", {name()});
            return;
        }
        if (!listed) create_record();
        if (want == "unmounted" && on) run("umount", {name()});
        if (want == "mounted") {
            for (Param* other : properties()) {
                if (other == &p || !other->has_should) continue;
                if (!insync(*other, retrieve_property(*other))) ParsedResource::sync(*other);
            }
            needs_mount_ = !on;
        }
    }

    void flush() override {
        ParsedResource::flush();
        if (needs_mount_) {
            needs_mount_ = false;
            run("mount", {name()});
        }
    }

    // What is mounted counts too where it is not listed: "ghost".
    std::vector<std::unique_ptr<Resource>> instances() override {
        auto out = ParsedResource::instances();
        std::set<std::string> names;
        for (const auto& r : out) names.insert(r->title());
        for (const std::string& path : mounted_paths()) {
            if (!names.insert(path).second) continue;
            auto made = make_sibling();
            ResourceData data;
            data.title = path;
            made->initialize(std::move(data));
            out.push_back(std::move(made));
        }
        return out;
    }

    bool refreshable() const override { return true; }
    bool self_refresh() const override { return true; }
    void refresh() override {
        const Record* r = record();
        if ((r && r->get("fstype") == "swap") || !mounted()) return;
        info("Remounting");
        if (flag("remounts")) {
            std::string options = r ? r->get("options") : "";
            if (options.empty() || options == "defaults") {
                options = "remount";
            } else {
                options = "remount," + options;
            }
            run("mount", {"-o", options, name()});
        } else {
            run("umount", {name()});
            run("mount", {name()});
        }
    }

protected:
    std::string default_target() const override { return "/etc/fstab"; }

    void parse(std::string_view text, ParsedTarget& into) const override {
        each_text_line(text, [&](std::string_view line) {
            auto w = base::texts(base::words(line));
            if (w.size() < 3 || w[0][0] == '#') {
                add_line(into, line);
                return;
            }
            auto r = std::make_unique<Record>();
            r->entry = true;
            r->name = w[1];
            r->set("device", context_.string(w[0]));
            r->set("fstype", context_.string(w[2]));
            r->set("options", context_.string(w.size() > 3 ? w[3] : "defaults"));
            r->set("dump", context_.string(w.size() > 4 ? w[4] : "0"));
            r->set("pass", context_.string(w.size() > 5 ? w[5] : "0"));
            into.records.push_back(std::move(r));
        });
    }

    std::string render(const Record& r) const override {
        auto or_else = [&](std::string_view field, std::string_view other) {
            std::string v = r.get(field);
            return v.empty() ? std::string(other) : v;
        };
        if (r.get("device").empty()) {
            throw PuppetError(fmt::format("Field 'device' is required"));
        }
        return fmt::format("{}\t{}\t{}\t{}\t{}\t{}", r.get("device"), r.name,
                           or_else("fstype", "auto"), or_else("options", "defaults"),
                           or_else("dump", "0"), or_else("pass", "0"));
    }

private:
    std::vector<std::string> mounted_paths() const {
        std::string text = context_.system.files.read("/proc/mounts").value_or("");
        std::vector<std::string> out;
        each_text_line(text, [&](std::string_view line) {
            auto w = base::texts(base::words(line));
            if (w.size() > 1) out.emplace_back(w[1]);
        });
        return out;
    }

    bool mounted() const {
        const auto all = mounted_paths();
        return std::find(all.begin(), all.end(), name()) != all.end();
    }

    void run(std::string_view program, std::vector<std::string> args) {
        args.insert(args.begin(), command_path(context_, program));
        execute(context_, args);
    }

    bool needs_mount_ = false;
};

}  // namespace

std::unique_ptr<Resource> make_mount(Context& context, const TypeSpec& spec) {
    return std::make_unique<Mount>(context, spec);
}

}  // namespace bunraku::apply
