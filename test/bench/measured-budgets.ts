import { median } from './send.ts'
import { added, type Budget, defined, type Figures, listed, plain, ratio, started } from './budget.ts'
import type { Measured } from './job.ts'
import { markdownTable } from './markdown.ts'

/** A budget beside what was measured. */
export type BudgetResult = {
  readonly budget: Budget
  /** The median of the rounds, and their extremes; null where nothing was measured. */
  readonly measured: { readonly median: number; readonly min: number; readonly max: number } | null
  readonly status: 'met' | 'not met' | 'not measured'
}

const cpu = ({ cpu }: Measured) => cpu
const busyP99 = ({ busyLatency }: Measured) => busyLatency?.p99

const rare = /^list, (one|two) .*pair|^list, a rare pair/
const disjoint = /^list, three common pairs that never meet|^list, the same/

/** All budgets, in the order of the report. */
export const budgets: readonly Budget[] = [
  ratio(['chat-small', 'weir-unmetered'], ['chat-small', 'bun-pipe'], cpu, {
    title: 'chat, 200 B, 16 callers, unmetered, to bare Bun',
    limit: 2.5,
  }),
  ratio(['chat-small', 'weir-unmetered'], ['chat-small', 'busbar'], cpu, {
    title: 'chat, 200 B, 16 callers, unmetered, to Busbar',
    limit: 1,
  }),
  ratio(['chat-small', 'weir'], ['chat-small', 'weir-unmetered'], cpu, {
    title: 'chat, 200 B, 16 callers, prepaid to unmetered',
    limit: 1.25,
  }),
  ratio(['chat-small', 'weir-budget'], ['chat-small', 'weir'], cpu, {
    title: 'chat, 200 B, 16 callers, with the budget of a key to prepaid',
    limit: 1.05,
  }),
  ratio(['chat-small', 'weir-unmetered'], ['chat-small', 'bun-pipe'], busyP99, {
    title: 'chat, 200 B, 16 callers, p99 to bare Bun',
    limit: 2,
  }),
  ratio(['chat-300', 'weir-unmetered'], ['chat-300', 'bun-pipe'], cpu, {
    title: 'chat, 200 B, 300 a second, unmetered, to bare Bun',
    limit: 2,
  }),
  ratio(['chat-300', 'weir'], ['chat-300', 'bun-pipe'], cpu, {
    title: 'chat, 200 B, 300 a second, prepaid, to bare Bun',
    limit: 2.5,
  }),
  ratio(['stream-300', 'weir'], ['stream-300', 'bun-parse'], cpu, {
    title: 'chunk, 300 streams, each 20 ms, to Bun that reads and parses',
    limit: 1.4,
  }),
  ratio(['stream-50', 'weir'], ['stream-50', 'bun-pipe'], cpu, {
    title: 'streams of 50 chunks, unpaced, to bare Bun',
    limit: 6,
  }),
  ratio(['chat-stored', 'weir-unmetered'], ['chat-small', 'weir-unmetered'], cpu, {
    title: 'chat, 200 B, stored to not stored',
    limit: 1.5,
  }),
  ratio(['response-stored', 'weir-unmetered'], ['response-small', 'weir-unmetered'], cpu, {
    title: 'response, 200 B, stored to not stored',
    limit: 1.5,
  }),
  added('chat-small', ({ latency }) => latency?.p50, { title: 'added time, one caller, p50', limit: 0.4 }),
  added('chat-small', ({ latency }) => latency?.p99, { title: 'added time, one caller, p99', limit: 1.2 }),
  added('stream-short', ({ firstToken }) => firstToken?.p50, {
    title: 'added time to the first token, one caller, p50',
    limit: 0.5,
  }),
  {
    ...plain(['stream-5000', 'weir'], ({ gap }) => gap?.p99),
    title: 'between two chunks, 5,000 streams, each second, p99',
    limit: 1100,
    unit: 'ms',
  },
  {
    title: 'memory before any request',
    works: ['chat-small'],
    contenders: ['weir'],
    limit: 60,
    unit: 'MB',
    valuesIn: ({ bench }) => defined([bench.idle.weir]).map((bytes) => bytes / 1e6),
  },
  {
    ...plain(['memory-requests', 'weir'], ({ resident }) => resident && resident / 1e6),
    title: 'memory after 100,000 requests',
    limit: 90,
    unit: 'MB',
  },
  {
    ...plain(['memory-streams', 'weir'], ({ perStream }) => perStream && perStream / 1000),
    title: 'memory of an open stream, of 5,000',
    limit: 30,
    unit: 'kB',
  },
  started('existing', { title: 'ready after the start, existing database', limit: 80 }),
  started('empty', { title: 'ready after the start, empty folder', limit: 150 }),
  started('first', { title: 'the first request after a start, more than the second', limit: 10 }),
  listed(rare, { title: 'a page of stored completions, of a million', limit: 5 }),
  listed(disjoint, { title: 'the same, of common pairs that never meet', limit: 30 }),
]

/** Compares all budgets with what was measured. */
export function checkBudgets(figures: Figures): readonly BudgetResult[] {
  return budgets.map((budget) => {
    const values = budget.valuesIn(figures)
    if (values.length === 0) return { budget, measured: null, status: 'not measured' }
    const measured = { median: median(values), min: Math.min(...values), max: Math.max(...values) }
    return { budget, measured, status: measured.median <= budget.limit ? 'met' : 'not met' }
  })
}

/** Returns the budgets as a Markdown table. */
export function budgetTable(results: readonly BudgetResult[]): string {
  const rows = results.map(({ budget: { title, limit, unit }, measured, status }) => [
    title,
    measured ? `${two(measured.median)} (${two(measured.min)} to ${two(measured.max)})` : '-',
    `${limit.toLocaleString('en-US')} ${unit}`,
    status,
  ])
  return markdownTable(['budget', 'measured', 'limit', 'result'], rows)
}

function two(value: number): string {
  return value.toFixed(value < 100 ? 2 : 0)
}
