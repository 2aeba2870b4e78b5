/* SPDX-License-Identifier: Apache-2.0 */
/* Records what a scan found: modules, their memory, gradients. */
#include "recorder/torch/scan_say.h"

#include <string.h>

#include "recorder/log/emit.h"
#include "recorder/python/code.h"
#include "recorder/torch/module.h"
#include "record/clock.h"

enum { ENTRIES_MAX = 20000, NAME_BYTES = 256 };

/* Appends a text of Python. False: it is none. */
static bool add_text(const struct tare_scan *s, struct py_object *key, char *text, size_t size)
{
	size_t length = strlen(text);

	return tare_scan_type(key) == s->text_type &&
	       tare_python_text(&s->py->python->layout, (uintptr_t)key, text + length, size - length, TARE_PYTHON_TRUST);
}

/* "weight"; of a tensor that wraps several, "weight.scale". */
static uint32_t name_of(const struct tare_scan *s, struct py_object *key, const struct tare_scan_part *part)
{
	char text[NAME_BYTES] = "";
	size_t length;

	if (!key || !add_text(s, key, text, sizeof(text)))
		return 0;
	length = strlen(text);
	if (!part || length + 2 >= sizeof(text))
		return tare_emit_string(text);
	memcpy(text + length, ".", 2);
	if (part->slot)
		strncat(text, part->slot, sizeof(text) - length - 2);
	else if (!part->key || !add_text(s, part->key, text, sizeof(text)))
		text[length] = '\0';
	return tare_emit_string(text);
}

static bool has_room(struct tare_scan *s)
{
	if (s->result->entries < ENTRIES_MAX)
		return true;
	s->result->flags |= TARE_SCAN_CUT;
	return false;
}

static void emit(struct tare_scan *s, uint64_t at, uint32_t flags, uint32_t name, struct tare_scan_about about)
{
	struct tare_rec_scanned rec;

	if (!has_room(s))
		return;
	memset(&rec, 0, sizeof(rec));
	rec.at = at;
	rec.of = about.of;
	rec.role = (uint16_t)about.role;
	rec.flags = (uint16_t)flags;
	rec.name = name;
	rec.shape = about.shape;
	tare_emit_scanned(&rec, tare_clock_ticks());
	s->result->entries++;
}

void tare_scan_say_memory(struct tare_scan *s, uint64_t at, uint32_t flags, struct tare_scan_about about)
{
	if (at)
		emit(s, at, flags, name_of(s, about.key, NULL), about);
}

void tare_scan_say_module(struct tare_scan *s, uint64_t module)
{
	if (s->modules++ < ENTRIES_MAX)
		tare_module_say(module);
	else
		s->result->flags |= TARE_SCAN_CUT;
}

void tare_scan_say(struct tare_scan *s, struct py_object *tensor, struct tare_scan_about about)
{
	struct tare_scan_part parts[TARE_SCAN_PARTS];
	uint32_t flags = 0;
	int i, count;

	if (!tensor || !tare_scan_is_tensor(&s->tensors, tensor))
		return;
	count = tare_scan_parts(&s->tensors, tensor, parts);
	about.shape = count == 1 ? tare_scan_shape(&s->tensors, tensor) : 0;
	if (about.role == TARE_SCANNED_PARAMETER)
		flags = tare_scan_flags(&s->tensors, tensor);
	for (i = 0; i < count; i++)
		emit(s, parts[i].at, flags, name_of(s, about.key, count > 1 ? &parts[i] : NULL), about);
}

void tare_scan_say_gradient(struct tare_scan *s, struct py_object *tensor, uint64_t of, bool was_asked)
{
	struct tare_scan_part parts[TARE_SCAN_PARTS];
	int i, count = tare_scan_gradient(&s->tensors, tensor, was_asked, parts);

	for (i = 0; i < count; i++)
		emit(s, parts[i].at, 0, 0, (struct tare_scan_about){ .of = of, .role = TARE_SCANNED_GRADIENT });
}
