/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tells code objects apart. One can die and another be made at its address, often with its name and
 * strings at the same addresses as well, so only contents do.
 */
#ifndef TARE_RECORDER_PYTHON_CONTENT_H
#define TARE_RECORDER_PYTHON_CONTENT_H

#include "recorder/python/code.h"
#include "recorder/python/interpreter.h"
#include "recorder/recorder.h"

#define TARE_PYTHON_MULTIPLIER 0x9e3779b97f4a7c15u

static inline uint64_t tare_python_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * TARE_PYTHON_MULTIPLIER;
	return hash ^ hash >> 29;
}

/* Products do not wait for each other, so this takes little longer than its loads. */
static inline uint64_t tare_python_product(uint64_t word, unsigned int place)
{
	static const uint64_t odd[8] = {
		0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu, 0xd6e8feb86659fd93u,
		0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu, 0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u
	};

	word ^= word >> 32;
	return word * odd[place];
}

/* A string or table that was ever the key of a dict, as names are, keeps the hash of all that is in it. */
static inline uint64_t tare_python_kept_hash(uintptr_t object)
{
	return tare_python_word(object + TARE_PYTHON_HASH);
}

#define TARE_PYTHON_NO_HASH UINT64_MAX

uint64_t tare_python_sample_text(const struct tare_python_layout *l, uintptr_t text);
uint64_t tare_python_sample_table(uintptr_t table);

static inline uint64_t tare_python_content_of_text(const struct tare_python_layout *l, uintptr_t text)
{
	uint64_t hash = tare_python_kept_hash(text);

	return likely(hash != TARE_PYTHON_NO_HASH) ? hash : tare_python_sample_text(l, text);
}

static inline uint64_t tare_python_content_of_table(uintptr_t table)
{
	uint64_t hash = tare_python_kept_hash(table);

	return hash != TARE_PYTHON_NO_HASH ? hash : tare_python_sample_table(table);
}

/* Neighbours in a stack often share their file. */
struct tare_python_file_seen {
	uintptr_t file;
	uint64_t content;
};

/* The number that a code object has in its interpreter, and its first line. */
static inline uint64_t tare_python_number(uintptr_t code, size_t version, size_t first)
{
	return (uint64_t)tare_python_half(code + version) << 32 | tare_python_half(code + first);
}

/* What tells a code object from any other that was or will be at its address. */
static inline __attribute__((always_inline)) uint64_t
tare_python_content(const struct tare_python_layout *l, uintptr_t code, struct tare_python_file_seen *seen)
{
	uintptr_t file = tare_python_word(code + l->file), name = tare_python_word(code + l->name);

	if (seen->file != file) {
		seen->file = file;
		seen->content = tare_python_product(tare_python_content_of_text(l, file), 0);
	}
	return seen->content + tare_python_product(tare_python_content_of_text(l, name), 1) +
	       tare_python_product(tare_python_content_of_table(tare_python_word(code + l->table)), 2) +
	       tare_python_product(tare_python_half(code + l->first), 3);
}

#endif
