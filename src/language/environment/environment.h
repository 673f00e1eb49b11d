// SPDX-License-Identifier: Apache-2.0
// One Puppet environment as a compile sees it: the paths of manifests and modules, and every file,
// parsed once. All compiles and threads share it. Its view of the disk does not change during its
// lifetime.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/compatibility.h"
#include "language/environment/file_fingerprints.h"
#include "language/environment/files.h"
#include "language/environment/trace.h"
#include "language/syntax/parser.h"

namespace bunraku::environment {

/// A module of the modulepath.
struct Module {
    struct Dependency {
        std::string name;  ///< "author/name"
        std::string version_requirement;
    };
    std::string name;
    std::string path;
    std::string forge_name;  ///< "author/name"; empty if the module has no metadata.json.
    std::string version;
    std::vector<Dependency> dependencies;
    bool has_metadata = false;
};

/// A parsed file with the findings of Puppet's validation.
struct ParsedFile {
    std::shared_ptr<const syntax::Tree> tree;  ///< Null if `error` is set.
    std::vector<base::Diagnostic> findings;    ///< Warnings and errors of the validation, in order.
    std::optional<base::PuppetError> error;    ///< The syntax error.

    /// Logs the warnings, and throws Puppet's error if the text has errors. Several errors are
    /// logged first and then reported as "Language validation logged 2 errors. Giving up".
    const syntax::Tree& check(base::LogSink& log) const;

    /// Returns a digest of everything that Read::Names covers: the names of the definitions, the
    /// properties that make a definition invalid, and the code outside of definitions. If the text
    /// has errors, the digest covers the whole text.
    std::string names_digest() const;
    /// Returns a digest of the text of one definition ("class a::b", "node /x/"). Empty if the file
    /// does not contain the definition.
    std::string definition_digest(std::string_view definition) const;
};

/// Returns the name of a definition as used in Read::Definition: "class a::b", "define a::b", "node
/// HOSTS", "function a::b" or "type A::B".
std::string definition_name(const syntax::Node& definition);

/// Options for opening an environment.
struct Spec {
    std::string name = "production";
    std::vector<std::string> environmentpath;  ///< Folders that contain environments.
    /// The environment's folder; if empty, it is searched by name in `environmentpath`.
    std::string directory;
    /// Returns the value of another setting, for use in environment.conf. Also returns
    /// `ruby_plugin_folders`, a list of folders separated by colons.
    std::function<std::optional<std::string>(std::string_view)> setting;
    std::vector<std::string> modulepath;  ///< From the command line.
    /// If true, environment.conf does not add to `modulepath`.
    bool modulepath_given = false;
    /// Searched after the environment's own module path.
    std::vector<std::string> basemodulepath;
    /// File or folder; if empty, the manifest of environment.conf is used.
    std::string manifest;
    bool no_manifest = false;                       ///< True if there is no main manifest.
    std::optional<std::string> code;                ///< Text that replaces the main manifest.
    std::string code_name;                          ///< Name of `code` in messages; usually empty.
    std::string default_manifest = "./manifests";   ///< setting
    bool disable_per_environment_manifest = false;  ///< setting
    bool tasks = false;                             ///< setting
    std::shared_ptr<const Files> files;             ///< Source of the files; null means the disk.
    /// Ids of reads. If null, the table of the previous state is used, or a new one.
    std::shared_ptr<ReadTable> reads;
    syntax::ValidateOptions::Strict strict = syntax::ValidateOptions::Strict::Error;
    config::Compatibility level = config::kDefaultLevel;  ///< setting
    bool level_fixed = false;  ///< true if environment.conf cannot set another level
};

/// One environment, shared by all compiles and threads.
class Environment {
public:
    /// Reads environment.conf and the module folders. Logs the warnings that Puppet logs. Reuses
    /// parsed files of `previous`, an older state of the same environment, if they did not change.
    static base::Result<std::shared_ptr<const Environment>> open(
        const Spec& spec, base::LogSink& log, const Environment* previous = nullptr);

