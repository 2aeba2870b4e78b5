/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any bytes as what Tare reads besides recordings. The first byte says as what. Whatever they are, nothing
 * may crash, hang, leak or compute with what does not fit; what is printed of them is plain.
 */
#include "seeds.h"

#include "base/demangle.h"
#include "base/expr.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/phase_lines.h"
#include "fit/forecast.h"
#include "fit/table.h"
#include "import/printed_line.h"
#include "profile/profile.h"
#include "session/elf_names.h"
#include "simgpu/sim_script.h"
#include "sweep/grid.h"
#include "trace/rank.h"
#include "record/schema.h"
#include "witness/procfs.h"
#include "witness/root.h"
#include "witness/smaps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* `text` ends with a NUL behind its `size` bytes. */
typedef void reader(char *text, size_t size);

static void read_json(char *text, size_t size)
{
	const struct tare_json_value *v;
	struct tare_arena arena = { 0 };
	uint64_t u;
	int64_t i;

	if (!tare_json_parse(&arena, text, size, &v, NULL)) {
		tare_json_get_str(v, "a.0.b");
		tare_json_get_u64(v, "a", &u);
		tare_json_get_i64(v, "0.1", &i);
	}
	tare_arena_free(&arena);
}

static int give(void *arg, const char *name, double *value, struct tare_err *err)
{
	(void)arg, (void)err;
	*value = name[0];
	return 0;
}

static void read_expression(char *text, size_t size)
{
	struct tare_expr *expr;
	double value;

	(void)size;
	if (tare_expr_parse(&expr, text, NULL))
		return;
	tare_expr_eval(expr, give, NULL, &value, NULL);
	tare_expr_free(expr);
}

static void read_symbol(char *text, size_t size)
{
	struct tare_str out = { 0 };

	tare_demangle_add(&out, text);
	if (out.len > 64 * (size + 4) + 4096)
		abort();
	tare_str_free(&out);
}

static void read_table(char *text, size_t size)
{
	struct tare_arena arena = { 0 };
	struct tare_table t;
	double number;

	if (!tare_table_parse("table", text, size, &arena, &t, NULL))
		for (size_t r = 0; r < t.row_count; r++)
			for (size_t c = 0; c < t.column_count; c++)
				if (!tare_table_number(tare_table_cell(&t, r, c), &number))
					tare_table_is_missing(tare_table_cell(&t, r, c));
	tare_arena_free(&arena);
}

/* Small ones only: a fit takes milliseconds. */
static void read_measured(char *text, size_t size)
{
	struct tare_arena arena = { 0 };
	struct tare_problem_ask ask = { 0 };
	struct tare_problem problem;
	struct tare_table t;

	if (size < 2000 && !tare_table_parse("table", text, size, &arena, &t, NULL) && t.column_count) {
		ask.target = t.columns[t.column_count - 1];
		tare_problem_make(&t, &ask, &arena, &problem, NULL);
	}
	tare_arena_free(&arena);
}

static const char *as_file(const char *text, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("input", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ftruncate(fd, 0) != 0 || pwrite(fd, text, size, 0) != (ssize_t)size)
		abort();
	return path;
}

static void read_profile(char *text, size_t size)
{
	struct tare_profile profile;
	uint64_t value;
	char why[200];

	tare_profile_read(as_file(text, size), &profile, why, sizeof(why));
	tare_profile_parse_size(text, &value);
}

static void read_script(char *text, size_t size)
{
	static struct sim_script script;

	(void)size;
	setenv("TARE_SIM_SCRIPT", text, 1);
	sim_script_load(&script, NULL);
	sim_script_noise(&script);
}

static void read_grid(char *text, size_t size)
{
	const char *texts[4];
	struct tare_grid grid;
	size_t n = 0;
	int rc;

	(void)size;
	for (char *rest = text; rest && n < 3;)
		texts[n++] = strsep(&rest, "\n");
	rc = text[0] == '{' || text[0] == '[' ? tare_grid_parse(&grid, NULL, 0, texts, n, NULL)
	                                      : tare_grid_parse(&grid, texts, n, NULL, 0, NULL);
	if (rc)
		return;
	if (grid.cell_nr)
		free(tare_grid_label(&grid, 0));
	tare_grid_free(&grid);
}

static void read_phases(char *text, size_t size)
{
	const char *items[] = { text, text };
	struct tare_operands given = { .items = items, .count = 2 };
	char *out = NULL;

	(void)size;
	if (!tare_phase_lines_parse(&given, &out, NULL))
		free(out);
}

static void read_rank(char *text, size_t size)
{
	struct tare_rank rank;

	tare_rank_of_text(&rank, text, size);
}

/* A schema that is one brings any bytes into the structs of this version, and back. */
static void read_schema(char *text, size_t size)
{
	struct tare_schema *schema;
	uint64_t said[128], rec[128];

	if (tare_schema_parse(&schema, text, size, "log", NULL))
		return;
	memset(said, 0xa5, sizeof(said));
	for (uint32_t id = 0; id <= UINT16_MAX; id++) {
		const struct tare_schema_kind *kind = tare_schema_kind(schema, (uint16_t)id);

		if (!kind || !kind->info)
			continue;
		tare_schema_read(kind, said, rec);
		tare_schema_write(kind, rec, said);
	}
	tare_schema_free(schema);
}

static void read_printed(char *text, size_t size)
{
	static const struct tare_import_units units = { .is_binary = true };
	struct tare_printed_line line;

	(void)size;
	if (tare_printed_line(text, &line) != TARE_PRINTED_FIGURES)
		return;
	tare_printed_bytes(&line.used, &units);
	tare_printed_bytes(&line.diff, &units);
}

