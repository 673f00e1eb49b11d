// SPDX-License-Identifier: Apache-2.0
#include "language/environment/overlaid_files.h"

#include <algorithm>
#include <set>

namespace bunraku::environment {

namespace {

bool is_below(std::string_view path, std::string_view folder) {
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

class MappedFiles final : public Files {
public:
    MappedFiles(std::shared_ptr<const Files> files, std::string known, std::string place)
        : files_(std::move(files)), moved_{std::move(known), std::move(place)} {}

    base::Result<std::string> read(const std::string& path) const override {
        auto out = files_->read(there(path));
        if (!out)
            return std::unexpected(
                base::Error{moved_.named(out.error().message), out.error().code});
        return out;
    }
    Stamp stat(const std::string& path) const override { return files_->stat(there(path)); }
    bool is_real_folder(const std::string& path) const override {
        return files_->is_real_folder(there(path));
    }
    std::vector<std::string> list(const std::string& path) const override {
        return files_->list(there(path));
    }
    std::optional<std::string> link(const std::string& path) const override {
        auto out = files_->link(there(path));
        if (out && is_below(*out, moved_.place))
            out = moved_.known + out->substr(moved_.place.size());
        return out;
    }
    std::vector<std::string> glob(const std::string& pattern) const override {
        auto out = files_->glob(moved_.placed(pattern));
        for (auto& path : out)
            if (is_below(path, moved_.place))
                path = moved_.known + path.substr(moved_.place.size());
        std::ranges::sort(out);
        return out;
    }
    std::optional<std::string> variable(const std::string& name) const override {
        return files_->variable(name);
    }
    const base::PathMapping* moved() const override { return &moved_; }
    std::optional<std::uint64_t> moment() const override { return files_->moment(); }
    std::string version() const override { return files_->version(); }

private:
    std::string there(const std::string& path) const {
        return is_below(path, moved_.known) ? moved_.place + path.substr(moved_.known.size())
                                            : path;
    }
    const std::shared_ptr<const Files> files_;
    const base::PathMapping moved_;
};

class OverlaidFiles final : public Files {
public:
    OverlaidFiles(std::shared_ptr<const Files> files, std::shared_ptr<const Files> others,
                  FileOverlay exchanged)
        : files_(std::move(files)), others_(std::move(others)), exchanged_(std::move(exchanged)) {}

    base::Result<std::string> read(const std::string& path) const override {
        if (const auto* text = text_of(path)) return *text;
        return of(path).read(path);
    }
    Stamp stat(const std::string& path) const override {
        if (const auto* text = text_of(path)) {
            Stamp out;
            out.exists = true;
            out.size = text->size();
            out.inode = std::hash<std::string>{}(*text);
            return out;
        }
        return of(path).stat(path);
    }
    bool is_real_folder(const std::string& path) const override {
        return !text_of(path) && of(path).is_real_folder(path);
    }
    std::vector<std::string> list(const std::string& path) const override {
        if (exchanged(path)) return others_->list(path);
        const auto own = files_->list(path);
        std::set<std::string> names(own.begin(), own.end());
        const std::string folder = path.ends_with('/') ? path : path + "/";
        auto look = [&](const std::string& p, bool there) {
            if (!p.starts_with(folder)) return;
            const auto rest = p.substr(folder.size());
            const auto name = rest.substr(0, rest.find('/'));
            if (there) {
                names.insert(name);
            } else if (name == rest) {
                names.erase(name);
            }
        };
        for (const auto& p : exchanged_.paths) look(p, others_->stat(p).exists);
        for (const auto& [p, text] : exchanged_.texts) look(p, true);
        return {names.begin(), names.end()};
    }
    std::optional<std::string> link(const std::string& path) const override {
        return text_of(path) ? std::nullopt : of(path).link(path);
    }
    std::vector<std::string> glob(const std::string& pattern) const override {
        std::set<std::string> out;
        for (auto& path : files_->glob(pattern))
            if (!exchanged(path)) out.insert(std::move(path));
        for (auto& path : others_->glob(pattern))
            if (exchanged(path) || text_of(path)) out.insert(std::move(path));
        return {out.begin(), out.end()};
    }
    std::optional<std::string> variable(const std::string& name) const override {
        return files_->variable(name);
    }
    const base::PathMapping* moved() const override { return files_->moved(); }

private:
    const std::string* text_of(const std::string& path) const {
        const auto it = exchanged_.texts.find(path);
        return it == exchanged_.texts.end() ? nullptr : &it->second;
    }
    bool exchanged(const std::string& path) const {
        return std::ranges::any_of(exchanged_.paths,
                                   [&](const auto& p) { return is_below(path, p); });
    }
    /// Returns the files that answer for a path. A parent folder that exists only in `others_` is
    /// read from there, too.
    const Files& of(const std::string& path) const {
        if (exchanged(path)) return *others_;
        const bool above =
            std::ranges::any_of(exchanged_.paths, [&](const auto& p) { return is_below(p, path); });
        return above && !files_->stat(path).exists ? *others_ : *files_;
    }

    const std::shared_ptr<const Files> files_, others_;
    const FileOverlay exchanged_;
};

}  // namespace

std::shared_ptr<const Files> mapped_files(std::shared_ptr<const Files> files, std::string known,
                                          std::string place) {
    return std::make_shared<MappedFiles>(std::move(files), std::move(known), std::move(place));
}

std::shared_ptr<const Files> overlaid_files(std::shared_ptr<const Files> files,
                                            std::shared_ptr<const Files> others,
                                            FileOverlay exchanged) {
    return std::make_shared<OverlaidFiles>(std::move(files), std::move(others),
                                           std::move(exchanged));
}

}  // namespace bunraku::environment
