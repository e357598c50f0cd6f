import { describe, expect, test } from 'bun:test'
import type { Figures } from './budget.ts'
import type { Measured } from './job.ts'
import { budgets, budgetTable, checkBudgets } from './measured-budgets.ts'
import { readOptions } from './options.ts'
import type { Series } from './results.ts'

const nothing: Measured = {
  cpu: null,
  latency: null,
  busyLatency: null,
  firstToken: null,
  gap: null,
  rate: 0,
  peak: null,
  resident: null,
  perStream: null,
  written: null,
  counts: null,
  requests: 1,
}

const unmetered = 'chat, 200 B, 16 callers, unmetered, to bare Bun'

describe('a budget of the bench', () => {
  test('is a ratio within each round, and then the median of the rounds', () => {
    // The medians of both are 20 and 10; only the third round is above the limit of 2.5.
    const bench = benchOf([seriesOf('weir-unmetered', 20, 200, 9), seriesOf('bun-pipe', 10, 100, 3)])
    const found = resultOf(unmetered, { bench })
    expect(found?.measured).toEqual({ median: 2, min: 2, max: 3 })
    expect(found?.status).toBe('met')
  })

  test('is not met where the median is above the limit', () => {
    const bench = benchOf([seriesOf('weir-unmetered', 30, 20, 30), seriesOf('bun-pipe', 10, 10, 10)])
    expect(resultOf(unmetered, { bench })?.status).toBe('not met')
  })

  test('is not measured where one of its contenders is missing', () => {
    const results = checkBudgets({ bench: benchOf([seriesOf('weir-unmetered', 20)]) })
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['not measured']))
    expect(budgetTable(results)).toContain('not measured')
  })

  test('of an added time is the difference to the provider in the same round', () => {
    const at = (contender: string, ...times: number[]) => ({
      ...seriesOf(contender),
      rounds: times.map((p50) => ({ ...nothing, latency: { p50, p99: 2 * p50 } })),
    })
    const bench = benchOf([at('weir', 0.5, 1), at('direct', 0.125, 0.5)])
    const measured = resultOf('added time, one caller, p50', { bench })?.measured
    expect(measured).toEqual({ median: 0.4375, min: 0.375, max: 0.5 })
  })

  test('of the stored completions is that of the slowest query', () => {
    const lists = new Map([
      ['list, one rare pair', 0.4],
      ['list, two common pairs and a model', 6],
      ['list, three common pairs that never meet', 20],
      ['list, a hundred', 90],
    ])
    const results = checkBudgets({ bench: benchOf([]), lists })
    const measured = results.flatMap(({ measured, status }) => (measured ? [[measured.median, status]] : []))
    expect(measured).toEqual([
      [6, 'not met'],
      [20, 'met'],
    ])
  })

  test('can be measured by the names of its work', () => {
    for (const { works } of budgets) expect(() => readOptions(['--only', works.join(',')])).not.toThrow()
    const { workloads, contenders, includes } = readOptions(['--only', 'budgets'])
    expect(contenders).toEqual([
      'weir-unmetered',
      'bun-pipe',
      'busbar',
      'weir',
      'weir-budget',
      'bun-parse',
      'direct',
    ])
    expect(workloads.map(({ name }) => name)).toContain('memory-requests')
    expect([includes('start'), includes('list-stored'), includes('parts')]).toEqual([true, true, false])
  })
})

function benchOf(series: readonly Series[]): Figures['bench'] {
  return { series, idle: {} }
}

function seriesOf(contender: string, ...cpus: readonly number[]): Series {
  return {
    workload: 'chat-small',
    contender,
    rounds: cpus.map((cpu) => ({ ...nothing, cpu })),
    syscalls: null,
  }
}

function resultOf(title: string, figures: Figures) {
  return checkBudgets(figures).find(({ budget }) => budget.title === title)
}
