// SPDX-License-Identifier: Apache-2.0
#include "core/base/uuid.h"

#include <array>
#include <cstdint>
#include <random>
#include <sys/random.h>

namespace bunraku::base {

std::string random_uuid() {
    std::array<std::uint32_t, 4> w{};
    if (::getrandom(w.data(), sizeof w, 0) != sizeof w) {
        std::random_device device;
        for (auto& word : w) word = device();
    }
    w[1] = (w[1] & 0xffff0fffU) | 0x4000U;
    w[2] = (w[2] & 0x3fffffffU) | 0x80000000U;
    std::string out;
    out.reserve(36);
    for (unsigned digit = 0; digit < 32; ++digit) {
        if (digit == 8 || digit == 12 || digit == 16 || digit == 20) out += '-';
        out += "0123456789abcdef"[w[digit / 8] >> (28 - digit % 8 * 4) & 0xf];
    }
    return out;
}

}  // namespace bunraku::base
