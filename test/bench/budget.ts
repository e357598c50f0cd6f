import type { Measured } from './job.ts'
import type { Bench } from './rounds.ts'
import type { StartTimes } from './start-time.ts'

/** What the budgets are computed from. */
export type Figures = {
  readonly bench: Pick<Bench, 'series' | 'idle'>
  readonly start?: StartTimes
  /** Milliseconds of each query over stored completions. */
  readonly lists?: ReadonlyMap<string, number>
}

/** A limit of a figure: a ratio to another figure of the same round, a time or a size. */
export type Budget = {
  readonly title: string
  /** The work to choose so that it is measured. */
  readonly works: readonly string[]
  /** The contenders that it compares. */
  readonly contenders: readonly string[]
  readonly limit: number
  readonly unit: '×' | 'ms' | 'MB' | 'kB'
  /** The figure of each round; empty where something is missing. */
  valuesIn(figures: Figures): readonly number[]
}

/** A workload and the contender that does it. */
export type Subject = readonly [workload: string, contender: string]
type Limit = Pick<Budget, 'title' | 'limit'>
type Value = number | null | undefined

/** The quotient of two figures that were measured in the same round. */
export function ratio(of: Subject, to: Subject, value: (measured: Measured) => Value, limit: Limit): Budget {
  return {
    ...limit,
    works: [...new Set([of[0], to[0]])],
    contenders: [...new Set([of[1], to[1]])],
    unit: '×',
    valuesIn: (figures) => inEachRound(figures, of, to, value, (one, other) => one / other),
  }
}

/** The time that Weir adds, prepaid, to that of the provider in the same round. */
export function added(workload: string, value: (measured: Measured) => Value, limit: Limit): Budget {
  const [of, to]: [Subject, Subject] = [
    [workload, 'weir'],
    [workload, 'direct'],
  ]
  return {
    ...limit,
    works: [workload],
    contenders: ['weir', 'direct'],
    unit: 'ms',
    valuesIn: (figures) => inEachRound(figures, of, to, value, (one, other) => one - other),
  }
}

/** A figure of one contender. */
export function plain(of: Subject, value: (measured: Measured) => Value) {
  return {
    works: [of[0]],
    contenders: [of[1]],
    valuesIn: (figures: Figures) => defined(roundsOf(figures, of).map(value)),
  }
}

/** A time of the starts of Weir. */
export function started(kind: keyof StartTimes, limit: Limit): Budget {
  const valuesIn = ({ start }: Figures) => start?.[kind] ?? []
  return { ...limit, works: ['start'], contenders: ['weir'], unit: 'ms', valuesIn }
}

/** The slowest of some queries. */
export function listed(queries: RegExp, limit: Limit): Budget {
  const valuesIn = ({ lists }: Figures) => {
    const times = [...(lists ?? [])].filter(([name]) => queries.test(name)).map(([, time]) => time)
    return times.length > 0 ? [Math.max(...times)] : []
  }
  return { ...limit, works: ['list-stored'], contenders: [], unit: 'ms', valuesIn }
}

function inEachRound(
  figures: Figures,
  of: Subject,
  to: Subject,
  value: (measured: Measured) => Value,
  combine: (one: number, other: number) => number,
): readonly number[] {
  const others = roundsOf(figures, to)
  return roundsOf(figures, of).flatMap((measured, round) => {
    const other = others[round]
    const [one, two] = defined([value(measured), other && value(other)])
    return one !== undefined && two !== undefined ? [combine(one, two)] : []
  })
}

function roundsOf({ bench }: Figures, [workload, contender]: Subject): readonly Measured[] {
  const found = bench.series.find((one) => one.workload === workload && one.contender === contender)
  return found?.rounds ?? []
}

/** Returns the values that are there. */
export function defined(values: readonly Value[]): readonly number[] {
  return values.filter((value) => value !== null && value !== undefined)
}
