/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct nccl nccl;

void nccl_open(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/libs/libnccl.so.2", getenv("TARE_TEST_SIMGPU"));
	nccl.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!nccl.library)
		test_fail(__FILE__, __LINE__, "%s", dlerror());
#define FIND(name, type, parameters)                                                                                   \
	*(void **)&nccl.name = dlsym(nccl.library, #name);                                                                 \
	CHECK(nccl.name);                                                                                                  \
	CHECK(dlsym(nccl.library, "p" #name));
	NCCL_MAP(FIND)
#undef FIND
}

struct nccl_id machine_of(int cards)
{
	struct nccl_id id;
	char text[16];

	machine_share();
	snprintf(text, sizeof(text), "%d", cards > 16 ? 16 : cards);
	setenv("TARE_SIM_DEVICES", text, 1);
	driver_open(NULL);
	nccl_open();
	FINE(nccl.ncclGetUniqueId(&id));
	return id;
}

void take_card(int rank)
{
	CUcontext context;
	int count;

	OK(cu.cuInit(0));
	OK(cu.cuDeviceGetCount(&count));
	OK(cu.cuDevicePrimaryCtxRetain(&context, rank % count));
	OK(cu.cuCtxSetCurrent(context));
}

void join_all(struct rank *rank)
{
	int answer;

	take_card(rank->rank);
	FINE(nccl.ncclCommInitRank(&rank->comm, rank->ranks_nr, rank->id, rank->rank));
	FINE(nccl.ncclCommCount(rank->comm, &answer));
	CHECK_INT(answer, rank->ranks_nr);
	FINE(nccl.ncclCommUserRank(rank->comm, &answer));
	CHECK_INT(answer, rank->rank);
}

void start_processes(int ranks_nr, void (*fn)(struct rank *), void *argument, int *pids)
{
	struct rank rank = { 0, ranks_nr, machine_of(ranks_nr), NULL, argument };

	for (; rank.rank < ranks_nr; rank.rank++) {
		pids[rank.rank] = fork();
		CHECK(pids[rank.rank] >= 0);
		if (pids[rank.rank] == 0) {
			fn(&rank);
			fflush(stdout);
			_exit(0);
		}
	}
}

/* The folder of the machine has its state, and no file of NCCL's. */
static void check_folder(void)
{
	DIR *folder = opendir(getenv("TARE_SIM_DIR"));
	struct dirent *entry;

	CHECK(folder);
	while ((entry = readdir(folder)))
		if (strncmp(entry->d_name, "nccl-", 5) == 0)
			test_fail(__FILE__, __LINE__, "%s is left", entry->d_name);
	closedir(folder);
}

void in_processes(int ranks_nr, void (*fn)(struct rank *), void *argument)
{
	int pids[64], status, i;

	start_processes(ranks_nr, fn, argument, pids);
	for (i = 0; i < ranks_nr; i++) {
		CHECK_INT(waitpid(pids[i], &status, 0), pids[i]);
		if (status)
			test_fail(__FILE__, __LINE__, "rank %d of %d ended with status %d", i, ranks_nr, status);
	}
	check_folder();
}

struct thread {
	pthread_t thread;
	struct rank rank;
	void (*fn)(struct rank *);
};

static void *thread_main(void *argument)
{
	struct thread *thread = argument;

	thread->fn(&thread->rank);
	return NULL;
}

void in_threads(int ranks_nr, void (*fn)(struct rank *), void *argument)
{
	struct nccl_id id = machine_of(ranks_nr);
	struct thread threads[64];
	int i;

	for (i = 0; i < ranks_nr; i++) {
		threads[i].rank = (struct rank){ i, ranks_nr, id, NULL, argument };
		threads[i].fn = fn;
		CHECK(!pthread_create(&threads[i].thread, NULL, thread_main, &threads[i]));
	}
	for (i = 0; i < ranks_nr; i++)
		pthread_join(threads[i].thread, NULL);
	check_folder();
}

CUdeviceptr on_device(const void *bytes, size_t size)
{
	CUdeviceptr address;

	OK(cu.cuMemAlloc_v2(&address, size));
	OK(cu.cuMemcpyHtoD_v2(address, bytes, size));
	return address;
}

void from_device(void *bytes, CUdeviceptr address, size_t size)
{
	OK(cu.cuMemcpyDtoH_v2(bytes, address, size));
}
