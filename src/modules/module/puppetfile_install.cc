// SPDX-License-Identifier: Apache-2.0
#include "modules/module/puppetfile_install.h"

#include <cerrno>
#include <fmt/format.h>
#include <unistd.h>

#include "modules/module/installed.h"
#include "modules/module/tarball.h"
#include "modules/module/tool.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Level;
using base::Result;

constexpr std::string_view kUnknown = "it is unknown whether there are any";

/// Returns a few of the names and the number of the others.
std::string some_of(const std::vector<std::string>& names) {
    constexpr std::size_t kShown = 3;
    std::string out;
    for (std::size_t i = 0; i < names.size() && i < kShown; ++i) {
        out += (i ? ", " : "") + names[i];
    }
    if (names.size() > kShown) out += fmt::format(" and {} more", names.size() - kShown);
    return out;
}

}  // namespace

PuppetfileInstaller::PuppetfileInstaller(const PuppetfileOptions& options, sys::System& system,
                                         base::LogSink& log, ModuleSources& sources,
                                         std::string forge_url)
    : options_(options),
      system_(system),
      log_(log),
      sources_(sources),
      forge_url_(std::move(forge_url)),
      records_(system.files, options.cache + "/installed") {}

void PuppetfileInstaller::note(Level level, std::string text) {
    std::unique_lock held(mutex_);
    log_.log(level, std::move(text));
}

PuppetfileInstaller::ExistingModule PuppetfileInstaller::look(const std::string& target) {
    using Kind = ExistingModule::Kind;
    auto status = system_.files.lstat(target);
    if (!status) return {.kind = status.error().code == ENOENT ? Kind::Nothing : Kind::Other};
    if (status->kind == sys::FileKind::Link) return {.kind = Kind::Link};
    if (status->kind != sys::FileKind::Directory) return {.kind = Kind::Other};
    if (auto names = system_.files.list(target); names && names->empty()) return {};
    if (GitCheckout::is_one(system_, target)) return {.kind = Kind::Checkout};
    const std::string known = records_.identity(target);
    if (known.starts_with("tarball ") || known.starts_with("svn ")) {
        return {.kind = Kind::Recorded, .identity = known, .version = {}, .slug = {}};
    }
    ExistingModule forge{.kind = Kind::Other};
    if (auto text = system_.files.read(target + "/metadata.json")) {
        if (auto metadata = parse_metadata(*text)) {
            forge = {.kind = Kind::Forge,
                     .identity = "forge " + metadata->slug(),
                     .version = metadata->version,
                     .slug = metadata->module.slug()};
            if (known == forge.identity) return forge;
        }
    }
    if (auto text = system_.files.read(target + "/REVISION")) {
        std::string commit = text->substr(0, text->find('\n'));
        if (is_commit(commit)) {
            return {.kind = Kind::Git, .identity = "git " + commit, .version = commit, .slug = {}};
        }
    }
    return forge;
}

std::string PuppetfileInstaller::unsaved_in(const std::string& path) {
    if (!GitCheckout::is_one(system_, path)) return {};
    auto lost = GitCheckout(system_, path).unsaved();
    return lost ? *lost : lost.error().message;
}

std::string PuppetfileInstaller::changes(const std::string& target, const ExistingModule& existing,
                                         bool wanted, const Original& original) {
    using Kind = ExistingModule::Kind;
    switch (existing.kind) {
        case Kind::Nothing: return {};
        case Kind::Link: return "it is a link";
        case Kind::Other: return "it is not a module";
        case Kind::Checkout: return unsaved_in(target);
        case Kind::Forge:
        case Kind::Git:
        case Kind::Recorded: break;
    }
    const auto was = records_.find(target, existing.identity);
    FileStamps stamps;
    bool reread = false;
    auto now = read_manifest(system_.files, target, was ? &*was : nullptr, &stamps, &reread);
    if (!now) return now.error().message;
    if (was) {
        const auto names = differing(was->manifest, *now);
        // The files were touched, or were recorded within the timestamp granularity. Record them
        // again, so that the next run need not read them.
        if (names.empty() && reread) {
            (void)records_.keep(target, existing.identity, was->manifest, stamps);
        }
        return some_of(names);
    }
    // Another program installed the module, or the records are lost.
    if (existing.kind == Kind::Forge) {
        if (auto sums = read_checksums(target)) {
            std::vector<std::string> changed =
                changed_files(target).value_or(std::vector<std::string>{"checksums.json"});
            for (const auto& [path, md5] : *sums) now->erase(path);
            for (const auto& [file, digest] : *now) {
                if (file != "checksums.json" && file != "metadata.json") changed.push_back(file);
            }
            return some_of(changed);
        }
        // A wanted module remains anyway, so a download is not worthwhile.
        if (wanted) return {};
    }
    if (auto manifest = original()) return some_of(differing(*manifest, *now));
    return wanted ? std::string() : std::string(kUnknown);
}

