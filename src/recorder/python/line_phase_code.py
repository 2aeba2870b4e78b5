# SPDX-License-Identifier: Apache-2.0
# Runs inside the recorded program: line_phase.c says when. It is given `wanted`, lines of FILE:FIRST[-LAST],
# and `record`: record(n) begins the n-th, record(-1) ends the innermost, record(0) says it cannot be done.
# It leaves `check`, which says whether the program has taken over since (record(0)), or None.
# For Python 3.6 and later; it must raise nothing into the program and keep none of its objects.


def setup(record, wanted):
    import _ast
    import posix
    import sys
    getframe = sys._getframe
    folder = posix.getcwd()
    specs = []
    for number, text in enumerate(wanted.split("\n"), 1):
        path, _, lines = text.rpartition(":")
        first, _, last = lines.partition("-")
        specs.append((path[2:] if path[:2] == "./" else path, int(first), int(last or 0), number))
    known = {}      # file name of a code object -> lines_of()
    functions = {}  # what has_line() said
    active = {}     # id of a frame -> numbers of the ranges it is in

    def last_line(node):
        last = getattr(node, "end_lineno", None)
        if last is None:  # before 3.8: of whatever is inside
            last, todo = getattr(node, "lineno", 0), [node]
            while todo:
                node = todo.pop()
                last = max(last, getattr(node, "lineno", 0))
                todo += children(node)
        return last

    def children(node):
        out = []
        for name in getattr(node, "_fields", ()):
            value = getattr(node, name, None)
            out += [v for v in (value if isinstance(value, list) else [value]) if hasattr(v, "_fields")]
        return out

    def statement(path, line):
        """The lines of the statement at a line: a compound one, if it begins there, with its body."""
        try:
            with open(path, "rb") as source:
                todo = [compile(source.read(), path, "exec", 0x400, 1)]
        except Exception:
            return line, line
        best = line, line
        while todo:
            node = todo.pop()
            todo += children(node)
            if not isinstance(node, _ast.stmt) or not node.lineno <= line <= last_line(node):
                continue
            if not hasattr(node, "body"):
                best = node.lineno, last_line(node)
            elif node.lineno == line and not hasattr(node, "decorator_list"):
                best = line, last_line(node)
        return best

    def lines_of(path):
        """Line -> numbers of the ranges it is in, outer ones first; empty for most files."""
        wanted = known.get(path)
        if wanted is None:
            full = path if path[:1] == "/" else folder + "/" + path
            ranges, wanted = [], {}
            for name, first, last, number in specs:
                if full == name or full.endswith("/" + name):
                    ranges.append((statement(full, first) if not last else (first, last)) + (number,))
            for first, last, number in sorted(ranges, key=lambda r: (r[0], -r[1])):
                for line in range(first, min(last, first + 100000) + 1):
                    wanted[line] = wanted.get(line, ()) + (number,)
            known[path] = wanted
        return wanted

    def has_line(code):
        """Is one of the lines in this function? Then all of its lines must be looked at."""
        wanted = lines_of(code.co_filename)
        if not wanted:
            return False
        key = code.co_filename, code.co_firstlineno, code.co_name
        found = functions.get(key)
        if found is None:
            if hasattr(code, "co_lines"):
                found = any(line in wanted for _, _, line in code.co_lines())
            else:
                line, found = code.co_firstlineno, code.co_firstlineno in wanted
                for delta in code.co_lnotab[1::2]:
                    line += delta - 256 if delta > 127 else delta
                    found = found or line in wanted
            functions[key] = found
        return found

    def step(frame, now):
        was = active.get(frame, ())
        if now == was:
            return
        same = 0
        while same < len(was) and same < len(now) and was[same] == now[same]:
            same += 1
        for _ in was[same:]:
            record(-1)
        for number in now[same:]:
            record(number)
        if now:
            active[frame] = now
        else:
            del active[frame]

    def leave(frame):
        for _ in active.pop(frame, ()):
            record(-1)

    def monitor(monitoring):
        events = monitoring.events
        tool = [i for i in (3, 4, 1, 2, 0) if monitoring.get_tool(i) is None][:1]
        if not tool:
            return record(0)
        tool = tool[0]
        monitoring.use_tool_id(tool, "tare")

        def watch(code):
            if not has_line(code):
                return False
            monitoring.set_local_events(tool, code, events.LINE | events.PY_RETURN | events.PY_YIELD)
            return True

        def on_start(code, offset):
            watch(code)
            return monitoring.DISABLE  # once for each function

        def on_line(code, line):
            now = known[code.co_filename].get(line, ())
            if now or active:
                step(id(getframe(1)), now)

        def on_leave(code, offset, value):
            if active:
                leave(id(getframe(1)))

        monitoring.register_callback(tool, events.PY_START, on_start)
        monitoring.register_callback(tool, events.LINE, on_line)
        for event in (events.PY_RETURN, events.PY_YIELD, events.PY_UNWIND):
            monitoring.register_callback(tool, event, on_leave)
        monitoring.set_events(tool, events.PY_START | events.PY_UNWIND)
        for frame in list(sys._current_frames().values()):
            own = frame is getframe(0)
            while frame is not None:
                if watch(frame.f_code) and own:
                    step(id(frame), lines_of(frame.f_code.co_filename).get(frame.f_lineno, ()))
                frame = frame.f_back

    def trace():
        if sys.gettrace() is not None:
            return record(0)

        def local(frame, event, arg):
            if event == "line":
                now = known[frame.f_code.co_filename].get(frame.f_lineno, ())
                if now or active:
                    step(id(frame), now)
            elif event == "return":
                leave(id(frame))
            return local

        def on_call(frame, event, arg):
            return local if has_line(frame.f_code) else None

        frame = getframe(1)
        while frame is not None:
            if has_line(frame.f_code):
                frame.f_trace = local
                step(id(frame), lines_of(frame.f_code.co_filename).get(frame.f_lineno, ()))
            frame = frame.f_back
        try:
            import threading
            threading.settrace(on_call)
        except Exception:
            pass  # it is being imported: threads started from here on go without
        sys.settrace(on_call)

        def check():
            if sys.gettrace() is not on_call:
                record(0)
        return check

    if hasattr(sys, "monitoring"):
        return monitor(sys.monitoring)
    return trace()


check = setup(record, wanted)
