// SPDX-License-Identifier: Apache-2.0
// Sensitive parameter values are stored encrypted. Their keys are in a separate file
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

/// The keys of a key file: one per line, 64 hexadecimal digits. The first key encrypts; all of them
/// decrypt. The file is created when a value must be encrypted for the first time. Thread-safe.
class Secrets {
public:
    /// `key_file` is the setting store_key. The file is read on first use.
    explicit Secrets(std::string key_file) : path_(std::move(key_file)) {}

    /// Reads the keys, or creates the first one. Call it to detect errors early.
    Result<void> ready();

    /// Encrypts `text`. `place` names the purpose: open() fails for any other one.
    Result<std::string> seal(std::string_view text, std::string_view place);
    /// Decrypts `bytes`. Returns unencrypted input unchanged.
    Result<std::string> open(std::string bytes, std::string_view place);
    static bool is_sealed(std::string_view bytes);
    /// Number of bytes that is_sealed() needs.
    static constexpr std::size_t kHead = 7;
    /// Returns the number of the key that encrypted the text. Returns nullopt if the text is not
    /// encrypted or is truncated.
    static std::optional<std::uint64_t> key_number(std::string_view sealed);
    /// Returns a keyed digest of `text`, which cannot be computed by guessing the text.
    Result<Digest> digest(std::string_view text);

    /// Adds a new key as the first of the file. Returns its number.
    Result<std::uint64_t> rotate();
    /// Returns the numbers of the keys in the order of the file.
    Result<std::vector<std::uint64_t>> numbers();

    const std::string& path() const { return path_; }

private:
    struct Key {
        std::uint64_t number = 0;
        codec::SealKey seal{}, digest{};
    };
    using Keys = std::shared_ptr<const std::vector<Key>>;
    Result<Keys> keys(bool reload = false);
    Result<Keys> read() const;
    Result<void> make() const;
    Result<void> write(const std::string& text, bool replace) const;

    std::string path_;
    std::mutex mutex_;
    Keys keys_;
};

/// Encrypts values that older programs left unencrypted. Returns the number of parameters. Searches
/// only if the schema was older; if `all` is true, searches always, because an older program may be
/// running at the same time.
Result<std::size_t> seal_clear_secrets(Writer& writer, bool all = false);

/// Makes the first key of the file the key of the store. Discards values that were encrypted with
/// keys that are not in the file. Returns the number of parameters concerned.
Result<std::size_t> adopt_key(Writer& writer);

/// The parameters of a resource in two forms.
struct SplitParameters {
    std::string shown;  ///< without Sensitive values
    std::string exact;  ///< with Sensitive values, as rich data; empty if there are none
};
/// Splits `parameters`, a canonical JSON object. `named` lists parameters that are Sensitive
/// regardless of their value. A Sensitive parameter is omitted from `shown`, as in PuppetDB's
/// terminus. A Sensitive value inside a parameter is replaced with its text representation.
SplitParameters split_secrets(std::string_view parameters, const std::vector<std::string>& named);
/// Returns a canonical JSON value in which a text replaces each Sensitive value.
std::string without_secrets(std::string_view json);
/// Reports whether a canonical JSON text contains a Sensitive value.
bool holds_secrets(std::string_view json);

}  // namespace bunraku::store
