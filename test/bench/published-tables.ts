import type { Percentiles } from '../../src/cli/bench/load.ts'
import { markdownTable } from './markdown.ts'
import type { Bench } from './rounds.ts'
import { type Line, summarize } from './summary.ts'
import { workloads } from './workloads.ts'

/** A row of a table: what it is of, and the figure of each contender. */
type Row = readonly [title: string, cell: (contender: string) => string]

const columns: Readonly<Record<string, string>> = {
  'bun-pipe': 'bare Bun',
  'bun-parse': 'reads and parses in Bun',
  nginx: 'nginx',
  busbar: 'Busbar',
  gomodel: 'GoModel',
  portkey: 'Portkey',
  weir: 'Weir, prepaid',
  'weir-unmetered': 'Weir, unmetered',
}

const none = '–'

/** Returns the tables of README.md and docs/benchmarks.md, with the rows and columns that were measured. */
export function publishedTables(bench: Bench): string {
  const names = Object.keys(columns).filter((name) =>
    bench.series.some(({ contender }) => contender === name),
  )
  const row = rowsOf(bench)
  const readme = tableOf(
    [{ rows: readmeRows(row) }],
    names.filter((name) => name !== 'bun-parse'),
  )
  const benchmarks = tableOf(benchmarkSections(row), names)
  return `### README.md\n\n${readme}\n\n### docs/benchmarks.md\n\n${benchmarks}`
}

/** A row is made of its title, a workload, and a figure of each contender. */
type Rows = {
  of(title: string, workload: string, cell: (line: Line) => string): Row
  idle(title: string): Row
}

type Section = { readonly heading?: string; readonly rows: readonly Row[] }

function rowsOf(bench: Bench): Rows {
  const lines = summarize(bench, 'bun-pipe')
  return {
    of(title, workload, cell) {
      const find = (name: string) => lines.get(workload)?.find(({ contender }) => contender === name)
      return [
        title,
        (contender) => {
          const line = find(contender)
          return line ? cell(line) : none
        },
      ]
    },
    idle: (title) => [title, (contender) => figure(bench.idle[contender] ?? null, 1e6, 0)],
  }
}

function readmeRows(row: Rows): readonly Row[] {
  return [
    row.of('chat, 200 B, 16 callers', 'chat-small', ratio),
    row.of('chat, 200 B, 300 a second', 'chat-300', ratio),
    row.of('chat, 1 MB with images', 'chat-large', ratio),
    row.of('chunk, 300 streams, each 20 ms', 'stream-300', ratio),
    row.of('added ms, p50 / p99, one caller', 'chat-small', ({ latency }) => pair(latency)),
    row.idle('MB in memory, before any request'),
    row.of('MB in memory, at most, 5,000 streams', 'stream-5000', peak),
  ]
}

function benchmarkSections(row: Rows): readonly Section[] {
  const shared = workloads.filter(({ fresh }) => !fresh)
  return [
    { rows: shared.map(({ title, name }) => row.of(title, name, ratio)) },
    {
      heading: 'added ms, p50 / p99',
      rows: [
        row.of('chat, 200 B, one caller', 'chat-small', ({ latency }) => pair(latency)),
        row.of('chat, 200 B, 300 in a second', 'chat-300', ({ latency }) => pair(latency)),
        row.of('first token, one caller', 'stream-short', firstToken),
        row.of('first token of 100 that come at once', 'stream-100', firstToken),
        row.of('first token, 5,000 streams opened at once', 'stream-5000', firstToken),
      ],
    },
    {
      heading: 'memory in MB',
      rows: [
        row.idle('before any request'),
        row.of('after 100,000 requests', 'memory-requests', ({ resident }) => figure(resident, 1e6, 0)),
        row.of('at most, 5,000 streams', 'stream-5000', peak),
      ],
    },
    {
      heading: 'written to the disk in kB',
      rows: [
        row.of('chat, 200 B', 'chat-small', written),
        row.of('chat, 200 B, stored', 'chat-stored', written),
      ],
    },
  ]
}

/** A section without figures is omitted, heading and all. */
function tableOf(sections: readonly Section[], contenders: readonly string[]): string {
  const cells = sections.flatMap(({ heading, rows }) => {
    const filled = rows
      .map(([title, cell]) => [title, ...contenders.map(cell)])
      .filter(([, ...figures]) => figures.some((text) => text !== none))
    const head = heading === undefined ? [] : [[`**${heading}**`, ...contenders.map(() => '')]]
    return filled.length > 0 ? [...head, ...filled] : []
  })
  return markdownTable(['work', ...contenders.map((name) => columns[name] ?? name)], cells)
}

const firstToken = ({ firstToken }: Line) => pair(firstToken)
const peak = ({ peak }: Line) => figure(peak, 1e6, 0)
const written = ({ written }: Line) => figure(written, 1000, 1)

function ratio({ ratio }: Line): string {
  return ratio === null ? none : significant(ratio)
}

function pair(found: Percentiles | null): string {
  return found === null ? none : `${significant(found.p50)} / ${significant(found.p99)}`
}

function figure(value: number | null, divisor: number, digits: number): string {
  return value === null ? none : (value / divisor).toFixed(digits)
}

/** Three digits, or all before the point. */
function significant(value: number): string {
  return value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(Math.max(1, Math.abs(value))))))
}
