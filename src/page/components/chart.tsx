import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { colorOf, useThemeVersion } from '../theme/theme.ts'
import { chartOptions } from './chart-options.ts'
import { Table } from './table.tsx'
import { formatTime } from './time.tsx'

/** A line or a row of bars: a value for each of the times, or null. */
export type Series = { readonly label: string; readonly values: readonly (number | null)[] }

/** What a chart shows. */
export type ChartProps = {
  readonly title: string
  /** Unix seconds, ascending. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  readonly kind?: 'line' | 'bars'
  readonly height?: number
}

/** The number of colors for series, `--series-1` and so on. */
const colorCount = 6

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
      <div
        ref={canvas}
        class="chart-canvas"
        aria-hidden="true"
        style={{ height: `${props.height ?? 180}px` }}
      />
      <ul class="legend">
        {series.map(({ label, values }, index) => (
          <li key={label}>
            <i class={`swatch series-${(index % colorCount) + 1}`} />
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
    const colors = series.map((_, index) => colorOf(`--series-${(index % colorCount) + 1}`))
    const palette = { series: colors, text: colorOf('--text-quiet'), grid: colorOf('--line') }
    const options = chartOptions(props, palette, element.clientWidth, onCursor)
    const plot = new uPlot(options, [[...times], ...series.map(({ values }) => [...values])], element)
    const observer = new ResizeObserver(() => {
      plot.setSize({ width: element.clientWidth, height: props.height ?? 180 })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [times, series, theme, props.kind, props.height])
  return place
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
