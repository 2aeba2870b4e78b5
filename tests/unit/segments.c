/* SPDX-License-Identifier: Apache-2.0 */
/* Segments as tests make and damage them. */
#include "segments.h"

#include "make_log.h"
#include "store/manifest.h"
#include "store/segment.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

uint64_t segments_everything(void *arg, const char *log, bool has_ring)
{
	(void)arg;
	(void)log;
	(void)has_ring;
	return UINT64_MAX;
}

void segments_damage(uint32_t number)
{
	char *path = tare_manifest_path(make_dir(), number);
	struct tare_segment_file file = { 0 };
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_INT(tare_segment_open(&file, path, NULL), 0);
	for (size_t i = 0; i < file.entry_nr; i++)
		if (file.entries[i].head.kind == TARE_SEGMENT_EVENTS)
			CHECK_INT(pwrite(fd, "damage", 6, (off_t)file.entries[i].at), 6);
	tare_segment_free(&file);
	close(fd);
	free(path);
}
