/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any bytes as the file of a sweep, read as reports, fits and plans read it. The page that SQLite reads
 * first stays whole in half of the inputs, so that damage gets past it.
 */
#include "seeds.h"

#include "../unit/make_log.h"
#include "cmd/fit.h"
#include "db/db.h"
#include "sweep/sweep.h"
#include "view/sweep.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_HEAD = 100, KEEP_HEAD = 1 };

/* Two cells of one parameter, three runs, one of which ran out of memory. */
static const char rows[] =
	"INSERT INTO sweep VALUES('command','[\"train.py\",\"--batch\",\"{batch}\"]'),('repeat',2),('timeout_ns',0),"
	"('tare','0.1.0'),('host','gpu7'),('created_ns',1700000000000000000),('total',1000);"
	"INSERT INTO params VALUES(1,'batch',1,1);"
	"INSERT INTO cells VALUES(1,'batch=2'),(2,'batch=4');"
	"INSERT INTO cell_params VALUES(1,1,'2',2),(2,1,'4',4);"
	"INSERT INTO works VALUES(1,0,'sample',100),(2,0,'sample',200);"
	"INSERT INTO runs(run,cell,repeat,status,exit_code,started_ns,ns,driver_ns,driver_calls,refused,retries,retry_ns,"
	"peak,need,elastic,unexplained,processes,gpus,oom,oom_bytes,note) VALUES"
	"(0,1,0,'ok',0,1,20000000000,400000,9,0,0,0,2963527434,2900000000,63527434,0,1,'0',NULL,NULL,NULL),"
	"(1,1,1,'ok',0,2,21000000000,400000,9,0,0,0,2963527434,2900000000,63527434,0,1,'0',NULL,NULL,'x'),"
	"(2,2,0,'oom',1,3,22000000000,400000,9,1,0,0,5963527434,5900000000,63527434,0,1,'0','device',99,NULL);"
	"INSERT INTO devices VALUES(0,0,'NVIDIA H200','GPU-1',150754820096,644939776,0,2963527434,5,2963527434,2900000000,"
	"63527434,0,0,1,NULL,0),(1,0,'NVIDIA H200','GPU-1',150754820096,644939776,0,2963527434,5,2963527434,2900000000,"
	"63527434,0,0,1,NULL,0),(2,0,'NVIDIA H200','GPU-1',150754820096,644939776,0,5963527434,5,5963527434,5900000000,"
	"63527434,0,0,1,8589934592,1);"
	"INSERT INTO accounts VALUES(0,0,'context','',549060608,0,1,'weighed',7),(0,0,'allocations','PyTorch',2414466826,0,"
	"3,'exact',7),(1,0,'context','',549060608,0,1,'weighed',7),(2,0,'context','',549060608,0,1,'weighed',7);"
	"INSERT INTO phases VALUES(0,0,431,'step','step',0,'phase',9,1,2,3);"
	"INSERT INTO phase_params VALUES(0,0,'n','4',4);"
	"INSERT INTO phase_devices VALUES(0,0,0,1,2,1,1,5,6,7,8,9);"
	"INSERT INTO calls VALUES(0,'context','cuCtxCreate',1,9);"
	"INSERT INTO refusals VALUES(2,0,'cuMemAlloc_v2','PyTorch',1,99,98,4);"
	"INSERT INTO hosts VALUES(0,431,'train.py',9,10,11);";

/* A file with a name: SQLite follows links, and a memfd has none. */
static const char *as_file(const uint8_t *bytes, size_t size)
{
	const char *path = make_path(make_dir(), "t.db");
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd))
		abort();
	return path;
}

static void show(const struct tare_summary *s)
{
	static const struct tare_sweep_claim claims[] = { { "context", 1 << 20 }, { "total", 1 << 30 } };
	struct tare_sweep_view view = { s, claims, 2 };
	struct tare_str out = { 0 };
	struct tare_emit e;

	for (int format = 0; format < TARE_EMIT_FORMAT_NR; format++) {
		tare_emit_begin(&e, (enum tare_emit_format)format, &out);
		if (tare_emit_is_for_people(&e))
			tare_sweep_text(&e, &view);
		else
			tare_sweep_data(&e, s);
		tare_emit_end(&e);
	}
	tare_str_free(&out);
}

static void read_sweep(const char *path)
{
	struct tare_fit_source source;
	struct tare_summary summary;
	struct tare_sweep sweep;
	struct tare_db *db;

	if (!tare_db_open(&db, path, TARE_DB_READ, NULL)) {
		if (!tare_summary_load(db, NULL, NULL, &summary, NULL)) {
			show(&summary);
			tare_summary_free(&summary);
		}
		tare_db_close(db);
	}
	if (!tare_db_open(&db, path, TARE_DB_READ, NULL)) {
		tare_sweep_load(db, &sweep, NULL); /* to go on with it */
		tare_sweep_free(&sweep);
		tare_db_close(db);
	}
	if (tare_db_is(path) && !tare_fit_source_open(&source, path, NULL))
		tare_fit_source_close(&source);
}

static const uint8_t *seed(size_t *size)
{
	static uint8_t bytes[FUZZ_MAX];
	static size_t known;
	const char *path = make_path(make_dir(), "seed.db");
	struct tare_summary summary;
	struct tare_err err = { 0 };
	struct tare_db *db;
	int fd;

	*size = known;
	if (known)
		return bytes;
	if (tare_db_open(&db, path, TARE_DB_CREATE, NULL) || tare_db_script(db, NULL, "PRAGMA page_size=512;VACUUM;") ||
	    tare_db_script(db, NULL, tare_sweep_schema) || tare_db_script(db, NULL, rows))
		abort();
	/* What is mutated is a file that can be read. */
	if (tare_summary_load(db, NULL, NULL, &summary, &err)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	tare_summary_free(&summary);
	tare_db_close(db);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	known = (size_t)read(fd, bytes, sizeof(bytes) - 1);
	close(fd);
	unlink(path);
	*size = known;
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[FUZZ_MAX];
	const uint8_t *whole;
	size_t whole_size;

	if (!size || size > FUZZ_MAX)
		return 0;
	memcpy(bytes, data + 1, size - 1);
	whole = seed(&whole_size);
	if (data[0] & KEEP_HEAD && size > FILE_HEAD)
		memcpy(bytes, whole, FILE_HEAD);
	read_sweep(as_file(bytes, size - 1));
	return 0;
}

size_t fuzz_seed(int n, uint8_t *out)
{
	size_t size;
	const uint8_t *bytes = seed(&size);

	out[0] = (uint8_t)n;
	memcpy(out + 1, bytes, size);
	return 1 + size;
}

int fuzz_seed_nr(void)
{
	return 2;
}
