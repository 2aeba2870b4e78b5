/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_MANIFEST_EXTENTS_H
#define TARE_STORE_MANIFEST_EXTENTS_H

#include "base/extent.h"
#include "base/json.h"

/* What of a list is damaged is left out. `list` may be NULL. */
void tare_manifest_read_extents(struct tare_extent_list *out, const struct tare_json_value *list);
void tare_manifest_write_extents(struct tare_json *j, const struct tare_extent_list *list);
/* The same as a text of its own, with the moment from which they are; and back. False: it is none. */
void tare_manifest_tell_extents(struct tare_str *out, int64_t from_ns, const struct tare_extent_list *list);
bool tare_manifest_hear_extents(struct tare_extent_list *out, int64_t *from_ns, const char *text, size_t size);
/* An instant that is there takes the place of one that is told again: a phase may begin before a state, and end behind it. */
void tare_manifest_add_extent(struct tare_extent_list *list, const struct tare_extent *x);
/* Spans up to `until` are joined, the shorter the younger, until the list is short enough; of instants some are left out. */
void tare_manifest_age_extents(struct tare_extent_list *list, int64_t until);
/* Removes what reaches beyond `from`. */
void tare_manifest_cut_extents(struct tare_extent_list *list, int64_t from);

#endif
