// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/trust_commands.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>

#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/wording.h"
#include "modules/forge/bundle.h"
#include "modules/module/tarball.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;

int report_failure(const TrustArguments& args, const std::string& text) {
    fmt::print(args.errors, "Error: {}\n", sys::plain_text(text));
    return 1;
}

int needed(const TrustArguments& args, std::string_view option) {
    return report_failure(args, fmt::format("--{} is needed", option));
}

sys::FileSystem& real_files() {
    auto& files = sys::disk();
    return files;
}

Result<codec::SigningKey> signing_key(const std::string& file) {
    const std::string text = BUNRAKU_TRY(real_files().read(sys::expand_path(file)));
    auto key = codec::SigningKey::parse(text);
    if (!key) return failure(file + ": " + key.error().message);
    return key;
}

/// Reads a key given as text or as the name of a file.
Result<module::PublicKey> public_key(const std::string& text) {
    if (auto key = module::PublicKey::parse(text)) return key;
    const std::string content = BUNRAKU_TRY(real_files().read(sys::expand_path(text)));
    auto key = module::PublicKey::parse(content);
    if (!key) return failure(text + ": " + key.error().message);
    return key;
}

/// Returns the name that the trusted comment of a signature contains. Fails if a module is expected
/// and the file is none.
Result<std::string> signed_name(const TrustArguments& args, std::string_view file,
                                std::string_view bytes) {
    if (args.any_file) return std::string(file.substr(file.rfind('/') + 1));
    return BUNRAKU_TRY(module::inspect_tarball(bytes)).metadata.slug() + ".tar.gz";
}

int publish_now(ForgeStore& forge_store, const TrustArguments& args) {
    auto name = forge_store.publish(args.repo);
    if (!name) return report_failure(args, name.error().message);
    fmt::print(args.results, "Published '{}' as {}\n", args.repo, *name);
    return 0;
}

}  // namespace

int key_command(const TrustArguments& args, const std::vector<std::string>& words) {
    if (words.size() != 1 || words[0] != "create") {
        return report_failure(args, args.usage_text("usage: forge key create --out FILE"));
    }
    if (args.out.empty()) return needed(args, "out");
    const std::string file = sys::expand_path(args.out), shown = file + ".pub";
    for (const std::string& path : {file, shown}) {
        if (real_files().exists(path)) return report_failure(args, path + " exists already");
    }
    auto key = codec::SigningKey::generate();
    if (!key) return report_failure(args, key.error().message);
    const module::PublicKey of = module::PublicKey::of(*key);
    if (auto done = real_files().replace(file, key->pem(), {.mode = 0600, .sync = true}); !done) {
        return report_failure(args, done.error().message);
    }
    const std::string text =
        fmt::format("untrusted comment: minisign public key {}\n{}\n", of.number(), of.text());
    if (auto done = real_files().replace(shown, text, {.mode = 0644}); !done) {
        return report_failure(args, done.error().message);
    }
    fmt::print(args.results, "{}\n", of.text());
    return 0;
}

int sign_command(const TrustArguments& args, const std::vector<std::string>& files) {
    if (args.key.empty()) return needed(args, "key");
    if (files.empty()) return report_failure(args, "Name at least one file to sign");
    auto key = signing_key(args.key);
    if (!key) return report_failure(args, key.error().message);
    int code = 0;
    for (const std::string& file : files) {
        auto bytes = real_files().read(file);
        const auto name = bytes ? signed_name(args, file, *bytes)
                                : Result<std::string>(std::unexpected(bytes.error()));
        if (!name) {
            code = report_failure(args, fmt::format("{}: {}", file, name.error().message));
            continue;
        }
        const std::string to = file + std::string(module::kSignatureSuffix);
        const std::string text = module::sign_minisign(
            *key, *bytes, fmt::format("timestamp:{}\tfile:{}", std::time(nullptr), *name));
        if (auto done = real_files().replace(to, text, {.mode = 0644}); !done) {
            code = report_failure(args, done.error().message);
            continue;
        }
        fmt::print(args.results, "{}\n", to);
    }
    return code;
}

