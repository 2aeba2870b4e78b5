/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the ranks of a communicator meet: a file in the folder of the simulated machine (TARE_SIM_DIR), else in
 * /dev/shm. The last rank that comes takes its name away, so nothing is left when they end.
 */
#include "simgpu/libs/nccl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE  4096ull
#define LIMIT (1ull << 20)

struct nccl_seat {
	uint32_t presence;
	uint32_t pid;
	uint64_t started;   /* when the process was, as others see it; 0: nobody looked */
	uint64_t pid_space; /* processes of another one cannot be looked at */
	uint32_t card;      /* its bus */
	uint64_t posted;
	struct nccl_what what[2];
};

struct pipe {
	uint64_t written, read;
	unsigned char pad[PAGE - 16];
	unsigned char ring[];
};

struct nccl_room {
	uint32_t ranks_nr; /* 0: nobody is in it yet */
	uint32_t rings, sleepers;
	uint32_t joined;
	uint32_t members; /* ranks that run, once all of them are there */
	uint32_t doors;   /* 1: a rank is closing them, 2: they are closed */
	uint64_t limit;
	uint64_t arrived[2], done[2]; /* of collectives at even and at odd places */
	char path[PATH_MAX / 2];
	struct nccl_seat seats[];
};

size_t nccl_room_limit(void)
{
	const char *text = getenv("TARE_SIM_NCCL_CARRY");
	char *end;
	unsigned long long bytes;

	if (!text || !*text)
		return LIMIT;
	bytes = strtoull(text, &end, 10);
	return *end || bytes > 1ull << 30 ? LIMIT : (size_t)bytes;
}

