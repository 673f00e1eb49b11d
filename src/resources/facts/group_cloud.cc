// SPDX-License-Identifier: Apache-2.0
// The facts cloud, ec2_metadata, ec2_userdata, gce and az_metadata, from the metadata service of
// the cloud. The service is queried only if the firmware identifies a machine of that cloud. On
// other machines every run would wait for an address that does not respond.
#include <cstdlib>
#include <fmt/format.h>

#include "core/value/rich_data.h"
#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

constexpr const char* kLinkLocal = "169.254.169.254";

bool has_part(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

double session_timeout(const char* variable) {
    const char* given = std::getenv(variable);
    return given && *given ? std::atof(given) : 5;
}

/// Reports whether the machine runs at Amazon, or in a cloud with a compatible metadata service.
bool is_ec2(Context& context) {
    const std::string machine = detect_virtuality(context).kind;
    if (machine != "kvm" && !has_part(machine, "xen") && machine != "aws") return false;
    for (const char* file : {"sys_vendor", "bios_vendor", "bios_version", "board_asset_tag",
                             "chassis_asset_tag", "product_name"}) {
        const std::string text = read_dmi(context, file);
        for (std::string_view part :
             {"Amazon", "amazon", "OpenStack", "CloudStack", "Alibaba", "Eucalyptus", "i-0"})
            if (has_part(text, part)) return true;
    }
    for (const std::string& uuid :
         {context.read_word("/sys/hypervisor/uuid"), read_dmi(context, "product_uuid")})
        if (uuid.starts_with("ec2") || uuid.starts_with("EC2")) return true;
    return false;
}

class Ec2 {
public:
    explicit Ec2(Context& context)
        : context_(context), timeout_(session_timeout("EC2_SESSION_TIMEOUT")) {
        token_ = context_.fetch({.method = "PUT",
                                 .host = kLinkLocal,
                                 .path = "/latest/api/token",
                                 .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "100"}}});
    }

    std::string get(const std::string& path) {
        MetadataRequest request{.host = kLinkLocal, .path = path, .timeout = timeout_};
        if (!token_.empty()) request.headers = {{"X-aws-ec2-metadata-token", token_}};
        return context_.fetch(request);
    }

    /// Returns a folder of the service and everything below it.
    Value tree(const std::string& path, int depth = 0) {
        Fields out(context_);
        const std::string listing = get(path);
        for (std::string_view line : split_lines(listing)) {
            std::string name(trim(line));
            if (name.empty() || depth > 10) continue;
            // "0=name" in a list of keys represents the folder 0/.
            if (const auto eq = name.find('=');
                eq != std::string::npos && eq > 0 && name.find_first_not_of("0123456789") == eq)
                name = name.substr(0, eq) + "/";
            if (name == "security-credentials/") continue;
            if (name.ends_with('/')) {
                const Value inner = tree(path + name, depth + 1);
                name.pop_back();
                out.add(context_.text(name).as_string(), inner);
            } else {
                out.add(context_.text(name).as_string(), context_.text(trim(get(path + name))));
            }
        }
        return out.build();
    }

private:
    Context& context_;
    double timeout_;
    std::string token_;
};

Value ec2_metadata_of(Context& context) {
    if (!is_ec2(context)) return Value::undef();
    const Value tree = Ec2(context).tree("/latest/meta-data/");
    return tree.as_hash().size() == 0 ? Value::undef() : tree;
}

std::string last_part(std::string_view text) {
    return std::string(text.substr(text.rfind('/') + 1));
}

/// Returns a copy of the hash in which `change` has replaced the value of the entry `name`.
template <typename Change>
Value with_entry(Context& context, const Value& hash, std::string_view name, Change change) {
    if (!hash.is_hash()) return hash;
    HashBuilder out(context.arena);
    out.merge(hash.as_hash());
    if (const Value* entry = hash.as_hash().find(name)) out.set(name, change(*entry));
    return out.build();
}