static void read_size(char *text, size_t size)
{
	char shown[TARE_UNITS_TEXT_MAX];
	uint64_t bytes;

	(void)size;
	if (!tare_units_parse_bytes(text, &bytes))
		tare_units_human(shown, bytes);
}

static void read_elf(char *text, size_t size)
{
	static const uint64_t id[2];
	struct tare_elf_names *names = tare_elf_names_open(as_file(text, size), id);
	uint64_t offset;

	for (uint64_t at = 0; names && at < 100; at++)
		tare_elf_names_find(names, at << 8, &offset);
	tare_elf_names_close(names);
}

static void see_mapping(void *arg, const struct tare_smaps_mapping *m)
{
	*(uint64_t *)arg += m->bytes[TARE_SMAPS_PSS] + tare_smaps_swap(m) + strlen(m->name);
}

/* Of /proc, or of a copy of it that somebody sent. */
static void read_smaps(char *text, size_t size)
{
	FILE *file = size ? fmemopen(text, size, "r") : NULL;
	uint64_t sum = 0;

	if (!file)
		return;
	tare_smaps_parse(file, see_mapping, &sum);
	fclose(file);
	tare_nvmap_parse(text, 70, &sum);
	tare_root_kib(text, "VmRSS");
}

/* What each format makes of it is as plain as base/text.h says. */
static void print_it(char *text, size_t size)
{
	struct tare_str out = { 0 };
	struct tare_json j = { .out = &out };

	tare_json_str_n(&j, NULL, text, size);
	tare_text_add_name(&out, text);
	tare_text_add_csv(&out, text);
	tare_text_add_markup(&out, text, 10);
	tare_text_add_markdown(&out, text, true);
	for (size_t at = 0; at < out.len;) {
		uint32_t code;
		size_t n = tare_text_decode(out.data + at, out.len - at, &code);

		if (!n || !tare_text_is_plain(code))
			abort();
		at += n;
	}
	tare_str_free(&out);
}

static const struct {
	reader *read;
	const char *seed;
} readers[FUZZ_TEXT_NR] = {
	{ read_json, "{\"a\": [{\"b\": \"x\\ud83d\\ude00\"}, -1.5e300, 18446744073709551615, true, null]}" },
	{ read_expression, "{batch}*2/({seconds}-1e-9)+max(3,{n})" },
	{ read_symbol, "_ZN5torch8autograd6EngineC2ERKSt6vectorISt4pairIiNS_1AEESaIS5_EE" },
	{ read_table, "a,\"b\"\"x\",y\n1,word,3.5e2\n-2,,nan\n" },
	{ read_measured, "n,m,y\n1,2,100\n2,2,200\n3,1,301\n4,4,400\n5,2,500\n6,1,600\n9e300,1,7\n" },
	{ read_profile, "name = GPU\ntotal = 140GiB\nreserved = 600MiB\n" },
	{ read_script, "noisy 5 7;oom-above 3MiB;fail cuMemAlloc_v2 2 2;takes cuInit 1 4KiB;slow cuInit 1 5;drift 1 2" },
	{ read_grid, "batch=1,2..8:2,16\nlr=1e-3\n" },
	{ read_grid, "{\"batch\": [1, 2], \"m\": [\"a\", -3.5e200]}" },
	{ read_phases, "train.py:87-90" },
	{ read_rank, "RANK=3\nWORLD_SIZE=8\nLOCAL_RANK=3\nSLURM_PROCID=4\n" },
	{ read_schema, "tare schema 1\n4 event NONE EVENT tid:u64:TID device:i8:DEVICE before:u32:BYTES\n"
	               "2 string TEXT TABLE id:u16:ID bytes:u32:LENGTH\n900 flux PCS X depth:u32:LENGTH\n" },
	{ read_printed, "2024-05-01 12:00:01,5 INFO GPU 1: a(1) used (MB): 1,204.5, diff=-2.4e1 KiB" },
	{ read_size, "7.5GiB" },
	{ read_elf, "\177ELF\2\1\1" },
	{ read_smaps, "7f00-7f02 rw-p 00001000 fe:00 247134  /a b/libc.so.6 (deleted)\nPss: 3 kB\nSwapPss: 2 kB\n"
	              "VmFlags: rd pf \n" },
	{ read_smaps, "CLIENT PROCESS PID SIZE\nuser my train 70 600000K\ntotal 600000K\nVmRSS: 4 kB\n" },
	{ print_it, "=x\033[2J\xc2\x9b\xe2\x80\xae\xff,\"<&>'|" },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size || size > FUZZ_MAX)
		return 0;
	text = tare_xstrndup((const char *)data + 1, size - 1);
	readers[data[0] % FUZZ_TEXT_NR].read(text, size - 1);
	free(text);
	return 0;
}

/* This program itself is the seed of an ELF file, as much of it as fits. */
static size_t seed_elf(uint8_t *out)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, FUZZ_MAX - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 ? (size_t)n : 0;
}

size_t fuzz_seed(int n, uint8_t *out)
{
	size_t size = strlen(readers[n].seed);

	out[0] = (uint8_t)n;
	if (readers[n].read == read_elf)
		return 1 + seed_elf(out + 1);
	memcpy(out + 1, readers[n].seed, size);
	return 1 + size;
}

int fuzz_seed_nr(void)
{
	return FUZZ_TEXT_NR;
}
