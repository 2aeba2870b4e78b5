/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TESTS_UNIT_MOMENT_TEXT_H
#define TARE_TESTS_UNIT_MOMENT_TEXT_H

#include "base/str.h"

/* Adds what a report of the recording in make_dir() has at a moment, such as "peak". */
void moment_text_add(struct tare_str *out, const char *moment);

#endif
