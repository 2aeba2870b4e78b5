/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the CPU that programs asked for: rows of processes, beside what is resident of them. */
#ifndef TARE_VIEW_HOST_H
#define TARE_VIEW_HOST_H

#include "base/emit.h"
#include "ledger/ledger.h"

/* The path of a row of a process: "process:431/tensors", with a category below it or NULL. */
void tare_host_path(struct tare_str *out, const struct tare_host_ledger *host, const char *account,
                    const char *category);

/* The member `accounts` of a process. */
void tare_host_json(struct tare_emit *e, const struct tare_host_ledger *host);

/* The member `shared` of a ledger: tensors in shared memory, once, by the line that made them. */
void tare_host_shared_json(struct tare_emit *e, const struct tare_ledger *ledger);

/* A table of the processes with most in tensors, and an empty line; nothing where there are none. */
void tare_host_text(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr);

/* Does any process have tensors in the memory of the CPU, worth a row? */
bool tare_host_has_tensors(const struct tare_ledger *const *ledgers, int ledger_nr);

#endif
