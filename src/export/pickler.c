/* SPDX-License-Identifier: Apache-2.0 */
/* Writes values as a pickle (PEP 3154), without any opcode that makes a reader call something. */
#include "export/pickler.h"

#include <string.h>

static void add_bytes(struct tare_pickler *p, char op, uint64_t value, int bytes)
{
	tare_str_add_char(p->out, op);
	for (int i = 0; i < bytes; i++)
		tare_str_add_char(p->out, (char)(value >> 8 * i));
}

void tare_pickler_begin(struct tare_pickler *p, struct tare_str *out)
{
	*p = (struct tare_pickler){ .out = out };
	add_bytes(p, (char)0x80, 4, 1);
}

void tare_pickler_end(struct tare_pickler *p)
{
	tare_str_add_char(p->out, '.');
	tare_strmap_free(&p->texts);
}

void tare_pickler_open(struct tare_pickler *p, char bracket)
{
	tare_str_add(p->out, bracket == '{' ? "}(" : "](");
}

void tare_pickler_close(struct tare_pickler *p, char bracket)
{
	tare_str_add_char(p->out, bracket == '}' ? 'u' : 'e');
}

uint32_t tare_pickler_remember(struct tare_pickler *p)
{
	tare_str_add_char(p->out, (char)0x94);
	return p->remembered++;
}

void tare_pickler_again(struct tare_pickler *p, uint32_t number)
{
	if (number < 256)
		add_bytes(p, 'h', number, 1);
	else
		add_bytes(p, 'j', number, 4);
}

void tare_pickler_text(struct tare_pickler *p, const char *text)
{
	bool is_new;
	uint64_t *number = tare_strmap_put(&p->texts, text, &is_new);

	if (!is_new) {
		tare_pickler_again(p, (uint32_t)*number);
		return;
	}
	add_bytes(p, 'X', strlen(text), 4);
	tare_str_add(p->out, text);
	*number = tare_pickler_remember(p);
}

/* Of any size, the lowest byte first; the highest bit is its sign. */
static void add_long(struct tare_pickler *p, uint64_t value, bool is_unsigned)
{
	bool is_wide = is_unsigned && value >> 63;

	tare_str_add_char(p->out, (char)0x8a);
	add_bytes(p, (char)(8 + is_wide), value, 8);
	if (is_wide)
		tare_str_add_char(p->out, 0);
}

void tare_pickler_uint(struct tare_pickler *p, uint64_t value)
{
	if (value < 1 << 8)
		add_bytes(p, 'K', value, 1);
	else if (value < 1 << 16)
		add_bytes(p, 'M', value, 2);
	else if (value < UINT64_C(1) << 31)
		add_bytes(p, 'J', value, 4);
	else
		add_long(p, value, true);
}

void tare_pickler_int(struct tare_pickler *p, int64_t value)
{
	if (value >= 0)
		tare_pickler_uint(p, (uint64_t)value);
	else
		add_long(p, (uint64_t)value, false);
}

void tare_pickler_flag(struct tare_pickler *p, bool value)
{
	tare_str_add_char(p->out, (char)(value ? 0x88 : 0x89));
}

void tare_pickler_pair(struct tare_pickler *p)
{
	tare_str_add_char(p->out, (char)0x86);
}
