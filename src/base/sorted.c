/* SPDX-License-Identifier: Apache-2.0 */
/* A set of numbers as a tree of bits, six of a number at a level. */
#include "base/sorted.h"

static uint64_t bit_of(uint64_t number)
{
	return UINT64_C(1) << (number % (1u << TARE_SORTED_BITS));
}

static uint64_t word_at(const struct tare_sorted *s, int level, uint64_t key)
{
	const uint64_t *word = tare_map_get(&s->words[level], key);

	return word ? *word : 0;
}

/* Where a word was there already, the levels above know of it. */
void tare_sorted_add(struct tare_sorted *s, uint64_t number)
{
	bool is_new = true;

	for (int i = 0; i < TARE_SORTED_LEVELS && is_new; i++, number >>= TARE_SORTED_BITS)
		*tare_map_put(&s->words[i], number >> TARE_SORTED_BITS, &is_new) |= bit_of(number);
}

void tare_sorted_remove(struct tare_sorted *s, uint64_t number)
{
	for (int i = 0; i < TARE_SORTED_LEVELS; i++, number >>= TARE_SORTED_BITS) {
		uint64_t key = number >> TARE_SORTED_BITS;
		uint64_t *word = tare_map_get(&s->words[i], key);

		if (!word)
			return;
		*word &= ~bit_of(number);
		if (*word)
			return;
		tare_map_remove(&s->words[i], key, NULL);
	}
}

static uint64_t highest_of(uint64_t key, uint64_t word)
{
	return key << TARE_SORTED_BITS | (63 - (uint64_t)__builtin_clzll(word));
}

/* Up to the first level where there is a bit up to that of the number, and from there down by the highest bits. */
bool tare_sorted_last_up_to(const struct tare_sorted *s, uint64_t number, uint64_t *found)
{
	uint64_t up_to = bit_of(number) | (bit_of(number) - 1), word;

	for (int i = 0; i < TARE_SORTED_LEVELS; i++) {
		number >>= TARE_SORTED_BITS;
		word = word_at(s, i, number) & up_to;
		if (word) {
			number = highest_of(number, word);
			while (i--)
				number = highest_of(number, word_at(s, i, number));
			*found = number;
			return true;
		}
		up_to = bit_of(number) - 1; /* of the levels above only what is before */
	}
	return false;
}

void tare_sorted_free(struct tare_sorted *s)
{
	for (int i = 0; i < TARE_SORTED_LEVELS; i++)
		tare_map_free(&s->words[i]);
}
