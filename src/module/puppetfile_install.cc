#include "module/puppetfile_install.h"

#include <cerrno>
#include <fmt/format.h>
#include <unistd.h>

#include "codec/digest.h"
#include "module/installed.h"
#include "module/tarball.h"
#include "module/tool.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Level;
using base::Result;

constexpr std::string_view kUnknown = "it cannot be told whether there are any";

/// A few of the names, and how many more there are.
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

std::string wish_of(const PuppetfileModule& m) {
    return m.from_git() ? fmt::format("git {} {}", m.git, m.ref) : "forge " + m.version;
}

PuppetfileInstaller::PuppetfileInstaller(const PuppetfileOptions& options, sys::System& system,
                                         base::LogSink& log, std::string forge_url)
    : options_(options),
      system_(system),
      log_(log),
      forge_(options.forge),
      records_(system.files, options.cache + "/installed") {
    forge_.url = std::move(forge_url);
}

void PuppetfileInstaller::note(Level level, std::string text) {
    std::unique_lock held(mutex_);
    log_.log(level, std::move(text));
}

Result<PuppetfileInstaller::Brought> PuppetfileInstaller::bring(const PuppetfileModule& m,
                                                                const std::string& target,
                                                                std::optional<Locked>& lock) {
    return m.from_git() ? from_git(m, target, lock) : from_forge(m, target, lock);
}

