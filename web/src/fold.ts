// SPDX-License-Identifier: Apache-2.0
// Stacks without what says nothing of the program: an import is one frame, those of interpreters, loaders and wrappers are none.
import { page } from "./data";

const packages = /(^|\/)(site-packages|dist-packages|python3\.\d+)\//;
const machinery = /<frozen |(^|\/)importlib\/|\brunpy\b/;
const wrappers = / in (wrapper|wrapped|inner|decorate_context|_?(wrapped_)?call_impl|_use_grad|__call__)$/;
const runtime = new RegExp([/torch\/utils\/_contextlib|torch\/autograd\/(graph|__init__)|(^|\/)contextlib\.py/, /(^|\/)(Python|Objects|Include|Modules)\/[\w\/.]+\.[ch]:\d/,
  /(^|\/)(elf|dlfcn|csu|nptl)\/[\w.-]+\.[ch]:\d/, /^(__libc_start|_start|clone|start_thread|_?Py[A-Z]\w+)/].map(r => r.source).join("|"));
// An import is told by what it began with: the frame of a file is FIRST less its number.
const FIRST = -100;

export const foldedName = (frame: number): string => frame > FIRST ? page.frames[frame] : "import of " + page.frames[FIRST - frame].replace(/:\d+ in <module>$|^.*\/(site-packages|dist-packages|python3\.\d+)\//g, "");

function isSilent(name: string): boolean {
  return machinery.test(name) || runtime.test(name) || (packages.test(name) && wrappers.test(name));
}

// The outermost first. Where nothing would be left, all of it.
export function folded(frames: number[]): number[] {
  const out: number[] = [];
  for (let i = 0; i < frames.length; i++) {
    const name = page.frames[frames[i]];
    if (!isSilent(name)) { out.push(frames[i]); continue; }
    if (!machinery.test(name)) continue;
    let first = -1;
    for (; i < frames.length; i++) {
      const inside = page.frames[frames[i]], isFile = packages.test(inside) && / in <module>$/.test(inside);
      if (!isSilent(inside) && !isFile) break;
      if (isFile && first < 0) first = frames[i];
    }
    i--;
    if (first >= 0) out.push(FIRST - first);
  }
  return out.length ? out : frames;
}
