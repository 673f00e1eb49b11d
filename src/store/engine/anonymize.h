// SPDX-License-Identifier: Apache-2.0
// Anonymizes an archive according to the profiles of PuppetDB's documentation. Within one archive,
// the same text always gives the same replacement, and the data retains its structure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/codec/json_cursor.h"
#include "core/codec/sha1.h"

namespace bunraku::store {

class Anonymizer {
public:
    /// Returns nullopt if the profile does not exist. Valid profiles are "", none, low, moderate
    /// and full.
    static std::optional<Anonymizer> of_profile(std::string_view profile, std::string_view salt);

    std::string node(std::string_view name) const;
    std::string environment(std::string_view name) const;
    /// Anonymizes a type name. The result has the same form, such as "Foo::Bar".
    std::string type(std::string_view name) const;
    std::string title(std::string_view type, std::string_view title) const;
    std::string parameter_name(std::string_view name) const;
    std::string fact_name(std::string_view name) const;
    std::string file(std::string_view path) const;
    std::string line(std::string number) const;
    /// Anonymizes the message of an event. `property` decides whether the message may contain a
    /// secret.
    std::string message(std::string_view property, std::string_view text) const;
    std::string log_message(std::string_view text) const;
    /// Anonymizes a reference such as "File[/x]" or "Foo::Bar", and the source of a log line.
    std::string reference(std::string_view text) const;
    std::string source(std::string_view text) const;
    std::string tag(std::string_view name) const;
    std::string input_type(std::string_view name) const;
    std::string input_name(std::string_view name) const;
    /// Anonymizes versions, identifiers and package names. Only the profile "full" does this.
    std::string other(std::string_view text) const;
    std::string uuid(std::string_view text) const;

    // The following functions read and return JSON.
    std::string parameter_value(std::string_view name, std::string_view json) const;
    std::string fact_value(std::string_view name, std::string_view json) const;
    std::string parameters(std::string_view json) const;
    std::string tags(std::string_view json) const;
    std::string containment_path(std::string_view json) const;
    std::string metrics(std::string_view json) const;
    std::string logs(std::string_view json) const;

private:
    enum class Level { None, Low, Moderate, Full };
    std::string hidden(std::string_view text) const;
    std::string hidden_type(std::string_view name) const;
    void hide(codec::JsonCursor& json, std::string& out) const;
    std::string hidden_json(std::string_view json) const;

    Level level_ = Level::None;
    codec::Sha1Digest salt_{};
};

}  // namespace bunraku::store
