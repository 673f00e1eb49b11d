// SPDX-License-Identifier: Apache-2.0
// The parts of a mismatch: the path, the expected type and the actual type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/types/internal.h"
#include "language/types/mismatch.h"

namespace bunraku::types {

/// One step on the path to the position of a mismatch.
struct PathElement {
    enum class Kind : std::uint8_t { Plain, Entry, Key, Parameter, Index, Variant, Signature };
    Kind kind;
    std::string text;
    std::size_t number = 0;

    static PathElement plain(std::string_view name) { return {Kind::Plain, std::string(name)}; }
    static PathElement entry(std::string_view name) { return {Kind::Entry, std::string(name)}; }
    static PathElement key(std::string_view name) { return {Kind::Key, std::string(name)}; }
    static PathElement parameter(std::string_view name) {
        return {Kind::Parameter, std::string(name)};
    }
    static PathElement index(std::size_t i) { return {Kind::Index, {}, i}; }
    static PathElement variant(std::size_t i) { return {Kind::Variant, {}, i}; }
    static PathElement signature(std::size_t i) { return {Kind::Signature, {}, i}; }

    bool varies() const { return kind == Kind::Variant || kind == Kind::Signature; }
    std::string to_string() const;
    friend bool operator==(const PathElement&, const PathElement&) = default;
};

struct Mismatch {
    enum class Kind : std::uint8_t {
        MissingKey,
        MissingParameter,
        ExtraneousKey,
        InvalidParameter,
        UnexpectedBlock,
        MissingBlock,
        Unresolved,
        Type,
        Pattern,
        WrongSize,
        WrongCount,
    };
    Kind kind;
    std::vector<PathElement> path;
    std::string key;  ///< for the kinds with a key or parameter; the text of an unresolved type
    const types::Type* expected = nullptr;  ///< for Type and Pattern
    const types::Type* actual = nullptr;
    Range expected_size, actual_size;  ///< for WrongSize and WrongCount

    Mismatch(Kind k, std::vector<PathElement> p) : kind(k), path(std::move(p)) {}
    bool is_type() const { return kind == Kind::Type || kind == Kind::Pattern; }
    bool is_size() const { return kind == Kind::WrongSize || kind == Kind::WrongCount; }
    /// Returns the path without the steps that differ between variants.
    std::vector<PathElement> canonical_path() const;
    void chop(std::size_t i) {
        if (i < path.size()) path.erase(path.begin() + static_cast<std::ptrdiff_t>(i));
    }
    friend bool operator==(const Mismatch& a, const Mismatch& b);
};

/// Finds mismatches and formats their messages.
class Describer {
public:
    using Path = std::vector<PathElement>;
    using List = std::vector<Mismatch>;

    explicit Describer(Context& ctx);
    List describe(const Type* expected, const Type* actual, const Path& path);
    std::optional<std::string> describe_signatures(std::string_view name,
                                                   std::span<const Signature> signatures,
                                                   const Type* args);
    /// Returns " parameter 'x' expects an Integer value, got String", with a leading blank.
    std::string format(const Mismatch& m);
    std::string join(const List& errors, std::string_view separator);

private:
    bool fits(const Type* to, const Type* from);
    bool optional(const Type* t);
    Mismatch type_mismatch(Mismatch::Kind kind, Path path, const Type* expected,
                           const Type* actual);
    Mismatch size_mismatch(Mismatch::Kind kind, Path path, Range expected, Range actual);
    Mismatch merge(const Mismatch& a, const Mismatch& b);
    List merge_descriptions(std::size_t varying, bool count, const std::vector<List>& all);
    Range struct_size(const StructType& s);

    List describe(const Type* expected, const Type* original, const Type* actual, const Path& path);
    List describe_variant(const VariantType& expected, const Type* original, const Type* actual,
                          const Path& path);
    List describe_array(const ArrayType& expected, const Type* original, const Type* actual,
                        const Path& path);
    List describe_hash(const HashType& expected, const Type* original, const Type* actual,
                       const Path& path);
    List describe_struct(const StructType& expected, const Type* original, const Type* actual,
                         const Path& path);
    List describe_tuple(const TupleType& expected, const Type* original, const Type* actual,
                        const Path& path, Mismatch::Kind size_kind);
    List describe_callable(const CallableType& expected, const Type* original, const Type* actual,
                           const Path& path);
    List describe_arguments(const Signature& signature, const Type* args, const Path& path);
    List describe_block(const Signature& signature, const Type* args, const Path& path);

    std::string message(const Mismatch& m, std::string_view lead);
    std::string type_message(const Mismatch& m, std::string_view lead);
    std::string pattern_message(const Mismatch& m, std::string_view lead);
    std::string short_name(const Type* t);
    bool always_detailed(const Type* e, const Type* a);
    bool fits_default(const Type* e, const Type* a);
    std::string detailed_actual(std::span<const Type* const> expected, const Type* a);

    Context& ctx_;
};

}  // namespace bunraku::types
