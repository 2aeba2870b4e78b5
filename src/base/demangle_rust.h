/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_DEMANGLE_RUST_H
#define TARE_BASE_DEMANGLE_RUST_H

#include "base/str.h"

#include <stdbool.h>

/*
 * Adds what a Rust function is called, for people, with generic arguments as "<…>": of names of both kinds, "_R…" (v0) and "_ZN…17h…E".
 * False, and nothing is added: it is no such name, or not in a way known here.
 */
bool tare_demangle_rust_add(struct tare_str *out, const char *mangled);

#endif
