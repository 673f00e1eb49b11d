// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/puppetfile_completion.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "modules/module/names.h"
#include "services/lsp/completion_items.h"
#include "services/lsp/puppetfile_context.h"

namespace bunraku::lsp {

namespace {

using value::Value;

struct Option {
    std::string_view name, source, doc;
};
/// The options of entries. `source` is the option with which they occur; empty for all entries.
constexpr Option kOptions[] = {
    {"git", "", "address of a Git repository"},
    {"svn", "", "address of a Subversion repository"},
    {"install_path", "", "folder for this module"},
    {"exclude_spec", "", "whether to leave out the folder `spec`"},
    {"type", "", "kind of the source: `forge`, `git`, `svn`, `tarball` or `local`"},
    {"source", "", "address of the source"},
    {"version", "", "version, or the reference of the source"},
    {"local", "", "whether the module is kept as it is"},
    {"ref", "git", "branch, tag or commit"},
    {"branch", "git", "branch"},
    {"tag", "git", "tag"},
    {"commit", "git", "commit"},
    {"default_branch", "git", "branch if the reference does not exist"},
    {"revision", "svn", "revision"},
    {"username", "svn", "user name"},
    {"password", "svn", "password"},
};

class PuppetfileCompletion {
public:
    PuppetfileCompletion(State& state, const DocumentPlace& place)
        : state_(state),
          place_(place),
          context_(puppetfile_context(place.text->text, place.offset)),
          rocket_(place.text->text.find("=>") != std::string::npos) {
        items_.set_word(place.slice(context_.word),
                        place.text->lines.range(place.text->text, context_.word, state.encoding));
    }

    std::string run() {
        switch (context_.expected) {
            case PuppetfileExpected::Keyword:
                keyword("mod", "adds a module");
                keyword("forge", "address of the forge");
                keyword("moduledir", "folder of the modules");
                break;
            case PuppetfileExpected::ModuleName: modules(); break;
            case PuppetfileExpected::Argument:
                versions();
                if (!context_.quoted) options();
                break;
            case PuppetfileExpected::Option: options(); break;
            case PuppetfileExpected::Nothing: break;
        }
        return items_.take();
    }

private:
    void keyword(std::string_view name, std::string_view detail) {
        const std::string insert = fmt::format("{} ", name);
        items_.add({.label = name, .kind = ItemKind::Keyword, .detail = detail, .insert = insert});
    }
    std::string quoted(std::string_view text) const {
        return context_.quoted ? std::string(text) : fmt::format("'{}'", text);
    }

    /// Modules of the workspace, their dependencies, and those of the forge.
    void modules() {
        for (const ModuleFolder& module : state_.workspace.modules()) {
            base::Arena arena;
            const Value metadata = metadata_of(arena, module);
            add_module(value::text_at(metadata, "name"), value::text_at(metadata, "version"),
                       value::text_at(metadata, "summary"));
            const auto* dependencies = value::at(metadata, "dependencies");
            if (!dependencies || !dependencies->is_array()) continue;
            for (const Value& each : dependencies->as_array())
                add_module(value::text_at(each, "name"),
                           value::text_at(each, "version_requirement"),
                           fmt::format("Required by module {}.", module.name));
        }
        if (!state_.modules) return;
        const Offer offer = state_.modules->modules(items_.prefix());
        for (const OfferedModule& each : offer.modules)
            add_module(each.name, each.version, each.summary);
        if (offer.pending) items_.more_later();
    }
    Value metadata_of(base::Arena& arena, const ModuleFolder& module) const {
        const auto text = state_.workspace.files().read(module.path + "/metadata.json");
        if (!text) return Value::undef();
        const auto json = value::parse_json(arena, *text);
        return json && json->is_hash() ? *json : Value::undef();
    }
    /// Adds a module with the separator of the other entries. A word without an author finds it
    /// by its own name.
    void add_module(std::string_view name, std::string_view version, std::string_view summary) {
        const auto parsed = module::parse_module_name(name);
        if (!parsed) return;
        const std::string label = with_slash() ? parsed->slashed() : parsed->slug();
        const bool by_author = label.starts_with(items_.prefix());
        items_.add({.label = label,
                    .kind = ItemKind::Module,
                    .detail = version,
                    .doc = summary,
                    .insert = quoted(label),
                    .filter = by_author ? std::string_view() : parsed->name});
    }
    /// Reports whether the word, or else the file, writes names as "author/name".
    bool with_slash() const {
        if (items_.prefix().find('/') != std::string::npos) return true;
        if (items_.prefix().find('-') != std::string::npos) return false;
        const std::string& text = place_.text->text;
        for (std::size_t at = 0; (at = text.find("mod ", at)) != std::string::npos; at += 4) {
            const std::string_view line =
                std::string_view(text).substr(at, text.find('\n', at) - at);
            const std::string_view name = line.substr(0, line.find(','));
            if (name.find('/') != std::string_view::npos) return true;
            if (name.find('-') != std::string_view::npos) return false;
        }
        return false;
    }

    void versions() {
        std::vector<std::string> found;
        if (state_.modules) {
            const Offer offer = state_.modules->releases(context_.module);
            for (const OfferedModule& each : offer.modules) found.push_back(each.version);
            if (offer.pending) items_.more_later();
        }
        const std::string installed = installed_version();
        if (!installed.empty() && std::ranges::find(found, installed) == found.end())
            found.push_back(installed);
        for (std::size_t i = 0; i < found.size(); ++i) {
            const std::string insert = quoted(found[i]), order = fmt::format("{:06}", i);
            items_.add({.label = found[i],
                        .kind = ItemKind::Constant,
                        .detail = found[i] == installed ? "installed" : "",
                        .insert = insert,
                        .filter = items_.prefix().empty() ? std::string_view() : found[i],
                        .order = order});
        }
        if (!context_.quoted)
            items_.add({.label = ":latest", .kind = ItemKind::Keyword, .detail = "newest release"});
    }
    std::string installed_version() const {
        const auto wanted = module::parse_module_name(context_.module);
        for (const ModuleFolder& module : state_.workspace.modules()) {
            if (!wanted || module.name != wanted->name) continue;
            base::Arena arena;
            const Value metadata = metadata_of(arena, module);
            const auto name = module::parse_module_name(value::text_at(metadata, "name"));
            if (name && name->slug() == wanted->slug()) return value::text_at(metadata, "version");
        }
        return {};
    }

    void options() {
        const auto has = [&](std::string_view name) {
            return std::ranges::find(context_.options, name) != context_.options.end();
        };
        const bool symbol = items_.prefix().starts_with(':') || rocket_;
        for (const Option& option : kOptions) {
            if (has(option.name)) continue;
            const bool fits = option.source.empty() ? !(option.name == "git" && has("svn")) &&
                                                          !(option.name == "svn" && has("git"))
                                                    : has(option.source);
            if (!fits) continue;
            const std::string label = fmt::format("{}{}", symbol ? ":" : "", option.name);
            const std::string insert = symbol ? label + " => " : label + ": ";
            items_.add({.label = label,
                        .kind = ItemKind::Property,
                        .detail = option.doc,
                        .insert = insert,
                        .filter = items_.prefix().starts_with(':') ? label : option.name});
        }
    }

    State& state_;
    const DocumentPlace& place_;
    PuppetfileContext context_;
    bool rocket_;  ///< the file writes options as ":git => "
    CompletionItems items_;
};

}  // namespace

std::string puppetfile_completion(State& state, const DocumentPlace& place) {
    return PuppetfileCompletion(state, place).run();
}

}  // namespace bunraku::lsp
