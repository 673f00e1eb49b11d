// The library of Augeas, opened when the first resource needs it (docs/design/0070, 0210).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace bunraku::apply {

/// Whether the library is there; else why not. Asked anew while it is missing: the run may install
/// it.
base::Result<void> load_libaugeas();

/// A tree of configuration files, open until it is destroyed. Texts with a null byte throw
/// base::PuppetError.
class AugeasTree {
public:
    /// The library's own numbers.
    enum Flag : unsigned { kTypeCheck = 4, kNoLoad = 32, kNoModuleAutoload = 64 };

    /// Throws base::PuppetError where it cannot be opened.
    AugeasTree(const std::string& root, const std::string& load_path, unsigned flags);
    ~AugeasTree();
    AugeasTree(const AugeasTree&) = delete;
    AugeasTree& operator=(const AugeasTree&) = delete;

    /// nullopt: no such node, several, or one without a value.
    std::optional<std::string> get(const std::string& path) const;
    /// The paths of the nodes; throws where `path` is no path.
    std::vector<std::string> match(const std::string& path) const;
    // The rest is false where the library says that it failed.
    bool set(const std::string& path, const std::optional<std::string>& value);
    bool set_all(const std::string& base, const std::string& sub,
                 const std::optional<std::string>& value);
    bool remove(const std::string& path);
    bool insert(const std::string& path, const std::string& label, bool before);
    bool move(const std::string& from, const std::string& to);
    bool rename(const std::string& path, const std::string& label);
    bool define(const std::string& name, const std::string& path);
    bool define_node(const std::string& name, const std::string& path, const std::string& value);
    bool load();
    bool save();

private:
    struct Handle;
    Handle* handle_;
};

}  // namespace bunraku::apply
