/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up what a code object contains, to tell it from a later one at its address. */
#include "recorder/python/content.h"

static uint64_t word_at(const uint8_t *from)
{
	uint64_t word;

	__builtin_memcpy(&word, from, sizeof(word)); /* a load; memcpy would be a call (-fno-builtin) */
	return word;
}

static uint64_t up_to_seven_at(const uint8_t *from, size_t bytes)
{
	uint32_t low, high;

	if (bytes < 4)
		return bytes ? (uint64_t)from[0] | (uint64_t)from[bytes / 2] << 8 | (uint64_t)from[bytes - 1] << 16 : 0;
	__builtin_memcpy(&low, from, sizeof(low));
	__builtin_memcpy(&high, from + bytes - 4, sizeof(high));
	return (uint64_t)low << 32 | high;
}

/*
 * Everything of up to 64 bytes; of more, eight words from end to end and the size. What is compared is
 * old and new content of the same address, size and code name.
 */
static uint64_t sample(uintptr_t at, size_t bytes)
{
	const uint8_t *from = (const uint8_t *)at;
	uint64_t hash = bytes * TARE_PYTHON_MULTIPLIER;
	unsigned int i, words = 7;
	size_t step = 8;

	if (bytes < 8)
		return hash + tare_python_product(up_to_seven_at(from, bytes), 0);
	if (bytes > 64)
		step = (bytes - 8) / 7;
	else
		words = (unsigned int)(bytes - 1) / 8;
	for (i = 0; i < words; i++)
		hash += tare_python_product(word_at(from + i * step), i);
	return hash + tare_python_product(word_at(from + bytes - 8), 7);
}

uint64_t tare_python_sample_text(const struct tare_python_layout *l, uintptr_t text)
{
	unsigned int width;
	uintptr_t at;
	size_t bytes;

	return tare_python_characters(l, text, &at, &bytes, &width, TARE_PYTHON_TRUST) ? sample(at, bytes) : 0;
}

uint64_t tare_python_sample_table(uintptr_t table)
{
	return sample(table + TARE_PYTHON_BYTES, tare_python_word(table + TARE_PYTHON_SIZE));
}
