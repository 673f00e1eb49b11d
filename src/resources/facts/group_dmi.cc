// SPDX-License-Identifier: Apache-2.0
// The fact dmi: manufacturer, product, board and chassis according to the firmware.
#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

std::string chassis_name(const std::string& number) {
    constexpr const char* kTypes[] = {"Other",
                                      "",
                                      "Desktop",
                                      "Low Profile Desktop",
                                      "Pizza Box",
                                      "Mini Tower",
                                      "Tower",
                                      "Portable",
                                      "Laptop",
                                      "Notebook",
                                      "Hand Held",
                                      "Docking Station",
                                      "All in One",
                                      "Sub Notebook",
                                      "Space-Saving",
                                      "Lunch Box",
                                      "Main System Chassis",
                                      "Expansion Chassis",
                                      "SubChassis",
                                      "Bus Expansion Chassis",
                                      "Peripheral Chassis",
                                      "Storage Chassis",
                                      "Rack Mount Chassis",
                                      "Sealed-Case PC",
                                      "Multi-system",
                                      "CompactPCI",
                                      "AdvancedTCA",
                                      "Blade",
                                      "Blade Enclosure",
                                      "Tablet",
                                      "Convertible",
                                      "Detachable",
                                      "IoT Gateway",
                                      "Embedded PC",
                                      "Mini PC",
                                      "Stick PC"};
    std::int64_t n = to_integer(number);
    if (n < 1 || n > static_cast<std::int64_t>(std::size(kTypes))) return {};
    return kTypes[n - 1];
}

}  // namespace

std::string read_dmi(Context& context, const char* name) {
    return context.read_word(std::string("/sys/class/dmi/id/") + name);
}

Value resolve_dmi(Context& context) {
    auto word = [&](const char* name) { return context.text_or_undef(read_dmi(context, name)); };
    Fields dmi(context);
    dmi.add("bios", Fields(context)
                        .add("release_date", word("bios_date"))
                        .add("vendor", word("bios_vendor"))
                        .add("version", word("bios_version"))
                        .build_or_undef());
    dmi.add("board", Fields(context)
                         .add("asset_tag", word("board_asset_tag"))
                         .add("manufacturer", word("board_vendor"))
                         .add("product", word("board_name"))
                         .add("serial_number", word("board_serial"))
                         .build_or_undef());
    dmi.add("chassis",
            Fields(context)
                .add("asset_tag", word("chassis_asset_tag"))
                .add("type", context.text_or_undef(chassis_name(read_dmi(context, "chassis_type"))))
                .build_or_undef());
    dmi.add("manufacturer", word("sys_vendor"));
    dmi.add("product", Fields(context)
                           .add("name", word("product_name"))
                           .add("serial_number", word("product_serial"))
                           .add("uuid", word("product_uuid"))
                           .add("version", word("product_version"))
                           .build_or_undef());
    return dmi.build_or_undef();
}

}  // namespace bunraku::facts