bool PuppetfileInstaller::stays(const std::string& target, const std::string& changes) {
    if (changes.empty()) return false;
    if (options_.force) {
        note(Level::Warning, fmt::format("Overwriting local modifications to {}", target));
        return false;
    }
    note(Level::Warning, fmt::format("Skipping {} due to local modifications ({}); --force "
                                     "overwrites them",
                                     target, changes));
    return true;
}

std::optional<TreeManifest> PuppetfileInstaller::unpacked(
    const std::function<Result<void>(const std::string&)>& fill) {
    std::string folder;
    {
        std::unique_lock held(mutex_);
        folder = fmt::format("{}/compare.{}.{}", options_.cache, ::getpid(), ++counter_);
    }
    (void)system_.files.remove_all(folder);
    std::optional<TreeManifest> out;
    if (system_.files.make_directories(options_.cache, 0700) && fill(folder)) {
        if (auto read = read_manifest(system_.files, folder)) out = std::move(*read);
    }
    (void)system_.files.remove_all(folder);
    return out;
}

/// Like r10k, removes `spec` only in the moduledir, not if the module has its own install path.
void PuppetfileInstaller::exclude_tests(const PuppetfileModule& m, const std::string& folder) {
    if (m.exclude_spec.value_or(false) && !m.own_folder)
        (void)system_.files.remove_all(folder + "/spec");
}

Result<PuppetfileInstaller::InstallResult> PuppetfileInstaller::resolve_module(
    const PuppetfileModule& m, const std::string& target, const std::string& identity,
    const Original& original, const std::function<Result<void>(const std::string&)>& fill) {
    const ExistingModule existing = look(target);
    const bool wanted = existing.identity == identity;
    if (existing.kind == ExistingModule::Kind::Other && !options_.force) {
        return failure(target + " is not a module; use --force to replace it");
    }
    const std::string changed = changes(target, existing, wanted, original);
    if (stays(target, changed)) return InstallResult::Skipped;
    if (wanted && changed.empty()) return InstallResult::Kept;
    BUNRAKU_TRY_VOID(place_tree(target, [&](const std::string& folder) -> Result<void> {
        BUNRAKU_TRY_VOID(fill(folder));
        exclude_tests(m, folder);
        // Record the module before moving it to its path. A record of a module that is not
        // installed has no effect.
        FileStamps stamps;
        auto manifest = BUNRAKU_TRY(read_manifest(system_.files, folder, nullptr, &stamps));
        if (auto kept = records_.keep(target, identity, manifest, stamps); !kept) {
            note(Level::Warning, fmt::format("The installation of {} cannot be recorded: {}",
                                             target, kept.error().message));
        }
        return {};
    }));
    return InstallResult::Installed;
}

/// Recreates the manifest of the existing module as it was when installed.
std::optional<TreeManifest> PuppetfileInstaller::original_manifest(const PuppetfileModule& m,
                                                                   const std::string& target,
                                                                   const ExistingModule& existing) {
    using Kind = ExistingModule::Kind;
    ResolvedModule was{.identity = existing.identity};
    if (existing.kind == Kind::Forge && m.kind == PuppetfileModule::Kind::Forge &&
        existing.slug == parse_module_name(m.name)->slug()) {
        was.version = existing.version;
        was.forge = forge_url_;
    } else if (existing.kind == Kind::Git && m.from_git()) {
        was.commit = existing.version;
    } else {
        return std::nullopt;
    }
    return unpacked([&](const std::string& folder) -> Result<void> {
        BUNRAKU_TRY_VOID(sources_.fill(m, was, folder));
        // The module may have been installed before its line excluded the tests.
        if (!system_.files.exists(target + "/spec")) exclude_tests(m, folder);
        return {};
    });
}

