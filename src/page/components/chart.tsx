import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { colorOf, useThemeVersion } from '../theme.ts'
import { formatTime } from './format.ts'
import { Table } from './table.tsx'

/** A line or a row of bars: a value for each of the times, or null. */
export type Series = { readonly label: string; readonly values: readonly (number | null)[] }

/** The content of a chart. */
type ChartProps = {
  readonly title: string
  /** Unix seconds, ascending. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  readonly kind?: 'line' | 'bars'
}

/** Pixels. */
const height = 180

/** A chart over time, with its legend, and the same figures as a table for those who cannot see it. */
export function Chart(props: ChartProps) {
  const { title, times, series, format } = props
  const [cursor, setCursor] = useState<number | undefined>()
  const canvas = useUplot(props, setCursor)
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        <span class="quiet number">{cursor === undefined ? '' : formatTime(times[cursor] ?? 0)}</span>
      </figcaption>
      <div ref={canvas} class="chart-canvas" aria-hidden="true" style={{ height: `${height}px` }} />
      <ul class="legend">
        {series.map(({ label, values }, index) => (
          <li key={label}>
            <i class="swatch" style={{ background: `var(${colorProperty(index)})` }} />
            <bdi>{label}</bdi>
            <span class="number">
              {formatValue(cursor === undefined ? undefined : values[cursor], format)}
            </span>
          </li>
        ))}
      </ul>
      <ChartTable {...props} />
    </figure>
  )
}

/** The custom property with the color of a series. */
function colorProperty(index: number): string {
  return `--series-${(index % 6) + 1}`
}

function formatValue(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '' : format(value)
}

/** Creates the plot, again when the data or the colors change, and keeps it as wide as its place. */
function useUplot(props: ChartProps, onCursor: (index: number | undefined) => void) {
  const { times, series } = props
  const place = useRef<HTMLDivElement>(null)
  const theme = useThemeVersion()
  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const options = chartOptions(props, element.clientWidth, onCursor)
    const plot = new uPlot(options, [[...times], ...series.map(({ values }) => [...values])], element)
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [times, series, theme, props.kind])
  return place
}

/** The options of the plot: no legend of its own, thin axes, and a cursor that reports the index below it. */
function chartOptions(
  { series, format, kind = 'line' }: ChartProps,
  width: number,
  onCursor: (index: number | undefined) => void,
): uPlot.Options {
  const axis = {
    stroke: colorOf('--text-quiet'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colorOf('--line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_, min, max) => [Math.min(0, min ?? 0), (max ?? 0) > 0 ? max * 1.08 : 1] } },
    axes: [
      { ...axis, grid: { show: false } },
      { ...axis, size: 64, values: (_, splits) => splits.map(format) },
    ],
    series: [
      {},
      ...series.map(({ label }, index) => seriesOptions(label, colorOf(colorProperty(index)), kind)),
    ],
    hooks: { setCursor: [(plot) => onCursor(plot.cursor.idx ?? undefined)] },
  }
}

function seriesOptions(label: string, stroke: string, kind: 'line' | 'bars'): uPlot.Series {
  if (kind === 'line') return { label, stroke, width: 1.5, points: { show: false } }
  const paths = uPlot.paths.bars?.({ size: [0.7, 40] })
  return { label, stroke, fill: stroke, width: 0, points: { show: false }, ...(paths && { paths }) }
}

function ChartTable({ title, times, series, format }: ChartProps) {
  const [open, setOpen] = useState(false)
  const columns = [
    { id: 'time', header: 'Time', render: (index: number) => formatTime(times[index] ?? 0) },
    ...series.map(({ label, values }, position) => ({
      id: `series-${position}`,
      header: label,
      align: 'right' as const,
      render: (index: number) => formatValue(values[index], format),
    })),
  ]
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as table</summary>
      {open && (
        <Table label={title} columns={columns} rows={times.map((_, index) => index)} rowKey={String} />
      )}
    </details>
  )
}
