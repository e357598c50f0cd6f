import { cpus, totalmem } from 'node:os'
import type { Percentiles } from '../../src/cli/bench/load.ts'
import { version } from '../../package.json'
import { markdownTable } from './markdown.ts'
import type { ProcessCounts } from './process-counts.ts'
import type { Bench } from './rounds.ts'
import { type Line, summarize } from './summary.ts'
import type { Workload } from './workload.ts'

/** The tables of a run in Markdown, ratios first. */
export function report(bench: Bench, workloads: readonly Workload[], base: string): string {
  const lines = summarize(bench, base)
  const measured = workloads.filter(({ name }) => lines.has(name))
  const contenders = [...new Set(bench.series.map(({ contender }) => contender))]
  const proxies = contenders.filter((name) => name !== 'direct')
  const at = (workload: Workload, name: string) =>
    lines.get(workload.name)?.find(({ contender }) => contender === name)
  const grid = (title: string, names: readonly string[], cell: (line: Line) => string) => {
    const rows = measured.map((workload) => [
      workload.title,
      ...names.map((name) => cellOf(at(workload, name), cell)),
    ])
    const filled = rows.filter(([, ...cells]) => cells.some((text) => text !== none))
    return filled.length > 0 ? `### ${title}\n\n${markdownTable(['work', ...names], filled)}` : ''
  }
  return [
    `## ${machine()}`,
    grid(`Processor time, ${base} = 1`, proxies, ({ ratio }) => decimal(ratio, 2)),
    grid('Processor time in µs, for each request or chunk', proxies, ({ cpu, spread }) =>
      withSpread(cpu, spread),
    ),
    grid(
      'Voluntary / involuntary context switches, minor page faults, system calls, for each request or chunk',
      proxies,
      ({ counts }) => countsText(counts),
    ),
    grid('Added time of a whole reply in ms, p50 / p99; one caller, or that pace', proxies, ({ latency }) =>
      pair(latency),
    ),
    grid('Added time to the first token in ms, p50 / p99', proxies, ({ firstToken }) => pair(firstToken)),
    grid('Between two chunks in ms, p50 / p99', contenders, ({ gap }) => pair(gap, 1)),
    grid('Memory at most in MB', proxies, ({ peak }) => megabytes(peak)),
    grid('Memory of a new process after that work in MB', proxies, ({ resident }) => megabytes(resident)),
    grid('Memory of each open stream in kB', proxies, ({ perStream }) => kilobytes(perStream)),
    grid('Written to the disk for each request in kB', proxies, ({ written }) => kilobytes(written)),
    grid('Requests or chunks in a second, all programs on the same processors', contenders, ({ rate }) =>
      String(Math.round(rate)),
    ),
    `Memory before any request in MB: ${idle(bench)}.`,
    ...bench.notes,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

const none = '-'

function cellOf(line: Line | undefined, cell: (line: Line) => string): string {
  return line ? cell(line) : none
}

/** The machine, the versions and the day. */
export function machine(): string {
  const [first] = cpus()
  const memory = Math.round(totalmem() / 1024 ** 3)
  const day = new Date().toISOString().slice(0, 10)
  return `${day}: Weir ${version}, Bun ${Bun.version}, ${cpus().length} × ${first?.model ?? 'processor'}, ${memory} GiB`
}

function idle({ idle }: Bench): string {
  return Object.entries(idle)
    .map(([name, bytes]) => `${name} ${megabytes(bytes)}`)
    .join(', ')
}

function withSpread(value: number | null, spread: number | null): string {
  if (value === null) return none
  return spread === null ? value.toFixed(1) : `${value.toFixed(1)} (${Math.round(spread * 100)} %)`
}

function pair(found: Percentiles | null, digits = 2): string {
  return found === null ? none : `${found.p50.toFixed(digits)} / ${found.p99.toFixed(digits)}`
}

function megabytes(bytes: number | null): string {
  return decimal(bytes && bytes / 1_000_000, 0)
}

function kilobytes(bytes: number | null): string {
  return decimal(bytes && bytes / 1000, 1)
}

function countsText(counts: ProcessCounts | null): string {
  if (counts === null) return none
  const { voluntary, involuntary, minorFaults, syscalls } = counts
  const two = (value: number) => value.toFixed(2)
  return `${two(voluntary)} / ${two(involuntary)} / ${two(minorFaults)} / ${decimal(syscalls, 1)}`
}

function decimal(value: number | null, digits: number): string {
  return value === null ? none : value.toFixed(digits)
}
