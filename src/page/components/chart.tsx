import { useEffect, useRef, useState } from 'preact/hooks'
import { useThemeVersion } from '../theme.ts'
import { formatTime } from './format.ts'
import { colorProperty, createPlot, type Plotted } from './plot.ts'
import { Table } from './table.tsx'

/** The content of a chart. */
type ChartProps = Omit<Plotted, 'height'> & {
  readonly title: string
  readonly large?: boolean
}

/** A chart over time, with its legend, and the same figures as a table for those who cannot see it. */
export function Chart(props: ChartProps) {
  const { title, times, step, series, format, large = false } = props
  const [cursor, setCursor] = useState<number | undefined>()
  const height = large ? 260 : 180
  const canvas = useUplot({ ...props, height }, setCursor)
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        <span class="quiet number">{cursor === undefined ? '' : bucketTime(times[cursor], step)}</span>
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

/** The start of a bucket; of one that is a day, the day of UTC. */
export function bucketTime(start: number | undefined, step: number): string {
  return formatTime(start ?? 0, step < 86_400 ? 'short' : 'utcDay')
}

function formatValue(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '' : format(value)
}

/** Creates the plot, again when the data or the colors change, and keeps it as wide as its place. */
function useUplot(plotted: Plotted, onCursor: (index: number | undefined) => void) {
  const { times, series, height, kind } = plotted
  const place = useRef<HTMLDivElement>(null)
  const theme = useThemeVersion()
  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const plot = createPlot(plotted, element, onCursor)
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [times, series, theme, kind, height])
  return place
}

function ChartTable({ title, times, step, series, format }: ChartProps) {
  const [open, setOpen] = useState(false)
  const columns = [
    { id: 'time', header: 'Time', render: (index: number) => bucketTime(times[index], step) },
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
