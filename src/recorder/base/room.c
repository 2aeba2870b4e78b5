/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list that only grows. A room that nobody gave back, because its owner became another program, is
 * free when that process has ended: the kernel knows. So there are never more of them than threads
 * and children that live at once.
 */
#include "recorder/base/room.h"

#include <stdbool.h>
#include <stdint.h>

#include "recorder/base/fork.h"
#include "recorder/base/sys.h"
#include "recorder/recorder.h"

#define LEAST    (16u << 10)
#define NOBODY   0u
#define FOR_GOOD UINT32_MAX

struct room {
	struct room *next;
	size_t size;
	uint32_t owner; /* a thread, as it knows itself */
	char bytes[] __attribute__((aligned(16)));
};

static struct room *rooms;

/* A child of vfork in another pid namespace has a number there that means somebody else here. */
static uint32_t own_number(void)
{
	return tare_is_vfork_child() && tare_sys_getppid() != tare_fork_owner() ? FOR_GOOD : tare_sys_gettid();
}

static bool take(struct room *room, uint32_t own)
{
	uint32_t owner = __atomic_load_n(&room->owner, __ATOMIC_ACQUIRE);

	if (owner == FOR_GOOD || (owner != NOBODY && tare_sys6(SYS_kill, (long)owner, 0, 0, 0, 0, 0) != -ESRCH))
		return false;
	return __atomic_compare_exchange_n(&room->owner, &owner, own, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void *tare_room_take(size_t size)
{
	struct room *room, *first = __atomic_load_n(&rooms, __ATOMIC_ACQUIRE);
	uint32_t own = own_number();

	for (room = first; room; room = room->next)
		if (room->size >= size && take(room, own))
			return room->bytes;
	size = size < LEAST ? LEAST : size;
	room = tare_sys_mmap(NULL, sizeof(*room) + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!room)
		return NULL;
	room->size = size;
	room->owner = own;
	room->next = first;
	while (!__atomic_compare_exchange_n(&rooms, &room->next, room, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		continue;
	return room->bytes;
}

void tare_room_give(void *at)
{
	struct room *room;

	if (!at)
		return;
	room = (struct room *)((char *)at - offsetof(struct room, bytes));
	__atomic_store_n(&room->owner, NOBODY, __ATOMIC_RELEASE);
}
