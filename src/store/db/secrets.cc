// SPDX-License-Identifier: Apache-2.0
#include "store/db/secrets.h"

#include <algorithm>
#include <cctype>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/redacted.h"
#include "core/base/text.h"
#include "core/codec/hex.h"
#include "core/codec/json_cursor.h"
#include "core/codec/json_text.h"
#include "core/codec/packed.h"
#include "core/codec/random.h"
#include "core/sys/descriptor.h"
#include "core/sys/disk.h"
#include "core/sys/lock.h"
#include "core/sys/shared_secret.h"

namespace bunraku::store {

namespace {

/// A prefix with which JSON cannot begin.
constexpr std::string_view kSealed(
    "\x01"
    "BSEAL\x01",
    Secrets::kHead);
constexpr std::size_t kNumber = 8;
constexpr std::size_t kKeyDigits = 64, kMaxKeyFile = 1 << 20;

constexpr std::string_view kIntroduction =
    "# Keys of Bunraku's store for Sensitive values (setting store_key). Without them the values "
    "are "
    "lost:\n"
    "# keep a backup, separate from backups of the store. The first key encrypts, all keys "
    "decrypt.\n";

codec::SealKey derived(std::string_view key, std::string_view use) {
    return codec::hmac_sha256(key, use);
}

std::uint64_t number_from(std::string_view bytes) { return codec::PackedReader(bytes).number(); }

/// Returns the key in a line of the file. Returns an empty string if the line is not a key.
std::string key_of(std::string_view line) {
    if (line.size() != kKeyDigits) return {};
    return codec::from_hex(base::lower(line)).value_or("");
}

base::Error key_error(std::string_view path, std::string_view what) {
    return {fmt::format("Could not use the key file {} (setting store_key): {}", path, what),
            static_cast<int>(Failure::Other)};
}

}  // namespace

Result<Secrets::Keys> Secrets::read() const {
    const sys::Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.good()) {
        const int code = errno;
        if (code == ENOENT) return Keys();
        return std::unexpected(key_error(path_, strerror(code)));
    }
    struct stat status{};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return std::unexpected(key_error(path_, "it is not a regular file"));
    }
    if ((status.st_mode & 0027) != 0) {
        return std::unexpected(key_error(
            path_, fmt::format("other users can read or write it (mode {:04o}): restrict it "
                               "(chmod 600) and rotate the keys that they may have read",
                               status.st_mode & 07777)));
    }
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = ::read(file.get(), buffer, sizeof buffer)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return std::unexpected(key_error(path_, strerror(errno)));
        text.append(buffer, static_cast<std::size_t>(n));
        if (text.size() > kMaxKeyFile) return std::unexpected(key_error(path_, "it is too large"));
    }
    auto out = std::make_shared<std::vector<Key>>();
    std::size_t at = 0, line_number = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = std::string_view(text).substr(at, end - at);
        at = end + 1;
        ++line_number;
        while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())))
            line.remove_suffix(1);
        if (line.empty() || line.front() == '#') continue;
        std::string key = key_of(line);
        BUNRAKU_ASSERT(key.empty() || key.size() == kKeyDigits / 2);
        if (key.empty()) {
            return std::unexpected(key_error(
                path_, fmt::format("line {} is not a key of 64 hexadecimal digits; is the "
                                   "file truncated?",
                                   line_number)));
        }
        Key made;
        const codec::SealKey name = derived(key, "bunraku store: number");
        made.number = number_from(codec::bytes_of(name));
        made.seal = derived(key, "bunraku store: seal");
        made.digest = derived(key, "bunraku store: digest");
        out->push_back(made);
        OPENSSL_cleanse(key.data(), key.size());
    }
    OPENSSL_cleanse(text.data(), text.size());
    if (out->empty()) return std::unexpected(key_error(path_, "it contains no key"));
    BUNRAKU_ASSERT(!out->empty());
    return Keys(std::move(out));
}

