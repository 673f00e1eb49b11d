// SPDX-License-Identifier: Apache-2.0
// The resource types nagios_*. Each type represents a Nagios object definition with its directives.
#include <algorithm>
#include <array>

#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

/// A string literal as a template parameter.
template <std::size_t N>
struct Text {
    char data[N];
    constexpr Text(const char (&text)[N]) { std::copy_n(text, N, data); }
    constexpr std::string_view view() const { return {data, N - 1}; }
};

/// `type` is, for example, "nagios_host"; spaces separate `directives`.
template <Text type, Text namevar, Text directives>
struct Definition {
    static constexpr std::string_view kPrefix = "The directive `", kSuffix = "` of the definition.";
    static constexpr std::string_view kFirst = "Manages a Nagios `",
                                      kLast = "` definition in a text file.";
    static constexpr std::string_view kKind =
        type.view().substr(std::string_view("nagios_").size());
    static constexpr std::size_t kDirectives =
        static_cast<std::size_t>(std::ranges::count(directives.view(), ' ')) + 1;
    static constexpr std::size_t kDocsSize =
        directives.view().size() + 1 + kDirectives * (kPrefix.size() + kSuffix.size() - 1);

    /// The documentation of all directives, concatenated.
    static constexpr auto kDocs = [] {
        std::array<char, kDocsSize> out{};
        auto at = out.begin();
        const auto append = [&](std::string_view text) { at = std::ranges::copy(text, at).out; };
        std::string_view rest = directives.view();
        for (std::size_t i = 0; i < kDirectives; ++i) {
            const std::string_view name = rest.substr(0, rest.find(' '));
            append(kPrefix);
            append(name);
            append(kSuffix);
            rest.remove_prefix(std::min(name.size() + 1, rest.size()));
        }
        return out;
    }();
    static constexpr auto kDoc = [] {
        std::array<char, kFirst.size() + kKind.size() + kLast.size()> out{};
        auto at = std::ranges::copy(kFirst, out.begin()).out;
        at = std::ranges::copy(kKind, at).out;
        std::ranges::copy(kLast, at);
        return out;
    }();
    static constexpr auto kAttributes = [] {
        constexpr auto kProperty = AttributeKind::Property;
        std::array<Attribute, kDirectives + 7> out{};
        std::size_t n = 0, doc = 0;
        out[n++] = {.name = "ensure",
                    .kind = kProperty,
                    .doc = "Whether the definition should exist.",
                    .values = "present|absent"};
        std::string_view rest = directives.view();
        while (n <= kDirectives) {
            const std::string_view name = rest.substr(0, rest.find(' '));
            const std::size_t size = kPrefix.size() + name.size() + kSuffix.size();
            out[n++] = {.name = name, .kind = kProperty, .doc = {kDocs.data() + doc, size}};
            doc += size;
            rest.remove_prefix(std::min(name.size() + 1, rest.size()));
        }
        out[n++] = {
            .name = "target", .kind = kProperty, .doc = "The file that contains the definitions."};
        out[n++] = {.name = namevar.view(), .namevar = true, .doc = "The name of the definition."};
        out[n++] = {.name = "owner", .doc = "The owner of the file."};
        out[n++] = {.name = "group", .doc = "The group of the file."};
        out[n++] = {.name = "mode", .doc = "The mode of the file."};
        out[n++] = {.name = "provider", .doc = "The backend for this resource."};
        return out;
    }();
    static constexpr TypeSpec kSpec = {
        .name = type.view(), .doc = {kDoc.data(), kDoc.size()}, .attributes = kAttributes};
};

}  // namespace

extern const TypeSpec kNagiosCommand =
    Definition<"nagios_command", "command_name", "use command_line poller_tag">::kSpec;

extern const TypeSpec kNagiosContact =
    Definition<"nagios_contact", "contact_name",
               "use alias contactgroups host_notifications_enabled service_notifications_enabled "
               "host_notification_period service_notification_period host_notification_options "
               "service_notification_options host_notification_commands "
               "service_notification_commands email pager address1 address2 address3 address4 "
               "address5 address6 can_submit_commands retain_status_information "
               "retain_nonstatus_information register">::kSpec;