    const std::string& name() const { return spec_.name; }
    const Spec& spec() const { return spec_; }
    /// Returns the environment's own folder; empty if it has none.
    const std::string& directory() const { return directory_; }
    const std::vector<std::string>& modulepath() const { return modulepath_; }
    const std::string& manifest() const { return manifest_; }
    const std::string& config_version() const { return config_version_; }
    /// Returns a setting of environment.conf as written.
    std::optional<std::string> conf(std::string_view setting) const;
    /// Returns the compatibility level of compiles.
    config::Compatibility level() const;
    /// Returns Puppet's error text if the environment cannot compile; otherwise empty.
    std::string conflict() const;

    /// Makes results of this environment depend on a file or folder, and records the read for the
    /// current compile. Must be called before the path is read.
    Stamp depends_on(const std::string& path) const;

    // The interface through which compiles read. Every read is recorded.
    const Files& files() const { return *spec_.files; }
    const std::shared_ptr<ReadTable>& reads() const { return spec_.reads; }
    void note(Read kind, std::string_view name, std::string_view detail = {}) const {
        DependencyRecorder::note(spec_.reads->id(kind, name, detail));
    }
    base::Result<std::string> read(const std::string& path) const;
    Stamp stat(const std::string& path) const;
    std::vector<std::string> list(const std::string& path) const;
    std::vector<std::string> glob(const std::string& pattern) const;
    std::optional<std::string> variable(const std::string& name) const;
    /// Records the reads of opening the environment. Every compile depends on them.
    void note_opening() const { opening_.note(); }
    /// Returns false if a file or folder changed after something was made from it.
    bool unchanged() const { return fingerprints_.unchanged(); }
    /// Returns the files and folders that anything was made from so far.
    std::vector<std::pair<std::string, Stamp>> noted() const { return fingerprints_.noted(); }
    /// Returns an object that lives as long as the environment, such as a cache of another module.
    /// Creates it on first use. There is one object of each type.
    template <class T>
    std::shared_ptr<T> attached(const std::function<std::shared_ptr<T>()>& make) const {
        std::lock_guard lock(attached_mutex_);
        auto& slot = attached_[std::type_index(typeid(T))];
        if (!slot) slot = make();
        return std::static_pointer_cast<T>(slot);
    }

    /// Returns all modules. The list of modules counts as a read.
    const std::vector<Module>& modules() const;
    const Module* module(std::string_view name) const;
    /// Returns the module whose folder contains the file; null if there is none.
    const Module* module_of_file(std::string_view path) const;

    /// Returns the files of the main manifest (or the code), parsed, in Puppet's order. Throws
    /// Puppet's error if a manifest is unreadable.
    std::vector<std::shared_ptr<const ParsedFile>> main_manifests() const;

    /// Returns the existing manifest files in which Puppet looks for a class or define, best first:
    /// (module, path). Does not record reads of their existence; parsing a file records its read.
    std::vector<std::pair<const Module*, std::string>> manifest_candidates(
        std::string_view qualified_name) const;
    /// Returns the file of a function ("a::b": modules/a/functions/b.pp) or of a data type
    /// (modules/a/types/b.pp). Returns nullopt if there is none. One-segment names and
    /// "environment::x" belong to the environment.
    std::optional<std::string> function_file(std::string_view qualified_name) const;
    std::optional<std::string> type_file(std::string_view qualified_name) const;
    /// Returns the Ruby file of a resource type in a module's lib folder; nullopt if there is none.
    std::optional<std::string> ruby_type_file(std::string_view type_name) const;
    /// Returns the file of a Ruby function (of either API) in the lib folder of a module or of the
    /// environment.
    std::optional<std::string> ruby_function_file(std::string_view qualified_name) const;
    /// Returns the file of a Ruby function of one API: lib/puppet/functions, or
    /// lib/puppet/parser/functions if `legacy`.
    std::optional<std::string> ruby_function_file(std::string_view qualified_name,
                                                  bool legacy) const;
    /// Returns the Ruby file of a data type, in lib/puppet/datatypes.
    std::optional<std::string> ruby_data_type_file(std::string_view qualified_name) const;

