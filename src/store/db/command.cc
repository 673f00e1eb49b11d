// SPDX-License-Identifier: Apache-2.0
#include "store/db/command.h"

#include <algorithm>
#include <fmt/format.h>
#include <string.h>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/text.h"
#include "core/codec/hex.h"
#include "core/regex/regex.h"
#include "resources/catalog/json_text.h"
#include "resources/catalog/wire_format.h"
#include "resources/catalog/wire_time.h"
#include "store/db/command_fields.h"
#include "store/db/secrets.h"
#include "store/query/time_text.h"

namespace bunraku::store {

namespace {

struct Known {
    CommandKind kind;
    std::string_view name;
    int oldest, newest;
};

/// The newest version is that of the catalog's wire format.
constexpr int kWireFormat = 0;

constexpr Known kKnown[] = {
    {CommandKind::ReplaceCatalog, "replace catalog", 2, kWireFormat},
    {CommandKind::ReplaceFacts, "replace facts", 2, 5},
    {CommandKind::StoreReport, "store report", 3, 8},
    {CommandKind::DeactivateNode, "deactivate node", 1, 3},
    {CommandKind::ConfigureExpiration, "configure expiration", 1, 1},
    {CommandKind::ReplaceCatalogInputs, "replace catalog inputs", 1, 1},
};

const Known& known(CommandKind kind) {
    for (const Known& k : kKnown) {
        if (k.kind == kind) return k;
    }
    return kKnown[0];
}

}  // namespace

std::string_view command_name(CommandKind kind) { return known(kind).name; }

std::optional<CommandKind> command_from_name(std::string_view name) {
    for (const Known& k : kKnown) {
        if (k.name == name) return k.kind;
    }
    return std::nullopt;
}

int oldest_version(CommandKind kind) { return known(kind).oldest; }
int newest_version(CommandKind kind) {
    const int newest = known(kind).newest;
    return newest == kWireFormat ? catalog::newest_wire_version() : newest;
}

struct FactsBlocklist::Compiled {
    std::vector<std::shared_ptr<const regex::Regex>> expressions;
};

Result<void> FactsBlocklist::prepare() {
    if (!regex) return {};
    auto compiled = std::make_shared<Compiled>();
    for (const std::string& name : names) {
        // PuppetDB matches the whole name.
        auto expression = regex::Regex::compile("\\A(?:" + name + ")\\z");
        if (!expression) {
            return base::failure(fmt::format("facts-blocklist: invalid regular expression '{}': {}",
                                             name, expression.error().message));
        }
        compiled->expressions.push_back(std::move(*expression));
    }
    BUNRAKU_ASSERT(compiled->expressions.size() == names.size());
    compiled_ = std::move(compiled);
    return {};
}

bool FactsBlocklist::blocks(std::string_view name) const {
    if (!regex) return std::find(names.begin(), names.end(), name) != names.end();
    if (!compiled_) return false;
    return std::any_of(compiled_->expressions.begin(), compiled_->expressions.end(),
                       [&](const auto& r) { return r->matches(name); });
}

namespace {

/// Replaces bytes that are not UTF-8 with U+FFFD, so that one invalid fact does not cost a node all
/// its facts.
std::string repaired(std::string_view body) {
    std::string out;
    out.reserve(body.size() + 16);
    for (;;) {
        std::size_t bad = codec::first_invalid_utf8(body);
        if (bad >= body.size()) break;
        out += body.substr(0, bad);
        out += "\xef\xbf\xbd";
        body.remove_prefix(bad + 1);
    }
    out += body;
    return out;
}

/// Returns the error message without the unexpected token, which could be part of a secret.
std::string reason_of(const codec::JsonError& error) {
    const std::size_t token = error.message.find("Unrecognized token '");
    if (error.what.empty() || token == std::string::npos) return error.message;
    return error.message.substr(0, token) + "Unrecognized token";
}

Result<std::unique_ptr<PreparedCommand>> prepare_kind(const CommandHeader& header,
                                                      std::string_view body,
                                                      const CommandOptions& options) {
    try {
        switch (header.kind) {
            case CommandKind::ReplaceCatalog: return prepare_catalog(header, body);
            case CommandKind::ReplaceFacts: return prepare_facts(header, body, options);
            case CommandKind::StoreReport: return prepare_report(header, body, options);
            case CommandKind::DeactivateNode: return prepare_deactivate(header, body);
            case CommandKind::ConfigureExpiration: return prepare_expiration(header, body);
            case CommandKind::ReplaceCatalogInputs: return prepare_inputs(header, body);
        }
    } catch (const codec::JsonError& e) {
        return base::failure(reason_of(e));
    } catch (const base::PuppetError& e) {
        return base::failure(e.message());
    }
    return base::failure("unknown command");
}

/// Reports whether Sensitive values must be removed from the body. Catalogs are excluded because
/// their parameters are split when the catalog is stored.
bool redacts(const CommandHeader& header, std::string_view body) {
    return (header.kind == CommandKind::ReplaceFacts || header.kind == CommandKind::StoreReport) &&
           contains_text(body, "__ptype");
}

/// A command together with the repaired copy of the body that it points into.
class Repaired final : public PreparedCommand {
public:
    static Result<std::unique_ptr<PreparedCommand>> prepare(const CommandHeader& header,
                                                            std::string_view body,
                                                            const CommandOptions& options) {
        auto out = std::make_unique<Repaired>();
        out->body_ = repaired(body);
        if (redacts(header, out->body_)) {
            try {
                std::string canonical;
                codec::JsonCursor json(out->body_);
                json.canonical(canonical);
                json.finish();
                out->body_ = without_secrets(canonical);
            } catch (const codec::JsonError& e) {
                return base::failure(reason_of(e));
            }
        }
        out->command_ = BUNRAKU_TRY(prepare_kind(header, out->body_, options));
        return out;
    }
    Result<Applied> apply(Writer& writer) override { return command_->apply(writer); }

private:
    std::string body_;
    std::unique_ptr<PreparedCommand> command_;
};

}  // namespace

Result<std::unique_ptr<PreparedCommand>> prepare_command(const CommandHeader& header,
                                                         std::string_view body,
                                                         const CommandOptions& options) {
    if (header.version < oldest_version(header.kind) ||
        header.version > newest_version(header.kind)) {
        return base::failure(fmt::format("Version {} of command \"{}\" is not supported",
                                         header.version, command_name(header.kind)));
    }
    // The strict formats reject bytes that are not UTF-8 themselves.
    const bool repairs = !is_literal_catalog(header) && !codec::check_utf8(body).empty();
    if (repairs || redacts(header, body)) return Repaired::prepare(header, body, options);
    return prepare_kind(header, body, options);
}

bool is_literal_catalog(const CommandHeader& header) {
    if (header.kind != CommandKind::ReplaceCatalog) return false;
    const catalog::WireFormat* format = catalog::find_wire_format(header.version);
    return format && format->literal;
}

bool contains_text(std::string_view body, std::string_view text) {
    return ::memmem(body.data(), body.size(), text.data(), text.size()) != nullptr;
}

std::string dashes_to_underscores(std::string_view key) {
    std::string out(key);
    for (char& c : out) {
        if (c == '-') c = '_';
    }
    return out;
}

bool has_nul(std::string_view json) {
    for (std::size_t at = json.find('\\'); at != std::string_view::npos;
         at = json.find('\\', at + 2)) {
        if (json.substr(at).starts_with("\\u0000")) return true;
    }
    return false;
}

std::string read_repaired_text(codec::JsonCursor& json, std::string_view field) {
    if (json.kind() != codec::JsonCursor::Kind::String) {
        json.fail(fmt::format("'{}' must be a string", field));
    }
    return std::string(json.string());
}

std::optional<std::string> read_optional_repaired_text(codec::JsonCursor& json,
                                                       std::string_view field) {
    if (json.kind() == codec::JsonCursor::Kind::Null) {
        json.null();
        return std::nullopt;
    }
    return read_repaired_text(json, field);
}

std::string read_text(codec::JsonCursor& json, std::string_view field) {
    if (json.kind() != codec::JsonCursor::Kind::String) {
        json.fail(fmt::format("'{}' must be a string", field));
    }
    const std::string_view raw = json.skip();
    if (has_nul(raw)) json.fail(fmt::format("'{}' may not contain U+0000", field));
    return std::string(codec::JsonCursor(raw).string());
}

std::optional<std::string> read_optional_text(codec::JsonCursor& json, std::string_view field) {
    if (json.kind() == codec::JsonCursor::Kind::Null) {
        json.null();
        return std::nullopt;
    }
    return read_text(json, field);
}

namespace {

/// Returns a UUID in the form that PostgreSQL writes. Accepts every form that PostgreSQL reads:
/// hyphens after any group of four digits, braces, capitals. Returns an empty string if `text` is
/// not a UUID.
std::string uuid_of(std::string_view text) {
    if (text.size() > 2 && text.front() == '{' && text.back() == '}') {
        text = text.substr(1, text.size() - 2);
    }
    std::string digits;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool hyphen = text[i] == '-' && digits.size() % 4 == 0 && digits.size() > 0 &&
                            digits.size() < 32 && text[i - 1] != '-';
        if (!hyphen) digits += base::lower(text[i]);
    }
    if (digits.size() != 32 || !codec::from_hex(digits)) return {};
    for (const std::size_t at : {20U, 16U, 12U, 8U}) digits.insert(at, "-");
    BUNRAKU_ASSERT(digits.size() == 36);
    return digits;
}

}  // namespace

