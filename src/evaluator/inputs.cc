// What Inputs does where an implementation says nothing else.
#include <glob.h>

#include "evaluator/host.h"

namespace bunraku::evaluator {

std::vector<std::string> Inputs::glob(const std::string& pattern) {
    std::vector<std::string> out;
    glob_t found{};
    if (::glob(pattern.c_str(), GLOB_BRACE, nullptr, &found) == 0)
        out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    return out;
}

}  // namespace bunraku::evaluator
