/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "record/bound.h"
#include "record/format.h"

#include <string.h>

TEST(sizes_that_no_machine_has_are_bounded)
{
	struct tare_rec_event event = {
		.asked = UINT64_MAX - 1,
		.granted = (uint64_t)1 << 63,
		.before = TARE_NOT_KNOWN,
		.after = 12345,
		.handle = UINT64_MAX - 1,
	};
	struct tare_rec_tensor tensor = { .bytes = INT64_MIN };

	tare_bound_sizes(TARE_KIND_EVENT, &event);
	CHECK_INT(event.asked, TARE_BOUND_BYTES);
	CHECK_INT(event.granted, TARE_BOUND_BYTES);
	CHECK(event.before == TARE_NOT_KNOWN);
	CHECK_INT(event.after, 12345);
	CHECK(event.handle == UINT64_MAX - 1);
	tare_bound_sizes(TARE_KIND_TENSOR, &tensor);
	CHECK_INT(tensor.bytes, -TARE_BOUND_BYTES);
}

TEST(no_size_of_any_kind_is_left_over)
{
	int kinds = 0;

	for (uint16_t kind = 0; kind < TARE_KIND_NR; kind++) {
		const struct tare_kind_info *info = tare_decode_kind(kind);
		unsigned char rec[1024];

		if (!info)
			continue;
		CHECK(info->fixed <= sizeof(rec));
		memset(rec, 0x7f, sizeof(rec));
		tare_bound_sizes(kind, rec);
		for (int i = 0; i < info->field_nr; i++)
			if (!strcmp(tare_decode_role(info->fields[i].role)->unit, "bytes"))
				CHECK_INT(tare_decode_value(&info->fields[i], rec), TARE_BOUND_BYTES);
		kinds++;
	}
	CHECK(kinds > 35);
}

TEST(every_kind_is_below_the_number_of_kinds)
{
	CHECK(tare_decode_kind_named("heap_unmapped"));
	CHECK((int)TARE_KIND_HEAP_UNMAPPED < (int)TARE_KIND_NR);
}
