// SPDX-License-Identifier: Apache-2.0
// The folders that the editor has open: their files, the documents with unsaved text, and the index
// of both.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "language/environment/files.h"
#include "services/lsp/document.h"
#include "services/lsp/recovery.h"
#include "services/lsp/symbol_index.h"

namespace bunraku::lsp {

/// The text of a file with the starts of its lines.
struct FileText {
    std::string text;
    LineIndex lines;
};

/// An open document with its analysis.
struct OpenFile {
    Document document;
    std::string language;  ///< as the editor names it, for documents whose name tells no kind
    FileKind kind{};
    /// The tree of a manifest or EPP template; the tree is null for other kinds.
    RecoveredTree parsed;
};

/// A module folder.
struct ModuleFolder {
    std::string name;
    std::string path;
};

class Workspace {
public:
    /// `files` is the disk, or a fake in tests.
    explicit Workspace(std::shared_ptr<const environment::Files> files)
        : files_(std::move(files)) {}

    /// Files above this size are not indexed.
    static constexpr std::size_t kMaxIndexedFile = std::size_t{4} << 20;
    static constexpr std::size_t kMaxFiles = 200'000;

    void add_root(const std::string& path);
    void remove_root(const std::string& path);
    const std::vector<std::string>& roots() const { return roots_; }
    /// Adds folders of modules outside of the roots.
    void add_modulepath(const std::string& path);
    /// Reads all files of the roots.
    void load();

    // Documents. Each function returns true if definitions changed.
    bool open(Document document, std::string language);
    /// Analyses the document again after its text changed.
    bool update(OpenFile& file);
    bool close(const std::string& path);
    OpenFile* find_open(const std::string& path);
    const std::map<std::string, OpenFile>& open_files() const { return open_; }
    std::map<std::string, OpenFile>& open_files() { return open_; }

    /// Reads a file from the disk again, or forgets it if it is gone. Open documents keep their
    /// text. Returns true if definitions changed.
    bool refresh(const std::string& path);

    const SymbolIndex& index() const { return index_; }
    Group group_of(const std::string& path) const;
    FileKind kind_of(const std::string& path) const;
    /// Folders with data of Hiera.
    const std::set<std::string>& data_folders() const { return data_folders_; }
    const std::vector<ModuleFolder>& modules() const { return modules_; }
    bool has_module(std::string_view name) const;
    /// Returns the module in this folder; null if there is none.
    const ModuleFolder* module_at(std::string_view folder) const;
    /// Returns the path of a template or file of a module: ("ntp", "templates", "ntp.conf.epp").
    std::optional<std::string> module_file(std::string_view module, std::string_view folder,
                                           std::string_view rest, Group group) const;
    const environment::Files& files() const { return *files_; }
    const std::shared_ptr<const environment::Files>& shared_files() const { return files_; }
    /// Returns the folder of the environment that contains the file: a folder below "environments"
    /// of a root, or the root itself. Empty for files outside of the roots.
    std::string environment_of(const std::string& path) const;
    /// Returns the folder of the environment in which to look values up for a file: its own one, or
    /// "production" for a module that several environments share.
    std::string lookup_environment(const std::string& path) const;

    /// Returns the text of an open document or of a file; null if it cannot be read.
    std::shared_ptr<const FileText> text_of(const std::string& path) const;

private:
    /// Reports whether load() reads the files of a folder.
    bool reads_folder(std::string_view folder) const;
    void scan(const std::string& folder, int depth);
    void scan_file(const std::string& path);
    /// Reports whether a path is a link to a file that has its own path in the workspace. Its
    /// definitions count once, and a rename must not change it twice.
    bool is_alias(const std::string& path) const;
    /// Reads a folder again whose files may have changed.
    bool refresh_folder(const std::string& folder);
    /// Forgets the files below a folder, except for open documents. Returns true if definitions
    /// changed.
    bool forget_below(const std::string& folder);
    void read_pending_data();
    void read_hiera_config(const std::string& path);
    void read_environment_conf(const std::string& path);
    void note_module(const std::string& folder, const std::vector<std::string>& names);
    void note_new_module(const std::string& path);
    bool index_text(const std::string& path, FileKind kind, std::string_view text);

    std::shared_ptr<const environment::Files> files_;
    std::vector<std::string> roots_, libraries_;
    std::vector<std::string> environments_;  ///< Group n + 1 is that of environments_[n].
    std::set<std::string> data_folders_;
    std::vector<ModuleFolder> modules_;
    std::vector<std::string> pending_data_;  ///< YAML files, until all hiera.yaml are known
    SymbolIndex index_;
    std::map<std::string, OpenFile> open_;
    std::size_t scanned_ = 0;
};

/// Reports whether `path` is `folder` or lies below it.
bool is_below(std::string_view path, std::string_view folder);

}  // namespace bunraku::lsp
