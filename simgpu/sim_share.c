/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that several processes hold: see struct sim_share. */
#include "sim_state.h"

#include <string.h>

static uint16_t number_of(const struct sim_shared *shared, const struct sim_slot *slot)
{
	return (uint16_t)(slot - shared->slots + 1);
}

static struct sim_share *find(struct sim_shared *shared, uint64_t id)
{
	uint32_t i;

	for (i = 0; i < SIM_SHARES; i++)
		if (shared->shares[i].id == id)
			return &shared->shares[i];
	return NULL;
}

static struct sim_holder *find_holder(struct sim_share *share, uint16_t number)
{
	uint32_t i;

	for (i = 0; i < SIM_HOLDERS; i++)
		if (share->holders[i].slot == number)
			return &share->holders[i];
	return NULL;
}

/* The first holder stays first, for NVML counts the memory as its. */
static void remove_holder(struct sim_share *share, struct sim_holder *holder)
{
	struct sim_holder *end = share->holders + SIM_HOLDERS;

	memmove(holder, holder + 1, (size_t)(end - holder - 1) * sizeof(*holder));
	end[-1] = (struct sim_holder){ 0, 0 };
	if (!share->holders[0].slot)
		memset(share, 0, sizeof(*share));
}

bool sim_share_make(struct sim_shared *shared, struct sim_slot *self, uint64_t id, int device, uint64_t bytes)
{
	struct sim_share *share;

	sim_state_lock(shared);
	share = find(shared, 0);
	if (share) {
		share->id = id;
		share->bytes = bytes;
		share->device = (uint32_t)device;
		share->holders[0] = (struct sim_holder){ number_of(shared, self), 1 };
		self->used[device] -= bytes;
	}
	sim_state_unlock(shared);
	return share;
}

bool sim_share_hold(struct sim_shared *shared, struct sim_slot *self, uint64_t id)
{
	uint16_t number = number_of(shared, self);
	struct sim_holder *holder = NULL;
	struct sim_share *share;

	sim_state_lock(shared);
	share = find(shared, id);
	if (share) {
		holder = find_holder(share, number);
		if (!holder)
			holder = find_holder(share, 0);
	}
	if (holder) {
		holder->slot = number;
		holder->handles++;
	}
	sim_state_unlock(shared);
	return holder;
}

void sim_share_drop(struct sim_shared *shared, struct sim_slot *self, uint64_t id)
{
	struct sim_holder *holder = NULL;
	struct sim_share *share;

	sim_state_lock(shared);
	share = find(shared, id);
	if (share)
		holder = find_holder(share, number_of(shared, self));
	if (holder && --holder->handles == 0)
		remove_holder(share, holder);
	sim_state_unlock(shared);
}

void sim_share_forget(struct sim_shared *shared, uint32_t slot)
{
	uint32_t i;

	for (i = 0; i < SIM_SHARES; i++) {
		struct sim_share *share = &shared->shares[i];
		struct sim_holder *holder = share->id ? find_holder(share, (uint16_t)(slot + 1)) : NULL;

		if (holder)
			remove_holder(share, holder);
	}
}
