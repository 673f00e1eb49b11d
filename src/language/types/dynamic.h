// SPDX-License-Identifier: Apache-2.0
// The type system's view of values that higher layers define: see TypedExtension (type.h) for
// closures, objects and iterators, and Iterator (iterator.h) for iteration.
#pragma once

#include "language/types/iterator.h"
#include "language/types/type.h"