extern const TypeSpec kNagiosContactgroup =
    Definition<"nagios_contactgroup", "contactgroup_name",
               "use alias members contactgroup_members register">::kSpec;

extern const TypeSpec kNagiosHost = Definition<
    "nagios_host", "host_name",
    "use alias display_name address parents hostgroups check_command initial_state "
    "max_check_attempts check_interval retry_interval active_checks_enabled "
    "passive_checks_enabled check_period obsess_over_host check_freshness "
    "freshness_threshold event_handler event_handler_enabled low_flap_threshold "
    "high_flap_threshold flap_detection_enabled flap_detection_options "
    "failure_prediction_enabled process_perf_data retain_status_information "
    "retain_nonstatus_information contacts contact_groups notification_interval "
    "first_notification_delay notification_period notification_options "
    "notifications_enabled stalking_options notes notes_url action_url icon_image "
    "icon_image_alt vrml_image statusmap_image register realm poller_tag business_impact">::kSpec;

extern const TypeSpec kNagiosHostdependency =
    Definition<"nagios_hostdependency", "_naginator_name",
               "use dependent_host_name dependent_hostgroup_name host_name hostgroup_name "
               "inherits_parent execution_failure_criteria notification_failure_criteria "
               "dependency_period register">::kSpec;

extern const TypeSpec kNagiosHostescalation =
    Definition<"nagios_hostescalation", "_naginator_name",
               "use host_name hostgroup_name contacts contact_groups first_notification "
               "last_notification notification_interval escalation_period escalation_options "
               "register">::kSpec;

extern const TypeSpec kNagiosHostextinfo = Definition<
    "nagios_hostextinfo", "host_name",
    "use notes notes_url icon_image icon_image_alt vrml_image statusmap_image register">::kSpec;

extern const TypeSpec kNagiosHostgroup = Definition<
    "nagios_hostgroup", "hostgroup_name",
    "use alias members hostgroup_members notes notes_url action_url register realm">::kSpec;

extern const TypeSpec kNagiosService = Definition<
    "nagios_service", "_naginator_name",
    "use host_name hostgroup_name service_description display_name servicegroups "
    "is_volatile check_command initial_state max_check_attempts check_interval "
    "retry_interval normal_check_interval retry_check_interval active_checks_enabled "
    "passive_checks_enabled parallelize_check check_period obsess_over_service "
    "check_freshness freshness_threshold event_handler event_handler_enabled "
    "low_flap_threshold high_flap_threshold flap_detection_enabled flap_detection_options "
    "process_perf_data failure_prediction_enabled retain_status_information "
    "retain_nonstatus_information notification_interval first_notification_delay "
    "notification_period notification_options notifications_enabled contacts "
    "contact_groups stalking_options notes notes_url action_url icon_image icon_image_alt "
    "register poller_tag business_impact">::kSpec;

extern const TypeSpec kNagiosServicedependency = Definition<
    "nagios_servicedependency", "_naginator_name",
    "use dependent_host_name dependent_hostgroup_name dependent_service_description "
    "host_name hostgroup_name service_description inherits_parent "
    "execution_failure_criteria notification_failure_criteria dependency_period register">::kSpec;

extern const TypeSpec kNagiosServiceescalation =
    Definition<"nagios_serviceescalation", "_naginator_name",
               "use host_name hostgroup_name servicegroup_name service_description contacts "
               "contact_groups first_notification last_notification notification_interval "
               "escalation_period escalation_options register">::kSpec;

extern const TypeSpec kNagiosServiceextinfo =
    Definition<"nagios_serviceextinfo", "_naginator_name",
               "use host_name service_description notes notes_url action_url icon_image "
               "icon_image_alt register">::kSpec;

extern const TypeSpec kNagiosServicegroup =
    Definition<"nagios_servicegroup", "servicegroup_name",
               "use alias members servicegroup_members notes notes_url action_url register">::kSpec;

extern const TypeSpec kNagiosTimeperiod = Definition<
    "nagios_timeperiod", "timeperiod_name",
    "use alias sunday monday tuesday wednesday thursday friday saturday exclude register">::kSpec;

}  // namespace bunraku::restype