Result<PuppetfileInstaller::InstallResult> PuppetfileInstaller::move_checkout(
    const PuppetfileModule& m, const std::string& target, const std::string& commit) {
    GitCheckout checkout(system_, target);
    const auto in_words = [](const Result<std::string>& lost) {
        return lost ? *lost : lost.error().message;
    };
    const std::string changed = in_words(checkout.changes());
    if (stays(target, changed)) return InstallResult::Skipped;
    if (changed.empty() && BUNRAKU_TRY(checkout.head()) == commit) return InstallResult::Kept;
    BUNRAKU_TRY(sources_.refs(m.source));
    BUNRAKU_TRY_VOID(
        sources_.with_mirror(m.source, [&](GitMirror& mirror) { return checkout.learn(mirror); }));
    if (changed.empty() && stays(target, in_words(checkout.unpushed())))
        return InstallResult::Skipped;
    BUNRAKU_TRY_VOID(checkout.move_to(commit, options_.force));
    note(Level::Notice, fmt::format("Moved {} to {} in {}", m.name, commit.substr(0, 12), target));
    return InstallResult::Installed;
}

Result<PuppetfileInstaller::InstallResult> PuppetfileInstaller::install(
    const PuppetfileModule& m, const std::string& target, std::optional<Locked>& lock) {
    using Kind = PuppetfileModule::Kind;
    const ExistingModule existing = look(target);
    ResolveOptions by{
        .lock = lock ? &*lock : nullptr, .forge = forge_url_, .update = options_.update};
    const bool same_module = existing.kind == ExistingModule::Kind::Forge &&
                             m.kind == Kind::Forge &&
                             existing.slug == parse_module_name(m.name)->slug();
    if (same_module) by.installed = existing.version;
    if (m.of_control_branch) {
        note(Level::Warning,
             fmt::format("Cannot track control repo branch for content '{}' when not part of a "
                         "git-backed environment, will use default if available.",
                         m.name));
    }
    ResolvedModule resolved = BUNRAKU_TRY(sources_.resolve_module(m, by));
    const bool moved = existing.kind == ExistingModule::Kind::Checkout && m.from_git() &&
                       GitCheckout(system_, target).origin().value_or("") == m.source;
    InstallResult result;
    if (moved) {
        result = BUNRAKU_TRY(move_checkout(m, target, resolved.commit));
    } else {
        result = BUNRAKU_TRY(resolve_module(
            m, target, resolved.identity, [&] { return original_manifest(m, target, existing); },
            [&](const std::string& folder) { return sources_.fill(m, resolved, folder); }));
        const std::string what = m.kind == Kind::Forge ? parse_module_name(m.name)->slug() : m.name;
        if (result == InstallResult::Installed && same_module && by.installed != resolved.version) {
            note(Level::Notice,
                 fmt::format("Changed {} from {} to {}", what, by.installed, resolved.version));
        } else if (result == InstallResult::Installed && m.kind == Kind::Forge) {
            note(Level::Notice,
                 fmt::format("Installed {} {} into {}", what, resolved.version, target));
        } else if (result == InstallResult::Installed && m.kind == Kind::Tarball) {
            note(Level::Notice, fmt::format("Installed {} into {}", what, target));
        } else if (result == InstallResult::Installed) {
            note(Level::Notice, fmt::format("Installed {} at {} into {}", what,
                                            resolved.commit.substr(0, 12), target));
        }
    }
    if (result != InstallResult::Skipped) {
        lock = Locked{request_of(m), resolved.version, resolved.sha256,
                      resolved.commit.empty() ? "" : m.source, resolved.commit};
    }
    return result;
}

}  // namespace bunraku::module
