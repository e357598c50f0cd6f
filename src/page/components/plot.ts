import uPlot from 'uplot'
import { colorOf } from '../theme.ts'
import { timeTicks } from './time-axis.ts'

/** A line or a row of bars: a value for each of the times, or null. */
export type Series = { readonly label: string; readonly values: readonly (number | null)[] }

/** What a plot shows. */
export type Plotted = {
  /** Unix seconds, ascending, each `step` seconds after the one before. */
  readonly times: readonly number[]
  readonly step: number
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  /** The bars of several series are stacked. */
  readonly kind: 'line' | 'bars'
  /** Whether the values are whole numbers, as counts are. */
  readonly whole: boolean
  /** Pixels. */
  readonly height: number
}

/** Pixels: of the axis of values, and of half a label of the last time. */
const [axisWidth, rightPadding] = [64, 26]

/** Creates a plot in an element; `onCursor` receives the index of the time below the pointer. */
export function createPlot(
  plotted: Plotted,
  element: HTMLElement,
  onCursor: (index: number | undefined) => void,
): uPlot {
  const { times, series, kind, height } = plotted
  const values = kind === 'bars' ? stacked(series) : series.map((one) => [...one.values])
  const colors = series.map((_, index) => colorOf(colorProperty(index)))
  // The first series is drawn last: of a stack, it is the lowest part, in front of the taller ones.
  const drawn = series.map(({ label }, index) => seriesOptions(label, colors[index] ?? '', kind)).toReversed()
  const options: uPlot.Options = {
    width: element.clientWidth,
    height,
    padding: [10, rightPadding, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6, show: kind === 'line' } },
    hooks: { setCursor: [(plot) => onCursor(plot.cursor.idx ?? undefined)] },
    ...axesOptions(plotted, largest(values)),
    series: [{}, ...drawn],
  }
  return new uPlot(options, [[...times], ...values.toReversed()], element)
}

/** The custom property with the color of a series. */
export function colorProperty(index: number): string {
  return `--series-${(index % 6) + 1}`
}

/** Thin axes with three ticks or more, and room for half a bar on both sides. */
function axesOptions(plotted: Plotted, max: number): Pick<uPlot.Options, 'scales' | 'axes'> {
  const { times, step, format, whole } = plotted
  const ticks = axisTicks(max, whole)
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  const axis = {
    stroke: colorOf('--text-quiet'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colorOf('--line'), width: 1 },
    ticks: { show: false },
  }
  const timeTicksOf = ({ width }: uPlot) => timeTicks(times, step, width - axisWidth - rightPadding)
  return {
    scales: {
      x: { range: () => [first - step / 2, last + step / 2] },
      y: { range: () => [0, Math.max(ticks.at(-1) ?? 0, max * 1.04)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        ticks: { stroke: colorOf('--line'), width: 1, size: 5 },
        size: 28,
        gap: 2,
        splits: (plot) => [...timeTicksOf(plot).times],
        values: (plot) => [...timeTicksOf(plot).labels],
      },
      { ...axis, size: axisWidth, splits: () => [...ticks], values: (_, splits) => splits.map(format) },
    ],
  }
}

function seriesOptions(label: string, stroke: string, kind: Plotted['kind']): uPlot.Series {
  if (kind === 'line') {
    const filter: uPlot.Series.Points.Filter = (plot, index) => isolatedPoints(plot.data[index] ?? [])
    return { label, stroke, width: 1.5, points: { show: true, filter, size: 6, width: 0, fill: stroke } }
  }
  const paths = uPlot.paths.bars?.({ size: [0.7, 40, 2] })
  return { label, stroke, fill: stroke, width: 0, points: { show: false }, ...(paths && { paths }) }
}

/** The ticks of an axis from 0 to a value of at least `max`: three to five round values, whole ones if the values are. */
export function axisTicks(max: number, whole: boolean): readonly number[] {
  const step = max > 0 ? roundStep(max / 4, whole) : 1
  const count = Math.max(2, Math.ceil(max / step - 1e-9))
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

/** The smallest of 1, 2, 5, 10, 20, … and, unless whole, of 0.5, 0.2, 0.1, … that is not less than a value. */
function roundStep(value: number, whole: boolean): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 5, 10].find((one) => one * power >= value * (1 - 1e-9)) ?? 10
  return whole ? Math.max(1, factor * power) : factor * power
}

/** The indexes of the values without a neighbor, which are no part of a line. */
export function isolatedPoints(values: ArrayLike<number | null | undefined>): number[] {
  const has = (index: number) => typeof values[index] === 'number'
  return Array.from(values, (_, index) => index).filter(
    (index) => has(index) && !has(index - 1) && !has(index + 1),
  )
}

/** Each series on top of those before it. */
function stacked(series: readonly Series[]): number[][] {
  const sums: number[] = []
  return series.map(({ values }) =>
    values.map((value, index) => (sums[index] = (sums[index] ?? 0) + (value ?? 0))),
  )
}

function largest(rows: readonly (readonly (number | null)[])[]): number {
  let max = 0
  for (const row of rows) for (const value of row) max = Math.max(max, value ?? 0)
  return max
}
