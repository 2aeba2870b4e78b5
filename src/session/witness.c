/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what NVML and the kernel say while the program runs. */
#include "session/witness.h"

#include "base/map.h"
#include "base/now.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "record/clock.h"
#include "record/encode.h"
#include "trace/rank.h"
#include "trace/writer.h"
#include "witness/cgroup.h"
#include "witness/nvml.h"
#include "witness/procfs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAMPLE_NS     100000000u
#define CLOCK_NS      1000000000u
#define DEVICES_MAX   64
#define PROCESSES_MAX 512

struct tare_witness {
	struct tare_writer *writer;
	struct tare_nvml *nvml;
	uint64_t sampled_ns, clocked_ns;
	uint64_t used[DEVICES_MAX]; /* last reading, to write only what changed */
	uint64_t list_hash[DEVICES_MAX];
	uint32_t list;
	uint64_t oom_kills;                 /* before the recording; TARE_NOT_KNOWN: nobody counts */
	const struct tare_control *control; /* NULL: nobody's to obey */
	struct tare_unrecorded *unrecorded; /* NULL: not looked for */
	bool has_list[DEVICES_MAX];
	bool is_simulated;      /* the machine whose GPUs NVML tells of */
	struct tare_map stacks; /* process → where its first stack was when it was seen first */
};

static struct tare_record head_of(enum tare_kind kind)
{
	return (struct tare_record){ .kind = (uint16_t)kind, .stamp = tare_clock_ticks() };
}

static void add_clock(struct tare_witness *w)
{
	struct tare_rec_clock rec = { .head = head_of(TARE_KIND_CLOCK) };

	rec.monotonic_ns = (uint64_t)tare_now_ns(CLOCK_MONOTONIC);
	rec.ticks = tare_clock_ticks();
	rec.realtime_ns = (uint64_t)tare_now_ns(CLOCK_REALTIME);
	tare_writer_add(w->writer, &rec, sizeof(rec), NULL, 0);
}

static void add_device(struct tare_witness *w, int device)
{
	const struct tare_nvml_device *d = tare_nvml_device(w->nvml, device);
	struct tare_rec_device rec = { .head = head_of(TARE_KIND_DEVICE) };
	struct tare_nvml_memory memory;

	rec.ordinal = device;
	rec.nvml_index = d->index;
	rec.total = rec.reserved = rec.used = TARE_NOT_KNOWN;
	rec.driver_version = tare_nvml_info(w->nvml)->cuda_version;
	tare_nvml_uuid(d->uuid, &rec.uuid_high, &rec.uuid_low);
	if (d->mig >= 0)
		rec.flags |= TARE_DEVICE_MIG;
	if (w->is_simulated)
		rec.flags |= TARE_DEVICE_SIMULATED;
	if (tare_nvml_memory(w->nvml, device, &memory, NULL) == 0 && memory.version) {
		rec.total = memory.total;
		rec.reserved = memory.reserved;
		rec.used = memory.used;
		rec.flags |= TARE_DEVICE_NVML;
		rec.flags |= memory.version == 1                      ? TARE_DEVICE_V1
		             : memory.identity == TARE_NVML_SUM_APART ? TARE_DEVICE_RESERVE_APART
		                                                      : 0;
	}
	rec.bytes = (uint32_t)strlen(d->name);
	w->used[device] = rec.used;
	tare_writer_add(w->writer, &rec, sizeof(rec), d->name, rec.bytes);
}

/* The header of a log that `tare` itself writes. */
static void witness_header(struct tare_file_header *head, enum tare_role role)
{
	struct tare_procfs_stat stat;
	FILE *file;

	tare_encode_header(head, role, TARE_CLOCK_HERE);
	head->pid = (uint32_t)getpid();
	head->ppid = (uint32_t)getppid();
	tare_procfs_pid_namespace(0, &head->pid_namespace);
	if (tare_procfs_stat(0, &stat) == 0)
		head->start_ticks = stat.start_ticks;
	head->ticks_per_s = tare_clock_ticks_per_s();
	head->first_stamp = tare_clock_ticks();
	head->first_monotonic_ns = (uint64_t)tare_now_ns(CLOCK_MONOTONIC);
	head->first_realtime_ns = (uint64_t)tare_now_ns(CLOCK_REALTIME);
	gethostname(head->host, sizeof(head->host) - 1);
	snprintf(head->program, sizeof(head->program), "tare");
	file = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (file) {
		uint64_t high, low;
		char text[64] = "-";
		int i;

		if (fgets(text + 1, sizeof(text) - 1, file)) {
			tare_nvml_uuid(text, &high, &low);
			for (i = 0; i < 8; i++) {
				head->boot_id[i] = (uint8_t)(high >> (56 - 8 * i));
				head->boot_id[8 + i] = (uint8_t)(low >> (56 - 8 * i));
			}
		}
		fclose(file);
	}
}

