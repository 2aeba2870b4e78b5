/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors whose attributes a program sets and asks for again. They lie in bytes that the program may have made
 * itself (cublasLtMatmulDescInit), so a list says which attributes there are, and they follow each other there.
 */
#ifndef TARE_SIM_ATTRIBUTE_H
#define TARE_SIM_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_attribute_row {
	int id;
	uint8_t bytes;   /* at most 8; 0: the end of the list */
	int64_t initial; /* its value as long as nobody set it */
};

/* Gives each attribute its initial value, as far as there is room. */
void sim_attributes_begin(const struct sim_attribute_row *list, void *store, size_t room);
/* False: there is no such attribute, or it has another size. */
bool sim_attributes_set(const struct sim_attribute_row *list, void *store, size_t room, int id, const void *from,
                        size_t bytes);
/* With 0 bytes it only tells the size. `written` may be NULL. */
bool sim_attributes_get(const struct sim_attribute_row *list, const void *store, size_t room, int id, void *to,
                        size_t bytes, size_t *written);

#endif
