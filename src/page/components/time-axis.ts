/** The ticks of an axis of times, in Unix seconds, and the label of each. */
type TimeTicks = { readonly times: readonly number[]; readonly labels: readonly string[] }

/** A distance of ticks: every so many of a unit. */
type Increment = { readonly unit: 'minute' | 'hour' | 'day' | 'month'; readonly count: number }

const daySeconds = 86_400

const closest: Increment = { unit: 'minute', count: 1 }

const increments: readonly Increment[] = [
  closest,
  ...every('minute', [2, 5, 10, 15, 30]),
  ...every('hour', [1, 2, 3, 4, 6, 8, 12]),
  ...every('day', [1, 2, 3, 4, 5, 7, 10, 14, 21]),
  ...every('month', [1, 2, 3, 4, 6, 12, 24]),
]

function every(unit: Increment['unit'], counts: readonly number[]): Increment[] {
  return counts.map((count) => ({ unit, count }))
}

/** The fewest ticks, also where their labels are then close to each other. */
const minTicks = 3

/**
 * Chooses ticks among times that are `step` seconds apart: the closest ones whose labels fit on an axis of `width` pixels.
 * Steps of a day are days of UTC, others have the zone of the reader.
 */
export function timeTicks(times: readonly number[], step: number, width: number): TimeTicks {
  const utc = step >= daySeconds
  const clocks = times.map((time) => ({ time, clock: wallClock(time, utc) }))
  const ticksOf = (increment: Increment) =>
    clocks.filter(({ clock }) => isTick(clock, increment)).map(({ time }) => time)
  const pixelsPerSecond = width / (times.length * step)
  const fits = (increment: Increment) => secondsOf(increment) * pixelsPerSecond >= labelWidth(increment)
  const found = increments.findIndex(fits)
  const closer = found === -1 ? increments : increments.slice(0, found + 1)
  const increment = closer.findLast((one) => ticksOf(one).length >= minTicks) ?? closest
  const ticks = ticksOf(increment)
  return { times: ticks, labels: labelsOf(ticks, increment, utc) }
}

/** The time of a clock, as if it were one of UTC. */
function wallClock(seconds: number, utc: boolean): Date {
  const date = new Date(seconds * 1000)
  return utc ? date : new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
}

function isTick(clock: Date, { unit, count }: Increment): boolean {
  const minutes = clock.getUTCHours() * 60 + clock.getUTCMinutes()
  if (unit === 'minute') return minutes % count === 0
  if (unit === 'hour') return minutes % (count * 60) === 0
  if (minutes !== 0) return false
  if (unit === 'day') return Math.floor(clock.getTime() / 1000 / daySeconds) % count === 0
  return clock.getUTCDate() === 1 && (clock.getUTCFullYear() * 12 + clock.getUTCMonth()) % count === 0
}

const unitSeconds = { minute: 60, hour: 3600, day: daySeconds, month: 30 * daySeconds } as const

function secondsOf({ unit, count }: Increment): number {
  return unitSeconds[unit] * count
}

/** Pixels, with a gap. */
function labelWidth({ unit }: Increment): number {
  return unit === 'day' || unit === 'month' ? 46 : 52
}

/** Months, days or times; midnight is a day, and the first month of all and of a year have the year. */
function labelsOf(ticks: readonly number[], { unit }: Increment, utc: boolean): string[] {
  const format = (options: Intl.DateTimeFormatOptions) => {
    const { format } = new Intl.DateTimeFormat(undefined, { ...options, ...(utc && { timeZone: 'UTC' }) })
    return (time: number) => format(time * 1000)
  }
  const month = format({ month: 'short' })
  const monthOfYear = format({ month: 'short', year: 'numeric' })
  const day = format({ month: 'short', day: 'numeric' })
  const time = format({ hour: 'numeric', minute: '2-digit' })
  return ticks.map((tick, index) => {
    const clock = wallClock(tick, utc)
    if (unit === 'month') return (index === 0 || clock.getUTCMonth() === 0 ? monthOfYear : month)(tick)
    const isMidnight = clock.getUTCHours() === 0 && clock.getUTCMinutes() === 0
    return (isMidnight ? day : time)(tick)
  })
}
