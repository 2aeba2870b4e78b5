/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_ELF_HIDE_H
#define TARE_RECORDER_ELF_HIDE_H

#include "recorder/elf/objects.h"

/*
 * From here on the dynamic linker finds these functions in no look-up: what is loaded later gets them from where it
 * would without us. `own` is the object that we are in; only while there is one thread. Where the entries cannot be
 * written, they stay.
 */
void tare_elf_hide(const struct tare_elf_object *own, const char *const *names, int nr);

#endif
