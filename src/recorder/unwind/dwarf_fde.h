/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where .eh_frame keeps what it says about an instruction. An FDE describes one function; a CIE
 * what many of them have in common. The object must stay loaded meanwhile.
 */
#ifndef TARE_RECORDER_DWARF_FDE_H
#define TARE_RECORDER_DWARF_FDE_H

#include "recorder/elf/objects.h"
#include "recorder/unwind/dwarf_read.h"

struct tare_fde {
	const uint8_t *tables, *tables_end; /* the segment that .eh_frame is in */
	uintptr_t begin;                    /* of the function */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* how addresses are written */
	bool has_augmentation, is_signal;
	struct tare_dwarf common, program; /* the CIE's instructions, then its own */
};

/* Returns false when nothing covers `ip`, or it cannot be read. */
bool tare_fde_find(const struct tare_elf_object *obj, uintptr_t ip, struct tare_fde *fde);

/* Reads an address. */
uintptr_t tare_fde_pointer(struct tare_dwarf *d, uint8_t encoding);

#endif