static void add_launch(struct tare_witness *w, bool no_paths)
{
	struct tare_rec_launch rec = { .head = head_of(TARE_KIND_LAUNCH) };
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	tare_rank_text_of_environment(&text, no_paths);
	rec.bytes = (uint32_t)text.len;
	if (text.len)
		tare_writer_add(w->writer, &rec, sizeof(rec), text.data, text.len);
}

int tare_witness_open(struct tare_witness **out, const char *folder, const char *name, uint32_t chunk_bytes,
                      const char *nvml_path, bool no_paths, struct tare_err *err)
{
	struct tare_witness *w = tare_xcalloc(1, sizeof(*w));
	struct tare_file_header head;
	struct tare_str path = { 0 };
	int i, rc;

	witness_header(&head, TARE_ROLE_TARE);
	head.chunk_bytes = chunk_bytes;
	tare_str_addf(&path, "%s/%s", folder, name);
	rc = tare_writer_open(&w->writer, path.data, &head, err);
	tare_str_free(&path);
	if (rc) {
		free(w);
		return rc;
	}
	if (tare_cgroup_oom_kills("", &w->oom_kills) != 0)
		w->oom_kills = TARE_NOT_KNOWN;
	add_launch(w, no_paths);
	add_clock(w);
	if (tare_nvml_open(nvml_path, &w->nvml, NULL) != 0)
		w->nvml = NULL;
	w->is_simulated = nvml_path != NULL;
	for (i = 0; w->nvml && i < tare_nvml_device_count(w->nvml) && i < DEVICES_MAX; i++)
		add_device(w, i);
	tare_writer_flush(w->writer);
	*out = w;
	return 0;
}

void tare_witness_watch(struct tare_witness *w, const struct tare_control *control, const char *folder)
{
	w->control = control;
	w->unrecorded = tare_unrecorded_new(folder);
}

static uint32_t control_word(const struct tare_witness *w)
{
	return w->control ? __atomic_load_n(&w->control->command, __ATOMIC_RELAXED) : TARE_COMMAND_RECORD;
}

static bool is_stopped(const struct tare_witness *w)
{
	return TARE_COMMAND_OF(control_word(w)) == TARE_COMMAND_STOP;
}

static void add_reading(struct tare_witness *w, int device, bool always)
{
	struct tare_rec_reading rec = { .head = head_of(TARE_KIND_READING) };
	struct tare_nvml_memory memory;
	uint64_t since = rec.head.stamp;

	if (tare_nvml_memory(w->nvml, device, &memory, NULL) != 0 || !memory.version)
		return;
	if (memory.used == w->used[device] && !always)
		return;
	rec.head.stamp = tare_clock_ticks();
	rec.took = rec.head.stamp - since;
	w->used[device] = memory.used;
	rec.device = device;
	rec.source = memory.version == 2 ? TARE_SOURCE_NVML2 : TARE_SOURCE_NVML1;
	rec.used = memory.used;
	rec.reserved = memory.reserved;
	rec.total = memory.total;
	rec.peers = TARE_NOT_KNOWN; /* a list tells */
	tare_writer_add(w->writer, &rec, sizeof(rec), NULL, 0);
}

static uint64_t hash_of(const struct tare_nvml_processes *list)
{
	uint64_t hash = list->count + 1;
	size_t i;

	for (i = 0; i < list->count; i++)
		hash = (hash * 0x100000001b3u ^ list->items[i].pid) * 0x100000001b3u ^ list->items[i].used;
	return hash;
}