std::string read_uuid(codec::JsonCursor& json, std::string_view field) {
    const std::string text = read_text(json, field);
    std::string uuid = uuid_of(text);
    if (uuid.empty()) json.fail(fmt::format("'{}' must be a UUID", field));
    return uuid;
}

std::optional<std::string> read_optional_uuid(codec::JsonCursor& json, std::string_view field) {
    if (json.kind() == codec::JsonCursor::Kind::Null) {
        json.null();
        return std::nullopt;
    }
    return read_uuid(json, field);
}

std::optional<bool> read_optional_boolean(codec::JsonCursor& json, std::string_view field) {
    if (json.kind() == codec::JsonCursor::Kind::Null) {
        json.null();
        return std::nullopt;
    }
    if (json.kind() != codec::JsonCursor::Kind::Boolean) {
        json.fail(fmt::format("'{}' must be a boolean", field));
    }
    return json.boolean();
}

std::optional<std::int64_t> read_optional_time(codec::JsonCursor& json, std::string_view field) {
    if (json.kind() == codec::JsonCursor::Kind::Null) {
        json.null();
        return std::nullopt;
    }
    return read_time(json, field);
}

std::int64_t read_time(codec::JsonCursor& json, std::string_view field) {
    // PuppetDB reads a number as milliseconds since the epoch.
    if (json.kind() == codec::JsonCursor::Kind::Number) {
        constexpr std::int64_t kYear10000 = 253'402'300'800'000;
        std::int64_t time = json.integer();
        if (time < 0 || time >= kYear10000) json.fail(fmt::format("'{}' must be a time", field));
        return time;
    }
    if (json.kind() != codec::JsonCursor::Kind::String) {
        json.fail(fmt::format("'{}' must be a time", field));
    }
    auto time = parse_time(json.string());
    if (!time) json.fail(fmt::format("'{}' must be a time", field));
    return *time;
}

std::int64_t read_zoned_time(codec::JsonCursor& json, std::string_view field) {
    const std::string text = read_text(json, field);
    constexpr std::size_t kBehindDate = 10;
    const bool zone =
        text.size() > kBehindDate &&
        (text.ends_with('Z') || text.find_first_of("+-", kBehindDate) != std::string::npos);
    const auto time = zone ? parse_time(text) : std::nullopt;
    if (!time) {
        json.fail(
            fmt::format("'{}' must be a date and time with a time zone, as in "
                        "2026-01-02T03:04:05.000Z",
                        field));
    }
    return *time;
}

std::optional<std::int64_t> parse_time(std::string_view text) {
    if (auto plain = catalog::parse_wire_time(text)) return plain;
    // Ruby's own format, "2026-11-20 22:55:04 +0100", contains blanks.
    return query::parse_query_time(base::trim(text, " "));
}

void missing_field(std::string_view command, std::string_view field) {
    throw codec::JsonError{
        fmt::format("Invalid {} command: missing required key '{}'", command, field)};
}

void unknown_field(std::string_view command, std::string_view field) {
    throw codec::JsonError{fmt::format("Invalid {} command: unknown key '{}'", command, field)};
}

}  // namespace bunraku::store