int trust_command(ForgeStore& forge_store, const TrustArguments& args) {
    if (args.repo.empty()) return needed(args, "repo");
    if (!forge_store.exists(args.repo)) {
        return report_failure(args, fmt::format("there is no repository '{}'", args.repo));
    }
    RepositoryConfig config = forge_store.config(args.repo);
    module::SignatureRules& rules = config.signatures;
    const std::string before = rules.text();
    if (args.forget) rules = {};
    for (const std::string& text : args.signers) {
        const std::size_t equals = text.find('=');
        const std::string who = text.substr(0, equals);
        if (equals == std::string::npos || !module::valid_who(who)) {
            return report_failure(
                args,
                fmt::format(
                    "Invalid value '{}': expected WHO=KEY, where WHO is an author, a module or '*'",
                    text));
        }
        auto key = public_key(text.substr(equals + 1));
        if (!key) return report_failure(args, key.error().message);
        const bool there =
            std::any_of(rules.signers.begin(), rules.signers.end(),
                        [&](const auto& s) { return s.who == who && s.key == *key; });
        if (!there) rules.signers.push_back({who, std::move(*key)});
    }
    for (const std::string& who : args.required) {
        if (!module::valid_who(who)) {
            return report_failure(
                args, fmt::format("'{}' is neither an author nor a module nor '*'", who));
        }
        if (std::find(rules.required.begin(), rules.required.end(), who) == rules.required.end()) {
            rules.required.push_back(who);
        }
    }
    if (rules.text() != before) {
        if (auto done = forge_store.configure(args.repo, config); !done) {
            return report_failure(args, done.error().message);
        }
        forge_store.audit(fmt::format("local\tcommand\ttrust {}\tdone", args.repo));
    }
    for (const auto& s : rules.signers) {
        fmt::print(args.results, "{} may be signed by {} ({})\n", s.who, s.key.number(),
                   s.key.text());
    }
    for (const std::string& who : rules.required)
        fmt::print(args.results, "{} must be signed\n", who);
    // Releases uploaded before the rule remain, so report how many lack a signature.
    std::size_t lacking = 0;
    for (const Unit& unit : forge_store.units(args.repo)) {
        module::SignatureRules one;
        one.required = rules.required;
        if (!unit.remote && one.concerns(unit.name.module) &&
            forge_store.signature(args.repo, unit.name.slug()).empty()) {
            ++lacking;
        }
    }
    if (lacking > 0) {
        fmt::print(args.errors, "Warning: {} release{} in '{}' {} not signed and should be\n",
                   lacking, lacking == 1 ? "" : "s", args.repo, lacking == 1 ? "is" : "are");
    }
    return 0;
}

int metadata_command(ForgeStore& forge_store, const TrustArguments& args,
                     const std::vector<std::string>& words) {
    const std::string action = words.empty() ? "" : words[0];
    if (args.repo.empty()) return needed(args, "repo");
    if (action != "init" && action != "renew" && action != "rotate") {
        return report_failure(args, args.usage_text("usage: forge metadata (init|renew|rotate "
                                                    "--role ROLE) --repo ID [--root-key FILE]"));
    }
    if (!forge_store.config(args.repo).upstreams.empty()) {
        return report_failure(
            args, fmt::format("'{}' is a pull-through repository: its contents are not known in "
                              "advance and cannot be signed",
                              args.repo));
    }
    const std::string root_key = args.root_key.empty() ? "" : sys::expand_path(args.root_key);
    const std::int64_t now = std::time(nullptr);
    auto batch = forge_store.begin(args.repo);
    if (!batch) return report_failure(args, batch.error().message);
    const TreeMetadata metadata = forge_store.metadata(args.repo);
    Result<void> done;
    if (action == "init") done = metadata.init(root_key, now);
    if (action == "rotate") {
        done = args.role.empty() ? failure("--role is needed")
                                 : metadata.rotate(args.role, root_key, now);
    }
    if (!done) return report_failure(args, done.error().message);
    if (action != "renew") {
        forge_store.audit(
            fmt::format("local\tcommand\tmetadata {} {} {}\tdone", action, args.repo, args.role));
    }
    if (forge_store.published(args.repo).empty()) {
        fmt::print(args.results, "'{}' is signed from its first publish on\n", args.repo);
        return 0;
    }
    const std::string tree = forge_store.published_folder() + "/" + args.repo;
    auto renewed = metadata.renew(tree, now);
    if (!renewed) return report_failure(args, renewed.error().message);
    fmt::print(args.results, "Signed {} of '{}'; clients start with {}/metadata/root.json\n",
               *renewed, args.repo, tree);
    return 0;
}

int bundle_command(ForgeStore& forge_store, const TrustArguments& args,
                   const std::vector<std::string>& words) {
    const std::string action = words.size() == 1 ? words[0] : "";
    if (action != "export" && action != "import") {
        return report_failure(
            args,
            args.usage_text(
                "usage: forge bundle export --repo ID --out FILE [--key FILE] [--without BUNDLE] | "
                "import --repo ID --in FILE (--key KEY | --unsigned) [--publish]"));
    }
    if (args.repo.empty()) return needed(args, "repo");
    if (action == "export") {
        if (args.out.empty()) return needed(args, "out");
        BundleExport options{
            .file = sys::expand_path(args.out), .without = args.without, .key = std::nullopt};
        if (!args.key.empty()) {
            auto key = signing_key(args.key);
            if (!key) return report_failure(args, key.error().message);
            options.key = std::move(*key);
        }
        auto done = export_bundle(forge_store, args.repo, options);
        if (!done) return report_failure(args, done.error().message);
        fmt::print(args.results, "{} release{} of '{}' in {}{}\n", *done, *done == 1 ? "" : "s",
                   args.repo, options.file, options.key ? "" : ", not signed");
        return 0;
    }
    if (args.in.empty()) return needed(args, "in");
    if (args.key.empty() == !args.unsigned_too) {
        return report_failure(
            args, "Specify --key KEY to require a signature with that key, or --unsigned");
    }
    std::optional<module::PublicKey> key;
    if (!args.key.empty()) {
        auto read = public_key(args.key);
        if (!read) return report_failure(args, read.error().message);
        key = std::move(*read);
    }
    auto done = import_bundle(forge_store, args.repo, sys::expand_path(args.in), key);
    if (!done) return report_failure(args, done.error().message);
    fmt::print(args.results, "Imported {} release{} into '{}', {} already present\n", done->stored,
               done->stored == 1 ? "" : "s", args.repo, done->present);
    return args.publish ? publish_now(forge_store, args) : 0;
}

}  // namespace bunraku::forge
