// SPDX-License-Identifier: Apache-2.0
// The page of tare diff --html: its sections, in their order.
import { choose, lead, rowsSection } from "./compare_change";
import { curvesSection } from "./compare_curves";
import { nameOf, onChange, sides } from "./compare_data";
import { smallSection } from "./compare_small";
import { show } from "./shell";

show(sides.map((_, i) => nameOf(i)).join(" · "), [choose, smallSection, lead, curvesSection, rowsSection], onChange);
