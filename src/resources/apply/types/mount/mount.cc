// SPDX-License-Identifier: Apache-2.0
// The type mount: lines of /etc/fstab, and mounted file systems.
#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "resources/apply/execution.h"
#include "resources/apply/parsed_file.h"
#include "resources/apply/ral_catalog.h"
#include "resources/apply/registry.h"
#include "resources/apply/ruby_text.h"

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
        if (a.name == "fstype" || a.name == "options" || a.name == "blockdevice") {
            if (text.find_first_of(" \t\r\n\v\f") != std::string::npos) {
                throw PuppetError(fmt::format("{} must not contain whitespace: {}", a.name, text));
            }
            if (text.empty() && a.name != "blockdevice") {
                throw PuppetError(fmt::format("{} must not be an empty string", a.name));
            }
        }
        if (a.name != "atboot") Resource::validate_value(a, v);
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (a.name == "name") {
            std::string t = plain(v);
            while (t.size() > 1 && t.back() == '/') t.pop_back();
            return context_.string(t);
        }
        if (a.name == "atboot") return Resource::munge(a, munged_switch(a, v));
        return Resource::munge(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "pass" || a.name == "dump") {
            return managed() ? Value::integer(0) : Value::undef();
        }
        if (a.name == "ensure") return Value::undef();
        if (a.name == "remounts") return Value::string("true");
        return ParsedResource::default_for(a);
    }

    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        std::vector<std::string> above;
        std::string path = name();
        while (path.starts_with('/') && path.size() > 1) {
            path = std::string(sys::directory_name(path));
            above.push_back(path);
        }
        for (auto it = above.rbegin(); it != above.rend(); ++it) {
            out.push_back({Relation::Require, "mount", *it});
        }
        for (const Resource* r : catalog->resources()) {
            if (r->type_name() != "file") continue;
            std::string file = r->text("path");
            if (file.size() > name().size() + 1 && file.starts_with(name()) &&
                file[name().size()] == '/') {
                out.push_back({Relation::Before, "file", file});
            }
        }
    }

    void prefetch(std::span<Resource* const> all) override {
        ParsedResource::prefetch(all);
        const auto on = mounted_paths();
        for (Resource* r : all) {
            auto* m = static_cast<Mount*>(r);
            if (std::find(on.begin(), on.end(), m->name()) == on.end()) continue;
            const std::string state = m->listed_state();
            if (state == "absent") m->set_state("ghost");
            if (state == "unmounted") m->set_state("mounted");
        }
    }

    Value retrieve_property(const Param& p) override {
        if (p.spec->name == "ensure") return context_.string(listed_state());
        return ParsedResource::retrieve_property(p);
    }

    bool insync(Param& p, const Value& is) override {
        if (p.spec->name == "ensure" && is_word(should(p), "defined") &&
            (is_word(is, "mounted") || is_word(is, "unmounted"))) {
            return true;
        }
        return Resource::insync(p, is);
    }

    std::string event_name(const Param& p) const override {
        if (p.spec->name != "ensure") return Resource::event_name(p);
        std::string want = plain(should(p));
        return want == "absent"    ? "mount_deleted"
               : want == "mounted" ? "mount_mounted"
                                   : "mount_changed";
    }

    // This type treats `ensure` like any other property.
    std::string change_text(const Param& p, const Value& is, const Value& wanted) const override {
        if (p.spec->name != "ensure") return ParsedResource::change_text(p, is, wanted);
        if (is_absent(is)) return fmt::format("defined 'ensure' as {}", display(wanted));
        if (is_absent(wanted)) return fmt::format("undefined 'ensure' from {}", display(is));
        return fmt::format("ensure changed {} to {}", display(is), display(wanted));
    }

    void sync(Param& p) override {
        if (p.spec->name != "ensure") return ParsedResource::sync(p);
        const std::string want = plain(should(p));
        const std::string now = listed_state();
        if (want == "defined") {
            create();
        } else if (want == "absent") {
            if (mounted()) unmount();
            if (now != "ghost") destroy();
        } else if (want == "unmounted") {
            if (now == "ghost") {
                create();
                flush();
                unmount();
            } else if (now == "absent") {
                create();
            } else if (now == "mounted") {
                unmount();
                sync_others();
            } else {
                fail(fmt::format("Unexpected change from {} to unmounted", now));
            }
        } else {
            const bool on = mounted();
            if (now == "absent" || now == "ghost") create();
            sync_others();
            needs_mount_ = !on;
        }
    }

    void flush() override {
        const bool mount = std::exchange(needs_mount_, false);
        ParsedResource::flush();
        if (!mount) return;
        run("mount", {name()});
        const std::string state = listed_state();
        if (state == "absent") set_state("ghost");
        if (state == "unmounted") set_state("mounted");
    }

    // Includes mounted file systems that are not in the table, with the state "ghost".
    std::vector<std::unique_ptr<Resource>> instances() override {
        auto out = ParsedResource::instances();
        const auto on = mounted_paths();
        std::set<std::string> names;
        for (const auto& r : out) {
            auto* m = static_cast<Mount*>(r.get());
            names.insert(m->name());
            if (std::find(on.begin(), on.end(), m->name()) != on.end()) m->set_state("mounted");
        }
        for (const std::string& path : on) {
            if (!names.insert(path).second) continue;
            auto made = make_sibling();
            ResourceData data;
            data.title = path;
            made->initialize(std::move(data));
            static_cast<Mount*>(made.get())->set_state("ghost");
            out.push_back(std::move(made));
        }
        return out;
    }

    bool refreshable() const override { return true; }
    bool self_refresh() const override { return true; }
    void refresh() override {
        if (is_word(should("fstype"), "swap") || !mounted()) return;
        provider_log(Level::Info, "Remounting");
        if (flag("remounts")) {
            run("mount", {"-o", "remount", name()});
        } else {
            unmount();
            run("mount", {name()});
        }
    }

