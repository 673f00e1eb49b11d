// SPDX-License-Identifier: Apache-2.0
// The predefined types without parameters, made once for all threads, and their names.
#include <algorithm>
#include <array>
#include <limits>

#include "core/base/text.h"
#include "language/types/factory.h"
#include "language/types/internal.h"

namespace bunraku::types {

namespace {

struct Made {
    base::Arena arena{32 * 1024};
    Defaults d{};

    template <class T, class... A>
    const T* make(A&&... a) {
        return arena.make<T>(std::forward<A>(a)...);
    }
    const Type* variant(std::initializer_list<const Type*> types) {
        return make<VariantType>(
            arena.copy(std::span<const Type* const>(types.begin(), types.size())));
    }

    Made() {
        d.any = make<PlainType>(TypeKind::Any);
        d.undef = make<PlainType>(TypeKind::Undef);
        d.default_type = make<PlainType>(TypeKind::Default);
        d.unit = make<PlainType>(TypeKind::Unit);
        d.scalar = make<PlainType>(TypeKind::Scalar);
        d.scalar_data = make<PlainType>(TypeKind::ScalarData);
        d.numeric = make<PlainType>(TypeKind::Numeric);
        d.binary = make<PlainType>(TypeKind::Binary);
        d.sem_ver_range = make<PlainType>(TypeKind::SemVerRange);
        d.catalog_entry = make<PlainType>(TypeKind::CatalogEntry);
        d.integer = make<IntegerType>(Range{});
        constexpr double infinity = std::numeric_limits<double>::infinity();
        d.floating = make<FloatType>(-infinity, infinity);
        d.boolean = make<BooleanType>(std::nullopt);
        d.true_type = make<BooleanType>(true);
        d.false_type = make<BooleanType>(false);
        d.string = make<StringType>();
        d.string_not_empty = make<StringType>(Range{1, kMax});
        d.string_char = make<StringType>(Range{1, 1});
        d.enumeration = make<EnumType>(std::span<const std::string_view>(), false);
        d.regexp = make<RegexpType>(nullptr, std::string_view());
        d.pattern = make<PatternType>(std::span<const RegexpType* const>());
        d.collection = make<CollectionType>(Size());
        d.array = make<ArrayType>(d.any, Size());
        d.array_empty = make<ArrayType>(d.unit, Range{0, 0});
        d.tuple = make<TupleType>(std::span<const Type* const>(), Size());
        const std::array<const Type*, 2> units{d.unit, d.unit};
        d.key_pair = make<TupleType>(arena.copy(std::span<const Type* const>(units)), Range{2, 2});
        d.hash = make<HashType>(d.any, d.any, Size());
        d.hash_empty = make<HashType>(d.unit, d.unit, Range{0, 0});
        d.structure = make<StructType>(std::span<const StructElement>());
        d.variant = make<VariantType>(std::span<const Type* const>());
        d.optional = make<OptionalType>(nullptr);
        d.not_undef = make<NotUndefType>(nullptr);
        d.type_type = make<TypeType>(nullptr);
        d.iterable = make<IterableType>(nullptr);
        d.iterable_chars = make<IterableType>(d.string_char);
        d.iterable_integers = make<IterableType>(d.integer);
        d.iterable_pairs = make<IterableType>(d.key_pair);
        d.iterator = make<IteratorType>(nullptr);
        d.sensitive = make<SensitiveType>(d.any);
        d.type_reference = make<TypeReferenceType>("UnresolvedReference");
        d.type_alias = make<TypeAliasType>("UnresolvedAlias", nullptr, d.type_reference);
        d.callable = make<CallableType>(nullptr, nullptr, nullptr);
        d.timestamp = make<TimestampType>(Range{});
        d.timespan = make<TimespanType>(Range{});
        d.sem_ver = make<SemVerType>(std::span<const base::SemVerRange* const>());
        d.uri = make<UriType>(nullptr);
        d.init = make<InitType>(nullptr, std::span<const Value>());
        d.init->initialized = true;
        d.runtime = make<RuntimeType>(std::string_view(), std::string_view());
        d.resource = make<ResourceType>(std::string_view(), std::string_view(), std::nullopt);
        d.class_type = make<ClassType>(std::nullopt, std::string_view());

        d.data = make<TypeAliasType>("Data", nullptr);
        d.data->resolved =
            variant({d.scalar_data, d.undef, make<HashType>(d.string, d.data, Size()),
                     make<ArrayType>(d.data, Size())});
        d.data->self_recursive = true;
        d.rich_data_key = make<TypeAliasType>("RichDataKey", nullptr);
        d.rich_data_key->resolved = variant({d.string, d.numeric});
        d.rich_data = make<TypeAliasType>("RichData", nullptr);
        d.rich_data->self_recursive = true;
    }
};

Made& made() {
    // Never destroyed, because the types of every snapshot point to it.
    static auto* instance = new Made();
    return *instance;
}

/// Completes RichData, which refers to Object and TypeSet. These are made elsewhere, so this is a
/// separate step.
const Defaults& complete() {
    Made& m = made();
    Defaults& d = m.d;
    d.rich_data->resolved =
        m.variant({d.scalar, d.sem_ver_range, d.binary, d.sensitive, d.type_type,
                   default_type_set_type(), d.uri, default_object_type(), d.undef, d.default_type,
                   m.make<HashType>(d.rich_data_key, d.rich_data, Size()),
                   m.make<ArrayType>(d.rich_data, Size())});
    return d;
}

struct Named {
    std::string_view name;  // in lower case
    const Type* type;
};

const std::vector<Named>& names() {
    static const auto* table = [] {
        const Defaults& d = defaults();
        auto* t = new std::vector<Named>{
            {"any", d.any},
            {"array", d.array},
            {"binary", d.binary},
            {"boolean", d.boolean},
            {"callable", d.callable},
            {"catalogentry", d.catalog_entry},
            {"class", d.class_type},
            {"collection", d.collection},
            {"data", d.data},
            {"default", d.default_type},
            {"enum", d.enumeration},
            {"float", d.floating},
            {"hash", d.hash},
            {"init", d.init},
            {"integer", d.integer},
            {"iterable", d.iterable},
            {"iterator", d.iterator},
            {"notundef", d.not_undef},
            {"numeric", d.numeric},
            {"object", default_object_type()},
            {"optional", d.optional},
            {"pattern", d.pattern},
            {"puppet::lookupkey",
             made().make<TypeAliasType>("Puppet::LookupKey", nullptr, d.rich_data_key)},
            {"puppet::lookupvalue",
             made().make<TypeAliasType>("Puppet::LookupValue", nullptr, d.rich_data)},
            {"regexp", d.regexp},
            {"resource", d.resource},
            {"richdata", d.rich_data},
            {"richdatakey", d.rich_data_key},
            {"runtime", d.runtime},
            {"scalar", d.scalar},
            {"scalardata", d.scalar_data},
            {"semver", d.sem_ver},
            {"semverrange", d.sem_ver_range},
            {"sensitive", d.sensitive},
            {"string", d.string},
            {"struct", d.structure},
            {"timespan", d.timespan},
            {"timestamp", d.timestamp},
            {"tuple", d.tuple},
            {"type", d.type_type},
            {"typealias", d.type_alias},
            {"typereference", d.type_reference},
            {"typeset", default_type_set_type()},
            {"undef", d.undef},
            {"uri", d.uri},
            {"variant", d.variant},
        };
        return t;
    }();
    return *table;
}

/// Maps names to types by a hash of the length and of the first and last letters. Every type
/// expression uses it.
class NameTable {
public:
    NameTable() {
        for (const Named& n : names()) {
            std::size_t i = hash(n.name);
            while (slots_[i]) i = (i + 1) % slots_.size();
            slots_[i] = &n;
        }
    }
    const Type* find(std::string_view key) const {
        if (key.empty()) return nullptr;
        for (std::size_t i = hash(key); slots_[i]; i = (i + 1) % slots_.size())
            if (slots_[i]->name == key) return slots_[i]->type;
        return nullptr;
    }

private:
    static std::size_t hash(std::string_view key) {
        const auto at = [&](std::size_t i) { return static_cast<unsigned char>(key[i]); };
        return (key.size() * 29 + at(0) * 7U + at(key.size() - 1) * 31U + at(key.size() / 2)) % 256;
    }
    std::array<const Named*, 256> slots_{};
};

}  // namespace

// RichData is still incomplete while the defaults of Object and TypeSet are made. No code uses it
// during that time.
const Defaults& defaults() {
    static thread_local bool completing = false;
    if (completing) return made().d;
    struct Mark {
        Mark() { completing = true; }
        ~Mark() { completing = false; }
    };
    static const Defaults& d = [&]() -> const Defaults& {
        Mark mark;
        return complete();
    }();
    return d;
}

const Type* builtin_type(std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    char buffer[32];
    if (name.size() <= sizeof buffer) {
        for (std::size_t i = 0; i < name.size(); ++i) {
            const char c = name[i];
            buffer[i] = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        }
        const std::string_view key(buffer, name.size());
        static const auto* table = new NameTable;
        if (const Type* type = table->find(key)) return type;
        return builtin_object_type(key);
    }
    return builtin_object_type(base::lower(name));
}

}  // namespace bunraku::types
