// SPDX-License-Identifier: Apache-2.0
#include "net/http/router.h"

#include <algorithm>
#include <deque>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/base/text_view.h"
#include "net/http/path.h"

namespace bunraku::http {

namespace {

struct Route {
    std::string method;
    std::string pattern;
    std::vector<std::string> names;  ///< names of the placeholders, in order
    Access access = Access::anyone();
    Handler handler;
    RouteOptions options;
};

/// A node in the tree of segments.
struct SegmentNode {
    std::vector<std::pair<std::string, std::unique_ptr<SegmentNode>>> literals;
    std::unique_ptr<SegmentNode> placeholder;
    std::vector<const Route*> here;  ///< patterns that end here
    std::vector<const Route*> rest;  ///< patterns that end here with "{rest*}"
};

/// The state of a search.
struct Walk {
    std::string_view method;
    std::vector<std::string_view> segments;  ///< encoded
    std::size_t taken[64];                   ///< segments that placeholders matched
    std::size_t depth = 0;
    std::size_t rest_from = 0;
    const Route* route = nullptr;
    bool other_method = false;
    std::string allowed;
};

const Route* by_method(const std::vector<const Route*>& routes, Walk& walk) {
    const Route* any = nullptr;
    const Route* get = nullptr;
    for (const auto* r : routes) {
        if (r->method == walk.method) return r;
        if (r->method == "*") any = r;
        if (r->method == "GET" && walk.method == "HEAD") get = r;
    }
    if (get) return get;
    if (any) return any;
    for (const auto* r : routes) {
        walk.other_method = true;
        if (walk.allowed.find(r->method) == std::string::npos) {
            if (!walk.allowed.empty()) walk.allowed += ", ";
            walk.allowed += r->method;
            if (r->method == "GET") walk.allowed += ", HEAD";
        }
    }
    return nullptr;
}

bool descend(const SegmentNode& place, std::size_t at, Walk& walk) {
    BUNRAKU_ASSERT(at <= walk.segments.size() && walk.depth <= std::size(walk.taken));
    if (at == walk.segments.size()) {
        walk.route = by_method(place.here, walk);
        return walk.route != nullptr;
    }
    for (const auto& [text, next] : place.literals)
        if (text == walk.segments[at] && descend(*next, at + 1, walk)) return true;
    if (place.placeholder && !walk.segments[at].empty() && walk.depth < std::size(walk.taken)) {
        walk.taken[walk.depth++] = at;
        if (descend(*place.placeholder, at + 1, walk)) return true;
        BUNRAKU_ASSERT(walk.depth > 0);
        walk.depth--;
    }
    if (!place.rest.empty()) {
        walk.rest_from = at;
        walk.route = by_method(place.rest, walk);
        return walk.route != nullptr;
    }
    return false;
}

std::vector<std::string_view> segments_of(base::TextView path BUNRAKU_LIFETIMEBOUND) {
    if (path.starts_with('/')) path.remove_prefix(1);
    return base::split(path, '/');
}

}  // namespace

struct Router::Impl {
    std::deque<Route> routes;
    SegmentNode root;
    Handler otherwise, not_found, wrong_method, broken;
    RouteOptions otherwise_options, refusal_options;
    Access otherwise_access = Access::anyone();
    const Access anyone = Access::anyone();
    AccessPolicy policy;

