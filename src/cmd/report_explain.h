/* SPDX-License-Identifier: Apache-2.0 */
/* What other tools would have shown of the processes of a ledger, for a page: as tare explain says it. */
#ifndef TARE_CMD_REPORT_EXPLAIN_H
#define TARE_CMD_REPORT_EXPLAIN_H

struct tare_emit;

/* tare_page.explain; `of`: a struct tare_ledger. Of those with most on the host, at most TARE_REPORT_EXPLAINED. */
enum { TARE_REPORT_EXPLAINED = 16 };
void tare_report_explain(const void *of, struct tare_emit *e);

#endif
