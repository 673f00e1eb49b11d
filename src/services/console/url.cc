// SPDX-License-Identifier: Apache-2.0
#include "services/console/url.h"

#include <utility>

#include "net/http/message.h"

namespace bunraku::console {

Url::Url(std::initializer_list<std::string_view> segments) : text_(kRoot) {
    for (const auto segment : segments) {
        text_ += '/';
        text_ += http::percent_encode(segment);
    }
    if (segments.size() == 0) text_ += '/';
}

void Url::add(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    text_ += std::exchange(has_query_, true) ? '&' : '?';
    text_ += http::percent_encode(name);
    text_ += '=';
    text_ += http::percent_encode(value);
}

Url& Url::with(std::string_view name, std::string_view value) & {
    add(name, value);
    return *this;
}

Url&& Url::with(std::string_view name, std::string_view value) && {
    add(name, value);
    return std::move(*this);
}

}  // namespace bunraku::console
