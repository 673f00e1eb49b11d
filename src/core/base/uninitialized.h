// SPDX-License-Identifier: Apache-2.0
// Optimised builds set all local variables to zero (-ftrivial-auto-var-init). That costs more than
// the work itself for a large buffer of which a system call fills only a small part.
#pragma once

#if defined(__has_attribute)
#if __has_attribute(uninitialized)
/// Follows the name of a local buffer that is never read before it is written.
#define BUNRAKU_UNINITIALIZED __attribute__((uninitialized))
#endif
#endif
#ifndef BUNRAKU_UNINITIALIZED
#define BUNRAKU_UNINITIALIZED
#endif
