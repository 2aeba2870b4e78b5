/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the entry of .eh_frame that describes an instruction. */
#include "recorder/unwind/dwarf_read.h"

#include "recorder/unwind/unwind_regs.h"

#include <string.h>

/* How a pointer is written. */
enum {
	PE_ABSPTR = 0x00,
	PE_ULEB = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_ALIGNED = 0x50,
	PE_BASE = 0x70,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

/* An entry of .eh_frame, read up to its body. */
struct entry {
	struct tare_dwarf body;
	const uint8_t *id_at;
	uint32_t id; /* 0 = CIE; otherwise the distance back from here to the CIE */
};

uintptr_t tare_fde_pointer(struct tare_dwarf *d, uint8_t encoding)
{
	uintptr_t here = (uintptr_t)d->at, value = 0;

	if ((encoding & PE_BASE) == PE_ALIGNED) {
		tare_dwarf_skip(d, -here & 7);
		return tare_dwarf_uint(d, 8);
	}
	switch (encoding & PE_FORMAT) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		value = tare_dwarf_uint(d, 8);
		break;
	case PE_UDATA4:
		value = tare_dwarf_uint(d, 4);
		break;
	case PE_UDATA2:
		value = tare_dwarf_uint(d, 2);
		break;
	case PE_SDATA4:
		value = (uintptr_t)tare_dwarf_int(d, 4);
		break;
	case PE_SDATA2:
		value = (uintptr_t)tare_dwarf_int(d, 2);
		break;
	case PE_ULEB:
		value = tare_dwarf_uleb(d);
		break;
	case PE_SLEB:
		value = (uintptr_t)tare_dwarf_sleb(d);
		break;
	default:
		d->is_bad = true;
	}
	if ((encoding & PE_BASE) == PE_PCREL)
		return value + here;
	if (encoding & PE_BASE) /* relative to text, data or function: nobody's code addresses */
		d->is_bad = true;
	return value;
}

/* Reads length and id at `at`. Returns false at the end mark and outside the segment. */
static bool read_entry(const struct tare_fde *fde, const uint8_t *at, struct entry *e)
{
	uint64_t length;

	if (at < fde->tables || at >= fde->tables_end)
		return false;
	e->body = (struct tare_dwarf){ at, fde->tables_end, false };
	length = tare_dwarf_uint(&e->body, 4);
	if (length == 0xffffffff)
		length = tare_dwarf_uint(&e->body, 8);
	if (length < 4 || length > tare_dwarf_left(&e->body))
		return false;
	e->body.end = e->body.at + length;
	e->id_at = e->body.at;
	e->id = (uint32_t)tare_dwarf_uint(&e->body, 4);
	return true;
}

/* The letters behind 'z' say what its block holds. Returns false for one that we do not know. */
static bool read_augmentation(struct tare_dwarf d, const char *letters, const char *end, struct tare_fde *fde)
{
	uint8_t encoding;

	for (; letters < end; letters++) {
		switch (*letters) {
		case 'R':
			fde->encoding = (uint8_t)tare_dwarf_uint(&d, 1);
			break;
		case 'P':
			encoding = (uint8_t)tare_dwarf_uint(&d, 1);
			if ((encoding & PE_BASE) == PE_ALIGNED && encoding != PE_OMIT)
				tare_fde_pointer(&d, PE_ALIGNED);
			else if (encoding != PE_OMIT)
				tare_fde_pointer(&d, encoding & PE_FORMAT);
			break;
		case 'L':
			tare_dwarf_uint(&d, 1);
			break;
		case 'S':
			fde->is_signal = true;
			break;
		case 'B': /* signed with the other key */
		case 'G': /* memory tags */
			break;
		default:
			return false;
		}
	}
	return !d.is_bad;
}

