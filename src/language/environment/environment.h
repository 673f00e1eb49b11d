// One Puppet environment as a compile sees it: where manifests and modules are, and every file
// parsed once. Shared by all compiles and threads; what it says about the disk does not change
// while it lives.
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
    std::string forge_name;  ///< "author/name"; empty without metadata.json
    std::string version;
    std::vector<Dependency> dependencies;
    bool has_metadata = false;
};

/// A file that was read and parsed, with what Puppet's validation says of it.
struct ParsedFile {
    std::shared_ptr<const syntax::Tree> tree;  ///< null where `error` is set
    std::vector<base::Diagnostic> findings;    ///< warnings and errors of the validation, in order
    std::optional<base::PuppetError> error;    ///< the syntax error

    /// Logs the warnings; throws where the text has errors, with Puppet's text ("Language
    /// validation logged 2 errors. Giving up" where there are several, which are logged first).
    const syntax::Tree& check(base::LogSink& log) const;

    /// Of what a reader of Read::Names depends on: the definitions by name (and what makes them
    /// refused), the code outside of them, and all of a text with errors.
    std::string names_digest() const;
    /// Of one definition's text ("class a::b", "node /x/"); empty where it is not there.
    std::string definition_digest(std::string_view definition) const;
};

/// The name of a definition in Read::Definition: "class a::b", "define a::b", "node HOSTS",
/// "function a::b", "type A::B".
std::string definition_name(const syntax::Node& definition);

/// How an environment is found.
struct Spec {
    std::string name = "production";
    std::vector<std::string> environmentpath;  ///< folders of environment folders
    std::string directory;                     ///< its own folder; empty: found by name
    /// Other settings, for environment.conf, and `ruby_plugin_folders`: folders divided by colons.
    std::function<std::optional<std::string>(std::string_view)> setting;
    std::vector<std::string> modulepath;            ///< of the command line
    bool modulepath_given = false;                  ///< then environment.conf does not add to it
    std::vector<std::string> basemodulepath;        ///< behind the environment's own
    std::string manifest;                           ///< file or folder; empty: environment.conf's
    bool no_manifest = false;                       ///< there is no main manifest
    std::optional<std::string> code;                ///< the text of the main manifest instead
    std::string code_name;                          ///< what messages call `code`; usually empty
    std::string default_manifest = "./manifests";   ///< setting
    bool disable_per_environment_manifest = false;  ///< setting
    bool tasks = false;                             ///< setting
    std::shared_ptr<const Files> files;             ///< where files are read; null: the disk
    std::shared_ptr<ReadTable> reads;  ///< numbers of what is read; null: new, or the last state's
    syntax::ValidateOptions::Strict strict = syntax::ValidateOptions::Strict::Error;
};

/// See the top of the file.
class Environment {
public:
    /// Reads environment.conf and the module folders. The log gets what Puppet warns of. Parsed
    /// files of `previous`, an older state of the same environment, are taken over where their
    /// files did not change.
    static base::Result<std::shared_ptr<const Environment>> open(
        const Spec& spec, base::LogSink& log, const Environment* previous = nullptr);

    const std::string& name() const { return spec_.name; }
    const Spec& spec() const { return spec_; }
    /// The environment's own folder; empty where it has none.
    const std::string& directory() const { return directory_; }
    const std::vector<std::string>& modulepath() const { return modulepath_; }
    const std::string& manifest() const { return manifest_; }
    const std::string& config_version() const { return config_version_; }
    /// A setting of environment.conf as written.
    std::optional<std::string> conf(std::string_view setting) const;
    /// Why nothing can be compiled in it, in Puppet's words; empty: it can.
    std::string conflict() const;

    /// What is made from a file or folder is outdated when it changes: note it before it is read.
    /// A read of the compile at work.
    Stamp depends_on(const std::string& path) const;

    // The door by which compiles read: what they ask is noted.
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
    /// What opening the environment read: every compile depends on it.
    void note_opening() const { opening_.note(); }
    /// False once a file or folder changed that an answer was made from.
    bool unchanged() const { return fingerprints_.unchanged(); }
    /// The files and folders that anything was made from so far.
    std::vector<std::pair<std::string, Stamp>> noted() const { return fingerprints_.noted(); }
    /// Something kept along with the environment and dropped with it (caches of other rooms): made
    /// on first use. One of each type.
    template <class T>
    std::shared_ptr<T> attached(const std::function<std::shared_ptr<T>()>& make) const {
        std::lock_guard lock(attached_mutex_);
        auto& slot = attached_[std::type_index(typeid(T))];
        if (!slot) slot = make();
        return std::static_pointer_cast<T>(slot);
    }

