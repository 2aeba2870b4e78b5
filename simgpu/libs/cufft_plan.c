/* SPDX-License-Identifier: Apache-2.0 */
/* cuFFT's plans: numbers, whose work the library takes from the device unless the program wants to give it. */
#include "simgpu/libs/cufft.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What the library takes once on a device, with its first plan there: an H100, cuFFT 12.0. */
enum { OWN_MEMORY = 6967984, DEVICES = 64 };

struct plan {
	struct sim_handle *handle;
	size_t work;
	uint64_t automatic; /* the work that the library took; 0: none */
	bool is_made, is_given_work;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plan *plans; /* plan N is at N - 1 */
static int plans_nr;
static bool has_begun[DEVICES];
static struct sim_handle *own;

/* The place of a plan; NULL: there is none. With the lock held. */
static struct plan *plan_of(int number)
{
	return number > 0 && number <= plans_nr && plans[number - 1].handle ? &plans[number - 1] : NULL;
}

static int new_plan(int *number)
{
	struct plan *more;
	int i;

	for (i = 0; i < plans_nr && plans[i].handle; i++)
		continue;
	if (i == plans_nr) {
		more = realloc(plans, (size_t)(plans_nr + 16) * sizeof(*plans));
		if (!more)
			return CUFFT_ALLOC_FAILED;
		plans = more;
		memset(plans + plans_nr, 0, 16 * sizeof(*plans));
		plans_nr += 16;
	}
	memset(&plans[i], 0, sizeof(plans[i]));
	plans[i].handle = sim_handle_new();
	if (!plans[i].handle)
		return CUFFT_ALLOC_FAILED;
	*number = i + 1;
	return CUFFT_SUCCESS;
}

/* The work that the library took for a plan, which is the first that it took. */
static void give_back(struct plan *plan)
{
	if (!plan->automatic)
		return;
	SIM_DRIVER("cuMemFree_v2", plan->automatic);
	plan->automatic = plan->handle->taken[0] = 0;
}

static bool begin_device(void)
{
	int device = 0;

	if (SIM_DRIVER("cuCtxGetDevice", &device) || device < 0 || device >= DEVICES)
		return false;
	if (has_begun[device])
		return true;
	if (!own)
		own = sim_handle_new();
	has_begun[device] = own && sim_handle_take(own, OWN_MEMORY);
	return has_begun[device];
}

static int make(int number, const struct tare_sim_transform *transform, size_t *work)
{
	struct plan *plan = plan_of(number);
	size_t tables;

	if (!plan || plan->is_made)
		return CUFFT_INVALID_PLAN;
	if (!begin_device())
		return CUFFT_ALLOC_FAILED;
	plan->work = tare_sim_transform_work(transform);
	tables = tare_sim_transform_tables(transform);
	if (plan->work && !plan->is_given_work) {
		if (!sim_handle_take(plan->handle, plan->work))
			return CUFFT_ALLOC_FAILED;
		plan->automatic = plan->handle->taken[0];
	}
	if (tables && !sim_handle_take(plan->handle, tables))
		return CUFFT_ALLOC_FAILED;
	plan->is_made = true;
	if (work)
		*work = plan->work;
	return CUFFT_SUCCESS;
}

int tare_sim_cufft_make(int number, const struct tare_sim_transform *transform, size_t *work)
{
	int failed;

	pthread_mutex_lock(&lock);
	failed = make(number, transform, work);
	pthread_mutex_unlock(&lock);
	return failed;
}

SIM_EXPORT int cufftCreate(int *plan);
int cufftCreate(int *plan)
{
	int failed;

	SIM_CALLED("makes");
	if (!plan)
		return CUFFT_INVALID_PLAN;
	pthread_mutex_lock(&lock);
	failed = new_plan(plan);
	pthread_mutex_unlock(&lock);
	return failed;
}

SIM_EXPORT int cufftDestroy(int plan);
int cufftDestroy(int plan)
{
	struct sim_handle *handle = NULL;

	SIM_CALLED("ends");
	pthread_mutex_lock(&lock);
	if (plan_of(plan)) {
		handle = plan_of(plan)->handle;
		plan_of(plan)->handle = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (!handle)
		return CUFFT_INVALID_PLAN;
	sim_handle_end(handle);
	return CUFFT_SUCCESS;
}

/* Something done with a plan that is there. */
#define WITH_PLAN(number, what)                                                                                        \
	({                                                                                                                 \
		struct plan *plan_;                                                                                            \
		pthread_mutex_lock(&lock);                                                                                     \
		plan_ = plan_of(number);                                                                                       \
		if (plan_) {                                                                                                   \
			what;                                                                                                      \
		}                                                                                                              \
		pthread_mutex_unlock(&lock);                                                                                   \
		plan_ ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;                                                                    \
	})

SIM_EXPORT int cufftSetStream(int plan, long stream);
int cufftSetStream(int plan, long stream)
{
	SIM_CALLED("stream");
	return WITH_PLAN(plan, plan_->handle->stream = stream);
}

SIM_EXPORT int cufftSetAutoAllocation(int plan, int is_automatic);
int cufftSetAutoAllocation(int plan, int is_automatic)
{
	SIM_CALLED("keeps");
	return WITH_PLAN(plan, plan_->is_given_work = !is_automatic);
}

SIM_EXPORT int cufftGetSize(int plan, size_t *work);
int cufftGetSize(int plan, size_t *work)
{
	SIM_CALLED("tells");
	return work ? WITH_PLAN(plan, *work = plan_->work) : CUFFT_INVALID_VALUE;
}

SIM_EXPORT int cufftXtSetWorkAreaPolicy(int plan, int policy, size_t *work);
int cufftXtSetWorkAreaPolicy(int plan, int policy, size_t *work)
{
	(void)policy;
	SIM_CALLED("tells");
	return WITH_PLAN(plan, if (work) * work = plan_->work);
}

/* The program's own memory takes the place of what the library took. */
SIM_EXPORT int cufftSetWorkArea(int plan, void *area);
int cufftSetWorkArea(int plan, void *area)
{
	(void)area;
	SIM_CALLED("keeps");
	return WITH_PLAN(plan, give_back(plan_));
}

SIM_EXPORT int cufftXtSetWorkArea(int plan, void **areas);
int cufftXtSetWorkArea(int plan, void **areas)
{
	SIM_CALLED("keeps");
	return cufftSetWorkArea(plan, areas);
}

int tare_sim_cufft_execute(int plan)
{
	long stream = 0;
	bool is_made = false;
	int failed = WITH_PLAN(plan, stream = plan_->handle->stream; is_made = plan_->is_made);

	if (failed || !is_made)
		return CUFFT_INVALID_PLAN;
	sim_lib_node(stream);
	return CUFFT_SUCCESS;
}