protected:
    std::string default_target() const override { return "/etc/fstab"; }
    bool has_field(std::string_view f) const override {
        constexpr std::string_view kFields[] = {"device",  "name", "fstype",
                                                "options", "dump", "pass"};
        return std::find(std::begin(kFields), std::end(kFields), f) != std::end(kFields);
    }

    RecordPtr parse_line(const std::string& line) const override {
        if (line_match("^\\s*(#|$)", line)) return text_record(line);
        auto w = base::words(line);
        if (w.size() < 2) return text_record(line);
        BUNRAKU_ASSERT(!line.empty());
        if (line.front() == ' ' || line.front() == '\t') w.insert(w.begin(), "");
        RecordPtr r = entry_record();
        constexpr std::string_view kFields[] = {"device",  "name", "fstype",
                                                "options", "dump", "pass"};
        for (std::size_t i = 0; i < std::size(kFields); ++i) {
            std::string text(i < w.size() ? w[i] : std::string_view());
            if (i == 5) {
                for (std::size_t k = 6; k < w.size(); ++k) text += "\t" + std::string(w[k]);
            }
            if (i < 2) {
                for (std::size_t at = 0; (at = text.find("\\040", at)) != std::string::npos;) {
                    text.replace(at, 4, " ");
                }
            }
            r->set(kFields[i], text.empty() ? Value::string("absent") : context_.string(text));
        }
        return r;
    }

    void after_reading(std::vector<RecordPtr>& records) const override {
        for (const RecordPtr& r : records) {
            if (!r->entry) continue;
            std::string name = r->get("name");
            while (name.size() > 1 && name.back() == '/') name.pop_back();
            r->set("name", context_.string(name));
            r->set("ensure", Value::string("unmounted"));
        }
    }

    std::string render(const Record& r) const override {
        auto escaped = [&](std::string_view field) {
            std::string out;
            for (char c : r.get(field)) out += c == ' ' ? std::string("\\040") : std::string(1, c);
            return out;
        };
        if (r.is_absent("fstype") && r.value("fstype").is_undef()) {
            throw PuppetError(fmt::format("Mount[{}]: Field 'fstype' is required", r.get("name")),
                              {}, PuppetError::Class::Plain);
        }
        for (std::string_view field : {"device", "name"}) {
            if (r.is_absent(field)) {
                throw PuppetError(fmt::format("Field '{}' is required", field), {},
                                  PuppetError::Class::Plain);
            }
        }
        const bool options = !r.value("options").is_undef() && !is_word(r.value("options"), "");
        return fmt::format("{}\t{}\t{}\t{}\t{}\t{}", escaped("device"), escaped("name"),
                           r.get("fstype"), options ? r.get("options") : "defaults", r.get("dump"),
                           r.get("pass"));
    }

private:
    // Returns the state according to the table and the list of mounts: mounted, unmounted, ghost or
    // absent. After a write it may also be the requested state.
    std::string listed_state() const {
        return hash_->is_absent("ensure") ? "absent" : plain(hash_->value("ensure"));
    }
    void set_state(std::string_view state) { hash_->set("ensure", context_.string(state)); }

    std::vector<std::string> mounted_paths() const {
        Execute o;
        std::vector<std::string> out;
        const std::string text = execute(context_, {command_path(context_, "mount")}, o).output;
        for (std::string_view line : base::lines(text)) {
            auto m = line_match(" on (.*) type ", line);
            if (!m) {
                fail(fmt::format("Could not understand line {} from mount output", line));
            }
            out.emplace_back(m->group(line, 1));
        }
        return out;
    }

    bool mounted() const {
        const std::string state = listed_state();
        return state == "mounted" || state == "ghost";
    }
    void unmount() {
        run("umount", {name()});
        const std::string state = listed_state();
        if (state == "mounted") set_state("unmounted");
        if (state == "ghost") set_state("absent");
    }
    void sync_others() {
        bool any = false;
        for (Param* p : properties()) {
            if (p->spec->name == "ensure" || !p->has_should) continue;
            if (insync(*p, retrieve_property(*p))) continue;
            ParsedResource::sync(*p);
            any = true;
        }
        if (any) flush();
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
