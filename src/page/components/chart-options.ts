import uPlot from 'uplot'

/** The colors of a chart, resolved for its canvas. */
export type ChartColors = { readonly series: readonly string[]; readonly text: string; readonly grid: string }

type ChartShape = {
  readonly series: readonly { readonly label: string }[]
  readonly format: (value: number) => string
  readonly kind?: 'line' | 'bars'
  readonly height?: number
}

/** The options of the plot: no legend of its own, thin axes, and a cursor that reports the index below it. */
export function chartOptions(
  { series, format, kind = 'line', height = 180 }: ChartShape,
  colors: ChartColors,
  width: number,
  onCursor: (index: number | undefined) => void,
): uPlot.Options {
  const axis = {
    stroke: colors.text,
    font: '11px system-ui, sans-serif',
    grid: { stroke: colors.grid, width: 1 },
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
    series: [{}, ...series.map(({ label }, index) => seriesOptions(label, colors.series[index] ?? '', kind))],
    hooks: { setCursor: [(plot) => onCursor(plot.cursor.idx ?? undefined)] },
  }
}

function seriesOptions(label: string, stroke: string, kind: 'line' | 'bars'): uPlot.Series {
  if (kind === 'line') return { label, stroke, width: 1.5, points: { show: false } }
  const paths = uPlot.paths.bars?.({ size: [0.7, 40] })
  return { label, stroke, fill: stroke, width: 0, points: { show: false }, ...(paths && { paths }) }
}
