// SPDX-License-Identifier: Apache-2.0
// Stacks without what says nothing of the program: an import is one frame, those of interpreters, loaders and wrappers are none. A stack of
// nothing else is one frame, too.
import { page } from "./data";

const packages = /(^|\/)(site-packages|dist-packages|python3\.\d+)\//;
const machinery = /<frozen |(^|\/)importlib\/|\brunpy\b/;
const wrappers = / in (wrapper|wrapped|inner|decorate_context|_?(wrapped_)?call_impl|_use_grad|__call__)$/;
const runtime = new RegExp([/torch\/utils\/_contextlib|torch\/autograd\/(graph|__init__)|(^|\/)contextlib\.py/, /(^|\/)(Python|Objects|Include|Modules)\/[\w\/.]+\.[ch]:\d/,
  /(^|\/)(elf|dlfcn|csu|nptl)\/[\w.-]+\.[ch]:\d/, /^(lib)?python3?[\d.]*(\.so[\d.]*)?\+0x/, /^(__libc_start|_start|clone|start_thread|_?Py_?[A-Z]\w+)/].map(r => r.source).join("|"));
// What an import runs: a file of a package, or a module that is inside the interpreter.
const module = /(^<frozen (?!importlib)|(^|\/)(site-packages|dist-packages|python3\.\d+)\/).* in <module>$/;
// Frames of our own. An import is told by what it began with: the frame of a file is FIRST less its number.
const RUNTIME = -50, FIRST = -100;

export function foldedName(frame: number): string {
  if (frame === RUNTIME) return "interpreter and start-up";
  if (frame > FIRST) return page.frames[frame];
  return "import of " + page.frames[FIRST - frame].replace(/:\d+ in <module>$|^.*\/(site-packages|dist-packages|python3\.\d+)\//g, "").replace(/^<frozen (.*)>$/, "$1");
}

function isSilent(name: string): boolean {
  return machinery.test(name) || runtime.test(name) || (packages.test(name) && wrappers.test(name));
}

// The outermost first.
export function folded(frames: number[]): number[] {
  const out: number[] = [];
  for (let i = 0; i < frames.length; i++) {
    const name = page.frames[frames[i]];
    if (!isSilent(name)) { out.push(frames[i]); continue; }
    if (!machinery.test(name)) continue;
    let first = -1;
    for (; i < frames.length; i++) {
      const inside = page.frames[frames[i]], isFile = module.test(inside);
      if (!isSilent(inside) && !isFile) break;
      if (isFile && first < 0) first = frames[i];
    }
    i--;
    if (first >= 0) out.push(FIRST - first);
  }
  return out.length || !frames.length ? out : [RUNTIME];
}
