// SPDX-License-Identifier: Apache-2.0
// Parameter types that depend only on the state of an environment. They are made once and shared by
// all compiles on all threads. Not shared: types that name something only one compile knows (a Ruby
// type, a type of a manifest, a resource type), and types resolved during use. Each compile makes
// those for itself.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/arena.h"
#include "core/base/symbol.h"
#include "language/environment/environment.h"
#include "language/syntax/ast.h"
#include "language/types/mismatch.h"
#include "language/types/type.h"

namespace bunraku::compiler {

/// The parameters of a definition, with their types. Immutable after finish().
struct ParameterTable {
    std::vector<types::NamedParameter> checks;
    std::vector<base::Symbol> symbols;

    /// Returns the index of a parameter, or -1 if there is none of that name.
    int find(std::string_view name) const;
    void add(const syntax::Parameter& parameter, const types::Type* type);
    /// Completes the table after the last add().
    void finish();

private:
    /// From this number of parameters on, find() uses an index instead of a linear search.
    static constexpr std::size_t kMany = 12;
    std::unordered_map<std::string_view, int> index_;
};

class SharedTypes {
public:
    /// Returns the shared types of an environment's state. The result may outlive the environment.
    static std::shared_ptr<SharedTypes> of(const environment::Environment& environment);

    struct Answer {
        environment::DependencyRecorder reads;  ///< recorded by each compile that uses the answer
        /// down-cased aliases that the answer depends on; they must mean the same in that compile
        std::vector<std::string> names;
    };
    struct Parameters : Answer {
        ParameterTable table;
        const types::Type* returns = nullptr;  ///< declared return type of a function, or null
    };
    struct Alias : Answer {
        const types::Type* type = nullptr;
        bool done = false;  ///< False while another thread makes it.
    };
    /// Returns the parameters of a definition in a file of the environment, and the return type
    /// after `>>` (may be null). Returns null if the compile must make them itself.
    const Parameters* parameters(const syntax::Node& definition, syntax::ParameterList list,
                                 const syntax::Node* returns,
                                 const std::shared_ptr<const environment::ParsedFile>& file);
    /// Returns the alias of a down-cased name in the folder `types` of a module or the environment.
    /// Returns null if there is none, or if the compile must make it itself.
    const Alias* alias(std::string_view key);

private:
    class Maker;
    explicit SharedTypes(const environment::Environment& environment)
        : environment_(&environment) {}

    const environment::Environment* environment_;
    std::mutex making_;        ///< serializes making types; guards arena_ and files_
    std::shared_mutex mutex_;  ///< guards the tables
    base::Arena arena_;
    /// owns the trees that types point into
    std::vector<std::shared_ptr<const environment::ParsedFile>> files_;
    std::unordered_map<const syntax::Node*, std::unique_ptr<Parameters>> parameters_;
    std::unordered_map<std::string, std::unique_ptr<Alias>> aliases_;
};

}  // namespace bunraku::compiler
