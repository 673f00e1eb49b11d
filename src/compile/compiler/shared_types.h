// The types of parameters, as far as they depend on nothing but the state of an environment: made
// once for it, shared by all of its compiles on all threads. What names a type that only a compile
// knows (of Ruby, of a manifest, a resource type), or is found out in use, is no part of it: each
// compile makes that for itself.
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

/// The parameters of a definition, with their types. Immutable once made.
struct ParameterTable {
    std::vector<types::NamedParameter> checks;
    std::vector<base::Symbol> symbols;

    /// The number of a parameter; -1: there is none of that name.
    int find(std::string_view name) const;
    void add(const syntax::Parameter& parameter, const types::Type* type);
    /// All have been added.
    void finish();

private:
    /// From here on parameters are found by a table instead of one after the other.
    static constexpr std::size_t kMany = 12;
    std::unordered_map<std::string_view, int> index_;
};

class SharedTypes {
public:
    /// Those of an environment's state. They may outlive it.
    static std::shared_ptr<SharedTypes> of(const environment::Environment& environment);

    struct Answer {
        environment::DependencyRecorder reads;  ///< to be noted by the compile that uses it
        std::vector<std::string> names;  ///< the aliases it is made of, down-cased: they have to
                                         ///< mean the same to that compile
    };
    struct Parameters : Answer {
        ParameterTable table;
        const types::Type* returns = nullptr;  ///< of a function that says so
    };
    struct Alias : Answer {
        const types::Type* type = nullptr;
        bool done = false;  ///< until then somebody is making it
    };
    /// The parameters of a definition of one of the environment's files, and the type behind `>>`
    /// (may be null). Null: they are the compile's own matter.
    const Parameters* parameters(const syntax::Node& definition, syntax::ParameterList list,
                                 const syntax::Node* returns,
                                 const std::shared_ptr<const environment::ParsedFile>& file);
    /// The alias of a down-cased name in a module's or the environment's folder `types`. Null:
    /// there is none, or it is the compile's own matter.
    const Alias* alias(std::string_view key);

private:
    class Maker;
    explicit SharedTypes(const environment::Environment& environment)
        : environment_(&environment) {}

    const environment::Environment* environment_;
    std::mutex making_;        ///< one maker at a time; guards arena_ and files_
    std::shared_mutex mutex_;  ///< guards the tables
    base::Arena arena_;
    std::vector<std::shared_ptr<const environment::ParsedFile>> files_;  ///< types point into them
    std::unordered_map<const syntax::Node*, std::unique_ptr<Parameters>> parameters_;
    std::unordered_map<std::string, std::unique_ptr<Alias>> aliases_;
};

}  // namespace bunraku::compiler
