import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { projectFolder } from '../support/source.ts'
import { budgets } from './measured-budgets.ts'
import type { Workload } from './workload.ts'
import { workloads } from './workloads.ts'

/** What `bun run bench` prints for --help. */
export const usage = `Usage
  bun run bench [--quick] [--only WORK,…] [--contenders NAME,…] [--rounds N] [--minutes N] [--json FILE]

  --quick             the most telling work, a minute
  --only WORK,…       of: ${workloads.map(({ name }) => name).join(', ')};
                      parts, start, list-stored, overspend, engine (llama.cpp: its server and
                      a model in LLAMA_SERVER and LLAMA_MODEL); budgets: all that the budgets need
  --contenders NAME,… of: direct, bun-pipe, bun-read, bun-parse, nginx, busbar, gomodel, portkey, weir,
                      weir-unmetered, weir-budget (prepaid, and the key has a budget), weir-log-off;
                      busbar and gomodel need the paths of their executables in BUSBAR and GOMODEL;
                      least-unmetered and least-prepaid, for chats alone
  --rounds N          how often each is measured; 3 unless set
  --duration SECONDS  how long each is measured in a round; 1 unless set
  --minutes N         the same in minutes
  --syscalls          one more round, which counts system calls with perf or strace
  --base NAME         whose processor time is 1; bun-pipe unless set
  --executable FILE   the executable that is Weir; dist/weir unless set, built where it is missing
  --weir NAME=FILE    one more of it, to compare with
  --json FILE         every figure of every round`

/** The work that involves no contenders. */
export type OtherWork = 'parts' | 'start' | 'list-stored' | 'overspend' | 'engine'

/** What a run measures, and how. */
export type Options = {
  readonly help: boolean
  readonly workloads: readonly Workload[]
  readonly includes: (work: OtherWork) => boolean
  readonly contenders: readonly string[] | undefined
  readonly rounds: number
  /** Milliseconds. */
  readonly duration: number
  readonly syscalls: boolean
  readonly base: string
  readonly executable: string
  readonly others: readonly string[]
  readonly jsonFile: string | undefined
}

/** Reads the arguments; throws for unknown ones. */
export function readOptions(args: readonly string[]): Options {
  const { values: flags } = parseArgs({ args: [...args], options: flagTypes })
  const { quick } = flags
  const only = flags.only?.split(',').flatMap(expand)
  const unknown = only?.find((name) => !knownWork.has(name))
  if (unknown !== undefined) throw new Error(`There is no work ${unknown}. See --help.`)
  return {
    help: flags.help,
    workloads: workloads.filter((one) => only?.includes(one.name) ?? (!quick || one.quick)),
    includes: (work) => only?.includes(work) ?? !quick,
    contenders: flags.contenders?.split(',') ?? usualContenders(flags),
    rounds: positive('rounds', flags.rounds) ?? (quick ? 1 : 3),
    duration: durationOf(flags) ?? (quick ? 500 : 1000),
    syscalls: flags.syscalls,
    base: flags.base,
    executable: flags.executable,
    others: flags.weir,
    jsonFile: flags.json,
  }
}

const flagTypes = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  contenders: { type: 'string' },
  rounds: { type: 'string' },
  duration: { type: 'string' },
  minutes: { type: 'string' },
  syscalls: { type: 'boolean', default: false },
  base: { type: 'string', default: 'bun-pipe' },
  weir: { type: 'string', multiple: true, default: [] as string[] },
  executable: { type: 'string', default: join(projectFolder, 'dist/weir') },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

const quickContenders = ['direct', 'bun-pipe', 'weir', 'weir-unmetered']
const otherWork: readonly OtherWork[] = ['parts', 'start', 'list-stored', 'overspend', 'engine']
const knownWork: ReadonlySet<string> = new Set([...workloads.map(({ name }) => name), ...otherWork])

function expand(name: string): readonly string[] {
  return name === 'budgets' ? budgets.flatMap(({ works }) => works) : [name]
}

/** All that are available, unless the work needs only some of them. */
function usualContenders({ only, quick }: { readonly only?: string; readonly quick: boolean }) {
  if (only === 'budgets') return [...new Set(budgets.flatMap(({ contenders }) => contenders))]
  return quick ? quickContenders : undefined
}

function durationOf(flags: { readonly duration?: string; readonly minutes?: string }): number | undefined {
  const seconds = positive('duration', flags.duration)
  const minutes = positive('minutes', flags.minutes)
  if (seconds !== undefined && minutes !== undefined) throw new Error('Set either --duration or --minutes.')
  if (minutes !== undefined) return minutes * 60_000
  return seconds && seconds * 1000
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (!(number > 0)) throw new Error(`--${name} must be a number greater than 0.`)
  return number
}
