// SPDX-License-Identifier: Apache-2.0
// The type selmodule: SELinux policy modules (selinux_core 2.0.0).
#include <fmt/format.h>
#include <map>

#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "resources/apply/execution.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {
namespace {

constexpr std::string_view kSemodule = "/usr/sbin/semodule";

bool semodule_suitable(Context& context) { return has_command(context, kSemodule); }
constexpr ProviderClass kSemoduleClass{
    .name = "semodule", .suitable = semodule_suitable, .prefetches = true};
constexpr const ProviderClass* kSelmoduleProviders[] = {&kSemoduleClass};

/// Names and versions from `semodule --list`, which is run once per run.
using LoadedModules = std::map<std::string, std::string, std::less<>>;

/// A reader for a compiled policy module. Numbers are little-endian, and strings are preceded by
/// their length.
class PolicyFile {
public:
    explicit PolicyFile(std::string_view data) : rest_(data) {}
    std::optional<std::uint32_t> number() {
        const auto bytes = take(4);
        if (!bytes) return std::nullopt;
        std::uint32_t out = 0;
        for (int i = 3; i >= 0; --i)
            out = out << 8U | static_cast<unsigned char>((*bytes)[static_cast<std::size_t>(i)]);
        return out;
    }
    std::optional<std::string_view> take(std::uint64_t size) {
        if (size > rest_.size()) return std::nullopt;
        const std::string_view out = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return out;
    }
    std::optional<std::string_view> text() {
        const auto size = number();
        return size ? take(*size) : std::nullopt;
    }

private:
    std::string_view rest_;
};

class Selmodule final : public Resource {
public:
    using Resource::Resource;
    std::span<const ProviderClass* const> provider_classes() const override {
        return kSelmoduleProviders;
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "ensure" && managed()) return Value::string("present");
        return a.name == "selmoduledir" ? Value::string("/usr/share/selinux/targeted")
                                        : Value::undef();
    }
    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        out.push_back({Relation::Require, "file", file_name()});
    }
    void prefetch(std::span<Resource* const>) override { loaded(); }

    Value retrieve_property(const Param& p) override {
        const LoadedModules& all = loaded();
        if (p.spec->name == "ensure") {
            provider_debug(fmt::format("Checking for module {}", name()));
            return Value::string(all.contains(name()) ? "present" : "absent");
        }
        provider_debug(fmt::format("Checking syncversion on {}", name()));
        const auto it = all.find(name());
        return Value::string(it != all.end() && file_version() == it->second ? "true" : "false");
    }

    void sync(Param& p) override {
        if (p.spec->name == "syncversion") {
            change("--upgrade", file_name(), "upgrade");
        } else if (is_absent(should(p))) {
            change("--remove", name(), "remove");
        } else {
            change("--install", file_name(), "load");
        }
    }

private:
    std::string file_name() const {
        const std::string path = text("selmodulepath");
        return path.empty() ? fmt::format("{}/{}.pp", text("selmoduledir"), name()) : path;
    }

    void change(const char* how, const std::string& what, std::string_view verb) {
        const Executed done =
            execute(context_, {std::string(kSemodule), how, what}, {.fail_on_error = false});
        if (done.status == 0) return;
        const auto error_output = base::lines(done.output);
        throw base::plain_error(
            fmt::format("Could not {} policy module: {}", verb,
                        error_output.empty() ? "" : std::string(error_output.front())));
    }

    const LoadedModules& loaded() const {
        auto& slot = context_.parsed_types["selmodule"];
        if (slot) return *static_cast<LoadedModules*>(slot.get());
        const std::string command = std::string(kSemodule) + " --list";
        const Executed done =
            execute(context_, {std::string(kSemodule), "--list"}, {.fail_on_error = false});
        if (done.status != 0) {
            std::string error_output;
            for (std::string_view line : base::lines(done.output)) {
                error_output += (error_output.empty() ? "" : " ") + std::string(line);
            }
            throw base::plain_error(fmt::format(
                "Could not list policy modules: \"{}\" failed with \"{}\"", command, error_output));
        }
        auto made = std::make_shared<LoadedModules>();
        for (std::string_view line : base::lines(done.output)) {
            const auto w = base::words(line);
            if (!w.empty()) made->emplace(w[0], w.size() > 1 ? std::string(w[1]) : "");
        }
        slot = made;
        return *made;
    }

    /// Returns the version in the file, which follows the section offsets and the format names.
    std::string file_version() const {
        constexpr std::uint32_t kMagic = 0xF97CFF8F;
        const std::string path = file_name();
        const std::string data = unwrap(context_.system.files.read(path));
        PolicyFile file(data);
        const auto magic = file.number(), version = file.number(), sections = file.number();
        if (magic != kMagic) {
            throw base::plain_error(
                fmt::format("Found {} instead of magic {} in {}", magic.value_or(0), kMagic, path));
        }
        if (version != 1U) {
            throw base::plain_error(
                fmt::format("Unknown policy file version {} in {}", version.value_or(0), path));
        }
        std::optional<std::string_view> found;
        if (sections && file.take((std::uint64_t{*sections} + 1) * 4) && file.text() &&
            file.text() && file.take(14) && file.text())
            found = file.text();
        if (!found) throw base::plain_error(fmt::format("No version of a module in {}", path));
        provider_debug(fmt::format("file version {}", *found));
        return std::string(*found);
    }
};

}  // namespace

std::unique_ptr<Resource> make_selmodule(Context& context, const TypeSpec& spec) {
    return std::make_unique<Selmodule>(context, spec);
}

}  // namespace bunraku::apply
