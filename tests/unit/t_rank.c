/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank an environment says a process is, and what logs of several hosts make of it. */
#include "trace/rank.h"
#include "make_log.h"
#include "test.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct tare_rank rank_of(const char *text)
{
	struct tare_rank r;
	bool is_found = tare_rank_of_text(&r, text, strlen(text));

	CHECK_INT(is_found, r.rank >= 0);
	return r;
}

static void check_rank(const char *text, int rank, int local, int world, const char *launcher, const char *job)
{
	struct tare_rank r = rank_of(text);

	CHECK_INT(r.rank, rank);
	CHECK_INT(r.local, local);
	CHECK_INT(r.world, world);
	CHECK_STR(r.launcher, launcher);
	CHECK_STR(r.job, job);
}

TEST(launchers)
{
	check_rank("RANK=5\nLOCAL_RANK=1\nWORLD_SIZE=8\nTORCHELASTIC_RUN_ID=abc\n", 5, 1, 8, "torchrun", "abc");
	check_rank("RANK=0\nWORLD_SIZE=2\nMASTER_ADDR=gpu7\nMASTER_PORT=29500\n", 0, -1, 2, "RANK and WORLD_SIZE",
	           "gpu7:29500");
	check_rank("OMPI_COMM_WORLD_RANK=3\nOMPI_COMM_WORLD_LOCAL_RANK=0\nOMPI_COMM_WORLD_SIZE=4\n"
	           "PMIX_NAMESPACE=prterun-1\nPMIX_RANK=3\n",
	           3, 0, 4, "Open MPI", "prterun-1");
	check_rank("PMI_RANK=1\nPMI_SIZE=2\nMPI_LOCALRANKID=1\n", 1, 1, 2, "MPICH or Intel MPI", "");
	check_rank("PMIX_RANK=1\nPMIX_NAMESPACE=slurm.pmix.7.0\n", 1, -1, -1, "PMIx", "slurm.pmix.7.0");
	check_rank("SLURM_PROCID=7\nSLURM_LOCALID=3\nSLURM_NTASKS=8\nSLURM_JOB_ID=99\n"
	           "SLURM_STEP_ID=2\n",
	           7, 3, 8, "Slurm", "99.2");
}

TEST(the_nearest_launcher_counts)
{
	check_rank("SLURM_PROCID=1\nSLURM_STEP_ID=0\nSLURM_JOB_ID=9\nSLURM_NTASKS=2\nRANK=11\n"
	           "LOCAL_RANK=3\nWORLD_SIZE=16\nTORCHELASTIC_RUN_ID=9\n",
	           11, 3, 16, "torchrun", "9");
	check_rank("SLURM_PROCID=0\nSLURM_STEP_ID=0\nSLURM_JOB_ID=9\nOMPI_COMM_WORLD_RANK=4\n"
	           "OMPI_COMM_WORLD_SIZE=8\n",
	           4, -1, 8, "Open MPI", "");
}

/* A batch script has SLURM_PROCID=0 like every step, and torchrun calls a run "none" by itself. */
TEST(what_looks_like_a_rank)
{
	check_rank("SLURM_PROCID=0\nSLURM_NTASKS=8\nSLURM_JOB_ID=9\n", -1, -1, -1, "", "");
	check_rank("RANK=4\n", -1, -1, -1, "", "");
	check_rank("", -1, -1, -1, "", "");
	check_rank("RANK=1\nWORLD_SIZE=2\nTORCHELASTIC_RUN_ID=none\nMASTER_ADDR=a\nMASTER_PORT=1\n", 1, -1, 2, "torchrun",
	           "a:1");
	check_rank("RANK=1\nWORLD_SIZE=2\nTORCHELASTIC_RUN_ID=none\nMASTER_ADDR=a\n", 1, -1, 2, "torchrun", "");
}

