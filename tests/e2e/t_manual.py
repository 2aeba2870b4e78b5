#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --help says of a command, its man page says, and the shells offer: the same options, and no others."""

import os
import re
import shutil

from harness import BUILD, ROOT, case, check, check_equal, main, needs_exec, needs_program

TARE = os.path.join(BUILD, "tare")


def commands():
    with open(os.path.join(ROOT, "src/cmd/cmd.def"), encoding="utf-8") as file:
        return re.findall(r"^X\((\w+)\)", file.read(), re.M)


def said(box, *words):
    done = box.run([TARE, *words])
    check_equal((done.code, done.err), (0, ""), words, done)
    return done.out


def options_of_help(box, command):
    """Of an option its letter and name, as the first column has them, and whether it takes a value."""
    found = re.findall(r"^  (?:-(\w), |    )--([\w-]+)( \S)?", said(box, command, "--help"), re.M)
    check(len(found) > 1 and ("h", "help", "") in found, command, found)
    return {(letter, name, bool(value)) for letter, name, value in found}


def part_of(text, command):
    """What a completion for bash or zsh has of a command: its branch of the outer case."""
    found = re.search(r"^\t%s\)\n\t\tcase .*?^\t\tesac ;;" % command, text, re.M | re.S)
    check(found is not None, command)
    return found.group(0)


@case
def man_pages_have_the_options_of_help(box):
    needs_exec()
    for command in commands():
        page = said(box, "help", "--man", command)
        found = re.findall(r"^\.TP\n(?:\\-(\w), )?\\-\\-([\w\\-]+)( \S)?", page, re.M)
        check_equal({(letter, name.replace("\\", ""), bool(value)) for letter, name, value in found}, options_of_help(box, command), command)


@case
def the_main_page_has_the_commands(box):
    needs_exec()
    check_equal(re.findall(r"^\.BR tare\\-(\w+) \(1\)$", said(box, "help", "--man"), re.M), commands())
    check_equal(re.findall(r"^  (\w+) +\w", said(box, "help"), re.M), commands())


@case
def bash_offers_the_options_of_help(box):
    needs_exec()
    text = said(box, "help", "--bash")
    for command in commands():
        part, wanted = part_of(text, command), options_of_help(box, command)
        offered = re.search(r'\[\[ \$cur == -\* \]\]; then words="([^"]*)"', part).group(1).split()
        check_equal(sorted(offered), sorted("--" + name for _, name, _ in wanted), command)
        valued = {"--" + name for _, name, has_value in wanted if has_value} | {"-" + l for l, _, has_value in wanted if l and has_value}
        check_equal(set(re.findall(r"^\t\t(--?[\w-]+)\) words=", part, re.M)), valued, command)


@case
def zsh_offers_the_options_of_help(box):
    needs_exec()
    text = said(box, "help", "--zsh")
    for command in commands():
        part, wanted = part_of(text, command), options_of_help(box, command)
        check_equal(sorted(re.findall(r" '--([\w-]+):", part)), sorted(name for _, name, _ in wanted), command)
        valued = {"--%s" % name + ("|-" + letter if letter else "") for letter, name, has_value in wanted if has_value}
        check_equal(set(re.findall(r"^\t\t(--[\w|-]+)\) values=", part, re.M)), valued, command)


@case
def fish_offers_the_options_of_help(box):
    needs_exec()
    text = said(box, "help", "--fish")
    for command in commands():
        found = re.findall(r"^complete -c tare -n '_tare_in %s' -l ([\w-]+)(?: -s (\w))?( -[xr])?" % command, text, re.M)
        check_equal({(letter, name, bool(value)) for name, letter, value in found}, options_of_help(box, command), command)


@case
def options_that_are_named_in_sentences_are_there(box):
    """Of the command or of another; what stands behind -- in an example is another program's, and so is valgrind's."""
    needs_exec()
    every = {"--" + name for command in commands() for _, name, _ in options_of_help(box, command)}
    for command in commands():
        text = re.sub(r"^ +(-\w, )?--[\w-]+| -- .*|valgrind --tool", "", said(box, command, "--help"), flags=re.M)
        check_equal(set(re.findall(r"(?<![\w-])--[a-z][\w-]+", text)) - every, set(), command)


@case
def roff_finds_nothing_wrong(box):
    needs_exec()
    needs_program("groff")
    for command in commands():
        page = box.path(command + ".1")
        with open(page, "w", encoding="utf-8") as file:
            file.write(said(box, "help", "--man", command))
        done = box.run([shutil.which("groff"), "-man", "-Tutf8", "-Kutf8", "-ww", "-Wbreak", "-z", page])
        check_equal((done.code, done.err), (0, ""), command)


main()
