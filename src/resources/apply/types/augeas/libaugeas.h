// SPDX-License-Identifier: Apache-2.0
// The Augeas library, loaded when the first resource needs it (docs/design/0070, 0210).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace bunraku::apply {

/// Loads the library, or returns the reason why that is not possible. Tries again at each call
/// until it succeeds, because the run may install the library.
base::Result<void> load_libaugeas();

/// A tree of configuration files, which is closed when the object is destroyed. Strings that
/// contain a NUL byte throw base::PuppetError.
class AugeasTree {
public:
    /// Values from the library's header.
    enum Flag : unsigned { kTypeCheck = 4, kNoLoad = 32, kNoModuleAutoload = 64 };

    /// Throws base::PuppetError if the tree cannot be opened.
    AugeasTree(const std::string& root, const std::string& load_path, unsigned flags);
    ~AugeasTree();
    AugeasTree(const AugeasTree&) = delete;
    AugeasTree& operator=(const AugeasTree&) = delete;

    /// Returns nullopt if there is no such node, if there are several, or if the node has no value.
    std::optional<std::string> get(const std::string& path) const;
    /// Returns the paths of the matching nodes. Throws if `path` is not a valid path expression.
    std::vector<std::string> match(const std::string& path) const;
    // The following functions return false if the library reports a failure.
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