static void look_for_unrecorded(struct tare_witness *w, const struct tare_nvml_processes *list)
{
	struct tare_procfs_stat stat;
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	size_t i;

	/* While recording was paused nobody had to open a log. */
	if (!w->unrecorded || control_word(w) != TARE_COMMAND_RECORD)
		return;
	for (i = 0; i < list->count; i++) {
		pid_t pid = (pid_t)list->items[i].pid;

		if (!tare_unrecorded_add(w->unrecorded, pid))
			continue;
		if (tare_procfs_stat(pid, &stat) != 0)
			stat.comm[0] = '\0';
		tare_str_addf(&text,
		              "process %d (%s) uses the GPU and was not recorded: it lost LD_PRELOAD, or a library "
		              "in it reached the driver by an unknown route such as RTLD_DEEPBIND; its memory is "
		              "among other processes",
		              (int)pid, stat.comm);
		tare_witness_degraded(w, text.data);
		tare_str_cut(&text, 0);
	}
}

int tare_witness_unrecorded(const struct tare_witness *w)
{
	return w->unrecorded ? tare_unrecorded_count(w->unrecorded) : 0;
}

static void add_other_processes(struct tare_witness *w, int device)
{
	struct tare_record head = head_of(TARE_KIND_PEER); /* one stamp: no other log comes between */
	struct tare_nvml_processes list;
	uint64_t hash;
	size_t i;

	if (tare_nvml_processes(w->nvml, device, &list, NULL) != 0)
		return;
	if (list.version)
		look_for_unrecorded(w, &list);
	hash = hash_of(&list);
	if (list.version && hash != w->list_hash[device]) {
		w->list++;
		for (i = 0; i < list.count; i++) {
			struct tare_rec_peer rec = { .head = head };
			struct tare_procfs_stat stat;

			if (tare_procfs_stat((pid_t)list.items[i].pid, &stat) != 0)
				stat.comm[0] = '\0';
			rec.device = device;
			rec.pid = list.items[i].pid;
			rec.used = list.items[i].used;
			rec.list = w->list;
			rec.bytes = (uint32_t)strlen(stat.comm);
			tare_writer_add(w->writer, &rec, sizeof(rec), stat.comm, rec.bytes);
		}
		/* Also said at the beginning: whoever comes later was not there before. */
		if (list.count == 0 && (w->has_list[device] || !w->list_hash[device])) {
			/* An empty list is said by pid 0, which uses nothing. */
			struct tare_rec_peer none = { .head = head, .device = device, .list = w->list };

			tare_writer_add(w->writer, &none, sizeof(none), NULL, 0);
		}
		w->has_list[device] = list.count > 0;
		w->list_hash[device] = hash;
	}
	tare_nvml_processes_free(&list);
}

/* Another program that took its place has the same pid, and its memory is none of the process that was recorded. */
static bool is_itself(struct tare_witness *w, const struct tare_drain_process *p)
{
	struct tare_procfs_stat stat;
	uint64_t *stack;
	bool is_new;

	if (tare_procfs_stat(p->pid, &stat) != 0)
		return true; /* it has just ended */
	stack = tare_map_put(&w->stacks, (uint64_t)p->pid << 32 | p->generation, &is_new);
	if (is_new)
		*stack = stat.stack;
	return *stack == stat.stack;
}

static void add_hosts(struct tare_witness *w, const struct tare_drain_process *processes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct tare_rec_host rec = { .head = head_of(TARE_KIND_HOST) };
		struct tare_procfs_memory memory;

		if (processes[i].is_over || tare_procfs_memory(processes[i].pid, &memory) != 0 || !is_itself(w, &processes[i]))
			continue;
		rec.pid = (uint32_t)processes[i].pid;
		rec.generation = processes[i].generation;
		rec.peak = memory.peak_rss;
#define TELL(FIELD, LINE) rec.FIELD = memory.FIELD;
		TARE_HOST_MEMORY(TELL)
#undef TELL
		tare_writer_add(w->writer, &rec, sizeof(rec), NULL, 0);
	}
}

static void read_devices(struct tare_witness *w, bool always)
{
	int i;

	for (i = 0; w->nvml && i < tare_nvml_device_count(w->nvml) && i < DEVICES_MAX; i++) {
		add_reading(w, i, always);
		add_other_processes(w, i);
	}
}

