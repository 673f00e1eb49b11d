// SPDX-License-Identifier: Apache-2.0
// Writes HTML. Text and attribute values are always escaped. Markup that is already HTML needs the
// type Markup. Tags and attribute names are literals that the compiler checks.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/assert.h"

namespace bunraku::console {

/// A literal tag or attribute name. `style` and event handlers do not compile, because the
/// Content-Security-Policy forbids them.
class Name {
public:
    consteval Name(const char* text) : text_(text) {  // NOLINT: implicit by design
        if (text_.empty() || text_ == "style" || (text_.starts_with("on") && text_ != "on"))
            throw "This name is not allowed in a page";
        for (const char c : text_) {
            const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '-';
            if (!good) throw "A name has letters, digits and dashes";
        }
    }
    constexpr std::string_view text() const { return text_; }

private:
    std::string_view text_;
};

/// An attribute of an element.
class Attribute {
public:
    Attribute(Name name, std::string_view value) : name_(name), value_(value) {}
    Attribute(Name name, const char* value) : name_(name), value_(value) {}
    Attribute(Name name, const std::string& value) : name_(name), value_(value) {}
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    Attribute(Name name, T value) : name_(name), value_(std::to_string(value)) {}
    /// A boolean attribute, such as `checked`: present without a value, or absent.
    Attribute(Name name, bool present) : name_(name), present_(present), bare_(true) {}
    /// An attribute that is absent unless `present` is true.
    Attribute(Name name, std::string_view value, bool present)
        : name_(name), value_(value), present_(present) {}

private:
    friend class Html;
    Name name_;
    std::string value_;
    bool present_ = true, bare_ = false;
};
using Attributes = std::initializer_list<Attribute>;

/// Markup in the source code.
class Literal {
public:
    consteval Literal(const char* text) : text_(text) {}  // NOLINT: implicit by design
    constexpr std::string_view text() const { return text_; }

private:
    std::string_view text_;
};

/// Text that is HTML already: the output of an Html.
class Markup {
public:
    Markup() = default;
    std::string_view text() const { return text_; }
    bool empty() const { return text_.empty(); }

private:
    friend class Html;
    friend Markup markdown(std::string_view text);
    explicit Markup(std::string text) : text_(std::move(text)) {}
    std::string text_;
};

class Html {
public:
    /// An open element. Its destructor writes the end tag.
    class Element {
    public:
        Element(Element&& other) noexcept
            : html_(std::exchange(other.html_, nullptr)), tag_(other.tag_) {}
        Element& operator=(Element&&) = delete;
        ~Element() {
            if (html_) html_->close(tag_);
        }

    private:
        friend class Html;
        Element(Html* html, Name tag) : html_(html), tag_(tag) {}
        Html* html_;
        Name tag_;
    };

    /// Opens an element until the result is destroyed.
    [[nodiscard]] Element in(Name tag, Attributes attributes = {});
    /// Writes an element that contains only text.
    Html& leaf(Name tag, Attributes attributes, std::string_view text);
    Html& leaf(Name tag, std::string_view text) { return leaf(tag, {}, text); }
    /// Writes an element without content, such as `input` or `path`.
    Html& empty(Name tag, Attributes attributes = {});
    /// Writes a link with a text.
    Html& link(std::string_view href, std::string_view text) {
        return leaf("a", {{"href", href}}, text);
    }
    /// Writes escaped text. Control characters become visible, and invalid UTF-8 is replaced.
    Html& text(std::string_view text);
    /// Writes a text that a node or another client has sent: isolated from the direction of the
    /// surrounding text, and cut after `most` bytes.
    Html& foreign(std::string_view text, std::size_t most = kMostForeign);
    Html& raw(const Markup& markup) {
        out_ += markup.text();
        return *this;
    }
    Html& raw(Literal markup) {
        out_ += markup.text();
        return *this;
    }

    /// Returns the markup and becomes empty. No element may be open.
    Markup take() {
        BUNRAKU_ASSERT(open_elements_ == 0);
        return Markup(std::exchange(out_, {}));
    }
    std::size_t size() const { return out_.size(); }

    static constexpr std::size_t kMostForeign = 4096;

private:
    void open(Name tag, Attributes attributes);
    void close(Name tag);
    std::string out_;
    int open_elements_ = 0;
};

/// Returns `text` without invalid UTF-8, with visible control characters, and escaped.
std::string escaped(std::string_view text);
/// Reports whether a link target is safe: a path of this server, a query, a fragment, or http(s).
bool is_safe_target(std::string_view target);

}  // namespace bunraku::console