    /// All of them: which there are is a read.
    const std::vector<Module>& modules() const;
    const Module* module(std::string_view name) const;
    /// The module in whose folder a file lies; null where it is none's.
    const Module* module_of_file(std::string_view path) const;

    /// The main manifest's files (or the code), parsed, in Puppet's order. An unreadable manifest
    /// is an error in Puppet's words.
    std::vector<std::shared_ptr<const ParsedFile>> main_manifests() const;

    /// The manifest files in which Puppet looks for a class or define, best first: (module, path).
    /// Only files that exist; that they do is noted by who parses them.
    std::vector<std::pair<const Module*, std::string>> manifest_candidates(
        std::string_view qualified_name) const;
    /// The file of a function ("a::b": modules/a/functions/b.pp) or of a data type
    /// (modules/a/types/b.pp); nullopt where there is none. One-segment names and "environment::x"
    /// belong to the environment.
    std::optional<std::string> function_file(std::string_view qualified_name) const;
    std::optional<std::string> type_file(std::string_view qualified_name) const;
    /// The Ruby file of a resource type in a module's lib folder; nullopt where there is none.
    std::optional<std::string> ruby_type_file(std::string_view type_name) const;
    /// A Ruby function (either API) of that name in a module's or the environment's lib folder.
    std::optional<std::string> ruby_function_file(std::string_view qualified_name) const;
    /// The same for one API: lib/puppet/functions, or (`legacy`) lib/puppet/parser/functions.
    std::optional<std::string> ruby_function_file(std::string_view qualified_name,
                                                  bool legacy) const;
    /// The Ruby file of a data type, lib/puppet/datatypes.
    std::optional<std::string> ruby_data_type_file(std::string_view qualified_name) const;

    /// Parses a file once and remembers it; null where it cannot be read.
    std::shared_ptr<const ParsedFile> parse_file(const std::string& path) const;
    /// The same of a manifest whose reader notes each definition that it uses
    /// (note_definition).
    std::shared_ptr<const ParsedFile> parse_manifest(const std::string& path) const;
    void note_definition(const syntax::Node& definition) const;
    /// The same for an EPP template.
    std::shared_ptr<const ParsedFile> parse_template(const std::string& path) const;
    /// Parses text that belongs to no file of the environment; not remembered.
    std::shared_ptr<const ParsedFile> parse_text(std::string file, std::string text,
                                                 bool epp = false) const;
    /// Names found by a light scan of a Ruby type's source: its name variable ("name" where it
    /// declares none).
    std::string ruby_type_namevar(const std::string& ruby_file) const;

private:
    Environment() = default;
    /// A file; that it is there is a read, unless `read_next` tells the same.
    bool exists(const std::string& path, bool read_next = false) const;
    /// Notes a file that opening reads; true where `previous` has read the same.
    bool opened_before(const std::string& path, const Environment* previous);
    std::optional<std::string> own_plugin(const std::string& name) const;
    const Module* find_module(std::string_view name) const;
    std::shared_ptr<const ParsedFile> parse_remembered(const std::string& path, bool epp) const;
    std::vector<std::shared_ptr<const ParsedFile>> read_manifests() const;

    Spec spec_;
    std::string directory_;
    std::vector<std::string> modulepath_;  // as configured, absolute
    std::vector<std::pair<std::string, std::string>> conf_;
    std::string manifest_;
    std::string config_version_;
    std::vector<Module> modules_;
    std::unordered_map<std::string_view, const Module*> by_name_;
    std::unordered_set<std::string>
        faulty_;  ///< paths of modules whose metadata.json cannot be read

    mutable std::shared_mutex mutex_;
    struct Kept {
        std::shared_ptr<const ParsedFile> file;
        Stamp stamp;
    };
    using ParsedFiles = std::unordered_map<std::string, Kept>;
    mutable ParsedFiles parsed_;
    ParsedFiles carried_;  // of the previous state
    // Of environment.conf and each module's metadata.json, as they were when they were read.
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

/// Letters, digits and underscores.
bool valid_environment_name(std::string_view name);

/// Reads a whole file of the machine; nullopt where it cannot be read. No compile reads so.
std::optional<std::string> read_file(const std::string& path);

}  // namespace bunraku::environment
