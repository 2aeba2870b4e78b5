/* SPDX-License-Identifier: Apache-2.0 */
/* Notices that a program restricts its system calls: base/confined.h says what follows. */
#ifndef TARE_RECORDER_CONFINE_H
#define TARE_RECORDER_CONFINE_H

#include "recorder/base/confined.h"

/* At the start, before any system call but those that a dynamic linker makes itself. */
void tare_confine_start(void);
/* The functions by which libc's users restrict themselves, found once. */
void tare_confine_find(void);

#endif
