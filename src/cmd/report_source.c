/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_source.h"

#include "base/file.h"
#include "trace/recording.h"

#include <string.h>
#include <sys/stat.h>

/* No file of source that somebody reads is larger. */
enum { SOURCE_MAX = 8 << 20 };

void tare_report_read_source(const void *of, const char *path, struct tare_page_source *out)
{
	int64_t started = tare_recording_started_realtime_ns(of);
	struct tare_err err = { 0 };
	struct stat about;

	if (stat(path, &about) != 0) {
		tare_str_add(&out->why, "it is not on the machine that made this page");
		return;
	}
	if (!S_ISREG(about.st_mode)) {
		tare_str_add(&out->why, "what is called so is no file");
		return;
	}
	if (tare_file_read(&out->text, path, SOURCE_MAX, &err)) {
		size_t len = strlen(path);
		bool is_named = !strncmp(err.text, path, len) && err.text[len] == ':';

		tare_str_add(&out->why, is_named ? err.text + len + 2 : err.text);
		return;
	}
	out->is_newer =
		started > 0 &&
		(int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec > started;
}
