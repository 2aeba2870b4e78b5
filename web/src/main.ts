// SPDX-License-Identifier: Apache-2.0
// The page of a recording: its sections, in their order.
import { page } from "./data";
import { answer } from "./answer";
import { timeSection } from "./time";
import { whereSection } from "./where";
import { blocksSection } from "./blocks";
import { explained } from "./explain";
import { host } from "./host";
import { ledger, revealFirst } from "./ledger";
import { others } from "./more";
import { pool } from "./pool";
import { stepsSection } from "./steps";
import { graphsSection } from "./graphs";
import { ranksSection } from "./ranks";
import { serving } from "./serving";
import { show } from "./shell";
import { heapSizes } from "./sizes";
import { onChange } from "./state";

show(page.title, [answer, timeSection, stepsSection, whereSection, heapSizes, ledger, explained, blocksSection, pool, graphsSection, serving, ranksSection, ...others, host], onChange);
revealFirst();
