/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_DEMANGLE_H
#define TARE_BASE_DEMANGLE_H

#include "base/str.h"

/*
 * Adds what a C++ or Rust function is called, for people: its qualified name without parameters, template
 * arguments as "<…>". "_ZN2at6native4fillILi4EfEEvT0_" gives "at::native::fill<…>". A name that is not
 * mangled, or not in a way known here, is added as it is.
 */
void tare_demangle_add(struct tare_str *out, const char *mangled);

#endif