/// Writes the file atomically, with its final mode. If `replace` is false and the file exists,
/// another process has created it and it is not overwritten.
Result<void> Secrets::write(const std::string& text, bool replace) const {
    const std::string folder = path_.substr(0, path_.rfind('/'));
    auto fail = [&](int code) -> Result<void> {
        return std::unexpected(
            key_error(path_, fmt::format("it cannot be created: {}. Choose another file, outside "
                                         "the store's folder",
                                         strerror(code))));
    };
    if (folder.empty() || path_.front() != '/') return fail(EINVAL);
    if (auto made = sys::disk().make_directories(folder, 0750); !made) {
        return fail(made.error().code);
    }
    const int code = sys::secret_path(path_, text, {.replace = replace, .for_folder_owner = true});
    return code == 0 || (code == EEXIST && !replace) ? Result<void>() : fail(code);
}

Result<void> Secrets::make() const {
    std::string key = BUNRAKU_TRY(codec::random_hex(kKeyDigits / 2));
    return write(std::string(kIntroduction) + key + "\n", false);
}

Result<Secrets::Keys> Secrets::keys(bool reload) {
    const std::lock_guard lock(mutex_);
    if (keys_ && !reload) return keys_;
    if (path_.empty()) {
        return std::unexpected(
            base::Error{"There is no key for Sensitive values: the setting "
                        "store_key is empty",
                        static_cast<int>(Failure::Other)});
    }
    Keys found = BUNRAKU_TRY(read());
    if (!found) {
        BUNRAKU_TRY_VOID(make());
        found = BUNRAKU_TRY(read());
        if (!found) return std::unexpected(key_error(path_, "it was removed"));
    }
    BUNRAKU_ASSERT(!found->empty());
    keys_ = found;
    return found;
}

Result<void> Secrets::ready() {
    BUNRAKU_TRY(keys());
    return {};
}

bool Secrets::is_sealed(std::string_view bytes) { return bytes.starts_with(kSealed); }

Result<std::string> Secrets::seal(std::string_view text, std::string_view place) {
    const Keys known = BUNRAKU_TRY(keys());
    const Key& key = known->front();
    std::string out;
    out.reserve(kSealed.size() + kNumber + text.size() + codec::kSealBytes);
    out += kSealed;
    codec::put_packed(out, key.number);
    BUNRAKU_ASSERT(out.size() == kSealed.size() + kNumber);
    BUNRAKU_TRY_VOID(codec::seal(out, key.seal, text, place));
    BUNRAKU_ASSERT(is_sealed(out));
    BUNRAKU_ASSERT(out.size() == kSealed.size() + kNumber + text.size() + codec::kSealBytes);
    return out;
}

std::optional<std::uint64_t> Secrets::key_number(std::string_view sealed) {
    if (!is_sealed(sealed) || sealed.size() < kSealed.size() + kNumber + codec::kSealBytes)
        return std::nullopt;
    return number_from(sealed.substr(kSealed.size(), kNumber));
}

Result<std::string> Secrets::open(std::string bytes, std::string_view place) {
    if (!is_sealed(bytes)) return bytes;
    const std::string_view all(bytes);
    const auto cut = key_number(all);
    if (!cut) return base::failure("The encrypted value is damaged: it is truncated");
    const std::uint64_t number = *cut;
    Keys known = BUNRAKU_TRY(keys());
    auto named = [&](const Key& k) { return k.number == number; };
    auto at = std::ranges::find_if(*known, named);
    if (at == known->end()) {
        // Another server may have rotated the key meanwhile and updated the file.
        known = BUNRAKU_TRY(keys(true));
        at = std::ranges::find_if(*known, named);
    }
    if (at == known->end()) {
        return std::unexpected(key_error(
            path_,
            fmt::format("a Sensitive value was encrypted with the key {:016x}, which is not in "
                        "it; add the line of that key from another server or a backup",
                        number)));
    }
    auto text = codec::unseal(at->seal, all.substr(kSealed.size() + kNumber), place);
    if (!text) {
        return base::failure("The encrypted value is damaged: " + text.error().message);
    }
    return text;
}

Result<Digest> Secrets::digest(std::string_view text) {
    const Keys known = BUNRAKU_TRY(keys());
    const codec::Mac mac = codec::hmac_sha256(codec::bytes_of(known->front().digest), text);
    return digest_from(codec::bytes_of(mac).substr(0, sizeof(Digest)));
}

