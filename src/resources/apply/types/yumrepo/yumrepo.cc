// SPDX-License-Identifier: Apache-2.0
// The type yumrepo: sections of the files of yum repositories (yumrepo_core 3.0.1).
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/value/text.h"
#include "resources/apply/parsed_file.h"
#include "resources/apply/registry.h"
#include "resources/apply/types/yumrepo/ini_files.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool yumrepo_suitable(Context&) { return true; }
constexpr ProviderClass kYumIni{
    .name = "inifile", .suitable = yumrepo_suitable, .prefetches = true};
constexpr const ProviderClass* kYumProviders[] = {&kYumIni};

constexpr std::string_view kYumConf = "/etc/yum.conf";
constexpr std::string_view kYumBoolean = "/^(true|false|0|1|no|yes)$/";
constexpr std::string_view kUrls[] = {"baseurl", "gpgkey"};
constexpr std::string_view kUrl[] = {"mirrorlist", "include", "gpgcakey", "metalink", "proxy"};

bool among(std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

/// Checks a URL. If URI.parse would fail, throws Ruby's error. If the scheme is not supported,
/// throws the type's error.
void check_url(const Attribute& a, const std::string& url) {
    const auto failed = [&](std::string_view why) {
        throw PuppetError(fmt::format("Validate method failed for class {}: {}", a.name, why));
    };
    std::string shown;
    value::print_inspect(shown, Value::string(url));
    if (std::ranges::any_of(url, [](unsigned char c) { return c >= 0x80; })) {
        failed(fmt::format("URI must be ascii only {}", shown));
    }
    if (!line_match("\\A([A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*\\z", url)) {
        failed(fmt::format("bad URI(is not URI?): {}", shown));
    }
    const auto scheme = line_match("\\A(?i:file|https?|ftp):", url);
    if (!scheme) failed("Must be a valid URL");
}

/// State shared by the resources of a run: the content of the files on disk and with changes.
struct Repositories {
    bool read = false;
    IniFiles files;
};

class Yumrepo final : public Resource {
public:
    using Resource::Resource;
    std::span<const ProviderClass* const> provider_classes() const override {
        return kYumProviders;
    }

    void validate_value(const Attribute& a, const Value& v) override {
        const std::string text = plain(v);
        const bool one = among(kUrl, a.name);
        if (!one && !among(kUrls, a.name)) return Resource::validate_value(a, v);
        if (text == "absent") return;
        if (a.name == "proxy" && (text == "_none_" || (text.empty() && release() >= 8))) return;
        if (one) return check_url(a, text);
        for (std::string_view url : base::words(text, " \t\r\n\f\v")) {
            check_url(a, std::string(url));
        }
    }

    Lines lines_allowed(const Attribute& a) const override {
        return among(kUrls, a.name) ? Lines::Any : Lines::Continued;
    }

    Value munge(const Attribute& a, const Value& v) override {
        const Value munged = Resource::munge(a, v);
        if (is_absent(munged)) return munged;
        if (a.patterns == kYumBoolean) return context_.string(base::capitalized(plain(v)));
        if (a.name == "proxy" && release() >= 8 && is_word(munged, "_none_")) {
            return Value::string("");
        }
        return munged;
    }

    Value default_for(const Attribute& a) override {
        return a.name == "ensure" && managed() ? Value::string("present") : Value::undef();
    }

    void set_sensitive(std::vector<std::string> names) override {
        for (std::string_view secret : {"password", "proxy_password"})
            if (Param* p = find(secret)) p->sensitive = true;
        Resource::set_sensitive(std::move(names));
    }

    void prefetch(std::span<Resource* const> all) override {
        for (Resource* r : all) {
            auto* repo = static_cast<Yumrepo*>(r);
            for (const IniSection* s : sections()) {
                if (s->name != repo->name()) continue;
                repo->know(*s);
                break;
            }
        }
    }

    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override {
        std::vector<std::unique_ptr<Resource>> out;
        for (const IniSection* s : sections()) {
            auto made = make_sibling();
            ResourceData d;
            d.title = s->name;
            d.parameters = {{"name", context_.string(s->name)}};
            made->initialize(std::move(d));
            static_cast<Yumrepo*>(made.get())->know(*s);
            for (const Attribute& a : spec_.attributes)
                if (a.kind == AttributeKind::Property) made->watch(a.name);
            out.push_back(std::move(made));
        }
        return out;
    }

    Value retrieve_property(const Param& p) override {
        if (p.spec->name == "ensure") return Value::string(exists() ? "present" : "absent");
        const std::string name(p.spec->name);
        auto it = known_.find(name);
        if (it == known_.end()) {
            const std::string* found = section().find(key_of(name));
            it = known_.emplace(name, found ? std::optional(*found) : std::nullopt).first;
        }
        return it->second ? context_.string(*it->second) : Value::string("absent");
    }

    void sync(Param& p) override {
        if (p.spec->name != "ensure") {
            put(p.spec->name, should(p));
        } else if (is_absent(should(p))) {
            section().destroy = true;
            known_.clear();
            target_.reset();
            present_ = false;
        } else {
            create();
        }
    }

    // Writes all changed files, even if another resource changed them, and makes them readable for
    // all users.
    void flush() override {
        sys::FileSystem& files = context_.system.files;
        auto& all = repositories().files.files;
        for (std::size_t i = 0; i < all.size();) {
            if (store(*all[i])) {
                all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
            } else {
                ++i;
            }
        }
        for (const auto& f : all) {
            const auto found = unwrap(files.look(f->path, true));
            if (!found || (found->mode & 0777U) == 0644) continue;
            provider_log(Level::Info, fmt::format("changing mode of {} from {:03o} to 644", f->path,
                                                  found->mode & 0777U));
            unwrap(files.set_mode(f->path, 0644));
        }
    }

private:
    int release() const { return base::parse_integer<int>(platform(context_).major).value_or(0); }
    static std::string_view key_of(std::string_view property) {
        return property == "descr" ? "name" : property;
    }
    std::optional<std::string> wanted_target() const {
        const Value v = get("target");
        return v.is_undef() ? std::nullopt : std::optional(plain(v));
    }

    Repositories& repositories() const {
        auto& slot = context_.parsed_types["yumrepo"];
        if (!slot) slot = std::make_shared<Repositories>();
        auto& all = *static_cast<Repositories*>(slot.get());
        if (!all.read) {
            IniFiles files;
            read(files, std::string(kYumConf));
            for (const std::string& dir : directories()) {
                for (const std::string& name : unwrap(context_.system.files.list(dir))) {
                    if (name.starts_with('.') || !name.ends_with(".repo")) continue;
                    read(files, sys::join(dir, name));
                }
            }
            all.files = std::move(files);
            all.read = true;
        }
        return all;
    }
    void read(IniFiles& files, const std::string& path) const {
        const auto found = unwrap(context_.system.files.look(path, true));
        if (!found || found->kind != sys::FileKind::File) return;
        const std::string text = unwrap(context_.system.files.read(path));
        files.begin(path).parse(text, &files);
    }
    std::vector<const IniSection*> sections() const {
        std::vector<const IniSection*> out;
        for (const auto& f : repositories().files.files)
            for (const auto& part : f->parts)
                if (part.section && part.section->name != "main") out.push_back(part.section.get());
        return out;
    }

    /// Returns the folders of repositories: `reposdir` of yum.conf, or the default folders.
    std::vector<std::string> directories() const {
        sys::FileSystem& files = context_.system.files;
        std::vector<std::string> dirs{"/etc/yum.repos.d", "/etc/yum/repos.d"};
        if (const std::string conf(kYumConf); unwrap(files.there(conf))) {
            IniFile file(conf);
            file.parse(unwrap(files.read(conf)), nullptr);
            const IniSection* main = file.section("main");
            if (const std::string* given = main ? main->find("reposdir") : nullptr) {
                dirs = base::texts(base::words(*given, ", \t\r\n\f\v"));
            }
        }
        std::erase_if(dirs, [&](const std::string& d) { return !unwrap(files.there(d)); });
        if (dirs.empty()) debug_all("No yum directories were found on the local filesystem");
        return dirs;
    }
    void debug_all(std::string text) const { context_.message(Level::Debug, std::move(text)); }

    std::string path_for(const std::optional<std::string>& target) const {
        const auto dirs = directories();
        if (dirs.empty()) {
            if (target) debug_all(fmt::format("Using /etc/yum.conf instead of target {}", *target));
            return std::string(kYumConf);
        }
        if (!target) return fmt::format("{}/{}.repo", dirs.back(), name());
        const std::string parent(sys::directory_name(*target));
        const std::string_view suffix = target->ends_with(".repo") ? "" : ".repo";
        if (std::ranges::find(dirs, parent) != dirs.end()) return *target + std::string(suffix);
        debug_all(fmt::format("Parent directory of {} not a valid yum directory.", *target));
        return fmt::format("{}/{}{}", dirs.back(), sys::base_name(*target), suffix);
    }
    std::string target() {
        if (!target_) target_ = path_for(std::nullopt);
        return *target_;
    }

    void know(const IniSection& s) {
        present_ = true;
        target_ = s.file;
        known_.clear();
        for (const IniSection::Entry& e : s.entries) {
            if (!e.is_entry) continue;
            const Attribute* a = e.key == "name" ? spec_.find("descr") : spec_.find(e.key);
            if (a && a->kind == AttributeKind::Property) known_[std::string(a->name)] = e.value;
        }
    }
    bool exists() const {
        const auto wanted = wanted_target();
        return present_ && (!wanted || target_ == path_for(wanted));
    }

    /// Returns the section of this resource in its target file. Marks a section of the same name in
    /// another file for removal, and copies its entries.
    IniSection& section() {
        const std::string file_path = path_for(target());
        IniSection *found = nullptr, *old = nullptr;
        IniFiles& all = repositories().files;
        for (const auto& f : all.files) {
            for (const auto& part : f->parts) {
                if (!part.section || part.section->name != name()) continue;
                if (part.section->file == file_path) {
                    found = part.section.get();
                } else {
                    old = part.section.get();
                    old->destroy = true;
                }
            }
        }
        if (found) return *found;
        IniSection& made = all.get(file_path).add(name(), &all);
        if (old) made.entries = old->entries;
        return made;
    }

    void create() {
        present_ = true;
        if (const auto wanted = wanted_target()) target_ = path_for(wanted);
        const std::string file_path = path_for(target());
        read(repositories().files, file_path);
        for (const Attribute& a : spec_.attributes) {
            if (a.kind != AttributeKind::Property || a.name == "ensure") continue;
            if (const Value v = should(a.name); !v.is_undef()) put(a.name, v);
        }
    }

    void put(std::string_view property, const Value& v) {
        const auto text = is_absent(v) ? std::nullopt : std::optional(plain(v));
        section().set(key_of(property), text);
        known_[std::string(property)] = text;
    }

    /// Writes the file. If it has become empty, removes it and returns true.
    bool store(IniFile& file) {
        bool gone = false;
        if (file.emptied()) {
            unwrap(context_.system.files.remove(file.path));
            gone = true;
        } else if (file.any(&IniSection::dirty) || file.any(&IniSection::destroy)) {
            overwrite(context_, file.path, file.text(), 0600);
        }
        for (const auto& part : file.parts)
            if (part.section) part.section->dirty = false;
        return gone;
    }

    bool present_ = false;
    std::optional<std::string> target_;
    std::map<std::string, std::optional<std::string>, std::less<>> known_;
};

}  // namespace

std::unique_ptr<Resource> make_yumrepo(Context& context, const TypeSpec& spec) {
    return std::make_unique<Yumrepo>(context, spec);
}

}  // namespace bunraku::apply
