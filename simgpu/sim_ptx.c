/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a PTX text says of its kernels, as far as the books need it: parameters, local memory, how
 * much code, printf, malloc and assert. Nothing is checked: the real driver compiles it, this one believes it.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_image.h"

#define INSTRUCTION_BYTES 16 /* of machine code, since sm_70 */

bool sim_ptx_is(const char *text)
{
	while (isspace((unsigned char)*text) || strncmp(text, "//", 2) == 0)
		text += *text == '/' ? strcspn(text, "\n") : 1;
	return strncmp(text, ".version", 8) == 0;
}

/* A copy in which comments are blanks. */
static char *without_comments(const char *text)
{
	char *copy = strdup(text), *at = copy;

	while (at && (at = strchr(at, '/'))) {
		const char *end = at[1] == '/' ? at + strcspn(at, "\n") : at[1] == '*' ? strstr(at + 2, "*/") : at + 1;

		if (!end)
			end = at + strlen(at);
		if (at[1] == '/' || at[1] == '*')
			memset(at, ' ', (size_t)(end - at));
		at = copy + (end - copy) + (*end != 0);
	}
	return copy;
}

/* The bytes of ".align 8 .b8 name[48]", laid behind `before` bytes. */
static uint64_t place(const char *declaration, size_t length, uint64_t before)
{
	uint64_t size = 0, count = 1, align = 0;
	char text[256];
	const char *at;

	snprintf(text, sizeof(text), "%.*s", (int)length, declaration);
	at = strstr(text, ".align");
	if (at)
		align = strtoull(at + 6, NULL, 10);
	for (at = text; (at = strchr(at, '.')); at++)
		if (strchr("bsuf", at[1]) && isdigit((unsigned char)at[2]))
			size = strtoull(at + 2, NULL, 10) / 8;
	at = strchr(text, '[');
	if (at)
		count = strtoull(at + 1, NULL, 10);
	align = align ? align : size ? size : 1;
	return (before + align - 1) / align * align + size * count;
}

static void add_param(struct sim_symbol *symbol, const char *declaration, size_t length)
{
	uint64_t size = place(declaration, length, 0);
	struct sim_param *more = realloc(symbol->param, (symbol->param_nr + 1) * sizeof(struct sim_param));

	symbol->params = place(declaration, length, symbol->params);
	if (!more)
		return;
	symbol->param = more;
	more[symbol->param_nr++] = (struct sim_param){ symbol->params - size, size };
}

static void read_params(struct sim_symbol *symbol, const char *list)
{
	const char *end = strchr(list, ')'), *at = list;

	while (end && (at = strstr(at, ".param")) && at < end) {
		at += 6;
		add_param(symbol, at, strcspn(at, ",)"));
	}
}

static void read_statement(struct sim_image *image, struct sim_symbol *symbol, const char *text, size_t length)
{
	char words[256];

	while (length && isspace((unsigned char)*text)) {
		text++;
		length--;
	}
	if (!length)
		return;
	if (strncmp(text, ".local", 6) == 0)
		symbol->local = place(text + 6, length - 6, symbol->local);
	if (*text == '.')
		return;
	symbol->code += INSTRUCTION_BYTES;
	snprintf(words, sizeof(words), "%.*s", (int)length, text);
	if (!strstr(words, "call"))
		return;
	symbol->has_printf |= strstr(words, "vprintf") != NULL;
	symbol->has_malloc |= strstr(words, "malloc") != NULL;
	symbol->has_assert |= strstr(words, "__assertfail") != NULL;
	image->has_printf |= symbol->has_printf;
	image->has_malloc |= symbol->has_malloc;
	image->has_assert |= symbol->has_assert;
}

/* From behind one brace to behind that which closes it. NULL symbol: nobody's. */
static const char *read_body(struct sim_image *image, struct sim_symbol *symbol, const char *at)
{
	int depth = 1;

	while (depth && *at) {
		size_t length = strcspn(at, ";{}");

		if (symbol && at[length] == ';')
			read_statement(image, symbol, at, length);
		at += length;
		depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
		at += *at != 0;
	}
	return at;
}

/* ".visible .entry NAME (…)": its symbol; NULL: not a kernel, or no memory. */
static struct sim_symbol *read_entry(struct sim_image *image, const char *text, size_t length)
{
	struct sim_symbol *symbol = NULL;
	const char *at = strstr(text, ".entry");
	char name[256];

	if (!at || at >= text + length || sscanf(at + 6, " %255[^( \t\r\n{]", name) != 1)
		return NULL;
	symbol = sim_image_add(image, name, false);
	if (symbol) {
		symbol->code = 0;
		at = strchr(at, '(');
		if (at && at < text + length)
			read_params(symbol, at);
	}
	return symbol;
}

/* One that begins with a value is a string or a table of the compiler's. */
static void read_global(struct sim_image *image, const char *text, size_t length)
{
	const char *at = strstr(text, ".global"), *end, *name;
	struct sim_symbol *symbol;
	char word[256];

	if (!at || at >= text + length || memchr(text, '=', length))
		return;
	end = memchr(at, '[', (size_t)(text + length - at));
	end = end ? end : text + length;
	for (name = end; name > at && !isspace((unsigned char)name[-1]);)
		name--;
	snprintf(word, sizeof(word), "%.*s", (int)(end - name), name);
	symbol = sim_image_add(image, word, true);
	if (symbol)
		symbol->code = place(at + 7, (size_t)(text + length - at - 7), 0);
}

bool sim_ptx_read(struct sim_image *image, const char *text)
{
	char *copy = without_comments(text);
	const char *at = copy;

	while (at && *at) {
		size_t length = strcspn(at, ";{");

		if (at[length] == '{') {
			struct sim_symbol *symbol = read_entry(image, at, length);

			at = read_body(image, symbol, at + length + 1);
			continue;
		}
		read_global(image, at, length);
		at += length + (at[length] != 0);
	}
	free(copy);
	return copy != NULL;
}
