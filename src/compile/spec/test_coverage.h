// How much of an environment's code `bunraku test` has seen at work.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compile/spec/expectations.h"
#include "resources/catalog/catalog.h"

namespace bunraku::spec {

/// What is counted: a class once it is in a catalog; its parameter once it had two values, or is
/// expected to have one; a resource once it is expected.
class Coverage {
public:
    /// A class that there is to be seen.
    void add_class(const std::string& name, const std::vector<std::string>& parameters);
    void record(const catalog::Catalog& catalog);
    void record(const Expected& expected);
    void add(Coverage&& other);

    /// One line, and with `whole` what was not seen.
    std::string text(bool whole) const;

private:
    struct Parameter {
        std::string value;
        bool varied = false;
    };
    struct Class {
        bool known = false;  ///< of the environment's own
        bool compiled = false;
        std::map<std::string, Parameter> parameters;
    };
    std::map<std::string, Class> classes_;
    std::map<std::string, std::string> resources_;  ///< as they are shown, by their keys
    std::set<std::string> expected_, expected_parameters_;
};

}  // namespace bunraku::spec