/// Converts keys to lists, and URLs of zones and the like to their last path segments.
Value tidy_gce(Context& context, const Value& data) {
    const auto keys = [&](const Value& v) {
        if (!v.is_string()) return v;
        std::vector<Value> out;
        const std::string text(trim(v.as_string()));
        for (std::string_view line : split_lines(text)) out.push_back(context.text(line));
        return value::make_array(context.arena, out);
    };
    const auto attributes = [&](const Value& owner) {
        return with_entry(context, owner, "attributes", [&](const Value& a) {
            return with_entry(context, with_entry(context, a, "sshKeys", keys), "ssh-keys", keys);
        });
    };
    const auto short_text = [&](const Value& v) {
        return v.is_string() ? context.text(last_part(v.as_string())) : v;
    };
    const Value with_project = with_entry(context, data, "project", attributes);
    return with_entry(context, with_project, "instance", [&](const Value& instance) {
        Value out = attributes(instance);
        for (std::string_view name : {"image", "machineType", "zone"})
            out = with_entry(context, out, name, short_text);
        return with_entry(context, out, "networkInterfaces", [&](const Value& list) {
            if (!list.is_array() || list.as_array().empty()) return list;
            std::vector<Value> items(list.as_array().begin(), list.as_array().end());
            items[0] = with_entry(context, items[0], "network", short_text);
            return value::make_array(context.arena, items);
        });
    });
}

Value gce_metadata(Context& context) {
    if (!has_part(read_dmi(context, "bios_vendor"), "Google")) return Value::undef();
    const std::string text =
        context.fetch({.host = "metadata.google.internal",
                       .path = "/computeMetadata/v1/?recursive=true&alt=json",
                       .headers = {{"Metadata-Flavor", "Google"}, {"Accept", "application/json"}}});
    const auto data = value::parse_json(context.arena, text);
    if (!data || !data->is_hash() || data->as_hash().size() == 0) return Value::undef();
    return tidy_gce(context, *data);
}

Value az_metadata_of(Context& context) {
    // the asset tag of all Azure machines
    if (detect_virtuality(context).kind != "hyperv" ||
        read_dmi(context, "chassis_asset_tag") != "7783-7084-3265-9085-8269-3286-77")
        return Value::undef();
    const std::string text = context.fetch({.host = kLinkLocal,
                                            .path = "/metadata/instance?api-version=2020-09-01",
                                            .headers = {{"Metadata", "true"}},
                                            .timeout = session_timeout("AZ_SESSION_TIMEOUT")});
    const auto data = value::parse_json(context.arena, text);
    if (!data || !data->is_hash() || data->as_hash().size() == 0) return Value::undef();
    return *data;
}

/// Sends a request once per run and shares its result between facts.
template <typename Ask>
Value request_once(Context& context, const char* name, Ask ask) {
    const auto found = context.responses.find(name);
    if (found != context.responses.end()) return found->second;
    return context.responses.emplace(name, ask(context)).first->second;
}

}  // namespace

Value resolve_ec2_metadata(Context& context) {
    return request_once(context, "ec2", ec2_metadata_of);
}

Value resolve_ec2_userdata(Context& context) {
    if (!is_ec2(context)) return Value::undef();
    return context.text_or_undef(trim(Ec2(context).get("/latest/user-data/")));
}

Value resolve_gce(Context& context) { return request_once(context, "gce", gce_metadata); }

Value resolve_az_metadata(Context& context) { return request_once(context, "az", az_metadata_of); }

Value resolve_cloud(Context& context) {
    const std::string kind = detect_virtuality(context).kind;
    const char* provider = nullptr;
    if (kind == "hyperv" && !resolve_az_metadata(context).is_undef()) provider = "azure";
    if (kind == "gce" && !resolve_gce(context).is_undef()) provider = "gce";
    if ((kind == "kvm" || kind.starts_with("xen")) && kind != "xen0" &&
        !resolve_ec2_metadata(context).is_undef())
        provider = "aws";
    if (!provider) return Value::undef();
    return Fields(context).add("provider", Value::string(provider)).build();
}

}  // namespace bunraku::facts