TEST(bad_values_are_not_known)
{
	static const char *const bad[] = { "abc", "", "-1", "2", "1x", "99999999999", "0x1", " 1" };
	char text[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "RANK=%s\nWORLD_SIZE=2\n", bad[i]);
		CHECK_INT(rank_of(text).rank, -1);
		snprintf(text, sizeof(text), "RANK=%s\nWORLD_SIZE=2\nSLURM_PROCID=1\nSLURM_STEP_ID=0\n", bad[i]);
		CHECK_INT(rank_of(text).rank, 1);
	}
	check_rank("RANK=1\nLOCAL_RANK=x\nWORLD_SIZE=y\n", 1, -1, -1, "RANK and WORLD_SIZE", "");
}

TEST(damaged_texts)
{
	CHECK_INT(rank_of("\n\n\nRANK=1\nWORLD_SIZE=2").rank, 1);
	CHECK_INT(rank_of("RANK\nRANKS=4\n=3\nWORLD_SIZE=2\n").rank, -1);
	CHECK_STR(rank_of("RANK=1\nWORLD_SIZE=2\nMASTER_ADDR=a\033[31m\nMASTER_PORT=1\n").job, "a_[31m:1");
}

TEST(the_text_of_an_environment)
{
	struct tare_str text = { 0 };

	clearenv();
	tare_rank_text_of_environment(&text, false);
	CHECK_STR(tare_str_text(&text), "");
	setenv("RANK", "1", 1);
	setenv("WORLD_SIZE", "2", 1);
	setenv("MASTER_PORT", "a\nb", 1);
	setenv("SECRET", "x", 1);
	tare_rank_text_of_environment(&text, false);
	CHECK_STR(tare_str_text(&text), "RANK=1\nWORLD_SIZE=2\n");
	tare_str_free(&text);
}

/* ---- in recordings ---- */

static struct make_log m, t;

static void begin(const char *folder, uint32_t pid, uint8_t boot, const char *launch)
{
	CHECK(mkdir(make_path(make_dir(), folder), 0700) == 0);
	make_log_init(&m, pid, 0);
	make_log_init(&t, pid + 1000, 0);
	t.header.role = TARE_ROLE_TARE;
	m.header.boot_id[0] = t.header.boot_id[0] = boot;
	MAKE_TEXT(&m, launch, LAUNCH, launch);
	MAKE_TEXT(&t, launch, LAUNCH, launch);
}

static void end(const char *folder)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%u-0.events", folder, m.header.pid);
	make_log_write(&m, make_path(make_dir(), path), SIZE_MAX);
	snprintf(path, sizeof(path), "%s/tare.events", folder);
	make_log_write(&t, make_path(make_dir(), path), SIZE_MAX);
	make_log_free(&m);
	make_log_free(&t);
}

static const struct tare_process *process_of(const struct tare_recording *r, int rank)
{
	for (int i = 0; i < tare_recording_process_nr(r); i++)
		if (tare_recording_process(r, i)->rank.rank == rank && tare_recording_process(r, i)->role == TARE_ROLE_PROGRAM)
			return tare_recording_process(r, i);
	test_fail(__FILE__, __LINE__, "no rank %d", rank);
	return NULL;
}

/* Pids, and the inode of the first pid namespace, are the same on every machine. */
TEST(two_machines)
{
	struct tare_recording *r;
	struct tare_err err;

	begin("a.tare", 500, 1, "RANK=0\nWORLD_SIZE=2\nMASTER_ADDR=a\nMASTER_PORT=1\n");
	MAKE(&t, status, STATUS, .pid = 500, .generation = TARE_LAST_GENERATION, .status = 9);
	end("a.tare");
	begin("b.tare", 500, 2, "RANK=1\nWORLD_SIZE=2\nMASTER_ADDR=a\nMASTER_PORT=1\n");
	MAKE(&m, status, STATUS, .pid = 500, .status = 3 << 8);
	end("b.tare");
	if (tare_recording_open(&r, make_dir(), &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	CHECK(process_of(r, 0)->machine != process_of(r, 1)->machine);
	CHECK(process_of(r, 0)->is_status_known && WIFSIGNALED(process_of(r, 0)->status));
	CHECK(process_of(r, 1)->is_status_known);
	CHECK_INT(WEXITSTATUS(process_of(r, 1)->status), 3);
	CHECK_STR(process_of(r, 1)->rank.job, "a:1");
	CHECK_HAS(tare_recording_note(r, 0), "of 2 hosts");
	tare_recording_close(r);
}