/* ---- where things are ---- */
static uint64_t pages(uint64_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

static uint64_t places_at(int ranks_nr)
{
	return pages(sizeof(struct nccl_room) + (uint64_t)ranks_nr * sizeof(struct nccl_seat));
}

/* What NCCL itself exchanges must fit, whatever the limit. */
static uint64_t place_size(uint64_t limit)
{
	return pages(limit < PAGE ? PAGE : limit);
}

static uint64_t ring_size(uint64_t limit)
{
	return 2 * place_size(limit) + PAGE;
}

static uint64_t pipes_at(int ranks_nr, uint64_t limit)
{
	return places_at(ranks_nr) + 2 * (uint64_t)ranks_nr * place_size(limit);
}

static uint64_t room_size(int ranks_nr, uint64_t limit)
{
	return pipes_at(ranks_nr, limit) +
	       (uint64_t)ranks_nr * (uint64_t)ranks_nr * (sizeof(struct pipe) + ring_size(limit));
}

static struct pipe *pipe_of(struct nccl_room *room, int from, int to)
{
	int ranks_nr = (int)room->ranks_nr;
	uint64_t at = (uint64_t)from * (uint64_t)ranks_nr + (uint64_t)to;

	return (struct pipe *)((unsigned char *)room + pipes_at(ranks_nr, room->limit) +
	                       at * (sizeof(struct pipe) + ring_size(room->limit)));
}

/* ---- keys ---- */
struct nccl_key nccl_key_of(const void *bytes, size_t size)
{
	struct nccl_key key = { { 0xcbf29ce484222325ull, 0x6c62272e07bb0142ull } };
	const unsigned char *byte = bytes;
	size_t i;

	for (i = 0; i < size; i++) {
		key.words[0] = (key.words[0] ^ byte[i]) * 0x100000001b3ull;
		key.words[1] = (key.words[1] + byte[i] + 1) * 0x9e3779b97f4a7c15ull;
		key.words[1] ^= key.words[1] >> 29;
	}
	return key;
}

void nccl_key_new(struct nccl_id *id)
{
	static uint64_t count;
	uint64_t random[4] = { (uint64_t)getpid(), __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	random[2] = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (getrandom(&random[3], sizeof(random[3]), GRND_NONBLOCK) < 0)
		random[3] = random[2] * 0x9e3779b97f4a7c15ull;
	memset(id, 0, sizeof(*id));
	memcpy(id->bytes, "tare", 4);
	memcpy(id->bytes + 8, random, sizeof(random));
}

/* ---- processes ---- */
/* The state of a process, and when it was started; false: there is none. */
static bool look_at(uint32_t pid, char *state, uint64_t *started)
{
	char path[32], text[1024], *at;
	ssize_t n;
	int fd, field;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	at = strrchr(text, ')');
	if (!at || !at[1])
		return false;
	*state = at[2];
	for (field = 2; field < 22 && at; field++)
		at = strchr(at + 1, ' ');
	*started = at ? strtoull(at, NULL, 10) : 0;
	return true;
}

static uint64_t pid_space(void)
{
	struct stat about;

	return stat("/proc/self/ns/pid", &about) ? 0 : (uint64_t)about.st_ino;
}

/* A number may be given to another process later: the first that looks writes down when it was started. */
bool nccl_room_is_dead(struct nccl_room *room, int rank)
{
	struct nccl_seat *seat = &room->seats[rank];
	uint32_t pid = __atomic_load_n(&seat->pid, __ATOMIC_ACQUIRE);
	uint64_t started = 0, first = 0;
	char state = 0;

	if (nccl_room_presence(room, rank) != NCCL_PRESENT || !pid || pid == (uint32_t)getpid() ||
	    seat->pid_space != pid_space())
		return false;
	if (!look_at(pid, &state, &started) || state == 'Z' || state == 'X')
		return true;
	return !__atomic_compare_exchange_n(&seat->started, &first, started, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
	       first != started;
}

long nccl_room_pid(const struct nccl_room *room, int rank)
{
	return (long)room->seats[rank].pid;
}

enum nccl_presence nccl_room_presence(const struct nccl_room *room, int rank)
{
	return (enum nccl_presence)__atomic_load_n(&room->seats[rank].presence, __ATOMIC_ACQUIRE);
}

/* ---- opening ---- */
static void path_of(struct nccl_key key, char *path, size_t size)
{
	const char *folder = getenv("TARE_SIM_DIR");

	if (!folder || !*folder)
		folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	snprintf(path, size, "%s/nccl-%016llx%016llx", folder, (unsigned long long)key.words[0],
	         (unsigned long long)key.words[1]);
}

static void *map_file(const char *path, uint64_t size)
{
	struct stat about;
	void *map = MAP_FAILED;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return MAP_FAILED;
	if (fstat(fd, &about) == 0 && ((uint64_t)about.st_size >= size || ftruncate(fd, (off_t)size) == 0))
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	return map;
}

static int too_late(int rank, int ranks_nr)
{
	return nccl_fail(NCCL_INVALID_USAGE,
	                 "rank %d of %d came to its communicator after others went on without it; set "
	                 "TARE_SIM_RANKS to the number of ranks that run",
	                 rank, ranks_nr);
}

static int sit_down(struct nccl_room *room, int ranks_nr, int rank, unsigned card, uint64_t limit)
{
	struct nccl_seat *seat = &room->seats[rank];
	uint32_t nobody = 0;
	uint64_t unset = 0;

	if (!__atomic_compare_exchange_n(&room->ranks_nr, &nobody, (uint32_t)ranks_nr, false, __ATOMIC_ACQ_REL,
	                                 __ATOMIC_ACQUIRE) &&
	    nobody != (uint32_t)ranks_nr)
		return nccl_fail(NCCL_INVALID_USAGE,
		                 "rank %d is given %d ranks for a communicator of %u: give all of its "
		                 "ranks one number",
		                 rank, ranks_nr, nobody);
	if (!__atomic_compare_exchange_n(&room->limit, &unset, limit, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
	    unset != limit)
		return nccl_fail(NCCL_INVALID_USAGE,
		                 "TARE_SIM_NCCL_CARRY is %llu for rank %d and %llu for another: set "
		                 "it alike",
		                 (unsigned long long)limit, rank, (unsigned long long)unset);
	nobody = NCCL_ABSENT;
	if (!__atomic_compare_exchange_n(&seat->presence, &nobody, NCCL_PRESENT, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return nobody == NCCL_STANDIN
		           ? too_late(rank, ranks_nr)
		           : nccl_fail(NCCL_INVALID_USAGE,
		                       "rank %d is twice in a communicator of %d: process %u has it already; "
		                       "give each its own",
		                       rank, ranks_nr, seat->pid);
	seat->pid_space = pid_space();
	seat->card = card;
	__atomic_store_n(&seat->pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
	return NCCL_SUCCESS;
}

struct nccl_room *nccl_room_open(struct nccl_key key, int ranks_nr, int rank, unsigned card, int *result)
{
	uint64_t limit = nccl_room_limit(), size = room_size(ranks_nr, limit);
	char path[PATH_MAX / 2] = "";
	struct nccl_room *room;

	if (ranks_nr == 1) {
		room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	} else {
		path_of(key, path, sizeof(path));
		room = map_file(path, size);
	}
	if (room == MAP_FAILED) {
		*result = nccl_fail(NCCL_SYSTEM_ERROR,
		                    "the ranks' shared file %s could not be made: %s; set "
		                    "TARE_SIM_DIR to a folder that can be written",
		                    path, strerror(errno));
		return NULL;
	}
	*result = sit_down(room, ranks_nr, rank, card, limit);
	if (*result) {
		munmap(room, size);
		return NULL;
	}
	memcpy(room->path, path, sizeof(path)); /* the same of all */
	if (__atomic_add_fetch(&room->joined, 1, __ATOMIC_ACQ_REL) == (uint32_t)ranks_nr)
		nccl_room_close_doors(room);
	nccl_room_ring(room);
	return room;
}

int nccl_room_on_card(const struct nccl_room *room, int rank)
{
	int other;

	for (other = 0; other < (int)room->ranks_nr; other++)
		if (other != rank && nccl_room_presence(room, other) != NCCL_STANDIN && room->seats[other].pid &&
		    room->seats[other].card == room->seats[rank].card)
			return other;
	return -1;
}

bool nccl_room_is_full(const struct nccl_room *room)
{
	return __atomic_load_n(&room->doors, __ATOMIC_ACQUIRE) == 2;
}

int nccl_room_joined(const struct nccl_room *room)
{
	return (int)__atomic_load_n(&room->joined, __ATOMIC_ACQUIRE);
}

/* The name goes away before anybody knows that all are there, so that another room may have it. */
void nccl_room_close_doors(struct nccl_room *room)
{
	uint32_t open = 0, members = 0, rank;

	if (!__atomic_compare_exchange_n(&room->doors, &open, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	for (rank = 0; rank < room->ranks_nr; rank++) {
		uint32_t nobody = NCCL_ABSENT;

		members += !__atomic_compare_exchange_n(&room->seats[rank].presence, &nobody, NCCL_STANDIN, false,
		                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	}
	room->members = members;
	if (room->path[0])
		unlink(room->path);
	__atomic_store_n(&room->doors, 2, __ATOMIC_RELEASE);
	nccl_room_ring(room);
}

bool nccl_room_is_partial(const struct nccl_room *room)
{
	return room->members < room->ranks_nr;
}

int nccl_room_who_gives(const struct nccl_room *room, int rank)
{
	uint32_t place = (uint32_t)rank % room->members;
	int giver;

	if (nccl_room_presence(room, rank) != NCCL_STANDIN)
		return rank;
	for (giver = 0; giver < (int)room->ranks_nr; giver++)
		if (nccl_room_presence(room, giver) != NCCL_STANDIN && !place--)
			break;
	return giver;
}

void nccl_room_leave(struct nccl_room *room, int rank, enum nccl_presence how)
{
	if (!nccl_room_is_full(room) && room->path[0])
		unlink(room->path);
	__atomic_store_n(&room->seats[rank].presence, how, __ATOMIC_RELEASE);
	nccl_room_ring(room);
	munmap(room, room_size((int)room->ranks_nr, room->limit));
}

/* ---- waiting ---- */
void nccl_room_ring(struct nccl_room *room)
{
	__atomic_add_fetch(&room->rings, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&room->sleepers, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &room->rings, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

uint32_t nccl_room_rings(const struct nccl_room *room)
{
	return __atomic_load_n(&room->rings, __ATOMIC_SEQ_CST);
}

void nccl_room_wait(struct nccl_room *room, uint32_t seen, unsigned microseconds)
{
	struct timespec length = { microseconds / 1000000, microseconds % 1000000 * 1000L };

	__atomic_add_fetch(&room->sleepers, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &room->rings, FUTEX_WAIT, seen, &length, NULL, 0);
	__atomic_sub_fetch(&room->sleepers, 1, __ATOMIC_SEQ_CST);
}

/* ---- collectives ---- */
/* All ranks are done with each that was at this place before. */
bool nccl_room_is_place_free(const struct nccl_room *room, uint64_t sequence)
{
	return __atomic_load_n(&room->done[sequence % 2], __ATOMIC_ACQUIRE) >= sequence / 2 * room->members;
}

unsigned char *nccl_room_place(struct nccl_room *room, int rank, uint64_t sequence)
{
	return (unsigned char *)room + places_at((int)room->ranks_nr) +
	       (2 * (uint64_t)rank + sequence % 2) * place_size(room->limit);
}

void nccl_room_post(struct nccl_room *room, int rank, uint64_t sequence, const struct nccl_what *what, bool is_awaited)
{
	struct nccl_seat *seat = &room->seats[rank];

	seat->what[sequence % 2] = *what;
	__atomic_store_n(&seat->posted, sequence + 1, __ATOMIC_RELEASE);
	if (__atomic_add_fetch(&room->arrived[sequence % 2], 1, __ATOMIC_ACQ_REL) % room->members == 0 || is_awaited)
		nccl_room_ring(room);
}

const struct nccl_what *nccl_room_posted(const struct nccl_room *room, int rank, uint64_t sequence)
{
	const struct nccl_seat *seat = &room->seats[rank];

	return __atomic_load_n(&seat->posted, __ATOMIC_ACQUIRE) > sequence ? &seat->what[sequence % 2] : NULL;
}

void nccl_room_done(struct nccl_room *room, uint64_t sequence)
{
	if (__atomic_add_fetch(&room->done[sequence % 2], 1, __ATOMIC_ACQ_REL) % room->members == 0)
		nccl_room_ring(room);
}

/* ---- messages ---- */
static void parts_at(struct pipe *pipe, uint64_t ring, uint64_t at, uint64_t bytes, struct nccl_parts *parts)
{
	uint64_t first = ring - at % ring;

	if (first > bytes)
		first = bytes;
	*parts = (struct nccl_parts){ { pipe->ring + at % ring, pipe->ring }, { first, bytes - first } };
}

/* A message's head and its bytes lie one behind the other; the head is never broken in two. */
static uint64_t behind_head(uint64_t at)
{
	return at + sizeof(struct nccl_message);
}

static uint64_t span_of(uint64_t bytes)
{
	return sizeof(struct nccl_message) +
	       (bytes + sizeof(struct nccl_message) - 1) / sizeof(struct nccl_message) * sizeof(struct nccl_message);
}

bool nccl_room_write(struct nccl_room *room, int from, int to, uint64_t bytes, struct nccl_parts *parts)
{
	struct pipe *pipe = pipe_of(room, from, to);
	uint64_t ring = ring_size(room->limit);

	if (pipe->written - __atomic_load_n(&pipe->read, __ATOMIC_ACQUIRE) + span_of(bytes) > ring)
		return false;
	parts_at(pipe, ring, behind_head(pipe->written), bytes, parts);
	return true;
}

void nccl_room_written(struct nccl_room *room, int from, int to, struct nccl_message message)
{
	struct pipe *pipe = pipe_of(room, from, to);

	memcpy(pipe->ring + pipe->written % ring_size(room->limit), &message, sizeof(message));
	__atomic_store_n(&pipe->written, pipe->written + span_of(message.bytes), __ATOMIC_RELEASE);
	nccl_room_ring(room);
}

bool nccl_room_read(struct nccl_room *room, int from, int to, struct nccl_message *message, struct nccl_parts *parts)
{
	struct pipe *pipe = pipe_of(room, from, to);
	uint64_t ring = ring_size(room->limit);

	if (__atomic_load_n(&pipe->written, __ATOMIC_ACQUIRE) == pipe->read)
		return false;
	memcpy(message, pipe->ring + pipe->read % ring, sizeof(*message));
	parts_at(pipe, ring, behind_head(pipe->read), message->bytes, parts);
	return true;
}

void nccl_room_consumed(struct nccl_room *room, int from, int to, uint64_t bytes)
{
	struct pipe *pipe = pipe_of(room, from, to);

	__atomic_store_n(&pipe->read, pipe->read + span_of(bytes), __ATOMIC_RELEASE);
	nccl_room_ring(room);
}
