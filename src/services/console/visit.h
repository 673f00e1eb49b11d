// SPDX-License-Identifier: Apache-2.0
// A request of a signed-in user, with everything that a page needs.
#pragma once

#include <concepts>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/arena.h"
#include "core/base/result.h"
#include "core/codec/json_text.h"
#include "core/value/value.h"
#include "net/http/message.h"
#include "services/console/console.h"
#include "services/console/html.h"
#include "services/console/url.h"

namespace bunraku::console {

using http::Response;

/// An argument of a query: a text as a JSON string, or a number.
inline std::string query_argument(std::string_view text) { return codec::json_string(text); }
template <std::integral T>
std::string query_argument(T number) {
    return std::to_string(number);
}

/// The rows of a query: a JSON array of objects, or of other values for some entities.
class Rows {
public:
    /// Parses the result of QueryEngine.
    static base::Result<Rows> parse(std::string_view json);
    auto begin() const { return values_.as_array().begin(); }
    auto end() const { return values_.as_array().end(); }
    std::size_t size() const { return values_.as_array().size(); }
    bool empty() const { return size() == 0; }
    const value::Value& operator[](std::size_t i) const { return values_.as_array()[i]; }

private:
    std::unique_ptr<base::Arena> arena_ = std::make_unique<base::Arena>();
    value::Value values_;
};

/// Title and place of a page.
struct Head {
    std::string title;          ///< of the window and, unless `heading` is set, of the page
    std::string_view nav = {};  ///< the entry of the side bar that is current, such as "nodes"
    std::optional<Markup> heading = {};  ///< replaces the line with the title
    Markup crumb = {};  ///< a link to the page above this one, over the title; may be empty
    int status = 200;
    /// Without JavaScript, the browser loads the page again after this number of seconds. 0 means
    /// that it does not. With JavaScript, poll.js loads elements with `data-poll`.
    int refresh_s = 0;
};

class Visit {
public:
    using Form = std::vector<std::pair<std::string, std::string>>;
    Visit(Console& all, http::Request& asked, Viewer who, std::string form_secret, Form form = {})
        : console(all),
          request(asked),
          viewer(std::move(who)),
          csrf(std::move(form_secret)),
          now_ms(all.now_ms()),
          form_(std::move(form)) {}

    Console& console;
    http::Request& request;
    const Viewer viewer;
    const std::string csrf;     ///< for forms, see csrf_field()
    const std::int64_t now_ms;  ///< milliseconds since the epoch

    /// Returns a placeholder of the page's path.
    std::string_view param(std::string_view name) const { return request.param(name); }
    /// Returns a parameter of the query, or an empty text.
    std::string_view query(std::string_view name) const;
    /// Returns a parameter as a number from 1 to `most`, or `otherwise` if it is absent or bad.
    std::size_t number(std::string_view name, std::size_t otherwise, std::size_t most) const;
    /// Returns a field of the submitted form, or an empty text.
    std::string_view field(std::string_view name) const;

    /// Returns the fleet. If the store is unavailable, returns the last known state, and the page
    /// shows a note.
    base::Result<std::shared_ptr<const Fleet>> fleet();
    /// Runs a query in AST form, in which "{}" stands for an argument. Texts are quoted. Rows are
    /// those of active nodes unless the query has a condition on node_state.
    ///
    ///     visit.ask(R"(["from","facts",["=","certname",{}]])", name)
    template <class... Args>
    base::Result<Rows> ask(std::string_view ast, const Args&... args) {
        return run(fmt::format(fmt::runtime(ast), query_argument(args)...));
    }
    /// Runs PQL or an AST.
    base::Result<Rows> run(std::string_view query);

    /// Returns a page whose content is `body`.
    Response page(Head head, Html body);
    /// Returns a redirect to another page of the console (303).
    Response redirect(std::string_view target) const;
    /// Writes the hidden field that every form with method post needs.
    void csrf_field(Html& h) const;

    bool stale = false;                        ///< set if the page shows an earlier state
    std::shared_ptr<const Fleet> known_fleet;  ///< set by fleet(), for the frame's counters

private:
    Form form_;
};

/// Removes the runs of environments that the viewer may not see. Call Visit::fleet() before.
void keep_visible(const Visit& visit, std::vector<store::RunRow>& runs);

}  // namespace bunraku::console
