// SPDX-License-Identifier: Apache-2.0
// The scheduling priority of threads.
#pragma once

namespace bunraku::sys {

/// Lowers the priority of the calling thread, and of threads and processes that it starts from now
/// on. For work that must not delay other work of the process.
void lower_thread_priority();

}  // namespace bunraku::sys
