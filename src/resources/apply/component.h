// SPDX-License-Identifier: Apache-2.0
// Containers and their representation in the graph: classes and defined types, stages, whits.
#pragma once

#include "resources/apply/resource.h"

namespace bunraku::apply {

/// A class or an instance of a defined type.
class Component final : public Resource {
public:
    Component(Context& context, std::string type, std::string title)
        : Resource(context, *restype::find_type("component")),
          type_(std::move(type)),
          reference_title_(std::move(title)) {
        kind_ = Kind::Component;
    }
    std::string_view reference_type() const { return type_; }
    std::string_view reference_title() const { return reference_title_; }
    std::string ref() const override { return type_ + "[" + reference_title_ + "]"; }
    std::vector<std::string> path_elements() const override;
    bool refreshable() const override { return true; }
    /// Sets only metaparameters. The parameters of classes and defines have no effect when a
    /// catalog is applied.
    void initialize_component(ResourceData data);

private:
    std::string type_, reference_title_;
};

/// A marker for the start or the end of a container.
class Whit final : public Resource {
public:
    Whit(Context& context, std::string name, std::string shown, bool completed,
         Resource* container = nullptr)
        : Resource(context, *restype::find_type("whit")),
          container_(container),
          shown_(std::move(shown)),
          completed_(completed) {
        kind_ = Kind::Whit;
        set_title(std::move(name));
    }
    std::string ref() const override;
    std::string to_s() const override { return shown_; }
    std::vector<std::string> path_elements() const override { return {shown_}; }
    bool refreshable() const override { return true; }
    bool completed() const { return completed_; }
    /// Returns the class or define that this whit starts or ends. In Puppet both whits have its
    /// name and therefore share one status. Returns null for the whit that ends the resources which
    /// another resource generated.
    Resource* container() const { return container_; }

private:
    Resource* container_;
    std::string shown_;
    bool completed_;
};

}  // namespace bunraku::apply