static bool read_cie(struct tare_fde *fde, const uint8_t *at)
{
	const char *letters, *letters_end;
	struct tare_dwarf *d;
	struct entry e;
	uint8_t version;
	uint64_t size;

	if (!read_entry(fde, at, &e) || e.id != 0)
		return false;
	d = &e.body;
	version = (uint8_t)tare_dwarf_uint(d, 1);
	letters = (const char *)d->at;
	letters_end = letters + strnlen(letters, tare_dwarf_left(d));
	if ((const uint8_t *)letters_end == d->end || (version != 1 && version != 3 && version != 4))
		return false;
	tare_dwarf_skip(d, (uint64_t)(letters_end - letters) + 1);
	if (version == 4 && tare_dwarf_uint(d, 2) != sizeof(void *)) /* and no segment selector */
		return false;
	fde->code_align = tare_dwarf_uleb(d);
	fde->data_align = tare_dwarf_sleb(d);
	if ((version == 1 ? tare_dwarf_uint(d, 1) : tare_dwarf_uleb(d)) != TARE_REG_RA)
		return false;
	if (*letters == 'z') {
		fde->has_augmentation = true;
		size = tare_dwarf_uleb(d);
		if (!read_augmentation(*d, letters + 1, letters_end, fde))
			return false;
		tare_dwarf_skip(d, size);
	} else if (*letters) {
		return false;
	}
	fde->common = *d;
	return !d->is_bad;
}

/*
 * The last entry of the table in .eh_frame_hdr that begins at or before ip: every linker writes the
 * table as pairs of signed offsets from the header.
 */
static const uint8_t *search_table(struct tare_dwarf d, const uint8_t *header, uint8_t encoding, uint64_t count,
                                   uintptr_t ip)
{
	unsigned int width = encoding == (PE_DATAREL | PE_SDATA8) ? 8 : 4;
	uint64_t low = 0, high = count;

	if (encoding != (PE_DATAREL | PE_SDATA4) && encoding != (PE_DATAREL | PE_SDATA8))
		return NULL;
	if (count > tare_dwarf_left(&d) / (2 * width))
		return NULL;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		struct tare_dwarf entry = { d.at + middle * 2 * width, d.end, false };

		if (ip < (uintptr_t)header + (uint64_t)tare_dwarf_int(&entry, width))
			high = middle;
		else
			low = middle + 1;
	}
	if (!low)
		return NULL;
	d.at += (low - 1) * 2 * width + width;
	return header + tare_dwarf_int(&d, width);
}

/* The FDE that may cover ip; also notes the segment of the tables. */
static const uint8_t *find_entry(const struct tare_elf_object *obj, uintptr_t ip, struct tare_fde *fde)
{
	const uint8_t *header = NULL;
	uint8_t frame, count, table;
	struct tare_dwarf d;

	for (uint16_t i = 0; i < obj->phnum; i++)
		if (obj->phdr[i].p_type == PT_GNU_EH_FRAME)
			header = (const uint8_t *)(obj->base + obj->phdr[i].p_vaddr);
	if (!header || !tare_elf_segment(obj, (uintptr_t)header, PF_R, &fde->tables, &fde->tables_end))
		return NULL;
	d = (struct tare_dwarf){ header, fde->tables_end, false };
	if (tare_dwarf_uint(&d, 1) != 1) /* version */
		return NULL;
	frame = (uint8_t)tare_dwarf_uint(&d, 1);
	count = (uint8_t)tare_dwarf_uint(&d, 1);
	table = (uint8_t)tare_dwarf_uint(&d, 1);
	if (count == PE_OMIT || table == PE_OMIT)
		return NULL;
	if (frame != PE_OMIT)
		tare_fde_pointer(&d, frame);
	return search_table(d, header, table, tare_fde_pointer(&d, count), ip);
}

bool tare_fde_find(const struct tare_elf_object *obj, uintptr_t ip, struct tare_fde *fde)
{
	const uint8_t *at;
	struct entry e;
	uintptr_t size;

	memset(fde, 0, sizeof(*fde));
	at = find_entry(obj, ip, fde);
	if (!at)
		return false;
	/* The header and .eh_frame may lie in different segments. */
	if ((at < fde->tables || at >= fde->tables_end) &&
	    !tare_elf_segment(obj, (uintptr_t)at, PF_R, &fde->tables, &fde->tables_end))
		return false;
	if (!read_entry(fde, at, &e) || !e.id || e.id > (size_t)(e.id_at - fde->tables) || !read_cie(fde, e.id_at - e.id))
		return false;
	fde->begin = tare_fde_pointer(&e.body, fde->encoding);
	size = tare_fde_pointer(&e.body, fde->encoding & PE_FORMAT);
	if (fde->has_augmentation)
		tare_dwarf_skip(&e.body, tare_dwarf_uleb(&e.body));
	fde->program = e.body;
	return !e.body.is_bad && ip - fde->begin < size;
}
