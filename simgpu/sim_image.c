/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a module is loaded from, and keeps images that are the same once. */
#include "sim_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

#include "sim_answer.h"

#define MARK           "tare-sim-module"
#define FILE_MAX       (1u << 20)
#define DEFAULT_CODE   4096
#define DEFAULT_GLOBAL 4096

static uint64_t value_of(const char *line, const char *key, uint64_t otherwise)
{
	const char *at = strstr(line, key);
	char word[32];
	uint64_t value;

	if (!at)
		return otherwise;
	at += strlen(key);
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(at, " \t\r\n"), at);
	return tare_profile_parse_size(word, &value) == 0 ? value : otherwise;
}

struct sim_symbol *sim_image_add(struct sim_image *image, const char *name, bool is_global)
{
	struct sim_symbol *symbol = calloc(1, sizeof(*symbol));

	if (!symbol)
		return NULL;
	snprintf(symbol->name, sizeof(symbol->name), "%s", name);
	symbol->is_global = is_global;
	symbol->says = is_global ? SIM_SAYS_NOTHING : sim_answer_says(name);
	symbol->code = is_global ? DEFAULT_GLOBAL : DEFAULT_CODE;
	symbol->next = image->symbols;
	image->symbols = symbol;
	image->kernels += !is_global;
	return symbol;
}

static bool read_line(struct sim_image *image, const char *line)
{
	char kind[16], name[256], size[32] = "";
	struct sim_symbol *symbol;

	if (sscanf(line, "%15s %255s %31[^\r]", kind, name, size) < 2)
		return true;
	symbol = sim_image_add(image, name, strcmp(kind, "global") == 0);
	if (!symbol)
		return false;
	if (symbol->is_global) {
		if (tare_profile_parse_size(size, &symbol->code) < 0)
			symbol->code = DEFAULT_GLOBAL;
		return true;
	}
	symbol->code = value_of(line, " code=", DEFAULT_CODE);
	symbol->local = value_of(line, " local=", 0);
	symbol->params = value_of(line, " params=", 0);
	symbol->touches = (unsigned)value_of(line, " touches=", 0);
	symbol->has_printf = value_of(line, " printf=", 0);
	symbol->has_malloc = value_of(line, " malloc=", 0);
	symbol->has_assert = value_of(line, " assert=", 0);
	image->has_printf |= symbol->has_printf;
	image->has_malloc |= symbol->has_malloc;
	image->has_assert |= symbol->has_assert;
	return true;
}

void sim_image_drop(struct sim_image *image)
{
	if (--image->refs)
		return;
	while (image->symbols) {
		struct sim_symbol *symbol = image->symbols;

		image->symbols = symbol->next;
		free(symbol->param);
		free(symbol);
	}
	free(image);
}

static bool read_lines(struct sim_image *image, const char *text)
{
	char line[512];

	while (*text) {
		size_t length = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)(length < sizeof(line) ? length : sizeof(line) - 1), text);
		if (strncmp(line, MARK, strlen(MARK)) != 0 && !read_line(image, line))
			return false;
		text += length + (text[length] == '\n');
	}
	return true;
}

CUresult sim_image_read(const void *data, struct sim_image **image)
{
	const char *text = data;
	struct sim_image *made;
	bool is_read = true;

	if (!data)
		return CUDA_ERROR_INVALID_VALUE;
	made = calloc(1, sizeof(*made));
	if (!made)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made->refs = 1;
	/* Other images are binary: no byte beyond the first that differs is looked at. */
	if (strncmp(text, MARK, strlen(MARK)) == 0)
		is_read = read_lines(made, text);
	else if (sim_ptx_is(text))
		is_read = sim_ptx_read(made, text);
	else
		made->is_opaque = true;
	if (!is_read) {
		sim_image_drop(made);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*image = made;
	return CUDA_SUCCESS;
}

CUresult sim_image_read_file(const char *path, struct sim_image **image)
{
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
	FILE *file;
	char *text;

	if (!path)
		return CUDA_ERROR_INVALID_VALUE;
	file = tare_profile_open(path);
	if (!file)
		return CUDA_ERROR_FILE_NOT_FOUND;
	text = calloc(1, FILE_MAX);
	if (text && !fread(text, 1, FILE_MAX - 1, file))
		text[0] = 0;
	fclose(file);
	if (text)
		result = sim_image_read(text, image);
	free(text);
	return result;
}

struct sim_symbol *sim_image_find(struct sim_image *image, const char *name, bool is_global)
{
	struct sim_symbol *symbol;

	for (symbol = image->symbols; symbol; symbol = symbol->next)
		if (symbol->is_global == is_global && strcmp(symbol->name, name) == 0)
			return symbol;
	return image->is_opaque ? sim_image_add(image, name, is_global) : NULL;
}
