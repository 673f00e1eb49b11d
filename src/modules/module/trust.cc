// SPDX-License-Identifier: Apache-2.0
#include "modules/module/trust.h"

#include <cerrno>
#include <ctime>
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "net/http/message.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;

std::string bare_address(std::string_view url) {
    http::ClientOptions ignored;
    std::string out = take_credentials(std::string(url), ignored);
    while (out.ends_with('/')) out.pop_back();
    return out;
}

}  // namespace

std::string metadata_address(std::string_view forge) {
    constexpr std::string_view kForm = "/pulp_puppet/forge/repository/";
    const std::string url = bare_address(forge);
    if (const std::size_t at = url.find(kForm); at != std::string::npos) {
        return url.substr(0, at) + "/pulp/puppet/" + url.substr(at + kForm.size()) + "/metadata";
    }
    const bool tree = url.starts_with("file://") || url.starts_with('/') ||
                      url.find("/pulp/puppet/") != std::string::npos;
    return tree ? url + "/metadata" : std::string();
}

Result<std::unique_ptr<TufClient>> tuf_client_of(const std::string& address,
                                                 const std::string& root_file,
                                                 const std::string& state,
                                                 const FeedOptions& access) {
    TufClient::Options options;
    options.root = BUNRAKU_TRY(sys::disk().read(root_file));
    std::string base = bare_address(address);
    if (base.starts_with('/')) base = "file://" + http::percent_encode(base, "/");
    options.state = state + "/" + codec::short_digest(base + "\n" + options.root);
    options.now = [] { return static_cast<std::int64_t>(std::time(nullptr)); };
    options.fetch = [fetcher = std::make_shared<Fetcher>(access), base](const std::string& name,
                                                                        std::uint64_t limit) {
        return fetcher->get(base + "/" + name, limit);
    };
    return std::make_unique<TufClient>(std::move(options));
}

std::shared_ptr<ForgeTrust> ForgeTrust::read(const std::string& path, const std::string& state) {
    auto text = sys::disk().read(path);
    if (!text && text.error().code == ENOENT) return nullptr;
    auto out = std::make_shared<ForgeTrust>();
    out->path_ = path;
    out->state_ = state;
    const Result<void> parsed = text ? out->parse(*text) : std::unexpected(text.error());
    if (!parsed) out->broken_ = parsed.error().message;
    return out;
}

Result<void> ForgeTrust::parse(std::string_view text) {
    int number = 0;
    const auto wrong = [&](std::string_view what) {
        return failure(fmt::format("{}: line {}: {}", path_, number, what));
    };
    for (std::string_view row : base::split(text, '\n')) {
        ++number;
        const auto words = base::words(row, " \t\r");
        if (words.empty() || words[0].starts_with('#')) continue;
        if (words[0] == "forge" && words.size() == 2) {
            sections_.push_back({});
            sections_.back().forge = words[1] == "*" ? "*" : bare_address(words[1]);
            continue;
        }
        if (sections_.empty()) return wrong("a line 'forge ADDRESS' or 'forge *' must come first");
        Section& s = sections_.back();
        if (words[0] == "root" && (words.size() == 2 || words.size() == 3)) {
            if (s.forge == "*") return wrong("one root is not that of all forges");
            if (!s.root.empty()) return wrong("there are two roots for one forge");
            s.root = words[1];
            s.address = words.size() == 3 ? std::string(words[2]) : metadata_address(s.forge);
            if (s.address.empty()) {
                return wrong("the address of the metadata must follow the file of the root");
            }
        } else if (!s.rules.read_line(row)) {
            return wrong(fmt::format("'{}' is not understood", base::trim(row).substr(0, 80)));
        }
    }
    return {};
}

std::vector<const ForgeTrust::Section*> ForgeTrust::sections_of(std::string_view forge) const {
    const std::string address = bare_address(forge);
    std::vector<const Section*> out;
    for (const Section& s : sections_) {
        if (s.forge == "*" || s.forge == address) out.push_back(&s);
    }
    return out;
}

Result<TufClient*> ForgeTrust::metadata(const Section& section, const FeedOptions& access) {
    std::unique_lock held(mutex_);
    auto known = known_.find(section.forge);
    if (known == known_.end()) {
        Known fresh;
        auto client = tuf_client_of(section.address, section.root, state_, access);
        if (client) {
            fresh.outcome = (*client)->refresh();
            fresh.client = std::move(*client);
        } else {
            fresh.outcome = std::unexpected(client.error());
        }
        known = known_.emplace(section.forge, std::move(fresh)).first;
    }
    if (!known->second.outcome) return std::unexpected(known->second.outcome.error());
    return known->second.client.get();
}

Result<void> ForgeTrust::check(const std::string& forge, const FeedOptions& access,
                               const ReleaseName& release, std::string_view bytes) {
    const auto refused = [&](const std::string& why) {
        return failure(fmt::format("{} is not taken from {}: {}", release.slug(),
                                   shown_url(bare_address(forge)), why));
    };
    if (!broken_.empty()) return refused(broken_);
    FeedOptions own = access;
    std::string base = take_credentials(forge, own.client);
    while (base.ends_with('/')) base.pop_back();
    own.home = base;
    SignatureRules rules;
    for (const Section* s : sections_of(forge)) {
        if (!s->root.empty()) {
            auto known = metadata(*s, own);
            if (!known) return refused(known.error().message);
            auto good = (*known)->check(release_path(release.module.author, release.slug()), bytes);
            if (!good) return refused(good.error().message);
        }
        rules.signers.insert(rules.signers.end(), s->rules.signers.begin(), s->rules.signers.end());
        rules.required.insert(rules.required.end(), s->rules.required.begin(),
                              s->rules.required.end());
    }
    if (!rules.concerns(release.module)) return {};
    Fetcher fetcher(own);
    auto signature =
        fetcher.get(fmt::format("{}/v3/files/{}.tar.gz{}", base, release.slug(), kSignatureSuffix),
                    kMaxSignature);
    if (!signature && signature.error().code != 404 && signature.error().code != 400) {
        return refused(signature.error().message);
    }
    if (auto good = rules.check(release, bytes, signature ? *signature : std::string()); !good) {
        return refused(good.error().message);
    }
    return {};
}

}  // namespace bunraku::module
