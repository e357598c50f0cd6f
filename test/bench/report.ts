import { cpus, totalmem } from 'node:os'
import type { Percentiles } from '../../src/cli/bench/statistics.ts'
import { version } from '../../package.json'
import type { Bench } from './rounds.ts'
import { type Line, summarize } from './summary.ts'
import type { Workload } from './workloads.ts'

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
    const told = rows.filter(([, ...cells]) => cells.some((text) => text !== none))
    return told.length > 0 ? `### ${title}\n\n${table(['work', ...names], told)}` : ''
  }
  return [
    `## ${machine()}`,
    grid(`Processor time, ${base} = 1`, proxies, ({ ratio }) => decimal(ratio, 2)),
    grid('Processor time in µs, for each request or chunk', proxies, ({ cpu, spread }) =>
      withSpread(cpu, spread),
    ),
    grid('Added time of a whole reply in ms, p50 / p99; one caller, or that pace', proxies, ({ latency }) =>
      pair(latency),
    ),
    grid('Added time to the first token in ms, p50 / p99', proxies, ({ firstToken }) => pair(firstToken)),
    grid('Between two chunks in ms, p50 / p99', contenders, ({ gap }) => pair(gap, 1)),
    grid('Memory at most in MB', proxies, ({ peak }) => megabytes(peak)),
    grid('Written to the disk for each request in kB', proxies, ({ written }) =>
      decimal(written && written / 1000, 1),
    ),
    grid('Requests or chunks in a second, all programs on the same processors', contenders, ({ rate }) =>
      String(Math.round(rate)),
    ),
    `Memory before any request in MB: ${idle(bench)}.`,
    ...bench.missing,
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

function decimal(value: number | null, digits: number): string {
  return value === null ? none : value.toFixed(digits)
}

/** A table that is aligned in its source too. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, index) =>
    Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0))).join(' | ')} |`
  const rule = `| ${widths.map((width, index) => (index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [line(head), rule, ...rows.map(line)].join('\n')
}
