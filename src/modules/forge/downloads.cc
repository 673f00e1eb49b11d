// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/downloads.h"

#include <fmt/format.h>
#include <vector>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/text.h"

namespace bunraku::forge {

namespace {

using CountsOf = std::unordered_map<std::string, std::uint64_t>;

CountsOf parse_counts(std::string_view text) {
    CountsOf out;
    for (std::string_view row : base::split(text, '\n')) {
        const std::size_t tab = row.find('\t');
        if (tab == std::string_view::npos) continue;
        const auto count = base::parse_integer<std::uint64_t>(row.substr(tab + 1));
        if (count) out[std::string(row.substr(0, tab))] += *count;
    }
    return out;
}

std::string module_of(std::string_view slug) {
    const auto name = module::parse_release_name(slug);
    return name ? name->module.slug() : std::string();
}

}  // namespace

DownloadCounts::~DownloadCounts() {
    {
        std::unique_lock held(mutex_);
        ending_ = true;
    }
    ended_.notify_all();
    if (writer_.joinable()) writer_.join();
    flush();
}

DownloadCounts::Counts& DownloadCounts::counts(std::string_view repository) {
    if (auto found = all_.find(repository); found != all_.end()) return found->second;
    Counts& out = all_[std::string(repository)];
    out.releases = parse_counts(forge_store_.downloads(repository));
    for (const auto& [slug, n] : out.releases) out.modules[module_of(slug)] += n;
    return out;
}

void DownloadCounts::count(std::string_view repository, std::string_view slug) {
    std::unique_lock held(mutex_);
    Counts& c = counts(repository);
    ++c.releases[std::string(slug)];
    ++c.modules[module_of(slug)];
    ++c.fresh[std::string(slug)];
    if (!writer_.joinable() && !ending_) writer_ = std::thread([this] { run(); });
}

std::uint64_t DownloadCounts::of_release(std::string_view repository, std::string_view slug) {
    std::unique_lock held(mutex_);
    const Counts& c = counts(repository);
    const auto found = c.releases.find(std::string(slug));
    return found == c.releases.end() ? 0 : found->second;
}

std::uint64_t DownloadCounts::of_module(std::string_view repository, std::string_view module) {
    std::unique_lock held(mutex_);
    const Counts& c = counts(repository);
    const auto found = c.modules.find(std::string(module));
    return found == c.modules.end() ? 0 : found->second;
}

void DownloadCounts::run() {
    std::unique_lock held(mutex_);
    while (!ending_) {
        ended_.wait_for(held, pause_, [&] { return ending_; });
        held.unlock();
        flush();
        held.lock();
    }
}

void DownloadCounts::flush() {
    std::vector<std::pair<std::string, CountsOf>> todo;
    {
        std::unique_lock held(mutex_);
        for (auto& [repository, c] : all_) {
            BUNRAKU_ASSERT(c.fresh.size() <= c.releases.size());
            if (c.fresh.empty()) continue;
            todo.emplace_back(repository, std::move(c.fresh));
            c.fresh.clear();
        }
    }
    for (const auto& [repository, fresh] : todo) {
        // Other processes may have counted too; the file holds the sum of all counts.
        const auto written =
            forge_store_.change_downloads(repository, [&](const std::string& before) {
                CountsOf all = parse_counts(before);
                for (const auto& [slug, n] : fresh) all[slug] += n;
                std::map<std::string_view, std::uint64_t> sorted(all.begin(), all.end());
                std::string text;
                for (const auto& [slug, n] : sorted) text += fmt::format("{}\t{}\n", slug, n);
                return text;
            });
        if (!written) {  // the repository has been deleted
            std::unique_lock held(mutex_);
            all_.erase(repository);
            continue;
        }
        Counts now;
        now.releases = parse_counts(*written);
        for (const auto& [slug, n] : now.releases) now.modules[module_of(slug)] += n;
        std::unique_lock held(mutex_);
        Counts& c = all_[repository];
        for (const auto& [slug, n] : c.fresh) {
            now.releases[slug] += n;
            now.modules[module_of(slug)] += n;
        }
        c.releases = std::move(now.releases);
        c.modules = std::move(now.modules);
    }
}

}  // namespace bunraku::forge
