// SPDX-License-Identifier: Apache-2.0
// Marks functions whose result may refer to an argument. clang then warns (-Wdangling) if the
// argument is a temporary, and CI treats the warning as an error.
#pragma once

#if defined(__clang__)
/// Follows a parameter, or the parentheses of a member function. The result is then a view of that
/// parameter or object.
#define BUNRAKU_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define BUNRAKU_LIFETIMEBOUND
#endif