    Walk walk(const Request& request) const {
        Walk w;
        w.method = request.method;
        w.segments = segments_of(request.path);
        descend(root, 0, w);
        return w;
    }
};

Router::Router() : impl_(std::make_unique<Impl>()) {
    impl_->not_found = [](Request&) { return Response::text(404, "Not Found"); };
    impl_->broken = [](Request&) { return Response::text(400, kBadPath); };
    auto* impl = impl_.get();
    impl_->wrong_method = [impl](Request& request) {
        auto response = Response::text(405, "Method Not Allowed");
        response.headers.add("Allow", impl->walk(request).allowed);
        return response;
    };
}

Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

void Router::add(std::string_view method, std::string_view pattern, Access access, Handler handler,
                 RouteOptions options) {
    BUNRAKU_ASSERT(!method.empty() && handler);
    auto& route = impl_->routes.emplace_back();
    route.method = method;
    route.pattern = pattern;
    route.access = std::move(access);
    route.handler = std::move(handler);
    route.options = std::move(options);
    SegmentNode* place = &impl_->root;
    for (auto segment : segments_of(route.pattern)) {
        if (segment.size() > 2 && segment.front() == '{' && segment.back() == '}') {
            auto name = segment.substr(1, segment.size() - 2);
            if (name.ends_with('*')) {
                // Nothing can follow "{rest*}".
                BUNRAKU_ASSERT(segment.data() + segment.size() ==
                               route.pattern.data() + route.pattern.size());
                name.remove_suffix(1);
                route.names.emplace_back(name);
                place->rest.push_back(&route);
                return;
            }
            route.names.emplace_back(name);
            if (!place->placeholder) place->placeholder = std::make_unique<SegmentNode>();
            place = place->placeholder.get();
            continue;
        }
        auto it = std::find_if(place->literals.begin(), place->literals.end(),
                               [&](const auto& l) { return l.first == segment; });
        if (it == place->literals.end()) {
            place->literals.emplace_back(segment, std::make_unique<SegmentNode>());
            it = place->literals.end() - 1;
        }
        place = it->second.get();
    }
    BUNRAKU_ASSERT(route.names.size() <= std::size(Walk{}.taken));
    place->here.push_back(&route);
}

void Router::set_policy(AccessPolicy policy) { impl_->policy = std::move(policy); }

void Router::otherwise(Access access, Handler handler, RouteOptions options) {
    impl_->otherwise_access = std::move(access);
    impl_->otherwise = std::move(handler);
    impl_->otherwise_options = std::move(options);
}

Router::Match Router::match(Request& request) const {
    const Match broken{&impl_->broken, &impl_->refusal_options, &impl_->anyone};
    request.params.clear();
    request.route = {};
    auto path = canonical_path(request.path);
    if (!path) return broken;
    request.path = std::move(*path);
    auto walk = impl_->walk(request);
    if (!walk.route) {
        if (impl_->otherwise)
            return {&impl_->otherwise, &impl_->otherwise_options, &impl_->otherwise_access};
        return {walk.other_method ? &impl_->wrong_method : &impl_->not_found,
                &impl_->refusal_options, &impl_->anyone};
    }
    const Route& route = *walk.route;
    // The walk took one segment for each placeholder, except for "{rest*}".
    BUNRAKU_ASSERT(walk.depth == route.names.size() || walk.depth + 1 == route.names.size());
    request.route = route.pattern;
    std::size_t i = 0;
    for (; i < walk.depth && i < route.names.size(); i++) {
        auto value = percent_decode(walk.segments[walk.taken[i]]);
        if (!value) return broken;
        request.params.emplace_back(route.names[i], std::move(*value));
    }
    // "{rest*}" extends from its first segment to the end of the path
    if (i < route.names.size()) {
        BUNRAKU_ASSERT(walk.rest_from < walk.segments.size());
        const char* begin = walk.segments[walk.rest_from].data();
        const char* end = request.path.data() + request.path.size();
        auto value = percent_decode(std::string_view(begin, static_cast<std::size_t>(end - begin)));
        if (!value) return broken;
        request.params.emplace_back(route.names[i], std::move(*value));
    }
    BUNRAKU_ASSERT(request.params.size() == route.names.size());
    return {&route.handler, &route.options, &route.access};
}

std::optional<Response> Router::refusal(const Match& found, const Request& request) const {
    BUNRAKU_ASSERT(found.handler && found.options && found.access);
    return found.access->refusal(request, impl_->policy);
}

Response Router::handle(Request& request) const {
    auto found = match(request);
    if (auto refused = refusal(found, request)) return std::move(*refused);
    if (request.body.size() > found.options->max_body)
        return Response::text(413, "The body is too long");
    return (*found.handler)(request);
}

}  // namespace bunraku::http
