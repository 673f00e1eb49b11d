// What Sensitive parameters hold is kept encrypted, with keys that stand in a file of their own
// (docs/design/0262).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/codec/seal.h"
#include "store/db/writer.h"

namespace bunraku::store {

/// The keys of a file: one a line, 64 hexadecimal digits. The first encrypts, all of them read. The
/// file is made where it is missing, once something is to be encrypted. Thread-safe.
class Secrets {
public:
    /// `key_file`: the setting store_key. Read on first need.
    explicit Secrets(std::string key_file) : path_(std::move(key_file)) {}

    /// Reads the keys, or makes the first one: for who wants to know now.
    Result<void> ready();

    /// `place` says what it belongs to: elsewhere it cannot be read.
    Result<std::string> seal(std::string_view text, std::string_view place);
    /// What is not encrypted is given as it is.
    Result<std::string> open(std::string bytes, std::string_view place);
    static bool is_sealed(std::string_view bytes);
    /// So many bytes tell it.
    static constexpr std::size_t kHead = 7;
    /// Of the key that it was encrypted with; nullopt: it is not, or is cut.
    static std::optional<std::uint64_t> key_number(std::string_view sealed);
    /// A digest of `text` that nobody can make by guessing it.
    Result<Digest> digest(std::string_view text);

    /// A new key becomes the first of the file; its number.
    Result<std::uint64_t> rotate();
    /// The numbers of the keys, the first one's first.
    Result<std::vector<std::uint64_t>> numbers();

    const std::string& path() const { return path_; }

private:
    struct Key {
        std::uint64_t number = 0;
        codec::SealKey seal{}, digest{};
    };
    using Keys = std::shared_ptr<const std::vector<Key>>;
    Result<Keys> keys(bool anew = false);
    Result<Keys> read() const;
    Result<void> make() const;
    Result<void> write(const std::string& text, bool replace) const;

    std::string path_;
    std::mutex mutex_;
    Keys keys_;
};

/// What older programs have left in clear is encrypted; how many parameters. `all`: it is looked
/// for wherever an older program may run beside this one; else where the schema was older.
Result<std::size_t> seal_clear_secrets(Writer& writer, bool all = false);

/// The store's key is now the first of the file, whatever it was before; what was encrypted with
/// keys that are not in the file is given up. How many parameters.
Result<std::size_t> adopt_key(Writer& writer);

/// Parameters as they are sent, in two forms.
struct SplitParameters {
    std::string shown;  ///< without what is Sensitive
    std::string exact;  ///< with it, as rich data; empty: nothing is
};
/// `parameters`: a canonical JSON object; `named`: those that are Sensitive whatever they look
/// like. A parameter that is Sensitive is not shown, as PuppetDB's terminus does; one inside a
/// parameter is shown as its text in a message.
SplitParameters split_secrets(std::string_view parameters, const std::vector<std::string>& named);
/// A canonical JSON value with a text in place of what is Sensitive.
std::string without_secrets(std::string_view json);
/// Whether a JSON text of canonical values holds something Sensitive.
bool holds_secrets(std::string_view json);

}  // namespace bunraku::store
