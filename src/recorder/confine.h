/* SPDX-License-Identifier: Apache-2.0 */
/* Notices that a program restricts its system calls: base/confined.h says what follows. */
#ifndef TARE_RECORDER_CONFINE_H
#define TARE_RECORDER_CONFINE_H

#include "recorder/base/confined.h"

/* Is the process restricted already? And finds the functions by which libc's users restrict themselves. */
void tare_confine_start(void);

#endif
