import { type Aggregation, type MetricSnapshot, renderSnapshots, type Sample } from './snapshot.ts'

/** A metric with one series for each combination of label values, in the text format of Prometheus. */
type Family<Series> = DescribedMetric & {
  /** Returns the series with these label values, in the order of the labels; empty values are not rendered. */
  withLabels(...values: readonly string[]): Series
  snapshot(): MetricSnapshot
  /** Returns an empty string while the family has no series. */
  render(): string
}

/** The name, help text and label names of a metric. */
type Description = {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

/** A metric as documentation describes it. */
export type DescribedMetric = Description & { readonly type: 'counter' | 'gauge' | 'histogram' }

/** How the series of one metric type are created and rendered. */
type SeriesType<Series> = {
  readonly type: DescribedMetric['type']
  create(): Series
  samples(series: Series, name: string, labels: string): readonly Sample[]
}

/** A sum that only grows. */
type Counter = { value: number }

/** Counts observed values in buckets. */
type Histogram = { observe(value: number): void }

/** A metric whose values are read at each scrape. */
export type ScrapedMetric = Description & {
  readonly type: 'counter' | 'gauge'
  /** How the values of several processes become one; default: `sum`. */
  readonly aggregation?: Aggregation
  /** Returns the values with their formatted labels, such as `kind="calls"`. */
  read(): readonly (readonly [labels: string, value: number])[]
}

/** Discovery adds and removes models without end: series beyond this number are counted under the label `other`. */
const defaultMaxSeries = 2000

/** Creates a family that holds at most `maxSeries` series. */
export function createFamily<Series>(
  { name, help, labels = [] }: Description,
  { type, create, samples }: SeriesType<Series>,
  maxSeries = defaultMaxSeries,
): Family<Series> {
  const all: { readonly values: readonly string[]; readonly series: Series }[] = []
  const root: LabelNode<Series> = { children: new Map() }
  const other = labels.map(() => 'other')

  function withLabels(...values: readonly string[]): Series {
    const existing = findSeries(root, values)
    if (existing !== undefined) return existing
    if (all.length >= maxSeries && !values.every((value) => value === 'other')) return withLabels(...other)
    const series = create()
    addSeries(root, values, series)
    all.push({ values, series })
    return series
  }

  function snapshot(): MetricSnapshot {
    const found = all.flatMap(({ values, series }) =>
      samples(series, name, formatLabelValues(labels, values)),
    )
    return { name, help, type, aggregation: 'sum', samples: found }
  }

  return { name, help, labels, type, withLabels, snapshot, render: () => renderSnapshots([snapshot()]) }
}

/** The series by the values of their labels, one label a level: a joined key would be a new string for each request. */
type LabelNode<Series> = { series?: Series; readonly children: Map<string, LabelNode<Series>> }

function findSeries<Series>(root: LabelNode<Series>, values: readonly string[]): Series | undefined {
  let node: LabelNode<Series> | undefined = root
  for (const value of values) node = node?.children.get(value)
  return node?.series
}

function addSeries<Series>(root: LabelNode<Series>, values: readonly string[], series: Series): void {
  let node = root
  for (const value of values) {
    const child = node.children.get(value) ?? { children: new Map() }
    node.children.set(value, child)
    node = child
  }
  node.series = series
}

/** Creates a family of counters. */
export function createCounters(description: Description): Family<Counter> {
  return createFamily<Counter>(description, {
    type: 'counter',
    create: () => ({ value: 0 }),
    samples: ({ value }, name, labels) => [[seriesName(name, labels), value]],
  })
}

/** Creates a family of histograms. `bounds` are the upper bounds of the buckets, in ascending order. */
export function createHistograms(description: Description, bounds: readonly number[]): Family<Histogram> {
  return createFamily<BucketHistogram>(description, {
    type: 'histogram',
    create: () => new BucketHistogram(bounds),
    samples: (histogram, name, labels) => histogram.samples(name, labels),
  })
}

class BucketHistogram implements Histogram {
  private readonly bounds: readonly number[]
  private readonly counts: number[]
  private sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    const { bounds, counts } = this
    let index = 0
    while (index < bounds.length && value > (bounds[index] ?? 0)) index++
    counts[index] = (counts[index] ?? 0) + 1
    this.sum += value
  }

  samples(name: string, labels: string): readonly Sample[] {
    const comma = labels === '' ? '' : ','
    let total = 0
    const buckets = this.counts.map((count, index): Sample => {
      total += count
      return [seriesName(`${name}_bucket`, `${labels}${comma}le="${this.bounds[index] ?? '+Inf'}"`), total]
    })
    return [
      ...buckets,
      [seriesName(`${name}_sum`, labels), this.sum],
      [seriesName(`${name}_count`, labels), total],
    ]
  }
}

/** Reads the values of scraped metrics. */
export function readScraped(metrics: readonly ScrapedMetric[]): readonly MetricSnapshot[] {
  return metrics.map(({ name, help, type, aggregation = 'sum', read }) => ({
    name,
    help,
    type,
    aggregation,
    samples: read().map(([labels, value]) => [seriesName(name, labels), value]),
  }))
}

function formatLabelValues(names: readonly string[], values: readonly string[]): string {
  return formatLabels(Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])))
}

/** Formats labels as `provider="acme",outcome="ok"`, without those whose value is empty. */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  const nonEmpty = Object.entries(labels).filter(([, value]) => value !== '')
  return nonEmpty.map(([name, value]) => `${name}="${escapeLabelValue(value)}"`).join()
}

function escapeLabelValue(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}

/** Formats the name of a series as `name{labels}`. */
export function seriesName(name: string, labels: string): string {
  return labels === '' ? name : `${name}{${labels}}`
}