PuppetfileInstaller::Standing PuppetfileInstaller::look(const std::string& target) {
    using Kind = Standing::Kind;
    auto status = system_.files.lstat(target);
    if (!status) return {.kind = status.error().code == ENOENT ? Kind::Nothing : Kind::Other};
    if (status->kind == sys::FileKind::Link) return {.kind = Kind::Link};
    if (status->kind != sys::FileKind::Directory) return {.kind = Kind::Other};
    if (auto names = system_.files.list(target); names && names->empty()) return {};
    if (GitCheckout::is_one(system_, target)) return {.kind = Kind::Checkout};
    Standing forge{.kind = Kind::Other};
    if (auto text = system_.files.read(target + "/metadata.json")) {
        if (auto metadata = parse_metadata(*text)) {
            forge = {.kind = Kind::Forge,
                     .identity = "forge " + metadata->slug(),
                     .version = metadata->version,
                     .slug = metadata->module.slug()};
            if (records_.find(target, forge.identity)) return forge;
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

std::string PuppetfileInstaller::changes(const std::string& target, const Standing& standing,
                                         bool wanted, const Original& original) {
    using Kind = Standing::Kind;
    switch (standing.kind) {
        case Kind::Nothing: return {};
        case Kind::Link: return "it is a link";
        case Kind::Other: return "it is no module";
        case Kind::Checkout: return unsaved_in(target);
        case Kind::Forge:
        case Kind::Git: break;
    }
    auto now = read_manifest(system_.files, target);
    if (!now) return now.error().message;
    if (auto was = records_.find(target, standing.identity)) return some_of(differing(*was, *now));
    // Installed by somebody else, or the records are gone.
    if (standing.kind == Kind::Forge) {
        if (auto sums = read_checksums(target)) {
            std::vector<std::string> changed =
                changed_files(target).value_or(std::vector<std::string>{"checksums.json"});
            for (const auto& [path, md5] : *sums) now->erase(path);
            for (const auto& [path, what] : *now) {
                if (path != "checksums.json" && path != "metadata.json") changed.push_back(path);
            }
            return some_of(changed);
        }
        // What is to stay is not worth a download.
        if (wanted) return {};
    }
    if (auto was = original()) return some_of(differing(*was, *now));
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

/// r10k removes `spec` only in the moduledir, not where a line has a folder of its own.
void PuppetfileInstaller::leave_out(const PuppetfileModule& m, const std::string& folder) {
    if (m.exclude_spec && !m.own_folder) (void)system_.files.remove_all(folder + "/spec");
}

Result<PuppetfileInstaller::Brought> PuppetfileInstaller::settle(
    const PuppetfileModule& m, const std::string& target, const std::string& identity,
    const Original& original, const std::function<Result<void>(const std::string&)>& fill) {
    const Standing standing = look(target);
    const bool wanted = standing.identity == identity;
    if (standing.kind == Standing::Kind::Other && !options_.force) {
        return failure(target + " is no module; --force replaces it");
    }
    const std::string changed = changes(target, standing, wanted, original);
    if (stays(target, changed)) return Brought::Skipped;
    if (wanted && changed.empty()) return Brought::Kept;
    BUNRAKU_TRY_VOID(place_tree(target, [&](const std::string& folder) -> Result<void> {
        BUNRAKU_TRY_VOID(fill(folder));
        leave_out(m, folder);
        // Before it is in its place: a record of what is not there yet is not believed.
        auto manifest = BUNRAKU_TRY(read_manifest(system_.files, folder));
        if (auto kept = records_.keep(target, identity, manifest); !kept) {
            note(Level::Warning, fmt::format("What is installed as {} cannot be recorded: {}",
                                             target, kept.error().message));
        }
        return {};
    }));
    return Brought::Installed;
}

Result<PuppetfileInstaller::Brought> PuppetfileInstaller::from_forge(const PuppetfileModule& m,
                                                                     const std::string& target,
                                                                     std::optional<Locked>& lock) {
    const ModuleName name = *parse_module_name(m.name);
    const Standing standing = look(target);
    const bool here = standing.kind == Standing::Kind::Forge && standing.slug == name.slug();
    const std::string have = here ? standing.version : "";
    const bool exact = base::SemVer::parse(m.version).has_value();
    std::string want = exact ? m.version : lock ? lock->version : "";
    std::string sha256 = lock && lock->version == want ? lock->sha256 : "";
    if (want.empty() && m.version.empty() && !have.empty() && !options_.update) want = have;

    ForgeClient client(forge_);
    std::optional<std::vector<RemoteModule>> listed;
    const auto releases = [&]() -> Result<void> {
        if (!listed) listed = BUNRAKU_TRY(client.releases(name.slug(), nullptr));
        return {};
    };
    const auto release_of = [&](const std::string& version) -> const RemoteModule* {
        for (const RemoteModule& r : *listed) {
            if (r.version == version) return &r;
        }
        return nullptr;
    };
    if (want.empty()) {
        BUNRAKU_TRY_VOID(releases());
        auto range = base::SemVerRange::parse(
            m.version.empty() || m.version == "latest" ? ">= 0.0.0" : m.version);
        base::SemVer newest;
        for (const RemoteModule& r : *listed) {
            const base::SemVer version = *base::SemVer::parse(r.version);
            if (!range->includes(version)) continue;
            const bool stable = version.prerelease.empty();
            const bool best_stable = !want.empty() && newest.prerelease.empty();
            if (best_stable && !stable) continue;
            if (want.empty() || (stable && !best_stable) || version > newest) {
                want = r.version;
                newest = version;
            }
        }
    }
    const auto fetch = [&](const std::string& version) -> Result<std::string> {
        BUNRAKU_TRY_VOID(releases());
        if (listed->empty()) {
            return failure(
                fmt::format("Module {} does not exist on {}", name.slug(), client.shown_url()));
        }
        const RemoteModule* release = release_of(version);
        if (!release) {
            return failure(fmt::format("Module {} has no release {} on {}", name.slug(),
                                       version.empty() ? m.version : version, client.shown_url()));
        }
        std::string bytes = BUNRAKU_TRY(client.download(*release));
        auto good = inspect_tarball(bytes);
        if (!good) return failure(name.slug() + ": " + good.error().message);
        if (good->metadata.slug() != name.slug() + "-" + version) {
            return failure(
                fmt::format("the forge sent {} for {}", good->metadata.slug(), name.slug()));
        }
        return bytes;
    };
    if (want.empty()) return std::unexpected(fetch(want).error());

    const auto original = [&]() -> std::optional<TreeManifest> {
        if (!here) return std::nullopt;
        return unpacked([&](const std::string& folder) -> Result<void> {
            BUNRAKU_TRY_VOID(unpack_tarball(BUNRAKU_TRY(fetch(have)), folder));
            if (!system_.files.exists(target + "/spec")) leave_out(m, folder);
            return {};
        });
    };
    const Brought brought = BUNRAKU_TRY(
        settle(m, target, fmt::format("forge {}-{}", name.slug(), want), original,
               [&](const std::string& folder) -> Result<void> {
                   const std::string bytes = BUNRAKU_TRY(fetch(want));
                   const std::string got = codec::hex_digest(codec::DigestKind::Sha256, bytes);
                   if (!sha256.empty() && sha256 != got) {
                       return failure(
                           fmt::format("{} {} is not what the lock file was written for: the "
                                       "forge now offers other bytes",
                                       name.slug(), want));
                   }
                   sha256 = got;
                   return unpack_tarball(bytes, folder);
               }));
    if (brought == Brought::Skipped) return brought;
    if (brought == Brought::Installed) {
        note(Level::Notice, have.empty() || have == want
                                ? fmt::format("Installed {} {} into {}", name.slug(), want, target)
                                : fmt::format("Changed {} from {} to {}", name.slug(), have, want));
    }
    lock = Locked{wish_of(m), want, sha256, "", ""};
    return brought;
}

Result<PuppetfileInstaller::Brought> PuppetfileInstaller::move_checkout(const PuppetfileModule& m,
                                                                        const std::string& target,
                                                                        GitMirror& mirror,
                                                                        const std::string& commit) {
    GitCheckout checkout(system_, target);
    const auto in_words = [](const Result<std::string>& lost) {
        return lost ? *lost : lost.error().message;
    };
    const std::string changed = in_words(checkout.changes());
    if (stays(target, changed)) return Brought::Skipped;
    if (changed.empty() && BUNRAKU_TRY(checkout.head()) == commit) return Brought::Kept;
    BUNRAKU_TRY_VOID(checkout.learn(mirror));
    if (changed.empty() && stays(target, in_words(checkout.unpushed()))) return Brought::Skipped;
    BUNRAKU_TRY_VOID(checkout.move_to(commit, options_.force));
    note(Level::Notice, fmt::format("Moved {} to {} in {}", m.name, commit.substr(0, 12), target));
    return Brought::Installed;
}

Result<PuppetfileInstaller::Brought> PuppetfileInstaller::from_git(const PuppetfileModule& m,
                                                                   const std::string& target,
                                                                   std::optional<Locked>& lock) {
    std::string commit = lock ? lock->commit : "";
    if (commit.empty() && is_commit(m.ref)) commit = m.ref;
    auto mirror = BUNRAKU_TRY(GitMirror::open(system_, options_.cache + "/git", m.git));
    if (m.of_control_branch) {
        note(Level::Warning,
             fmt::format("Cannot track control repo branch for content '{}' when not part of a "
                         "git-backed environment, will use default if available.",
                         m.name));
    }
    // A commit that is known and in its place needs no network.
    const Standing standing = look(target);
    const bool moved = standing.kind == Standing::Kind::Checkout &&
                       GitCheckout(system_, target).origin().value_or("") == m.git;
    if (commit.empty() || (!mirror.resolve(commit) && standing.identity != "git " + commit)) {
        BUNRAKU_TRY_VOID(mirror.fetch());
    }
    if (commit.empty()) {
        auto found = mirror.resolve(m.of_control_branch ? m.default_ref
                                    : m.ref.empty()     ? "HEAD"
                                                        : m.ref);
        if (!found && !m.default_ref.empty()) found = mirror.resolve(m.default_ref);
        commit = BUNRAKU_TRY(found);
    } else if (standing.identity != "git " + commit) {
        commit = BUNRAKU_TRY(mirror.resolve(commit));
    }
    const auto original = [&]() -> std::optional<TreeManifest> {
        if (standing.kind != Standing::Kind::Git || !mirror.resolve(standing.version)) {
            return std::nullopt;
        }
        return unpacked([&](const std::string& folder) -> Result<void> {
            BUNRAKU_TRY_VOID(mirror.write_files(standing.version, folder));
            // It may have been installed before the line asked to leave it out.
            if (!system_.files.exists(target + "/spec")) leave_out(m, folder);
            return {};
        });
    };
    Brought brought;
    if (moved) {
        brought = BUNRAKU_TRY(move_checkout(m, target, mirror, commit));
    } else {
        brought = BUNRAKU_TRY(settle(
            m, target, "git " + commit, original, [&](const std::string& folder) -> Result<void> {
                BUNRAKU_TRY_VOID(mirror.write_files(commit, folder));
                // Says which commit it is to the next run, and to people.
                return system_.files.replace(folder + "/REVISION", commit + "\n", {.mode = 0644});
            }));
        if (brought == Brought::Installed) {
            note(Level::Notice,
                 fmt::format("Installed {} at {} into {}", m.name, commit.substr(0, 12), target));
        }
    }
    if (brought != Brought::Skipped) lock = Locked{wish_of(m), "", "", m.git, commit};
    return brought;
}

}  // namespace bunraku::module