    /// Parses a file once and caches the result. Returns null if the file cannot be read.
    std::shared_ptr<const ParsedFile> parse_file(const std::string& path) const;
    /// Like parse_file, for a manifest whose caller records each definition that it uses
    /// (note_definition).
    std::shared_ptr<const ParsedFile> parse_manifest(const std::string& path) const;
    void note_definition(const syntax::Node& definition) const;
    /// Like parse_file, for an EPP template.
    std::shared_ptr<const ParsedFile> parse_template(const std::string& path) const;
    /// Parses text that belongs to no file of the environment. The result is not cached.
    std::shared_ptr<const ParsedFile> parse_text(std::string file, std::string text,
                                                 bool epp = false) const;
    /// Returns the name variable of a Ruby type, found by a simple scan of its source; "name" if
    /// the source declares none.
    std::string ruby_type_namevar(const std::string& ruby_file) const;

private:
    class Opening;

    Environment() = default;
    /// Reports whether a file exists. Records this as a read, unless `read_next` promises that the
    /// file is read next anyway.
    bool exists(const std::string& path, bool read_next = false) const;
    /// Records a file that is read to open the environment. Returns true if `previous` has read the
    /// same content.
    bool reuse_opened(const std::string& path, const Environment* previous);
    std::optional<std::string> own_plugin(const std::string& name) const;
    const Module* find_module(std::string_view name) const;
    std::shared_ptr<const ParsedFile> parse_remembered(const std::string& path, bool epp) const;
    std::vector<std::shared_ptr<const ParsedFile>> read_manifests() const;

    Spec spec_;
    std::string directory_;
    std::vector<std::string> modulepath_;  // As configured, absolute.
    std::vector<std::pair<std::string, std::string>> conf_;
    std::string manifest_;
    std::string config_version_;
    std::vector<Module> modules_;
    std::unordered_map<std::string_view, const Module*> by_name_;
    std::unordered_set<std::string>
        faulty_;  ///< Paths of modules whose metadata.json cannot be read.

    mutable std::shared_mutex mutex_;
    struct CachedFile {
        std::shared_ptr<const ParsedFile> file;
        Stamp stamp;
    };
    using ParsedFiles = std::unordered_map<std::string, CachedFile>;
    mutable ParsedFiles parsed_;
    ParsedFiles carried_;  // From the previous state.
    // Stamps of environment.conf and of each module's metadata.json at the time of reading.
    std::unordered_map<std::string, Stamp> opened_with_;
    struct Found {
        bool there = false;
        ReadId read = 0;
    };
    mutable std::unordered_map<std::string, Found> exists_;
    mutable std::unordered_map<std::string, DependencyRecorder> module_reads_;
    mutable DependencyRecorder modules_read_;
    DependencyRecorder opening_;
    mutable std::optional<std::vector<std::shared_ptr<const ParsedFile>>> main_;
    mutable DependencyRecorder main_reads_;
    mutable std::unordered_map<std::string, std::string> namevars_;
    mutable FileFingerprints fingerprints_;
    mutable std::mutex attached_mutex_;
    mutable std::map<std::type_index, std::shared_ptr<void>> attached_;
};

/// Accepts letters, digits and underscores.
bool valid_environment_name(std::string_view name);
/// Accepts lower-case letters, digits and underscores; the first character must be a letter.
bool valid_module_name(std::string_view name);

/// Reads a whole file of the machine; returns nullopt if it cannot be read. Compiles do not use
/// this function, because it records no read.
std::optional<std::string> read_file(const std::string& path);

}  // namespace bunraku::environment