void tare_witness_sample(struct tare_witness *w, const struct tare_drain_process *processes, size_t count)
{
	read_devices(w, true);
	add_hosts(w, processes, count);
}

static void sample(struct tare_witness *w, const struct tare_drain *drain, bool last)
{
	static struct tare_drain_process processes[PROCESSES_MAX];

	if (is_stopped(w))
		return;
	read_devices(w, last);
	add_hosts(w, processes, tare_drain_processes(drain, processes, PROCESSES_MAX));
}

void tare_witness_turn(struct tare_witness *w, const struct tare_drain *drain)
{
	uint64_t now = (uint64_t)tare_now_ns(CLOCK_MONOTONIC);

	if (now - w->sampled_ns < SAMPLE_NS)
		return;
	w->sampled_ns = now;
	sample(w, drain, false);
	if (now - w->clocked_ns >= CLOCK_NS) {
		w->clocked_ns = now;
		add_clock(w);
	}
	tare_writer_flush(w->writer);
}

void tare_witness_clock(struct tare_witness *w)
{
	add_clock(w);
	tare_writer_flush(w->writer);
}

void tare_witness_exit(struct tare_witness *w, pid_t pid, int status)
{
	struct tare_rec_exit rec = { .head = head_of(TARE_KIND_EXIT), .pid = (uint32_t)pid, .status = (uint32_t)status };

	tare_writer_add(w->writer, &rec, sizeof(rec), NULL, 0);
	tare_witness_status(w, pid, TARE_LAST_GENERATION, status);
}

/* 1 + what the OOM killer ended around us since the recording began; 0: not known. */
static uint32_t oom_kills_since(const struct tare_witness *w)
{
	uint64_t now;

	if (w->oom_kills == TARE_NOT_KNOWN || tare_cgroup_oom_kills("", &now) != 0 || now < w->oom_kills)
		return 0;
	return (uint32_t)(now - w->oom_kills) + 1;
}

void tare_witness_status(struct tare_witness *w, pid_t pid, uint32_t generation, int status)
{
	struct tare_rec_status rec = {
		.head = head_of(TARE_KIND_STATUS), .pid = (uint32_t)pid, .generation = generation, .status = (uint32_t)status
	};

	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		rec.oom_kills = oom_kills_since(w);
	tare_writer_add(w->writer, &rec, sizeof(rec), NULL, 0);
}

void tare_witness_control(struct tare_witness *w, enum tare_act what, uint32_t number, const char *name)
{
	struct tare_rec_control rec = { .head = head_of(TARE_KIND_CONTROL),
		                            .what = what,
		                            .number = number,
		                            .pid = (uint32_t)getpid(),
		                            .bytes = (uint32_t)strlen(name) };

	tare_writer_add(w->writer, &rec, sizeof(rec), name, rec.bytes);
}

void tare_witness_degraded(struct tare_witness *w, const char *sentence)
{
	struct tare_rec_degraded rec = { .head = head_of(TARE_KIND_DEGRADED), .bytes = (uint32_t)strlen(sentence) };

	tare_writer_add(w->writer, &rec, sizeof(rec), sentence, rec.bytes);
}

void tare_witness_symbol(struct tare_witness *w, uint32_t pid, uint32_t generation, const struct tare_symbol *symbol)
{
	struct tare_rec_symbol rec = { .head = head_of(TARE_KIND_SYMBOL),
		                           .pid = pid,
		                           .generation = generation,
		                           .address = symbol->address,
		                           .offset = symbol->offset,
		                           .object = symbol->object,
		                           .bytes = (uint32_t)strlen(symbol->name) };

	tare_writer_add(w->writer, &rec, sizeof(rec), symbol->name, rec.bytes);
}

void tare_witness_close(struct tare_witness *w, const struct tare_drain *drain)
{
	if (!w)
		return;
	if (drain)
		sample(w, drain, true);
	add_clock(w);
	tare_writer_close(w->writer);
	tare_nvml_close(w->nvml);
	tare_unrecorded_free(w->unrecorded);
	tare_map_free(&w->stacks);
	free(w);
}

struct tare_nvml *tare_witness_nvml(const struct tare_witness *w)
{
	return w->nvml;
}

const char *tare_witness_driver_version(const struct tare_witness *w)
{
	return w->nvml ? tare_nvml_info(w->nvml)->driver : "";
}
