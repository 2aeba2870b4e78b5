/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any bytes as a file of another tool that `tare import` reads. The first byte says as which kind. Whatever they are, there
 * is a recording, or an error of one line.
 */
#include "seeds.h"

#include "base/temp_folder.h"
#include "import/import.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct {
	enum tare_import_kind kind;
	const char *seed;
} seeds[] = {
	{ TARE_IMPORT_kineto,
	  "{\"baseTimeNanoseconds\": 17, \"deviceProperties\": [{\"id\": 0, \"name\": \"G\", \"totalGlobalMem\": 99}], "
	  "\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"a.py(3): f\", \"tid\": 7, \"ts\": 1, \"dur\": 90},"
	  "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"tid\": 7, \"ts\": 2.5, \"dur\": 3},"
	  "{\"cat\": \"user_annotation\", \"name\": \"step\", \"tid\": 7, \"ts\": 2, \"dur\": 30},"
	  "{\"cat\": \"python_function\", \"name\": \"nn.Module: L_0\", \"tid\": 7, \"ts\": 2, \"dur\": 9},"
	  "{\"name\": \"[memory]\", \"tid\": 7, \"ts\": 3.25, \"args\": {\"Total Reserved\": 4194304, \"Total Allocated\": 8192, "
	  "\"Bytes\": 4096, \"Addr\": 140737488355328, \"Device Id\": 0, \"Device Type\": 1}},"
	  "{\"name\": \"[memory]\", \"tid\": \"7\", \"ts\": 5, \"args\": {\"Total Reserved\": 2097152, \"Total Allocated\": 4096, "
	  "\"Bytes\": -4096, \"Addr\": 140737488355328, \"Device Id\": 0, \"Device Type\": 1}},"
	  "{\"name\": \"[memory]\", \"tid\": 7, \"ts\": 4, \"args\": {\"Bytes\": 64, \"Device Id\": 1, \"Device Type\": 1}},"
	  "{\"name\": \"[memory]\", \"tid\": 7, \"ts\": 6, \"args\": {\"Bytes\": -64, \"Device Id\": -1, \"Device Type\": 0}}]}" },
	{ TARE_IMPORT_snapshot,
	  "}(Vsegments\n](}(Vaddress\nI139637976727552\nVtotal_size\nI2097152\nVblocks\n](}(Vsize\nI512\nVstate\nVactive_allocated\n"
	  "Vframes\n](}(Vfilename\nVa.py\nVline\nI3\nVname\nVf\nueueueVdevice_traces\n](](}(Vaction\nVfree_completed\nVaddr\n"
	  "I139637976728064\nVsize\nI512\nVtime_us\nI9000\nuee"
	  "Vexternal_annotations\n](}(Vname\nVstep\nVstage\nVSTART\nVtime_us\nI5\nueu." },
	{ TARE_IMPORT_memory_timeline,
	  "[[-1, 1, 4096, 0], [1700, 2, 512, 4], [1800, 3, -512, 4], [1800, 3, 512, 5], [1900, 4, -512, 5]]" },
	{ TARE_IMPORT_memory_timeline, "[[17, 18], [[0, 4096, 0, 0, 0, 9, 0, 0, 0], [0, 4096, 0, 5, 0, 0, 0, 0, 1]]]" },
};

enum { SEED_NR = sizeof(seeds) / sizeof(seeds[0]) };

static const char *as_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("input", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tare_import_options options;
	struct tare_imported done = { 0 };
	struct tare_import *import;
	struct tare_err err = { 0 };
	char *folder;

	if (!size || size > FUZZ_MAX)
		return 0;
	options = (struct tare_import_options){ .kind = seeds[data[0] % SEED_NR].kind };
	if (tare_import_open(&import, as_file(data + 1, size - 1), &options, &err))
		return 0;
	if (tare_temp_folder_make(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", "tare-fuzz-XXXXXX", &folder, &err))
		abort();
	if (tare_import_run(import, folder, &done, &err) && (!err.code || strchr(err.text, '\n')))
		abort();
	tare_import_close(import);
	tare_temp_folder_remove(folder);
	free(done.said);
	return 0;
}

size_t fuzz_seed(int n, uint8_t *out)
{
	size_t size = strlen(seeds[n].seed);

	out[0] = (uint8_t)n;
	memcpy(out + 1, seeds[n].seed, size);
	return 1 + size;
}

int fuzz_seed_nr(void)
{
	return SEED_NR;
}
