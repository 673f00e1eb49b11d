// What the type system knows of values that live above it: see TypedExtension (type.h) for
// closures, objects and iterators, and Iterator (iterator.h) for walking one.
#pragma once

#include "language/types/iterator.h"
#include "language/types/type.h"
