/* SPDX-License-Identifier: Apache-2.0 */
/* Reading call frame information (.eh_frame): its numbers, and where it keeps what it says about an instruction. */
#ifndef TARE_RECORDER_UNWIND_DWARF_READ_H
#define TARE_RECORDER_UNWIND_DWARF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/elf/objects.h"

/* A reader of DWARF's number formats that cannot leave its range: past the end it reads zeros. */
struct tare_dwarf {
	const uint8_t *at, *end;
	bool is_bad; /* something did not fit */
};

static inline size_t tare_dwarf_left(const struct tare_dwarf *d)
{
	return (size_t)(d->end - d->at);
}

/* `size` is at most 8. */
static inline uint64_t tare_dwarf_uint(struct tare_dwarf *d, unsigned int size)
{
	uint64_t value = 0;

	if (tare_dwarf_left(d) < size) {
		d->is_bad = true;
		d->at = d->end;
		return 0;
	}
	__builtin_memcpy(&value, d->at, size); /* both processors are little-endian */
	d->at += size;
	return value;
}

static inline int64_t tare_dwarf_int(struct tare_dwarf *d, unsigned int size)
{
	unsigned int unused = 64 - 8 * size;

	return (int64_t)(tare_dwarf_uint(d, size) << unused) >> unused;
}

/* Seven bits a byte. `negative`: the bits above the last one, if the number is signed and below 0. */
static inline uint64_t tare_dwarf_leb(struct tare_dwarf *d, uint64_t *negative)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)tare_dwarf_uint(d, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*negative = shift < 64 && byte & 0x40 ? ~(uint64_t)0 << shift : 0;
	return value;
}

static inline uint64_t tare_dwarf_uleb(struct tare_dwarf *d)
{
	uint64_t unused;

	return tare_dwarf_leb(d, &unused);
}

static inline int64_t tare_dwarf_sleb(struct tare_dwarf *d)
{
	uint64_t negative, value = tare_dwarf_leb(d, &negative);

	return (int64_t)(value | negative);
}

static inline void tare_dwarf_skip(struct tare_dwarf *d, uint64_t size)
{
	if (size > tare_dwarf_left(d)) {
		d->is_bad = true;
		size = tare_dwarf_left(d);
	}
	d->at += size;
}

/*
 * dwarf_fde.c: where .eh_frame keeps what it says about an instruction. An FDE describes one function; a CIE
 * what many of them have in common. The object must stay loaded meanwhile.
 */
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