Result<std::uint64_t> Secrets::rotate() {
    BUNRAKU_TRY(keys(true));
    // Without the lock, two simultaneous rotations would each lose the other's key.
    const auto lock = sys::FileLock::acquire(path_ + ".lock");
    if (!lock) return std::unexpected(key_error(path_, lock.error().message));
    std::string text = BUNRAKU_TRY(sys::disk().read(path_));
    std::size_t at = 0;
    while (at < text.size() && text[at] == '#')
        at = std::min(text.find('\n', at), text.size() - 1) + 1;
    std::string key = BUNRAKU_TRY(codec::random_hex(kKeyDigits / 2));
    BUNRAKU_ASSERT(at <= text.size() && key.size() == kKeyDigits);
    text.insert(at, key + "\n");
    BUNRAKU_TRY_VOID(write(text, true));
    const Keys now = BUNRAKU_TRY(keys(true));
    return now->front().number;
}

Result<std::vector<std::uint64_t>> Secrets::numbers() {
    std::vector<std::uint64_t> out;
    const Keys known = BUNRAKU_TRY(keys());
    for (const Key& key : *known) out.push_back(key.number);
    return out;
}

// --- Sensitive values in JSON

namespace {

constexpr std::string_view kType = "\"__ptype\"";

/// Reports whether a canonical JSON object is the rich data of a Sensitive value.
bool is_sensitive(std::string_view object) {
    codec::JsonCursor json(object);
    if (json.kind() != codec::JsonCursor::Kind::Object) return false;
    bool type = false, value = false;
    json.enter_object();
    std::string_view key;
    while (json.next_key(&key)) {
        if (key == "__pvalue") {
            value = true;
            json.skip();
        } else if (key == "__ptype" && json.kind() == codec::JsonCursor::Kind::String) {
            type = json.string() == "Sensitive";
        } else {
            json.skip();
        }
    }
    return type && value;
}

void append_shown(std::string& out, std::string_view json) {
    // Fast path: most values contain no Sensitive.
    if (json.find(kType) == std::string_view::npos) {
        out += json;
        return;
    }
    codec::JsonCursor cursor(json);
    bool first = true;
    if (cursor.kind() == codec::JsonCursor::Kind::Array) {
        out += '[';
        cursor.enter_array();
        while (cursor.next_element()) {
            if (!std::exchange(first, false)) out += ',';
            append_shown(out, cursor.skip());
        }
        out += ']';
    } else if (cursor.kind() == codec::JsonCursor::Kind::Object) {
        if (is_sensitive(json)) {
            codec::append_json_string(out, base::kSensitiveText);
            return;
        }
        out += '{';
        cursor.enter_object();
        std::string_view key;
        while (cursor.next_key(&key)) {
            if (!std::exchange(first, false)) out += ',';
            codec::append_json_string(out, key);
            out += ':';
            append_shown(out, cursor.skip());
        }
        out += '}';
    } else {
        out += json;  // a string that merely mentions the type
    }
}

}  // namespace

bool holds_secrets(std::string_view json) {
    return json.find("\"__ptype\":\"Sensitive\"") != std::string_view::npos;
}

std::string without_secrets(std::string_view json) {
    std::string out;
    append_shown(out, json);
    return out;
}

SplitParameters split_secrets(std::string_view parameters, const std::vector<std::string>& named) {
    SplitParameters out;
    if (named.empty() && !holds_secrets(parameters)) {
        out.shown = parameters;
        return out;
    }
    bool any = false;
    std::string shown = "{", exact = "{";
    codec::JsonCursor json(parameters);
    json.enter_object();
    std::string_view raw;
    while (json.next_key(&raw)) {
        const std::string key(raw);
        const std::string_view value = json.skip();
        const bool rich = is_sensitive(value);
        const bool secret =
            rich || (value != "null" && std::ranges::find(named, key) != named.end());
        auto begin = [&](std::string& to) {
            if (to.size() > 1) to += ',';
            codec::append_json_string(to, key);
            to += ':';
        };
        begin(exact);
        if (secret && !rich) {
            exact += "{\"__ptype\":\"Sensitive\",\"__pvalue\":";
            exact += value;
            exact += '}';
        } else {
            exact += value;
        }
        if (secret) {
            any = true;
            continue;
        }
        begin(shown);
        const std::size_t before = shown.size();
        append_shown(shown, value);
        any = any || std::string_view(shown).substr(before) != value;
    }
    if (!any) {
        out.shown = parameters;
        return out;
    }
    out.shown = shown + "}";
    out.exact = exact + "}";
    return out;
}

}  // namespace bunraku::store
